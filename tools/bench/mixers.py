#!/usr/bin/env python3
"""Measures one mixer at a time: its prefill and decode calls alone, in each of its forms.

For each mixer and head size a model of one layer is written as IR (an embedding
whose rows hold the operands of every token, the mixer, a choice of rows), compiled with
random weights, once as effc chooses and once for each form that has kernels of its own, and
measured by `effc bench`: one form after another, and all of them again, --rounds times. FLOPs
are those of the mixer's cheapest form; what the embedding copies is part of the time. For
elementwise recurrences a model without the mixer is measured as well and its time taken off:
what is left is compared with the bytes of the operands and results.

  tools/bench/mixers.py --effc build/release/bin/effc --output results/FILE.json
"""
import argparse
import json
import pathlib
import struct
import statistics
import subprocess
import sys
import tempfile

import numpy

# Token operands, parameters and states as dimension letters, attributes.
QKV = ["TGK", "TGK", "THV"]
OWN = ["THK", "THK", "THV"]
MIXERS = {
    "linear_attention": (QKV, [], ["HKV"], ""),
    "retention": (QKV, ["H"], ["HKV"], ""),
    "gated_retention": (QKV + ["TH"], [], ["HKV"], ""),
    "ssd": (["THV", "TH", "TGK", "TGK"], ["H", "H", "H"], ["HKV"], ""),
    "mlstm": (QKV + ["TH", "TH"], [], ["HKV", "HK", "H"], "eps = 1.0e-6 : f64"),
    "gated_linear_attention": (OWN + ["THK"], [], ["HKV"], "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>"),
    "gated_linear_attention, both gates": (OWN + ["THK", "THV"], [], ["HKV"],
                                           "operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>"),
    "hgrn2": (["THK", "THK", "THV"], ["HK"], ["HKV"], ""),
    "rodimus": (OWN + ["THK", "THK", "THV"], ["HV"], ["HKV"], ""),
    "rwkv6": (OWN + ["THK"], ["HK"], ["HKV"], ""),
    "delta_rule": (QKV + ["TH"], [], ["HKV"], ""),
    "gated_delta_rule": (QKV + ["TH", "TH"], ["H", "H"], ["HKV"], ""),
    "kimi_delta_attention": (QKV + ["TH", "THK"], ["H", "HK"], ["HKV"], ""),
    "rwkv7": (["THK", "THK", "THK", "THV", "THK", "THK"], [], ["HKV"], ""),
}
# A state of one vector per head; P stands for the positions.
ELEMENTWISE = {
    "hgrn": (["THV", "THV"], ["HV"], ["H1V"], ""),
    "rg_lru": (["THV", "THV", "THV", "P"], ["HV"], ["H1V"], ""),
    "rwkv4": (["THV", "THV"], ["HV", "HV"], ["H1V", "H1V", "HV"], ""),
    "structured_recurrence": (["THV", "TH", "TH"], ["H"], ["H1V"],
                              "operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1, 1>"),
}
FORMS = ["step", "chunkwise:16", "chunkwise:64", "quadratic"]


HEAD = 'module attributes {{seq.model = #seq.model<family = "{name}", vocabulary = {rows}, width = {width}, max_context = 0>}} {{\n'


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{'?' if extent is None else extent}x" for extent in shape) + element + ">"


def model(name, sizes, empty=False):
    """The text of a model of one mixer, and its weights. An empty one lacks the mixer."""
    tokens, parameters, states, attributes = {**MIXERS, **ELEMENTWISE}[name]
    op = name.split(",")[0]
    sizes = {**sizes, "1": 1}
    positions = ", %positions: tensor<?xi32>" if "P" in tokens else ""
    shape = lambda letters: [None if letter == "T" else sizes[letter] for letter in letters]
    count = lambda letters: int(numpy.prod([sizes[letter] for letter in letters if letter != "T"]))
    width = sum(count(letters) for letters in tokens if letters != "P")
    # The results are the logits, so that the table has as many rows.
    rows = sizes["H"] * sizes["V"]
    flat = tensor([None, rows])
    table, packed = tensor([rows, width]), tensor([None, width])
    weights = {"table": [rows, width]}
    lines = [f'seq.weight @table source("table") : {table}']
    for index, letters in enumerate(parameters):
        weights[f"p{index}"] = shape(letters)
        lines.append(f'seq.weight @p{index} source("p{index}") : {tensor(shape(letters))}')
    first = len(tokens) + len(parameters)
    arguments = "".join(f', %a{first + i}: {tensor(shape(s))} {{seq.state_name = "s{i}"}}' for i, s in enumerate(states))
    results = ", ".join([flat] + [tensor(shape(s)) for s in states])
    lines += [f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>{positions}{arguments}) -> ({results}) {{",
              f"  %table = seq.parameter @table : {table}",
              f"  %in = seq.embedding %tokens, %table : (tensor<?xi32>, {table}) -> {packed}"]
    offset = 0
    for index, letters in enumerate(tokens):
        if letters == "P":
            continue
        part = tensor([None, count(letters)])
        lines += [f"  %f{index} = seq.slice %in {{axis = 1 : i64, offset = {offset} : i64, size = {count(letters)} : i64}} : {packed} -> {part}",
                  f"  %a{index} = seq.reshape %f{index} : {part} -> {tensor(shape(letters))}"]
        offset += count(letters)
    for index, letters in enumerate(parameters):
        lines.append(f"  %a{len(tokens) + index} = seq.parameter @p{index} : {tensor(shape(letters))}")
    every = tokens + parameters + states
    names = ", ".join("%positions" if letters == "P" else f"%a{i}" for i, letters in enumerate(every))
    types = ", ".join("tensor<?xi32>" if letters == "P" else tensor(shape(letters)) for letters in every)
    y = tensor(shape("THV"))
    outputs = ", ".join([y] + [tensor(shape(s)) for s in states])
    if empty:
        values = next(i for i, letters in enumerate(tokens) if letters == "THV")
        results, states = flat, []
        lines = [line for line in lines if "func.func" not in line]
        lines.insert(len(weights), f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>{positions}) -> {flat} {{")
        lines += [f"  %out = seq.select_rows %f{values}, %rows : ({flat}, tensor<?xi32>) -> {flat}",
                  f"  return %out : {flat}", "}"]
        body = "\n".join(lines)
        return HEAD.format(name=name, rows=rows, width=width) + body + "\n}\n", weights
    lines += [f'  %r:{1 + len(states)} = "seq.{op}"({names}) {{{attributes}}} : ({types}) -> ({outputs})',
              f"  %y = seq.reshape %r#0 : {y} -> {flat}",
              f"  %out = seq.select_rows %y, %rows : ({flat}, tensor<?xi32>) -> {flat}",
              "  return " + ", ".join(["%out"] + [f"%r#{1 + i}" for i in range(len(states))]) + f" : {results}", "}"]
    body = "\n".join(lines)
    return HEAD.format(name=name, rows=rows, width=width) + body + "\n}\n", weights


def write_weights(path, weights, random):
    header, data = {}, b""
    for name, shape in weights.items():
        values = random.uniform(-1, 0, shape).astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Bench:
    """Compiles models in one folder and measures them."""

    def __init__(self, options, folder):
        self.options, self.folder, self.random = options, folder, numpy.random.default_rng(20261122)

    def effc(self, *arguments):
        command = [self.options.effc, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        return done.stdout

    def compile(self, artifact, name, sizes, form=None, empty=False):
        """Returns the checksum of the code."""
        text, weights = model(name, sizes, empty)
        (self.folder / "model.mlir").write_text(text)
        write_weights(self.folder / "model.safetensors", weights, self.random)
        forced = ["--force-form", form] if form else []
        self.effc("compile", self.folder / "model.mlir", "--weights-from", self.folder, *forced, "-o", artifact)
        segments = json.loads(self.effc("inspect", "--json", artifact))["segments"]
        return next(segment["checksum"] for segment in segments if segment["kind"] == "host_code")

    def measure(self, artifact, tokens, decode):
        """Seconds of a prefill and of a decode step (medians), FLOPs and rates."""
        text = self.effc("bench", artifact, "--prefill", ",".join(map(str, tokens)), "--decode", decode, "--repeat", 5, "--batch", 1,
                         "--threads", self.options.threads, "--json")
        bench = json.loads(text)
        del bench["file"]  # of a folder that is gone
        return bench

    def forms(self, name, sizes):
        """The chosen form and all others whose code differs, each with its rounds."""
        artifacts, codes = {}, {}
        for form in [None, *FORMS]:
            artifact = self.folder / f"{form or 'chosen'}.effc"
            code = self.compile(artifact, name, sizes, form)
            if code not in codes:
                codes[code] = form or "chosen"
                artifacts[form or "chosen"] = artifact
        rounds = {form: [] for form in artifacts}
        for _ in range(self.options.rounds):
            for form, artifact in artifacts.items():
                rounds[form].append(self.measure(artifact, [self.options.tokens], 64))
        return rounds

    def lengths(self, name, sizes):
        """Seconds per token at four lengths."""
        artifact = self.folder / "chosen.effc"
        self.compile(artifact, name, sizes)
        results = self.measure(artifact, [512, 1024, 2048, 4096], 0)["results"]
        return {result["tokens"]: result["seconds_median"] / result["tokens"] for result in results}


def prefill_of(bench):
    return bench["results"][0]


def best(rounds):
    """The least median of a form's rounds: what other work on the machine took least from."""
    return min(prefill_of(bench)["seconds_median"] for bench in rounds)


def print_matrix(records):
    print("mixer                               head     tokens/s (chosen)  of product rate   other forms, times the chosen one's time")
    for record in records:
        chosen = min(record["forms"]["chosen"], key=lambda bench: prefill_of(bench)["seconds_median"])
        prefill = prefill_of(chosen)
        share = prefill["flops"] / prefill["seconds_median"] / prefill["gemm_flops_per_second"]
        others = ", ".join(f"{form} {best(rounds) / best(record['forms']['chosen']):.2f}"
                           for form, rounds in record["forms"].items() if form != "chosen")
        print(f"{record['mixer']:35s} {record['keys']:3d}x{record['values']:<4d} {prefill['tokens_per_second']:16.0f} "
              f"{100 * share:14.0f} %   {others or 'none has a kernel'}")


def print_elementwise(records):
    print("mixer                     channels   ns/token   bytes/token   of the bytes' floor")
    for record in records:
        print(f"{record['mixer']:25s} {record['channels']:8d} {1e9 * record['seconds_per_token']:10.0f} "
              f"{record['bytes_per_token']:12d} {100 * record['of_floor']:14.0f} %")


def elementwise(bench, name, sizes, tokens):
    """What a mixer adds to a model without it, beside the time its bytes take."""
    with_it, without = bench.folder / "with.effc", bench.folder / "without.effc"
    bench.compile(with_it, name, sizes)
    bench.compile(without, name, sizes, empty=True)
    differences, rates = [], []
    for _ in range(bench.options.rounds):
        full, rest = (prefill_of(bench.measure(path, [tokens], 0)) for path in (with_it, without))
        differences.append((full["seconds_median"] - rest["seconds_median"]) / tokens)
        rates.append(full["read_bytes_per_second"])
    channels = sizes["H"] * sizes["V"]
    operands = ELEMENTWISE[name][0]
    moved = 4 * (channels + sum(channels if letters == "THV" else sizes["H"] for letters in operands if letters != "P"))
    seconds = statistics.median(differences)
    return {"mixer": name, "channels": channels, "seconds_per_token": seconds, "all_seconds": differences,
            "bytes_per_token": moved, "read_bytes_per_second": rates,
            "of_floor": moved / statistics.median(rates) / seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effc", required=True, help="the program")
    parser.add_argument("--output", help="where to write the numbers as JSON")
    parser.add_argument("--mixers", nargs="*", default=[*MIXERS, *ELEMENTWISE], choices=[*MIXERS, *ELEMENTWISE])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--sizes", nargs="*", default=["64x64", "128x128"], help="key x value channels of a head")
    parser.add_argument("--tokens", type=int, default=2048, help="tokens of a prompt")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3, help="times that all forms are measured")
    options = parser.parse_args()
    records = {"matrix": [], "elementwise": [], "lengths": []}
    for size in options.sizes:
        keys, values = map(int, size.split("x"))
        sizes = {"H": options.heads, "G": options.heads, "K": keys, "V": values}
        for name in options.mixers:
            print(f"{name} {size} ...", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                bench = Bench(options, pathlib.Path(folder))
                about = {"mixer": name, "heads": options.heads, "keys": keys, "values": values}
                if name in ELEMENTWISE:
                    records["elementwise"].append(elementwise(bench, name, sizes, options.tokens))
                else:
                    records["matrix"].append({**about, "forms": bench.forms(name, sizes)})
                records["lengths"].append({**about, "seconds_per_token": bench.lengths(name, sizes)})
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(records, indent=1) + "\n")
    print_matrix(records["matrix"])
    print_elementwise(records["elementwise"])
    print("us/token of a prompt of             512      1024     2048     4096 tokens")
    for record in records["lengths"]:
        times = "".join(f"{1e6 * seconds:9.2f}" for seconds in record["seconds_per_token"].values())
        print(f"{record['mixer']:25s} {record['keys']:3d}x{record['values']:<3d} {times}")


if __name__ == "__main__":
    main()
