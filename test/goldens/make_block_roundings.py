#!/usr/bin/env python3
"""Writes test/unit/dialects/storage/rounded_blocks.inc: what the public library makes of stated numbers.

The bytes are libggml's (ggml_quantize_chunk), which llama.cpp builds as libggml-base.so; no other file of it is used.
Where the package `gguf` has the kind, in NumPy, both have to agree. A row is a kind, a distribution of
test/unit/dialects/storage/RoundedNumbers.cpp, and FNV-1a of the bytes of its 4,096 numbers: without an importance
matrix, and with one for rows of 512.

  python3 test/goldens/make_block_roundings.py path/to/libggml-base.so   (needs numpy, gguf; ggml 0.25.3, gguf 0.19.0)
"""
import ctypes
import pathlib
import sys

import gguf
import numpy as np

F = np.float32
COUNT = 4096
# ggml_type by the names that effc gives.
KINDS = {"q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "q2_k": 10, "q3_k": 11, "q4_k": 12, "q5_k": 13,
         "q6_k": 14, "iq4_nl": 20, "iq4_xs": 23, "mxfp4": 39}
IN_NUMPY = {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0"}


def uniform(seed):
    """Multiples of 2^-23 in [-1, 1): the mixing function of MurmurHash3 on a counter."""
    x = np.arange(COUNT, dtype=np.uint32) * np.uint32(0x9E3779B9) + np.uint32(seed * 0x51ED2701 & 0xFFFFFFFF)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    x ^= x >> np.uint32(16)
    return (x >> np.uint32(8)).astype(F) * F(2.0 ** -23) - F(1)


def bell(seed):
    return ((uniform(seed) + uniform(seed + 1)) + (uniform(seed + 2) + uniform(seed + 3))) * F(2.0 ** -5)


def distributions():
    index = np.arange(COUNT)
    b = bell(10)
    yield "uniform", uniform(1)
    yield "bell", b
    yield "tails", (bell(20) * F(16)) * (bell(20) * F(16)) * (bell(20) * F(16))
    yield "brain", (bell(30).view(np.uint32) & np.uint32(0xFFFF0000)).view(F)
    yield "positive", np.abs(bell(40)) + F(0.125)
    yield "spikes", np.where(index % 97 == 0, b * F(1024), b)
    yield "sparse", np.where((index // 128 % 2 == 0) | (index % 7 > 0), F(0), b)
    yield "small", b * F(2.0 ** -20)
    yield "tiny", b * F(2.0 ** -90)
    yield "equal", uniform(50)[index // 32 * 32]
    yield "large", b * F(2.0 ** 14)


def importance():
    index = np.arange(512)
    root = uniform(60)[:512] + F(1)
    squared = root * root
    return np.where((index % 11 == 0) | (index // 32 == 5), F(0), squared * squared)


def fnv(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.ggml_row_size.restype = library.ggml_quantize_chunk.restype = ctypes.c_size_t
    library.ggml_row_size.argtypes = [ctypes.c_int, ctypes.c_int64]
    library.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                            ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    lines = ["// Made by test/goldens/make_block_roundings.py: kind, distribution, FNV-1a of the bytes, and the same with an",
             "// importance matrix."]
    matrix = np.ascontiguousarray(importance(), F)
    for kind, number in KINDS.items():
        for name, numbers in distributions():
            numbers = np.ascontiguousarray(numbers, F)
            assert np.isfinite(numbers).all() and numbers.size == COUNT
            out = np.zeros(library.ggml_row_size(number, COUNT), np.uint8)
            library.ggml_quantize_chunk(number, numbers.ctypes.data, out.ctypes.data, 0, 1, COUNT, None)
            if kind in IN_NUMPY:
                theirs = gguf.quantize(numbers, gguf.GGMLQuantizationType(number))
                assert (theirs.reshape(-1) == out).all(), (kind, name)
            important = np.zeros_like(out)
            library.ggml_quantize_chunk(number, numbers.ctypes.data, important.ctypes.data, 0, COUNT // matrix.size,
                                        matrix.size, matrix.ctypes.data)
            lines.append(f'{{"{kind}", "{name}", 0x{fnv(out.tobytes()):016x}, 0x{fnv(important.tobytes()):016x}}},')
    place = pathlib.Path(__file__).resolve().parents[1] / "unit/dialects/storage/rounded_blocks.inc"
    place.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
