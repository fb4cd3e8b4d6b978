#!/usr/bin/env python3
"""Writes gguf/kinds/: a GGUF file whose matrices are of every kind of blocks, and logits of its numbers.

The file is written by the public package `gguf`, whose `dequantize` gives the numbers of each matrix, and whose
`quantize` made the blocks of the kinds that it can make; the others are random bits with scales that keep the numbers
small. The forward is llama's as llama.cpp computes it: a head's channels turn in pairs of neighbours. In f64, and in
f32 for the error that f32 may have.

  python3 test/goldens/make_gguf_goldens.py   (needs numpy, gguf 0.19.0, safetensors)
"""
import json
import pathlib

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Kind
from safetensors.numpy import save_file

OUT = pathlib.Path(__file__).with_name("gguf") / "kinds"
VOCABULARY, WIDTH, HEADS, KEY_HEADS, CHANNELS, HIDDEN, LAYERS = 40, 256, 4, 2, 64, 512, 2
EPSILON, BASE, TOKENS = 1e-5, 10000.0, (23, 7)

# A kind for each matrix; norms are f32.
KINDS = {
    "token_embd": Kind.BF16, "output": Kind.Q6_K,
    "blk.0.attn_q": Kind.Q4_0, "blk.0.attn_k": Kind.Q4_1, "blk.0.attn_v": Kind.Q5_0, "blk.0.attn_output": Kind.Q5_1,
    "blk.0.ffn_gate": Kind.Q8_0, "blk.0.ffn_up": Kind.Q2_K, "blk.0.ffn_down": Kind.Q3_K,
    "blk.1.attn_q": Kind.Q4_K, "blk.1.attn_k": Kind.Q5_K, "blk.1.attn_v": Kind.Q6_K, "blk.1.attn_output": Kind.IQ4_NL,
    "blk.1.ffn_gate": Kind.IQ4_XS, "blk.1.ffn_up": Kind.MXFP4, "blk.1.ffn_down": Kind.F16,
}
SHAPES = {
    "token_embd": (VOCABULARY, WIDTH), "output": (VOCABULARY, WIDTH), "attn_q": (HEADS * CHANNELS, WIDTH),
    "attn_k": (KEY_HEADS * CHANNELS, WIDTH), "attn_v": (KEY_HEADS * CHANNELS, WIDTH),
    "attn_output": (WIDTH, HEADS * CHANNELS), "ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH),
    "ffn_down": (WIDTH, HIDDEN),
}
# Where a block has its scales in f16 (bytes), of the kinds that are drawn as bits.
SCALES = {Kind.Q2_K: (80, 82), Kind.Q3_K: (108,), Kind.Q4_K: (0, 2), Kind.Q5_K: (0, 2), Kind.Q6_K: (208,),
          Kind.IQ4_NL: (0,), Kind.IQ4_XS: (0,)}


def drawn_blocks(kind, shape, random):
    """Rows of blocks of random bits, whose scales are positive and make numbers of about 1/16."""
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (shape[0], shape[1] // elements, size), dtype=np.uint8)
    if kind == Kind.MXFP4:
        blocks[..., 0] = random.integers(119, 122, blocks.shape[:2])
        return blocks.reshape(shape[0], -1)
    scale = np.float16(1)
    for _ in range(2):  # what scales of 1 give, then what the wanted ones give
        for place in SCALES[kind]:
            scales = (scale * random.uniform(0.8, 1.25, blocks.shape[:2])).astype(np.float16)
            blocks[..., place:place + 2] = scales[..., None].view(np.uint8)
        numbers = gguf.quants.dequantize(blocks.reshape(shape[0], -1), kind)
        scale = np.float32(1 / 16) / np.std(numbers)
    return blocks.reshape(shape[0], -1)


def matrix(kind, shape, random):
    """What the file stores, and the numbers that the package makes of it."""
    numbers = (random.standard_normal(shape) / 16).astype(np.float32)
    if kind in SCALES or kind == Kind.MXFP4:
        stored = drawn_blocks(kind, shape, random)
    else:
        stored = gguf.quants.quantize(numbers, kind)
    return stored, gguf.quants.dequantize(stored, kind).astype(np.float32)


def normed(x, weight):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + x.dtype.type(EPSILON)) * weight


def turned(x):
    """x: tokens, heads, channels; channels 2i and 2i+1 turn together."""
    angles = np.arange(len(x))[:, None] * BASE ** (-np.arange(0, CHANNELS, 2) / CHANNELS)
    cosine, sine = (f(angles)[:, None, :].astype(x.dtype) for f in (np.cos, np.sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=-1).reshape(x.shape)


def attention(q, k, v):
    k, v = (np.repeat(part, HEADS // KEY_HEADS, axis=1) for part in (k, v))
    scores = np.einsum("ihc,jhc->hij", q, k) / q.dtype.type(np.sqrt(CHANNELS))
    scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("hij,jhc->ihc", weights / weights.sum(axis=-1, keepdims=True), v)


def forward(weights, tokens, dtype):
    w = {name: numbers.astype(dtype) for name, numbers in weights.items()}
    x = w["token_embd"][tokens]
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        h = normed(x, w[at + "attn_norm"])
        q, k, v = ((h @ w[at + name].T).reshape(len(tokens), -1, CHANNELS) for name in ("attn_q", "attn_k", "attn_v"))
        x = x + attention(turned(q), turned(k), v).reshape(len(tokens), -1) @ w[at + "attn_output"].T
        h = normed(x, w[at + "ffn_norm"])
        gate = h @ w[at + "ffn_gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w[at + "ffn_up"].T)) @ w[at + "ffn_down"].T
    return normed(x, w["output_norm"]) @ w["output"].T


def main():
    random = np.random.default_rng(20261128)
    writer = gguf.GGUFWriter(None, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_dimension_count(CHANNELS)
    writer.add_rope_freq_base(BASE)
    writer.add_vocab_size(VOCABULARY)
    weights = {}
    for name, kind in KINDS.items():
        stored, weights[name] = matrix(kind, SHAPES[name.split(".")[-1]], random)
        writer.add_tensor(name + ".weight", stored, raw_dtype=kind)
    norms = ["output_norm"] + [f"blk.{layer}.{part}_norm" for layer in range(LAYERS) for part in ("attn", "ffn")]
    for name in norms:
        weights[name] = random.uniform(0.5, 1.5, WIDTH).astype(np.float32)
        writer.add_tensor(name + ".weight", weights[name])
    OUT.mkdir(parents=True, exist_ok=True)
    writer.write_header_to_file(OUT / "model.gguf")
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    sequences = [random.integers(0, VOCABULARY, count).tolist() for count in TOKENS]
    (OUT / "tokens.json").write_text(json.dumps(sequences) + "\n")
    save_file({f"logits_{dtype.__name__.replace('float', 'f')}.{i}": forward(weights, np.array(tokens), dtype)
               for i, tokens in enumerate(sequences) for dtype in (np.float32, np.float64)}, OUT / "golden.safetensors")


if __name__ == "__main__":
    main()
