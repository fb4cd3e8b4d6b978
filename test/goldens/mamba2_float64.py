#!/usr/bin/env python3
"""Mamba-2 in float64, one token after another, in NumPy.

Written from the formulas alone, so that its logits are a second opinion on the library's:

    z, x, B, C, dt = split(in_proj(norm(r)))            widths E, E, G N, G N, H
    x, B, C = silu(causal depthwise conv of [x, B, C])
    dt = clip(softplus(dt + dt_bias), limit)            one per head
    S  = exp(-exp(A_log) dt) S + (dt x) B^T             S is [P, N], one per head
    y  = S C + D x                                      head h reads group h / (H / G)
    r  = r + out_proj(w * g / sqrt(mean(g^2) + eps))    g = y silu(z), the mean over each of
                                                        the G groups of E / G channels
    logits = head(norm_f(r))

Nothing is chunked and no exponent is ever a difference of sums. The checkpoint is read without
the library too: a safetensors file is an 8-byte length, a JSON header and the bytes.

    mamba2_float64.py CHECKPOINT_FOLDER 3 1 4 1 5     prints the last logits' top five
"""

import argparse
import json
from pathlib import Path

import numpy as np


def read_safetensors(path):
    """Name -> array; BF16 and F16 become F32, which holds their values exactly."""
    data = Path(path).read_bytes()
    header_size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + header_size])
    header.pop("__metadata__", None)
    kinds = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + header_size + offset for offset in entry["data_offsets"])
        values = np.frombuffer(data[begin:end], kinds[entry["dtype"]])
        if entry["dtype"] == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        elif entry["dtype"] == "F16":
            values = values.astype(np.float32)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def number(value):
    """A number of config.json, which may be spelt {"__float__": "Infinity"}."""
    return float(value["__float__"] if isinstance(value, dict) else value)


def sigmoid(x):
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def silu(x):
    return x * sigmoid(x)


def softplus(x):
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def normalise(x, epsilon):
    """x over its root mean square, along the last axis."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon)


class Mamba2Float64:
    """A checkpoint in float64. `logits(ids)` walks one sequence from an empty state."""

    def __init__(self, config, tensors):
        self.heads, self.head_dim = config["num_heads"], config["head_dim"]
        self.state_size, self.groups = config["state_size"], config["n_groups"]
        self.norm_groups = self.groups  # 1: one mean over all channels
        self.inner = self.heads * self.head_dim
        self.taps, self.layers = config["conv_kernel"], config["num_hidden_layers"]
        self.epsilon = config["layer_norm_epsilon"]
        self.limit = [number(bound) for bound in config["time_step_limit"]]
        self.tied = config["tie_word_embeddings"]
        self.weights = {name: value.astype(np.float64) for name, value in tensors.items()}

    @classmethod
    def load(cls, folder):
        """Reads `config.json` and `model.safetensors` of a folder."""
        config = json.loads((Path(folder) / "config.json").read_text())
        return cls(config, read_safetensors(Path(folder) / "model.safetensors"))

    def logits(self, ids):
        """[T, vocabulary] float64, row t from ids[0..t]."""
        table = self.weights["backbone.embeddings.weight"]
        head = table if self.tied else self.weights["lm_head.weight"]
        channels = self.inner + 2 * self.groups * self.state_size
        self.past = np.zeros((self.layers, self.taps, channels))
        self.state = np.zeros((self.layers, self.heads, self.head_dim, self.state_size))
        rows = []
        for token in ids:
            residual = table[token]
            for layer in range(self.layers):
                weight = self.weights[f"backbone.layers.{layer}.norm.weight"]
                residual = residual + self.mix(layer, weight * normalise(residual, self.epsilon))
            final = self.weights["backbone.norm_f.weight"] * normalise(residual, self.epsilon)
            rows.append(head @ final)
        return np.stack(rows)

    def mix(self, layer, u):
        """One token through one mixer; moves the layer's convolution and recurrence states."""
        prefix = f"backbone.layers.{layer}.mixer."
        weights = self.weights
        projected = weights[prefix + "in_proj.weight"] @ u
        if prefix + "in_proj.bias" in weights:
            projected = projected + weights[prefix + "in_proj.bias"]
        shared = self.groups * self.state_size
        z, xbc, dt = np.split(projected, [self.inner, 2 * self.inner + 2 * shared])

        self.past[layer] = np.concatenate([self.past[layer][1:], xbc[None]])
        kernel = weights[prefix + "conv1d.weight"][:, 0, :].T               # [taps, channels]
        xbc = (kernel * self.past[layer]).sum(0)
        if prefix + "conv1d.bias" in weights:
            xbc = xbc + weights[prefix + "conv1d.bias"]
        x, b, c = np.split(silu(xbc), [self.inner, self.inner + shared])

        dt = np.clip(softplus(dt + weights[prefix + "dt_bias"]), *self.limit)
        decay = np.exp(-np.exp(weights[prefix + "A_log"]) * dt)
        x = x.reshape(self.heads, self.head_dim)
        b, c = (v.reshape(self.groups, self.state_size) for v in (b, c))
        y = np.empty_like(x)
        for h in range(self.heads):
            group = h // (self.heads // self.groups)
            state = decay[h] * self.state[layer, h] + np.outer(dt[h] * x[h], b[group])
            self.state[layer, h] = state
            y[h] = state @ c[group] + weights[prefix + "D"][h] * x[h]

        gated = (y.reshape(-1) * silu(z)).reshape(self.norm_groups, -1)
        normed = weights[prefix + "norm.weight"] * normalise(gated, self.epsilon).reshape(-1)
        out = weights[prefix + "out_proj.weight"] @ normed
        if prefix + "out_proj.bias" in weights:
            out = out + weights[prefix + "out_proj.bias"]
        return out


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder with config.json and model.safetensors")
    parser.add_argument("ids", type=int, nargs="+", help="token ids")
    args = parser.parse_args()
    last = Mamba2Float64.load(args.folder).logits(args.ids)[-1]
    for token in np.argsort(-last)[:5]:
        print(f"{token:6d} {last[token]:.12f}")


if __name__ == "__main__":
    main()
