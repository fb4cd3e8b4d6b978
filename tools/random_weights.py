#!/usr/bin/env python3
"""Writes random weights for a model that is written in IR, so that it can be tried without a checkpoint.

  tools/random_weights.py test/e2e/models/echo.mlir /tmp/echo
  build/release/bin/effc compile test/e2e/models/echo.mlir --weights-from /tmp/echo -o /tmp/echo.effc
  build/release/bin/effc run /tmp/echo.effc --tokens 3,1,4 -n 20 --print-tokens

Each `seq.weight` with a source gets numbers in [-0.5, 0.5], those that are `transposed` in the order in which they
are stored. The same model gets the same numbers. Weights that are made of several tensors, of parts of one or by a rule
are refused. Standard library alone.
"""
import argparse
import array
import json
import pathlib
import random
import re
import struct
import sys

WEIGHT = re.compile(r'seq\.weight\s+@\S+\s+source\("([^"]+)"\)(\s+transposed)?\s*:\s*tensor<([0-9x]+)x(f32|bf16|f16)>')
# One that the checkpoint holds, however it is made of it.
STORED = re.compile(r'seq\.weight\s+@\S+\s+source\("[^"]*"\)\s*\w+')


def weights_of(text):
    """Yields (source, shape as stored, element type), each source once."""
    seen = set()
    for source, transposed, extents, element in WEIGHT.findall(text):
        shape = [int(extent) for extent in extents.split("x")]
        if transposed:
            shape[-2:] = reversed(shape[-2:])
        if source not in seen:
            seen.add(source)
            yield source, shape, element


def encoded(numbers, element):
    if element == "f32":
        return array.array("f", numbers).tobytes()
    if element == "f16":
        return struct.pack(f"<{len(numbers)}e", *numbers)
    # bf16 is the upper half of an f32.
    return b"".join(struct.pack("<f", number)[2:] for number in numbers)


def write(text, folder, seed):
    header, data = {}, bytearray()
    for source, shape, element in weights_of(text):
        count = 1
        for extent in shape:
            count *= extent
        draw = random.Random(f"{seed} {source}")
        begin = len(data)
        data += encoded([draw.uniform(-0.5, 0.5) for _ in range(count)], element)
        header[source] = {"dtype": element.upper(), "shape": shape, "data_offsets": [begin, len(data)]}
    # Tensors begin at a multiple of eight bytes, as public writers place them.
    start = json.dumps(header).encode()
    start += b" " * (-len(start) % 8)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(start)) + start + data)
    return header


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, metavar="MODEL.mlir")
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR", help="where model.safetensors goes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        text = options.model.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"{options.model}: error: cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        sys.exit(f"{options.model}: error: expects the text of a model, but got bytes that are not UTF-8")
    for found in STORED.finditer(text):
        if not WEIGHT.match(text, found.start()):
            line = text.count("\n", 0, found.start()) + 1
            sys.exit(f"{options.model}:{line}: error: expects a weight that is one tensor as it lies or transposed, but got '{found[0]}...'")
    try:
        header = write(text, options.folder, options.seed)
    except OSError as error:
        sys.exit(f"{error.filename}: error: cannot be written: {error.strerror}")
    if not header:
        sys.exit(f"{options.model}: error: has no 'seq.weight' with a source")
    print(f"{options.folder / 'model.safetensors'}: {len(header)} tensors")


if __name__ == "__main__":
    main()
