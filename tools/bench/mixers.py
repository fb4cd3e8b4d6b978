#!/usr/bin/env python3
"""Measures one mixer at a time: its prefill and decode calls alone, in each of its forms.

For each mixer and head size a model of one layer is written as IR (an embedding
whose rows hold the operands of every token, the mixer, a choice of rows), compiled with
random weights, once as effc chooses and once for each form that has kernels of its own, and
measured by `effc bench`: one form after another, and all of them again, --rounds times. FLOPs
are those of the mixer's cheapest form. A model without the mixer is measured as well, and its
time taken off: the embedding copies operands that in a model a product writes.

Beside each row stands what bounds it besides its FLOPs. A state element takes the products of
PRODUCTS each token, one instruction each, of which the product rate says how many a second are
done; gates and elementwise recurrences take functions of each channel, whose time is measured
too: models of one function more than another, applied to as many channels. --functions measures
these alone.

  tools/bench/mixers.py --effc build/release/bin/effc --output results/FILE.json
"""
import argparse
import json
import math
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
    "gated_delta_rule_2": (QKV + ["TGK", "THV", "THK"], ["H", "HK"], ["HKV"], ""),
    "kimi_delta_attention": (QKV + ["TH", "THK"], ["H", "HK"], ["HKV"], ""),
    "rwkv7": (["THK", "THK", "THK", "THV", "THK", "THK"], [], ["HKV"], ""),
    "normalised_attention": (QKV, [], ["HKV", "HK"], "eps = 1.0e-6 : f64"),
    "normalised_rotary": (["TGK", "TGK"] + QKV + ["TH"], ["H", "H"], ["HKV", "HK"], "eps = 1.0e-6 : f64"),
    "dynamic_mask_linear": (QKV + ["TH"], [], ["HKV"], ""),
    "selective_scan": (["THV", "THV", "TGK", "TGK"], ["HKV", "HV", "HV"], ["HKV"], ""),
    "s4d": (["THV"], ["HV", "HKV", "HKV", "HKV", "HKV", "HV"], ["HKV", "HKV"], ""),
    "attention": (["THK", "TGK", "TGV", "P"], [], ["WGK", "WGV"],
                  "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0>, scale = 0.125 : f64, "
                  "window = {W} : i64"),
}
# A state of one vector per head; P stands for the positions.
ELEMENTWISE = {
    "hgrn": (["THV", "THV"], ["HV"], ["H1V"], ""),
    "rg_lru": (["THV", "THV", "THV", "P"], ["HV"], ["H1V"], ""),
    "rwkv4": (["THV", "THV"], ["HV", "HV"], ["H1V", "H1V", "HV"], ""),
    "structured_recurrence": (["THV", "TH", "TH"], ["H"], ["H1V"],
                              "operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1, 1>"),
}
# Multiplications, fused with an addition or not, that each element of a state takes for a token:
# decays, an update and a reading; delta rules probe the state as well and correct it. Selective
# scans multiply each element's rate by the step; complex elements take four for the decay, and two
# each for what is written and read.
PRODUCTS = {
    "linear_attention": 2, "retention": 3, "gated_retention": 3, "ssd": 3, "mlstm": 3,
    "gated_linear_attention": 3, "gated_linear_attention, both gates": 4, "hgrn2": 3, "rodimus": 3, "rwkv6": 3,
    "delta_rule": 3, "gated_delta_rule": 4, "gated_delta_rule_2": 4, "kimi_delta_attention": 4, "rwkv7": 5,
    "normalised_attention": 2, "normalised_rotary": 3, "dynamic_mask_linear": 2, "selective_scan": 4, "s4d": 8,
}
# Functions of a head and token by the dimensions that they are of, such as each key channel (K)
# and each value channel (V): "K+V". A gate beside its complement is one sigmoid; of two exponentials
# below a running maximum one is 1. Quotients and roots are not counted: beside exponentials their
# time is within what measurements scatter.
FUNCTIONS = {
    "gated_linear_attention": {"log_sigmoid": "K", "exp": "K"},
    "gated_linear_attention, both gates": {"log_sigmoid": "K+V", "exp": "K+V"},
    "hgrn2": {"sigmoid": "K"},
    "rodimus": {"sigmoid": "K", "softplus": "K", "log": "K", "exp": "K+K"},
    "rwkv6": {"exp": "K+K"},
    "gated_delta_rule_2": {"softplus": "K", "exp": "K"},
    "kimi_delta_attention": {"softplus": "K", "exp": "K"},
    "rwkv7": {"sigmoid": "K", "exp": "K"},
    "selective_scan": {"softplus": "V", "exp": "KV"},
    "attention": {"exp": "W"},
    "hgrn": {"sigmoid": "V"},
    "rg_lru": {"sigmoid": "V+V", "exp": "V"},
    "rwkv4": {"exp": "V+V"},
}
WINDOW = 256  # keys that attention sees
FORMS = ["step", "chunkwise:16", "chunkwise:64", "quadratic"]


HEAD = 'module attributes {{seq.model = #seq.model<family = "{name}", vocabulary = {rows}, width = {width}, max_context = 0>}} {{\n'


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{'?' if extent is None else extent}x" for extent in shape) + element + ">"


def model(name, sizes, empty=False):
    """The text of a model of one mixer, and its weights. An empty one lacks the mixer."""
    tokens, parameters, states, attributes = {**MIXERS, **ELEMENTWISE}[name]
    op = name.split(",")[0]
    sizes, attributes = {**sizes, "1": 1}, attributes.format(**sizes)
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
        results, states = flat, []
        lines = [line for line in lines if "func.func" not in line]
        lines.insert(len(weights), f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>{positions}) -> {flat} {{")
        lines += [f"  %y = seq.slice %in {{axis = 1 : i64, offset = 0 : i64, size = {rows} : i64}} : {packed} -> {flat}",
                  f"  %out = seq.select_rows %y, %rows : ({flat}, tensor<?xi32>) -> {flat}",
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

    def seconds_of_functions(self, width=1024):
        """Seconds of one element of each function: as a part of a map, its operands at hand."""
        def run(ops):
            lines = ["  %x = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = " f"{width} : i64}} : {wide} -> {wide}"]
            value = "%x"
            for index, op in enumerate(ops):
                lines.append(f'  %v{index} = "seq.{op}"({value}) : ({wide}) -> {wide}')
                value = f"%v{index}"
            body = [f'seq.weight @table source("table") : {table}',
                    f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> {wide} {{",
                    f"  %table = seq.parameter @table : {table}",
                    f"  %in = seq.embedding %tokens, %table : (tensor<?xi32>, {table}) -> {wide}", *lines,
                    f"  %out = seq.select_rows {value}, %rows : ({wide}, tensor<?xi32>) -> {wide}", f"  return %out : {wide}", "}"]
            (self.folder / "model.mlir").write_text(HEAD.format(name="functions", rows=width, width=width) + "\n".join(body) + "\n}\n")
            write_weights(self.folder / "model.safetensors", {"table": [width, width]}, self.random)
            artifact = self.folder / "functions.effc"
            self.effc("compile", self.folder / "model.mlir", "--weights-from", self.folder, "-o", artifact)
            return min(prefill_of(self.measure(artifact, [self.options.tokens], 0))["seconds_p10"]
                       for _ in range(2 * self.options.rounds)) / self.options.tokens / width

        wide, table = tensor([None, width]), tensor([width, width])
        # A function is applied twice more, to what keeps its results in range.
        base = {"exp": ["sigmoid"], "sigmoid": ["sigmoid"], "log_sigmoid": ["sigmoid"], "softplus": ["sigmoid"],
                "log": ["softplus"]}
        more = {"log": ["log", "softplus", "log", "softplus"]}
        seconds = {}
        for op, first in base.items():
            added = run(first + more.get(op, [op, op])) - run(first)
            seconds[op] = added / 2
        seconds["log"] -= seconds["softplus"]
        return seconds

    def forms(self, name, sizes):
        """The chosen form and all others whose code differs, each with its rounds."""
        artifacts, codes = {}, {}
        for form in [None, *FORMS]:
            artifact = self.folder / f"{form or 'chosen'}.effc"
            code = self.compile(artifact, name, sizes, form)
            if code not in codes:
                codes[code] = form or "chosen"
                artifacts[form or "chosen"] = artifact
        empty = self.folder / "without.effc"
        self.compile(empty, name, sizes, empty=True)
        rounds, without = {form: [] for form in artifacts}, []
        for _ in range(self.options.rounds):
            for form, artifact in artifacts.items():
                rounds[form].append(self.measure(artifact, [self.options.tokens], 64))
            without.append(prefill_of(self.measure(empty, [self.options.tokens], 0))["seconds_median"])
        return {"forms": rounds, "seconds_without": without}

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


def seconds_of_gates(name, sizes, functions):
    """Of the functions that one token of a head takes."""
    return sum(functions[op] * sum(math.prod(sizes[letter] for letter in term) for term in terms.split("+"))
               for op, terms in FUNCTIONS.get(name, {}).items())


def products_of(name, sizes):
    """Multiplications that one token of a head takes; of attention, those of keys and values in sight."""
    if name == "attention":
        return sizes["W"] * (sizes["K"] + sizes["V"])
    return PRODUCTS[name] * sizes["K"] * sizes["V"]


def print_matrix(records, functions):
    print("mixer                               head     tokens/s (chosen)  of product rate   could be   other forms, times the chosen one's time")
    for record in records:
        chosen = min(record["forms"]["chosen"], key=lambda bench: prefill_of(bench)["seconds_median"])
        prefill = prefill_of(chosen)
        # The whole call's tokens, the mixer's own share of the product rate.
        seconds = prefill["seconds_median"] - min(record["seconds_without"])
        ideal = prefill["flops"] / prefill["gemm_flops_per_second"]
        share = ideal / seconds
        sizes = {"K": record["keys"], "V": record["values"], "W": WINDOW}
        products = 2 * products_of(record["mixer"], sizes) / prefill["gemm_flops_per_second"]
        bound = prefill["tokens"] * record["heads"] * (products + seconds_of_gates(record["mixer"], sizes, functions))
        others = ", ".join(f"{form} {best(rounds) / best(record['forms']['chosen']):.2f}"
                           for form, rounds in record["forms"].items() if form != "chosen")
        print(f"{record['mixer']:35s} {record['keys']:3d}x{record['values']:<4d} {prefill['tokens_per_second']:16.0f} "
              f"{100 * share:14.0f} % {100 * ideal / bound:8.0f} %   {others or 'none has a kernel'}")


def print_elementwise(records, functions):
    print("mixer                     channels   ns/token   bytes/token   ns of bytes   ns of functions   of the larger")
    for record in records:
        moving = record["bytes_per_token"] / statistics.median(record["read_bytes_per_second"])
        computing = seconds_of_gates(record["mixer"], {"V": record["channels"]}, functions)
        print(f"{record['mixer']:25s} {record['channels']:8d} {1e9 * record['seconds_per_token']:10.0f} "
              f"{record['bytes_per_token']:12d} {1e9 * moving:13.0f} {1e9 * computing:17.0f} "
              f"{100 * max(moving, computing) / record['seconds_per_token']:14.0f} %")


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
    parser.add_argument("--lengths", action="store_true", help="measure prompts of 512 to 4,096 tokens as well")
    parser.add_argument("--functions", action="store_true", help="measure the functions alone")
    options = parser.parse_args()
    records = {"matrix": [], "elementwise": [], "lengths": []}
    with tempfile.TemporaryDirectory() as folder:
        records["functions"] = Bench(options, pathlib.Path(folder)).seconds_of_functions()
    print("ns per element of " + ", ".join(f"{op} {1e9 * seconds:.2f}" for op, seconds in records["functions"].items()))
    if options.functions:
        return
    for size in options.sizes:
        keys, values = map(int, size.split("x"))
        sizes = {"H": options.heads, "G": options.heads, "K": keys, "V": values, "W": WINDOW}
        for name in options.mixers:
            print(f"{name} {size} ...", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                bench = Bench(options, pathlib.Path(folder))
                about = {"mixer": name, "heads": options.heads, "keys": keys, "values": values}
                if name in ELEMENTWISE:
                    records["elementwise"].append(elementwise(bench, name, sizes, options.tokens))
                else:
                    records["matrix"].append({**about, **bench.forms(name, sizes)})
                if options.lengths:
                    records["lengths"].append({**about, "seconds_per_token": bench.lengths(name, sizes)})
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(records, indent=1) + "\n")
    print_matrix(records["matrix"], records["functions"])
    print_elementwise(records["elementwise"], records["functions"])
    if options.lengths:
        print("us/token of a prompt of             512      1024     2048     4096 tokens")
    for record in records["lengths"]:
        times = "".join(f"{1e6 * seconds:9.2f}" for seconds in record["seconds_per_token"].values())
        print(f"{record['mixer']:25s} {record['keys']:3d}x{record['values']:<3d} {times}")


if __name__ == "__main__":
    main()
