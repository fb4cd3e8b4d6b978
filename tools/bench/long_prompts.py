#!/usr/bin/env python3
"""Feeds a compiled model a long prompt and looks at time, memory and logits.

  tools/bench/long_prompts.py MODEL.effc [...] --out FILE.json

For each model: prompts of --short and --long tokens are prefilled and timed; the memory of the
process must be within the model's budget and the same after both; at --positions random places of
the long prompt the logits of prefill must be those of stepping, bit for bit; decode steps are timed
behind --depths tokens, the least of --repeat medians. --models FOLDER writes and compiles small models first, one per class
(long_models.py lists them), and measures those. --families FOLDER compiles recorded checkpoints of families, listed there
too. Of a model whose attention reads all keys, times may grow, and memory by what the budget says of a token.

Works on any artifact through the shared library, and loads nothing else; --models needs numpy.
"""
import argparse
import ctypes
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import time

NONE, LAST = 0, 1
MiB = 1 << 20


class Prompt(ctypes.Structure):
    _fields_ = [("session", ctypes.c_void_p), ("tokens", ctypes.POINTER(ctypes.c_int32)),
                ("count", ctypes.c_size_t), ("wanted", ctypes.c_int), ("out", ctypes.POINTER(ctypes.c_float)),
                ("size", ctypes.c_size_t)]


class Memory(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_uint64) for name in
                                              ("weights", "per_session", "arena", "logits", "tables",
                                               "fixed_per_session", "per_token")]


class HostOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_uint32)]


class Runtime:
    """A model on the host with one sequence, through the C API."""

    def __init__(self, library, path, threads):
        self.api = ctypes.CDLL(str(library))
        self.api.effc_status_message.restype = ctypes.c_char_p
        for name in ("effc_model_vocabulary_size", "effc_model_max_context"):
            getattr(self.api, name).restype = ctypes.c_uint64 if "max" in name else ctypes.c_uint32
        for name in ("effc_model_load", "effc_device_create_host", "effc_engine_create", "effc_session_create",
                     "effc_engine_prefill", "effc_engine_decode"):
            getattr(self.api, name).restype = ctypes.c_void_p
        self.model, self.device, self.engine, self.session = (ctypes.c_void_p() for _ in range(4))
        self.call("effc_model_load", str(path).encode(), ctypes.byref(self.model))
        options = HostOptions(ctypes.sizeof(HostOptions), threads)
        self.call("effc_device_create_host", ctypes.byref(options), ctypes.byref(self.device))
        self.call("effc_engine_create", self.model, self.device, None, ctypes.byref(self.engine))
        self.call("effc_session_create", self.engine, ctypes.byref(self.session))
        self.vocabulary = self.api.effc_model_vocabulary_size(self.model)
        self.most = self.api.effc_model_max_context(self.model)

    def call(self, name, *arguments):
        status = getattr(self.api, name)(*arguments)
        if status:
            sys.exit(f"{name}: {self.api.effc_status_message(ctypes.c_void_p(status)).decode()}")

    def budget(self):
        memory = Memory(size=ctypes.sizeof(Memory))
        self.api.effc_model_memory(self.model, ctypes.byref(memory))
        return {name: getattr(memory, name) for name, _ in Memory._fields_[1:]}

    def reset(self):
        self.api.effc_session_reset(self.session)

    def prefill(self, tokens, wanted=LAST):
        """Returns the last token's logits, as bytes, if wanted."""
        values = (ctypes.c_int32 * len(tokens))(*tokens)
        out = (ctypes.c_float * self.vocabulary)() if wanted else None
        prompt = Prompt(self.session, values, len(tokens), wanted, out, ctypes.sizeof(Prompt))
        self.call("effc_engine_prefill", self.engine, ctypes.byref(prompt), ctypes.c_size_t(1))
        return out

    def decode(self, token):
        out = (ctypes.c_float * self.vocabulary)()
        sessions = (ctypes.c_void_p * 1)(self.session)
        self.call("effc_engine_decode", self.engine, sessions, (ctypes.c_int32 * 1)(token), ctypes.c_size_t(1), out)
        return out


def own_memory():
    """Bytes of this process that no file backs."""
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    sys.exit("the system does not say how much memory is in use")


def timed(function, repeat):
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measure(options, path):
    before = own_memory()
    runtime = Runtime(options.library, path, options.threads)
    if runtime.most and runtime.most < options.long:
        sys.exit(f"{path}: its context ends at {runtime.most} positions; compile it with --max-context {options.long}")
    pick, loaded = random.Random(20261122), own_memory()
    tokens = [pick.randrange(runtime.vocabulary) for _ in range(options.long)]
    values = (ctypes.c_int32 * len(tokens))(*tokens)  # noqa: F841 -- what a prompt takes is taken before memory is read
    before += own_memory() - loaded
    result = {"model": pathlib.Path(path).stem, "budget": runtime.budget(), "prefill": {}}

    def prompt(length):
        runtime.reset()
        return runtime.prefill(tokens[:length])

    for length in (options.short, options.long):
        logits = prompt(length)  # pages are committed, caches filled
        seconds = 0 if options.no_times else timed(lambda: prompt(length), options.repeat)
        result["prefill"][length] = {"us_per_token": 1e6 * seconds / length, "bytes": own_memory() - before}
        if not all(map(math.isfinite, logits)):
            sys.exit(f"{path}: a prompt of {length} tokens ends in logits that are no numbers")

    places = sorted(pick.sample(range(options.long), options.positions))
    runtime.reset()
    stepped = {}
    for position, token in enumerate(tokens[:places[-1] + 1]):
        logits = runtime.decode(token)
        if position in places:
            stepped[position] = bytes(logits)
    runtime.reset()
    at, worst, same = 0, 0.0, 0
    for position in places:
        logits = runtime.prefill(tokens[at:position + 1])
        at = position + 1
        expected = (ctypes.c_float * runtime.vocabulary).from_buffer_copy(stepped[position])
        scale = max(map(abs, expected))
        worst = max(worst, max(abs(a - b) for a, b in zip(logits, expected)) / scale)
        same += bytes(logits) == stepped[position]
    result["positions"] = {"count": len(places), "same_bits": same, "largest_error": worst}

    # Depths take turns, so that a slow second of the machine is not that of one of them.
    rounds = {depth: [] for depth in options.depths}
    for _ in range(0 if options.no_times else options.repeat):
        for depth, medians in rounds.items():
            runtime.reset()
            runtime.prefill(tokens[:depth], NONE)
            steps = iter(tokens)
            medians.append(timed(lambda: runtime.decode(next(steps)), 128))
    result["decode"] = {depth: 1e6 * min(medians, default=0) for depth, medians in rounds.items()}
    return result


def judge(options, result):
    """What the long prompt is held to; returns the lines of what is not met."""
    short, long = (result["prefill"][length] for length in (options.short, options.long))
    budget = result["budget"]
    # A slot, the arena, one call's logits and the tables; a megabyte for the interpreter's own.
    most = budget["per_session"] + budget["arena"] + budget["logits"] + budget["tables"] + MiB
    steps = result["decode"].values()
    # Attention over all keys: each token has more to read, and leaves its own key.
    more = budget["per_token"] * (options.long - options.short) if grows(options, budget) else 0
    checks = {
        "time per token": more or long["us_per_token"] <= 1.15 * short["us_per_token"],
        "memory within the budget": long["bytes"] <= most,
        "memory of either length": abs(long["bytes"] - short["bytes"]) <= more + 2 * MiB,
        "logits of prefill and stepping": result["positions"]["same_bits"] == result["positions"]["count"],
        "decode at any position": more or max(steps) <= 1.15 * min(steps),
    }
    return [name for name, met in checks.items() if not met]


def grows(options, budget):
    """Whether a sequence still grows when all windows are full, which they are after the short prompt."""
    return budget["per_session"] > budget["fixed_per_session"] + budget["per_token"] * options.short


def show(options, result, unmet):
    short, long = (result["prefill"][length] for length in (options.short, options.long))
    places = result["positions"]
    parts = [f"{short['bytes'] / MiB:.1f} MiB at {options.short} tokens and {long['bytes'] / MiB:.1f} at {options.long}",
             f"logits {places['same_bits']} of {places['count']} the same bits, largest error {places['largest_error']:.1e}"]
    if not options.no_times:
        decode = ", ".join(f"{result['decode'][depth]:.1f}" for depth in options.depths)
        parts += [f"prefill {short['us_per_token']:.2f} and {long['us_per_token']:.2f} us a token", f"a step {decode} us"]
    if unmet:
        parts.append(f"NOT MET: {', '.join(unmet)}")
    print(f"{result['model']}: {'; '.join(parts)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--library", default="build/release/runtime/libeffc.so")
    parser.add_argument("--effc", default="build/release/bin/effc")
    parser.add_argument("--models", dest="folder", type=pathlib.Path, help="write and compile small models there, and measure those too")
    parser.add_argument("--families", type=pathlib.Path, help="compile recorded checkpoints there, and measure those too")
    parser.add_argument("--only", nargs="*", help="of --families, such as jamba")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--no-times", action="store_true", help="memory and logits alone; times are 0 in --out")
    parser.add_argument("--short", type=int, default=2048)
    parser.add_argument("--long", type=int, default=32768)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--depths", type=lambda text: [int(depth) for depth in text.split(",")], default=[100, 4096, 24576])
    options = parser.parse_args()
    models = list(options.models)
    if options.folder:
        import long_models
        models += long_models.compile_all(options.effc, options.folder)
    if options.families:
        import long_families
        models += long_families.compile_all(options.effc, options.families, options.long, options.only)
    if not models:
        parser.error("no model is named; --models FOLDER and --families FOLDER make some")
    results, failed = [], False
    for path in models:
        # A process each, so that one model's memory is not another's.
        if len(models) > 1:
            command = [sys.executable, __file__, path, "--out", path.with_suffix(".json")] + [
                f"--{name}={getattr(options, name)}" for name in
                ("library", "threads", "repeat", "short", "long", "positions")] + [
                "--depths=" + ",".join(map(str, options.depths))] + ["--no-times"] * options.no_times
            failed |= subprocess.run(command).returncode != 0
            results += json.loads(path.with_suffix(".json").read_text())["results"]
            continue
        result = measure(options, path)
        unmet = judge(options, result)
        show(options, result, unmet)
        failed |= bool(unmet)
        results.append(result)
    if options.out:
        options.out.write_text(json.dumps({"short": options.short, "long": options.long, "threads": options.threads,
                                           "results": results}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
