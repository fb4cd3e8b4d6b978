#!/usr/bin/env python3
"""Measures one mixer at a time: its prefill and decode calls alone.

For each mixer and head size a model of one layer is written as IR (an embedding
whose rows hold the operands of every token, the mixer, a choice of rows), compiled with
random weights and measured by `effc bench`. FLOPs are those of the mixer's
cheapest form; what the embedding copies is part of the time.

  tools/bench/mixers.py --effc build/release/bin/effc --output results/FILE.json
"""
import argparse
import json
import pathlib
import struct
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


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{'?' if extent is None else extent}x" for extent in shape) + element + ">"


def model(name, sizes):
    tokens, parameters, states, attributes = MIXERS[name]
    op = name.split(",")[0]
    shape = lambda letters: [None if letter == "T" else sizes[letter] for letter in letters]
    count = lambda letters: int(numpy.prod([sizes[letter] for letter in letters if letter != "T"]))
    width = sum(map(count, tokens))
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
    lines += [f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>{arguments}) -> ({results}) {{",
              f"  %table = seq.parameter @table : {table}",
              f"  %in = seq.embedding %tokens, %table : (tensor<?xi32>, {table}) -> {packed}"]
    offset = 0
    for index, letters in enumerate(tokens):
        part = tensor([None, count(letters)])
        lines += [f"  %f{index} = seq.slice %in {{axis = 1 : i64, offset = {offset} : i64, size = {count(letters)} : i64}} : {packed} -> {part}",
                  f"  %a{index} = seq.reshape %f{index} : {part} -> {tensor(shape(letters))}"]
        offset += count(letters)
    for index, letters in enumerate(parameters):
        lines.append(f"  %a{len(tokens) + index} = seq.parameter @p{index} : {tensor(shape(letters))}")
    every = tokens + parameters + states
    names = ", ".join(f"%a{i}" for i in range(len(every)))
    types = ", ".join(tensor(shape(letters)) for letters in every)
    y = tensor(shape("THV"))
    outputs = ", ".join([y] + [tensor(shape(s)) for s in states])
    lines += [f'  %r:{1 + len(states)} = "seq.{op}"({names}) {{{attributes}}} : ({types}) -> ({outputs})',
              f"  %y = seq.reshape %r#0 : {y} -> {flat}",
              f"  %out = seq.select_rows %y, %rows : ({flat}, tensor<?xi32>) -> {flat}",
              "  return " + ", ".join(["%out"] + [f"%r#{1 + i}" for i in range(len(states))]) + f" : {results}", "}"]
    body = "\n".join(lines)
    head = f'module attributes {{seq.model = #seq.model<family = "{name}", vocabulary = {rows}, width = {width}, max_context = 0>}} {{\n'
    return head + body + "\n}\n", weights


def write_weights(path, weights, random):
    header, data = {}, b""
    for name, shape in weights.items():
        values = random.uniform(-1, 0, shape).astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effc", required=True, help="the program")
    parser.add_argument("--output", help="where to write the numbers as JSON")
    parser.add_argument("--mixers", nargs="*", default=list(MIXERS), choices=list(MIXERS))
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--sizes", nargs="*", default=["64x64", "128x128"], help="key x value channels of a head")
    parser.add_argument("--tokens", type=int, default=2048, help="tokens of a prompt")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    random = numpy.random.default_rng(20261122)
    records = []
    for size in options.sizes:
        keys, values = map(int, size.split("x"))
        sizes = {"H": options.heads, "G": options.heads, "K": keys, "V": values}
        for name in options.mixers:
            print(f"{name} {size} ...", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                text, weights = model(name, sizes)
                (folder / "model.mlir").write_text(text)
                write_weights(folder / "model.safetensors", weights, random)
                subprocess.run([options.effc, "compile", folder / "model.mlir", "--weights-from", folder, "-o",
                                folder / "model.effc"], check=True, capture_output=True)
                done = subprocess.run([options.effc, "bench", folder / "model.effc", "--prefill", str(options.tokens),
                                       "--decode", "64", "--repeat", "3", "--batch", "1", "--threads", str(options.threads),
                                       "--json"], check=True, capture_output=True)
                bench = json.loads(done.stdout)
                del bench["file"]  # of a folder that is gone
                records.append({"mixer": name, "heads": options.heads, "keys": keys, "values": values, "bench": bench})
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(records, indent=1) + "\n")
    print("mixer                               head     prefill tokens/s  GFLOP/s  of product rate  decode us/token")
    for record in records:
        prefill, decode = record["bench"]["results"]
        rate = prefill["flops"] / prefill["seconds_median"]
        print(f"{record['mixer']:35s} {record['keys']:3d}x{record['values']:<4d} {prefill['tokens_per_second']:16.0f} "
              f"{rate / 1e9:8.1f} {100 * rate / prefill['gemm_flops_per_second']:14.0f} % "
              f"{1e6 * decode['seconds_median'] / decode['tokens']:16.1f}")

if __name__ == "__main__":
    main()
