#!/usr/bin/env python3
"""Writes a checkpoint with random weights in the Hugging Face layout of Mamba-2.

Speed depends on shapes and storage type alone, so random weights do. Scales
follow the public initialisation, so that activations stay in range.
"""
import argparse
import json
import math
import pathlib
import struct

import numpy

SHAPES = {
    # state-spaces/mamba2-130m
    "mamba2-130m": dict(hidden_size=768, num_hidden_layers=24, state_size=128,
                        head_dim=64, vocab_size=50288),
    # A small one for trying the script out.
    "mamba2-tiny": dict(hidden_size=96, num_hidden_layers=2, state_size=32,
                        head_dim=16, vocab_size=509),
}
EXPAND, GROUPS, TAPS = 2, 1, 4


def config_of(shape, dtype):
    inner = EXPAND * shape["hidden_size"]
    return {
        "architectures": ["Mamba2ForCausalLM"], "model_type": "mamba2", **shape,
        "expand": EXPAND, "n_groups": GROUPS, "num_heads": inner // shape["head_dim"],
        "conv_kernel": TAPS, "chunk_size": 256, "use_bias": False, "use_conv_bias": True,
        "hidden_act": "silu", "layer_norm_epsilon": 1e-5, "rms_norm": True,
        "tie_word_embeddings": True, "residual_in_fp32": True,
        "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0, "torch_dtype": dtype,
    }


def tensors_of(shape, random):
    """Yields (name, f32 array) in the order of the file."""
    width, inner = shape["hidden_size"], EXPAND * shape["hidden_size"]
    heads = inner // shape["head_dim"]
    channels = inner + 2 * GROUPS * shape["state_size"]

    def uniform(*dims, bound):
        return random.uniform(-bound, bound, dims).astype(numpy.float32)

    yield "backbone.embeddings.weight", 0.02 * random.standard_normal(
        (shape["vocab_size"], width), dtype=numpy.float32)
    for layer in range(shape["num_hidden_layers"]):
        name = f"backbone.layers.{layer}."
        step = numpy.exp(random.uniform(math.log(1e-3), math.log(0.1), heads))
        yield name + "norm.weight", numpy.ones(width, numpy.float32)
        yield name + "mixer.in_proj.weight", uniform(inner + channels + heads, width,
                                                     bound=width ** -0.5)
        yield name + "mixer.conv1d.weight", uniform(channels, 1, TAPS, bound=TAPS ** -0.5)
        yield name + "mixer.conv1d.bias", uniform(channels, bound=TAPS ** -0.5)
        yield name + "mixer.dt_bias", (step + numpy.log(-numpy.expm1(-step))).astype(numpy.float32)
        yield name + "mixer.A_log", numpy.log(random.uniform(1, 16, heads)).astype(numpy.float32)
        yield name + "mixer.D", numpy.ones(heads, numpy.float32)
        yield name + "mixer.norm.weight", numpy.ones(inner, numpy.float32)
        yield name + "mixer.out_proj.weight", uniform(
            width, inner, bound=(inner * 2 * shape["num_hidden_layers"]) ** -0.5)
    yield "backbone.norm_f.weight", numpy.ones(width, numpy.float32)


def to_bf16(array):
    """Rounds to nearest even; returns the bits."""
    bits = array.view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def write(folder, shape, dtype, seed):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config_of(shape, dtype), indent=2))
    code, size = ("BF16", 2) if dtype == "bfloat16" else ("F32", 4)
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, array in tensors_of(shape, numpy.random.default_rng(seed)):
        header[name] = {"dtype": code, "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.size * size]}
        offset += array.size * size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, array in tensors_of(shape, numpy.random.default_rng(seed)):
            (to_bf16(array) if dtype == "bfloat16" else array).tofile(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shape", choices=SHAPES, default="mamba2-130m")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write(options.folder, SHAPES[options.shape], options.dtype, options.seed)


if __name__ == "__main__":
    main()
