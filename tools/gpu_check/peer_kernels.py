"""Evaluates one mixer in float64 and by public Triton kernels, on the operands that effc was given.

  python3 -m gpu_check.peer_kernels '{"op": ..., "H": ..., ..., "scratch": DIR}'

DIR has weights.safetensors (a table of bf16 whose rows are the operands of tokens, and parameters) and outputs.bin,
effc's results. Prints one JSON object, again whenever more is known: errors of effc and of each public kernel against float64, and the times of the
latter. A package that is not there is said so in its place. The formulas are those of the papers that the ops name.
"""
import importlib
import json
import pathlib
import struct
import sys
import time

import torch
import torch.nn.functional as F

from gpu_check.mixer_models import Mixer

TYPES = {"F32": torch.float32, "BF16": torch.bfloat16}
CHUNKS = (64, 128, 256)  # of mamba_chunk_scan_combined


def read_weights(path: pathlib.Path) -> dict[str, torch.Tensor]:
    data = bytearray(path.read_bytes())
    size = struct.unpack("<Q", data[:8])[0]
    header, start = json.loads(data[8:8 + size]), 8 + size
    out = {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        flat = torch.frombuffer(data[start + begin:start + end], dtype=TYPES[about["dtype"]])
        out[name] = flat.view(about["shape"])
    return out


class Operands:
    """Of all tokens [B, T, ...] as they are stored, parameters, and what both ways of evaluating derive of them."""

    def __init__(self, request: dict):
        self.mixer = Mixer(*(request[key] for key in ("op", "H", "G", "K", "V")))
        weights = read_weights(pathlib.Path(request["scratch"]) / "weights.safetensors")
        self.B, self.T = request["sequences"], request["tokens"]
        rows = weights.pop("table")[:self.B * self.T].to(request["device"])
        for name, first, extents in self.mixer.columns():
            count = 1
            for extent in extents:
                count *= extent
            setattr(self, name, rows[:, first:first + count].reshape(self.B, self.T, *extents).contiguous())
        for name, value in weights.items():
            setattr(self, name, value.to(request["device"]))

    def heads(self, x: torch.Tensor) -> torch.Tensor:
        """One row for each head, of one for each group."""
        return x if x.shape[2] == self.mixer.H else x.repeat_interleave(self.mixer.H // self.mixer.G, dim=2)

    def log_decay(self, kind: torch.dtype) -> torch.Tensor:
        """[B, T, H], or [B, T, H, K] where it is per key channel."""
        op, get = self.mixer.op, lambda name: getattr(self, name).to(kind)
        if op == "gated_retention":
            return F.logsigmoid(get("gate")) / 16
        if op == "gated_linear_attention":
            return F.logsigmoid(get("key_gate")) / 16
        if op == "rwkv6":
            return -torch.exp(get("w"))
        rate = -torch.exp(get("a_log"))
        if op == "kimi_delta_attention":
            return rate[:, None] * F.softplus(get("f") + get("dt_bias"))
        return rate * F.softplus(get("dt" if op == "ssd" else "a") + get("dt_bias"))


def exact(o: Operands) -> torch.Tensor:
    """[B, T, H, V] in float64, token by token."""
    m, double = o.mixer, torch.float64
    q, k, v = {"ssd": ("c", "b", "x"), "rwkv6": ("r", "k", "v")}.get(m.op, ("q", "k", "v"))
    q, k, v = (getattr(o, name).to(double) for name in (q, k, v))
    q, k = o.heads(q), o.heads(k)
    decay = torch.exp(o.log_decay(double))
    decay = decay[..., None, None] if decay.dim() == 3 else decay[..., None]
    written = v * F.softplus(o.dt.to(double) + o.dt_bias.to(double))[..., None] if m.op == "ssd" else v
    delta = m.op in ("gated_delta_rule", "kimi_delta_attention")
    state = torch.zeros(o.B, m.H, m.K, m.V, dtype=double, device=q.device)
    y = torch.empty_like(v)
    for t in range(o.T):
        if m.op == "rwkv6":
            bonus = (o.u.to(double) * k[:, t])[..., None] * v[:, t, :, None, :]
            y[:, t] = torch.einsum("bhk,bhkv->bhv", q[:, t], state + bonus)
        state = decay[:, t] * state
        token = written[:, t]
        if delta:
            token = o.beta.to(double)[:, t, :, None] * (token - torch.einsum("bhk,bhkv->bhv", k[:, t], state))
        state = state + k[:, t, :, :, None] * token[:, :, None, :]
        if m.op != "rwkv6":
            y[:, t] = torch.einsum("bhk,bhkv->bhv", q[:, t], state)
    return y + o.d.to(double)[:, None] * v if m.op == "ssd" else y


def errors(found: torch.Tensor, expected: torch.Tensor) -> dict:
    """The largest difference over the largest number, and |found - expected| / |expected|; null is infinite."""
    difference = found.double().reshape(expected.shape) - expected
    largest = (difference.abs().max() / expected.abs().max()).item()
    relative = (difference.norm() / expected.norm()).item()
    finite = lambda x: x if x == x and x != float("inf") else None
    return {"largest": finite(largest), "relative": finite(relative)}


def public(o: Operands, decode: bool) -> list[tuple[str, str, callable]]:
    """Name of the package, of the kernel, and what calls it on bf16 operands, gates of f32; gates are made beforehand."""
    m, out = o.mixer, []
    g = o.log_decay(torch.float32).contiguous()

    def fla(module: str, name: str, *arguments, **named) -> None:
        def call():
            function = getattr(importlib.import_module(f"fla.ops.{module}"), name)
            return lambda: function(*arguments, **named)[0]
        out.append(("flash-linear-attention", f"fla.ops.{module}.{name}", call))

    way = "fused_recurrent" if decode else "chunk"
    if m.op == "ssd":
        if not decode:
            for chunk in CHUNKS:
                out.append(("mamba-ssm", f"mamba_chunk_scan_combined, chunks of {chunk}", mamba_scan(o, chunk)))
        else:
            out.append(("mamba-ssm", "selective_state_update", mamba_step(o)))
        step = F.softplus(o.dt.float() + o.dt_bias)
        fla("simple_gla", f"{way}_simple_gla", o.heads(o.c), o.heads(o.b), (o.x * step[..., None]).to(o.x.dtype), g=g, scale=1.0)
    elif m.op == "gated_retention":
        fla("simple_gla", f"{way}_simple_gla", o.heads(o.q), o.heads(o.k), o.v, g=g, scale=1.0)
    elif m.op == "gated_linear_attention":
        fla("gla", f"{way}_gla", o.q, o.k, o.v, **{"gk" if decode else "g": g}, scale=1.0)
    elif m.op == "rwkv6":
        fla("rwkv6", f"{way}_rwkv6", o.r, o.k, o.v, g, o.u, scale=1.0)
    elif m.op == "gated_delta_rule":
        fla("gated_delta_rule", f"{way}_gated_delta_rule", o.q, o.k, o.v, g=g, beta=o.beta, scale=1.0)
    elif m.op == "kimi_delta_attention":
        fla("kda", f"{way}_kda", o.q, o.k, o.v, g=g, beta=o.beta, scale=1.0)
    return out


def mamba_scan(o: Operands, chunk: int):
    def call():
        function = importlib.import_module("mamba_ssm.ops.triton.ssd_combined").mamba_chunk_scan_combined
        rate = -torch.exp(o.a_log)
        return lambda: function(o.x, o.dt, rate, o.b, o.c, chunk, D=o.d, dt_bias=o.dt_bias, dt_softplus=True)
    return call


def mamba_step(o: Operands):
    def call():
        function = importlib.import_module("mamba_ssm.ops.triton.selective_state_update").selective_state_update
        m = o.mixer
        state = torch.zeros(o.B, m.H, m.V, m.K, device=o.x.device)
        rate = (-torch.exp(o.a_log))[:, None, None].expand(m.H, m.V, m.K)
        each = lambda x: x[..., None].expand(*x.shape, m.V)
        arguments = (o.x[:, 0], each(o.dt[:, 0]), rate, o.b[:, 0], o.c[:, 0])

        def step():
            return function(state, *arguments, D=each(o.d), dt_bias=each(o.dt_bias), dt_softplus=True)
        step.reset = state.zero_
        return step
    return call


def timed(function) -> dict:
    """Medians, with cold caches as launches come, and as a replayed graph (whose caches are warm)."""
    import triton.testing
    out = {"seconds": triton.testing.do_bench(function, warmup=25, rep=100, return_mode="median") / 1e3}
    try:
        out["graph_seconds"] = triton.testing.do_bench_cudagraph(function, rep=60, return_mode="median") / 1e3
    except Exception as error:  # a kernel that cannot be captured has no such time
        out["graph_error"] = str(error).splitlines()[0][:200]
    return out


def compile_only(o: Operands, request: dict) -> None:
    """Calls every public kernel once, for what Triton keeps of it on disk."""
    for _, _, prepare in public(o, request["decode"]) if request["device"] == "cuda" else []:
        try:
            prepare()()
            torch.cuda.synchronize()
        except Exception:  # is told where the kernel is timed
            pass


def main() -> None:
    request = json.loads(sys.argv[1])
    o = Operands(request)
    if request["only_compile"]:
        compile_only(o, request)
        return
    expected = exact(o)
    ours = torch.frombuffer(bytearray((pathlib.Path(request["scratch"]) / "outputs.bin").read_bytes()), dtype=torch.float32)
    result = {"ours": errors(ours.to(expected.device), expected), "peers": []}
    print(json.dumps(result), flush=True)  # a public kernel may take the process with it
    for package, name, prepare in public(o, request["decode"]):
        one = {"package": package, "name": name}
        result["peers"].append(one)
        if request["device"] != "cuda":
            one["error"] = "runs on a GPU only"
            continue
        try:
            function = prepare()
            start = time.monotonic()
            found = function()
            torch.cuda.synchronize()
            one["first_call_seconds"] = time.monotonic() - start
            one |= errors(found, expected)
            one |= timed(function)
        except Exception as error:  # whatever a foreign package does, it is one line of the report
            one["error"] = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
