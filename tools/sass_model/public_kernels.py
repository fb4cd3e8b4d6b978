"""Predictions beside published times of public Triton kernels on an H100.

  python3 -m sass_model.public_kernels --mamba MAMBA [--json]

MAMBA is a checkout of github.com/state-spaces/mamba; Triton (PyPI) compiles its kernels here. Where the kernels' authors tune, the
configuration is the published one or, where none is, the fastest that is predicted.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import sys
import warnings

from . import parameters
from .kernel import Predictor
from .triton_kernels import Tensor, compiled, load, tuned

FOLDER = "mamba_ssm/ops/triton"
HEADS, WIDTH, STATE, CHUNK = 128, 64, 128, 256


@dataclasses.dataclass(frozen=True)
class Case:
    """`published` seconds of `what`, and where they are published."""
    what: str
    published: float
    source: str
    seconds: object  # a function of (root, parameters)


def named_strides(**tensors) -> dict:
    """Strides by the names that kernels give them: {"x": (strides, "batch seqlen head hdim")} gives stride_x_batch and so on."""
    return {f"stride_{name}_{place}": step for name, (steps, places) in tensors.items() for place, step in zip(places.split(), steps)}


def state_update(pairs: int, block: int, warps: int):
    """selective_state_update with f16 states for so many pairs of a sequence and a head."""
    def seconds(root, given):
        batch, heads, groups = pairs // HEADS, HEADS, 8
        state, x = Tensor("fp16", (batch, heads, WIDTH, STATE)), Tensor("bf16", (batch, heads, WIDTH))
        b = Tensor("bf16", (batch, groups, STATE), "l2")
        few = Tensor("fp32", (heads,), "l2")
        arguments = {
            "state_ptr": state, "x_ptr": x, "dt_ptr": Tensor("bf16", (batch, heads), "l2"), "dt_bias_ptr": few, "A_ptr": few, "B_ptr": b, "C_ptr": b,
            "D_ptr": few, "out_ptr": x, "batch": batch, "nheads": heads, "dim": WIDTH, "dstate": STATE, "nheads_ngroups_ratio": heads // groups,
            "DT_SOFTPLUS": True, "TIE_HDIM": True, "BLOCK_SIZE_M": block, "HAS_DT_BIAS": True, "HAS_D": True, "HAS_Z": False,
            "HAS_STATE_BATCH_INDICES": False, "BLOCK_SIZE_DSTATE": STATE}
        arguments |= named_strides(
            state=(state.strides(), "batch head dim dstate"), x=(x.strides(), "batch head dim"), dt=((heads, 1, 0), "batch head dim"),
            dt_bias=((1, 0), "head dim"), A=((1, 0, 0), "head dim dstate"), B=(b.strides(), "batch group dstate"),
            C=(b.strides(), "batch group dstate"), D=((1, 0), "head dim"), z=((0, 0, 0), "batch head dim"), out=(x.strides(), "batch head dim"))
        function = load(root / FOLDER / "selective_state_update.py", root)._selective_scan_update_kernel
        functions, launch = compiled(function, arguments, (WIDTH // block, batch, heads), warps, 3)
        return Predictor(functions, given).predict(launch).seconds
    return seconds


def fastest(function, arguments: dict, grid, given) -> float:
    """Of all configurations that a kernel is tuned over the least predicted time; those that do not fit an SM are left out."""
    times = []
    for blocks, warps, stages in tuned(function):
        functions, launch = compiled(function, arguments | blocks, grid(blocks), warps, stages)
        if launch.shared_bytes + given.shared_reserved <= given.shared_per_sm:
            times.append(Predictor(functions, given).predict(launch).seconds)
    return min(times)


def parts(count: int, size: int) -> int:
    return -(-count // size)


def ssd(tokens: int):
    """The five kernels of mamba_chunk_scan_combined, forward, one sequence, 128 heads, one group, chunks of 256."""
    def seconds(root, given):
        chunks = parts(tokens, CHUNK)
        # What the five pass to each other is larger than the second cache.
        x, b = Tensor("bf16", (1, tokens, HEADS, WIDTH)), Tensor("bf16", (1, tokens, 1, STATE), "l2")
        dt_in, dt = Tensor("bf16", (1, tokens, HEADS)), Tensor("fp32", (1, HEADS, chunks, CHUNK), "l2")
        states, cb = Tensor("fp32", (1, chunks, HEADS, WIDTH, STATE)), Tensor("fp32", (1, chunks, 1, CHUNK, CHUNK), "l2")
        passed, few = Tensor("bf16", (1, chunks, HEADS, WIDTH, STATE)), Tensor("fp32", (HEADS,), "l2")
        s_dt = (dt.strides()[0], dt.strides()[2], dt.strides()[1], 1)
        sizes = {"batch": 1, "seqlen": tokens, "nheads": HEADS, "chunk_size": CHUNK, "hdim": WIDTH, "dstate": STATE, "nheads_ngroups_ratio": HEADS}
        common = named_strides(x=(x.strides(), "batch seqlen head hdim"), dt=(s_dt, "batch chunk head csize"), dA_cs=(s_dt, "batch chunk head csize"),
                               seq_idx=((0, 0), "batch seqlen"), C=(b.strides(), "batch seqlen head dstate"),
                               b=(b.strides(), "batch seqlen head dstate"))
        state = load(root / FOLDER / "ssd_chunk_state.py", root)
        scan, product = load(root / FOLDER / "ssd_chunk_scan.py", root), load(root / FOLDER / "ssd_bmm.py", root)
        passing = load(root / FOLDER / "ssd_state_passing.py", root)
        import triton.language as tl
        total = fastest(
            state._chunk_cumsum_fwd_kernel, sizes | {
                "dt_ptr": dt_in, "A_ptr": few, "dt_bias_ptr": few, "dt_out_ptr": dt, "dA_cumsum_ptr": dt, "dt_min": 0.0,
                "dt_max": math.inf, "DT_SOFTPLUS": True, "HAS_DT_BIAS": True, "BLOCK_SIZE_CHUNK": CHUNK, "stride_A_head": 1, "stride_dt_bias_head": 1} | named_strides(
                    dt=(dt_in.strides(), "batch seqlen head"), dt_out=(s_dt, "batch chunk head csize"), dA_cs=(s_dt, "batch chunk head csize")),
            lambda blocks: (1, chunks, parts(HEADS, blocks["BLOCK_SIZE_H"])), given)
        total += fastest(
            state._chunk_state_fwd_kernel, sizes | common | {
                "x_ptr": x, "b_ptr": b, "states_ptr": states, "dt_ptr": dt, "dA_cumsum_ptr": dt, "HAS_SEQ_IDX": False} | named_strides(
                    states=(states.strides(), "batch chunk head hdim dstate")),
            lambda blocks: (parts(WIDTH, blocks["BLOCK_SIZE_M"]) * parts(STATE, blocks["BLOCK_SIZE_N"]), chunks, HEADS), given)
        row = WIDTH * STATE
        total += fastest(
            passing._state_passing_fwd_kernel, {
                "states_ptr": states, "out_ptr": passed, "final_states_ptr": Tensor("fp32", (1, HEADS, row)), "dA_cs_ptr": dt, "dim": row, "nchunks": chunks,
                "seqlen": 0, "chunk_size": 0, "HAS_INITSTATES": False, "HAS_SEQ_IDX": False} | named_strides(
                    states=((chunks * HEADS * row, HEADS * row, row, 1), "batch chunk head dim"),
                    out=((chunks * HEADS * row, HEADS * row, row, 1), "batch chunk head dim"), final_states=((HEADS * row, row, 1), "batch head dim"),
                    dA_cs=((dt.strides()[0], CHUNK, chunks * CHUNK), "batch chunk head"), initstates=((0, 0, 0), "batch head dim"),
                    seq_idx=((0, 0), "batch seqlen")),
            lambda blocks: (parts(row, blocks["BLOCK_SIZE"]), 1, HEADS), given)
        total += fastest(
            product._bmm_chunk_fwd_kernel, {
                "a_ptr": b, "b_ptr": b, "out_ptr": cb, "seqlen": tokens, "chunk_size": CHUNK, "K": STATE, "ngroups": 1, "IS_CAUSAL": False,
                "dot_dtype": tl.bfloat16, "HAS_SEQ_IDX": False, "stride_ak": 1, "stride_bk": 1, "stride_outm": CHUNK, "stride_outn": 1} | named_strides(
                    a=(b.strides(), "batch seqlen head"), b=(b.strides(), "batch seqlen head"), out=(cb.strides(), "batch chunk head"),
                    seq_idx=((0, 0), "batch seqlen")),
            lambda blocks: (parts(CHUNK, blocks["BLOCK_SIZE_M"]) * parts(CHUNK, blocks["BLOCK_SIZE_N"]), 1, chunks), given)
        total += fastest(
            scan._chunk_scan_fwd_kernel, sizes | common | {
                "cb_ptr": cb, "x_ptr": x, "out_ptr": x, "dt_ptr": dt, "dA_cumsum_ptr": dt, "C_ptr": b, "prev_states_ptr": passed, "D_ptr": few,
                "stride_D_head": 1, "IS_CAUSAL": True, "HAS_D": True, "D_HAS_HDIM": False, "HAS_Z": False, "HAS_SEQ_IDX": False,
                "BLOCK_SIZE_DSTATE": STATE, "IS_TRITON_22": True} | named_strides(
                    cb=(cb.strides(), "batch chunk head csize_m csize_k"), z=((0, 0, 0, 0), "batch seqlen head hdim"),
                    out=(x.strides(), "batch seqlen head hdim"), states=(passed.strides(), "batch chunk head hdim dstate")),
            lambda blocks: (parts(CHUNK, blocks["BLOCK_SIZE_M"]) * parts(WIDTH, blocks["BLOCK_SIZE_N"]), chunks, HEADS), given)
        return total
    return seconds


UPDATES = "vllm-project/vllm#43083: H100 80GB HBM3, head 64, state 128, f16 states, block and warps as there"
SCANS = "vllm-project/vllm#27299: one H100, 128 heads of 64, state 128, one group, column Original"
CASES = [
    *(Case(f"selective_state_update, {pairs} pairs of sequence and head", us * 1e-6, UPDATES, state_update(pairs, block, warps))
      for pairs, block, warps, us in ((1024, 8, 1, 11.15), (2048, 16, 2, 28.45), (4096, 16, 2, 55.48), (8192, 16, 2, 104.54), (12288, 16, 4, 145.55))),
    *(Case(f"mamba_chunk_scan_combined forward, {tokens} tokens", tokens / rate, SCANS, ssd(tokens))
      for tokens, rate in ((4096, 1.206409e7), (8192, 1.262327e7), (16384, 1.292440e7))),
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="sass_model.public_kernels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mamba", type=pathlib.Path, required=True, help="a checkout of github.com/state-spaces/mamba")
    parser.add_argument("--fitted", type=pathlib.Path, default=parameters.FILE, help="parameters that were measured")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    given, rows = parameters.load(options.fitted), []
    for case in CASES:
        seconds = case.seconds(options.mamba, given)
        rows.append({"kernel": case.what, "predicted_us": round(seconds * 1e6, 1), "published_us": round(case.published * 1e6, 1),
                     "predicted_over_published": round(seconds / case.published, 2), "source": case.source})
        if not options.json:
            print(f"| {case.what} | {rows[-1]['predicted_us']} | {rows[-1]['published_us']} | {rows[-1]['predicted_over_published']} |", flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
