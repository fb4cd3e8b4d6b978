#!/usr/bin/env python3
"""Times retrieval over the number of experts.

`sizes`: one layer of one-neuron experts chosen by product keys, 2^12 to 2^20 of them. The time of a
token is fitted by a + b sqrt(N): keys are scored, 2 sqrt(N) for each head, experts are not.

`kinds`: product-key memory, product-key experts, the same beside a shared gated layer (CDMoE), and
routed experts beside a shared one (SEIMoE), 16 to 65,536 experts, 256 rows of parameters read by each
token in all of them (Wonderful Matrices, arXiv:2412.11834, figure 7).

Models are .mlir files with random bf16 weights, left in their files where kernels can read them
there (`--weights reference`). Times are those of `effc bench`, least squares weighted by 1 / time.
"""
import argparse
import json
import math
import pathlib
import struct
import subprocess
import tempfile

import numpy

WIDTH, VOCABULARY, CHANNELS = 256, 512, 64  # channels of half a query


class Model:
    """A layer between an embedding and a head."""

    def __init__(self):
        self.weights, self.body, self.values = {}, [], 0

    def weight(self, name, *shape, element="bf16"):
        self.weights[name] = (shape, element)
        kind = f"tensor<{'x'.join(map(str, shape))}x{element}>"
        self.body.append(f"%{name} = seq.parameter @{name} : {kind}")
        return f"%{name}", kind

    def emit(self, text):
        self.values += 1
        self.body.append(f"%v{self.values} = {text}")
        return f"%v{self.values}"

    def linear(self, x, inputs, name, outputs):
        w, kind = self.weight(name, outputs, inputs)
        return self.emit(f"seq.linear {x}, {w} : (tensor<?x{inputs}xf32>, {kind}) "
                         f"-> tensor<?x{outputs}xf32>")

    def glu(self, x, units):
        rows = f"tensor<?x{units}xf32>"
        gate = self.emit(f"seq.silu {self.linear(x, WIDTH, 'gate', units)} : {rows}")
        up = self.linear(x, WIDTH, "up", units)
        return self.linear(self.emit(f"seq.mul {gate}, {up} : {rows}"), units, "down", WIDTH)

    def scores(self, x, heads, keys):
        query = self.linear(x, WIDTH, "query", 2 * heads * CHANNELS)
        table, kind = self.weight("keys", heads * keys, 2 * CHANNELS)
        return self.emit(
            f"seq.key_scores {query}, {table} {{layout = #seq.key_layout<half_head>}} : "
            f"(tensor<?x{2 * heads * CHANNELS}xf32>, {kind}) -> tensor<?x2x{heads}x{keys}xf32>")

    def memory(self, x, heads, count, keys):
        scores = self.scores(x, heads, keys)
        table, kind = self.weight("values", keys * keys, WIDTH)
        return self.emit(f"seq.product_key_memory {scores} parameters({table}) {{top_k = {count} : i64}} "
                         f": tensor<?x2x{heads}x{keys}xf32>, ({kind}) -> tensor<?x{WIDTH}xf32>")

    def experts(self, x, heads, count, keys):
        scores = self.scores(x, heads, keys)
        down, kind = self.weight("expert_down", keys * keys, WIDTH)
        up, _ = self.weight("expert_up", keys * keys, WIDTH)
        return self.emit(
            f"seq.product_key_experts {x}, {scores} parameters({down}, {up}) {{top_k = {count} : i64, "
            f"nonlinearity = #seq.nonlinearity<silu>}} : (tensor<?x{WIDTH}xf32>, "
            f"tensor<?x2x{heads}x{keys}xf32>), ({kind}, {kind})")

    def routed(self, x, count, experts, units):
        logits = self.linear(x, WIDTH, "router", experts)
        gate_up, g = self.weight("experts_gate_up", 2 * units * experts, WIDTH)
        down, d = self.weight("experts_down", WIDTH * experts, units)
        return self.emit(
            f"seq.routed_experts {x}, {logits} parameters({gate_up}, {down}) {{top_k = {count} : i64, "
            f"nonlinearity = #seq.nonlinearity<silu>}} : (tensor<?x{WIDTH}xf32>, "
            f"tensor<?x{experts}xf32>), ({g}, {d})")

    def add(self, a, b):
        return self.emit(f"seq.add {a}, {b} : tensor<?x{WIDTH}xf32>")

    def write(self, folder, layer):
        table, kind = self.weight("table", VOCABULARY, WIDTH)
        rows, logits = f"tensor<?x{WIDTH}xf32>", f"tensor<?x{VOCABULARY}xf32>"
        self.body.append(f"%x = seq.embedding %tokens, {table} : (tensor<?xi32>, {kind}) -> {rows}")
        y = self.add("%x", layer("%x"))
        out = self.emit(f"seq.select_rows {y}, %rows : ({rows}, tensor<?xi32>) -> {rows}")
        out = self.emit(f"seq.lm_head {out}, {table} : ({rows}, {kind}) -> {logits}")
        declared = "\n".join(
            f'seq.weight @{name} source("{name}") : tensor<{"x".join(map(str, shape))}x{element}>'
            for name, (shape, element) in self.weights.items())
        body = "\n  ".join(self.body)
        (folder / "model.mlir").write_text(
            f'module attributes {{seq.model = #seq.model<family = "retrieval", vocabulary = {VOCABULARY}, '
            f"width = {WIDTH}, max_context = 0>}} {{\n{declared}\n"
            f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> {logits} {{\n"
            f"  {body}\n  return {out} : {logits}\n}}\n}}\n")
        write_weights(folder / "model.safetensors", self.weights)


def write_weights(path, weights):
    """Normal numbers over sqrt(columns), a block of them repeated with its rows shifted; ones for vectors."""
    random, header, offset = numpy.random.default_rng(0), {}, 0
    for name, (shape, _) in weights.items():
        size = 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for shape, _ in weights.values():
            if len(shape) == 1:  # of a norm
                numpy.full(shape, 0x3F80, numpy.uint16).tofile(out)
                continue
            rows, columns = shape
            block = random.standard_normal((min(rows, 65521), columns), dtype=numpy.float32)
            bits = ((block * columns ** -0.5).view(numpy.uint32) >> 16).astype(numpy.uint16)
            for first in range(0, rows, len(bits)):
                bits[: rows - first].tofile(out)
                bits = numpy.roll(bits, 1, axis=0)


def measure(effc, layer, weights, threads, repeat, prefill):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = Model()
        model.write(folder, lambda x: layer(model, x))
        artifact = folder / "model.effc"
        run = dict(check=True, capture_output=True, text=True)
        subprocess.run([effc, "compile", folder / "model.mlir", "--weights-from", folder,
                        "--weights", weights, "-o", artifact], **run)
        result = subprocess.run([effc, "bench", artifact, "--threads", str(threads), "--repeat",
                                 str(repeat), "--prefill", str(prefill), "--decode", "64",
                                 "--batch", "1", "--json"], **run)
        times = {}
        for case in json.loads(result.stdout)["results"]:
            calls = case["tokens"]
            times[case["call"]] = {key: case[f"seconds_{key}"] / calls
                                   for key in ("median", "p10", "p90")}
        return times


def fit(points):
    """a, b and the largest relative deviation of a + b sqrt(N), from (N, seconds)."""
    n, seconds = (numpy.array(column, float) for column in zip(*points))
    basis = numpy.stack([numpy.ones_like(n), numpy.sqrt(n)], axis=1)
    a, b = numpy.linalg.lstsq(basis / seconds[:, None], numpy.ones_like(n), rcond=None)[0]
    return {"a": a, "b": b, "largest_deviation": float(numpy.max(numpy.abs(
        (a + b * numpy.sqrt(n)) / seconds - 1)))}


# Kernels cannot read rows of 21 units where they are stored.
WEIGHTS = {"pkm": "reference", "peer": "reference", "cdmoe": "reference", "seimoe": "embed"}
KINDS = {
    # 16 x 16 rows
    "pkm": lambda m, x, n: m.memory(x, 16, 16, math.isqrt(n)),
    # 8 x 16 experts of 2 rows
    "peer": lambda m, x, n: m.experts(x, 8, 16, math.isqrt(n)),
    # 3 x 43 shared rows, 4 x 16 experts of 2
    "cdmoe": lambda m, x, n: m.add(m.glu(x, 43), m.experts(x, 4, 16, math.isqrt(n))),
    # 3 x 43 shared rows, 2 experts of 3 x 21
    "seimoe": lambda m, x, n: m.add(m.glu(x, 43), m.routed(x, 2, n, 21)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("sizes", "kinds"))
    parser.add_argument("--effc", default="build/release/bin/effc")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--prefill", type=int, default=256)
    parser.add_argument("--largest", type=int, default=20, help="logarithm of the most experts")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    options = parser.parse_args()
    results = {"part": options.part, "threads": options.threads, "width": WIDTH, "points": []}
    cases = ([("peer", 1 << bits) for bits in range(12, options.largest + 1, 2)]
             if options.part == "sizes" else
             [(kind, 1 << bits) for kind in options.kinds for bits in range(4, min(17, options.largest + 1), 2)])
    for kind, experts in cases:
        times = measure(options.effc, lambda m, x: KINDS[kind](m, x, experts), WEIGHTS[kind],
                        options.threads, options.repeat, options.prefill)
        results["points"].append({"kind": kind, "experts": experts, "seconds_per_token": times})
        print(kind, experts, {call: f"{1e6 * t['median']:.1f} us" for call, t in times.items()}, flush=True)
    if options.part == "sizes":
        results["fit"] = {call: fit([(p["experts"], p["seconds_per_token"][call]["median"])
                                     for p in results["points"]])
                          for call in ("prefill", "decode")}
        print(json.dumps(results["fit"], indent=2))
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
