#!/usr/bin/env python3
"""Measures effc beside the public transformers library (and llama.cpp, where llama-bench is on the PATH).

All of it in one run on one machine with the same threads, on random weights of
the shape that --shape names; for each storage type effc with one sequence, the
peer, effc with many sequences follow one another. Writes JSON with every number
and prints them as a table.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import make_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = {"f32": "float32", "bf16": "bfloat16"}


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(command, **options):
    """Runs to the end; returns standard output and what the system counted."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               **options)
    out, err = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"bench.py: error: {' '.join(map(str, command))}: {err.strip()}")
    return out, time.perf_counter() - start


def compile_model(effc, checkpoint, dtype, out, max_batch):
    """Compiles in a process of its own kind, so that its peak memory can be asked for."""
    command = [effc, "compile", checkpoint, "-o", out, "--dtype", dtype, "--max-batch",
               str(max_batch)]
    code = ("import resource, subprocess, sys, time; s = time.perf_counter();"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL,"
            " stderr=subprocess.DEVNULL);"
            "print(time.perf_counter() - s,"
            " resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    text, _ = run([sys.executable, "-c", code, *map(str, command)])
    seconds, kibibytes = text.split()
    return {"seconds": float(seconds), "peak_bytes": int(kibibytes) * 1024,
            "file_bytes": os.path.getsize(out),
            "mapped_weights_bytes": sum(f.stat().st_size for f in checkpoint.glob("*.safetensors"))}


def bench_effc(effc, artifact, options, batches, prefill, decode):
    text, _ = run([effc, "bench", artifact, "--json", "--threads", str(options.threads),
                   "--repeat", str(options.repeat), "--batch", ",".join(map(str, batches)),
                   "--prefill", ",".join(map(str, prefill)) or "0", "--decode", str(decode)])
    result = json.loads(text)
    result["file"] = artifact.name
    return result


def first_token(effc, artifact, threads):
    """Seconds from the start of a process to its end, one token of a prompt of 16."""
    tokens = ",".join(str(i) for i in range(1, 17))
    return min(run([effc, "run", artifact, "--tokens", tokens, "-n", "1", "--threads",
                    str(threads), "--print-tokens"])[1] for _ in range(5))


class Transformers:
    """The public library's model, as its documentation uses it."""

    def __init__(self, checkpoint, dtype, threads):
        import torch
        import transformers
        self.torch = torch
        torch.set_num_threads(threads)
        transformers.logging.set_verbosity_error()
        start = time.perf_counter()
        self.model = transformers.Mamba2ForCausalLM.from_pretrained(
            checkpoint, dtype=getattr(torch, dtype))
        self.model.eval()
        self.load_seconds = time.perf_counter() - start

    def prefill(self, tokens):
        ids = self.torch.arange(1, tokens + 1)[None]
        with self.torch.inference_mode():
            start = time.perf_counter()
            self.model(ids, use_cache=True, logits_to_keep=1)
            return time.perf_counter() - start

    def decode(self, steps):
        ids = self.torch.arange(1, 17)[None]
        with self.torch.inference_mode():
            out = self.model(ids, use_cache=True)
            start = time.perf_counter()
            for _ in range(steps):
                token = out.logits[:, -1:].argmax(-1)
                out = self.model(token, cache_params=out.cache_params, use_cache=True)
            return (time.perf_counter() - start) / steps


def torch_gemm_rate(threads, size=2048):
    """FLOPs per second of torch.mm on squares, the best of 10."""
    import torch
    torch.set_num_threads(threads)
    a, b = torch.randn(size, size), torch.randn(size, size)
    best = min(_timed(lambda: torch.mm(a, b)) for _ in range(10))
    return 2 * size ** 3 / best


def _timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def quantiles(values):
    values = sorted(values)
    return {"median": statistics.median(values), "best": values[0], "worst": values[-1],
            "runs": len(values)}


def bench_peer(peer, options):
    result = {"load_seconds": peer.load_seconds, "prefill": {}, "decode": None}
    for tokens in options.prefill:
        peer.prefill(16)
        result["prefill"][tokens] = quantiles(
            [peer.prefill(tokens) for _ in range(options.peer_repeat)])
    result["decode"] = quantiles([peer.decode(16) for _ in range(options.peer_repeat)])
    return result


def bench_llama(gguf, options):
    """What llama-bench measured, as bench_peer() states it, or why there is nothing."""
    program = shutil.which("llama-bench")
    if not program:
        return {"skipped": "llama-bench is not on the PATH"}
    if not gguf:
        return {"skipped": "no --gguf file of this storage type was given"}
    text, _ = run([program, "-m", gguf, "-t", str(options.threads), "-r", str(options.peer_repeat),
                   "-p", ",".join(map(str, options.prefill)), "-n", str(options.decode),
                   "-o", "json"])
    try:
        return read_llama(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"bench.py: error: {program}: its JSON is not understood: {error!r}")


def read_llama(tests):
    """llama-bench's list of tests: each has n_prompt or n_gen tokens, the seconds of every run in nanoseconds."""
    result = {"tests": tests, "prefill": {}, "decode": None}
    for test in tests:
        runs = [nanoseconds * 1e-9 for nanoseconds in test["samples_ns"]]
        if test["n_prompt"] > 0 and test["n_gen"] == 0:
            result["prefill"][test["n_prompt"]] = quantiles(runs)
        elif test["n_gen"] > 0 and test["n_prompt"] == 0:
            result["decode"] = quantiles([seconds / test["n_gen"] for seconds in runs])
    return result


def machine():
    model = platform.processor()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform()}


def peer_rate(peer, row):
    """A peer's tokens/s in the case of a row, or "-": peers are measured with one sequence."""
    if not peer or "skipped" in peer or row["batch"] != 1:
        return "-"
    if row["call"] == "decode":
        return f"{1 / peer['decode']['median']:.1f}" if peer["decode"] else "-"
    one = peer["prefill"].get(row["tokens"])
    return f"{row['tokens'] / one['median']:.1f}" if one else "-"


def table(results):
    lines = ["| storage | call | batch | effc tokens/s | of its floor | transformers tokens/s | llama.cpp tokens/s |",
             "|---|---|---|---|---|---|---|"]
    for dtype, one in results["models"].items():
        for row in one["effc"]["results"]:
            call = "decode" if row["call"] == "decode" else f"prefill {row['tokens']}"
            cached = ", in cache" if row["in_cache"] else ""
            lines.append(f"| {dtype} | {call} | {row['batch']} | {row['tokens_per_second']:.1f} | "
                         f"{100 * row['fraction']:.0f} %{cached} | {peer_rate(one['transformers'], row)} | "
                         f"{peer_rate(one['llama'], row)} |")
    return "\n".join(lines)


def gguf_file(text):
    """An argument DTYPE=FILE."""
    dtype, equals, path = text.partition("=")
    if dtype not in DTYPES or not equals or not path:
        raise argparse.ArgumentTypeError(
            f"expects DTYPE=FILE with a DTYPE of {', '.join(DTYPES)}, but got '{text}'")
    return dtype, path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="JSON file to write")
    parser.add_argument("--effc", type=pathlib.Path, default=ROOT / "build/release/bin/effc")
    parser.add_argument("--work", type=pathlib.Path, help="folder for checkpoints and artifacts")
    parser.add_argument("--shape", choices=make_model.SHAPES, default="mamba2-130m")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--prefill", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--decode", type=int, default=64)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peer-repeat", type=int, default=3)
    parser.add_argument("--no-transformers", action="store_true")
    parser.add_argument("--gguf", type=gguf_file, nargs="+", default=[], metavar="DTYPE=FILE",
                        help="the same shape and storage type as a GGUF file, for llama-bench")
    options = parser.parse_args()

    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix="effc-bench-"))
    results = {"machine": machine(), "threads": options.threads, "shape": options.shape,
               "models": {}}
    for dtype in options.dtypes:
        checkpoint, artifact = work / f"{options.shape}-{dtype}", work / f"{options.shape}-{dtype}.effc"
        if not (checkpoint / "model.safetensors").exists():
            say(f"{dtype}: writing random weights")
            make_model.write(checkpoint, make_model.SHAPES[options.shape], DTYPES[dtype], seed=0)
        say(f"{dtype}: compiling")
        one = {"compile": compile_model(options.effc, checkpoint, dtype, artifact,
                                        max(options.batches))}
        say(f"{dtype}: effc, one sequence")
        one["effc"] = bench_effc(options.effc, artifact, options, [1], options.prefill,
                                 options.decode)
        one["first_token_process_seconds"] = first_token(options.effc, artifact, options.threads)
        one["transformers"] = None
        if not options.no_transformers:
            say(f"{dtype}: transformers")
            peer = Transformers(checkpoint, DTYPES[dtype], options.threads)
            one["transformers"] = bench_peer(peer, options)
            del peer
            one["torch_gemm_flops_per_second"] = torch_gemm_rate(options.threads)
        one["effc_batched"] = None
        if many := [b for b in options.batches if b > 1]:
            say(f"{dtype}: effc, many sequences")
            one["effc_batched"] = bench_effc(options.effc, artifact, options, many, [], 8)
            one["effc"]["results"] += one["effc_batched"]["results"]
        one["llama"] = bench_llama(dict(options.gguf).get(dtype), options)
        results["models"][dtype] = one
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()
