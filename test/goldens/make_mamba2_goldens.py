#!/usr/bin/env python3
"""Writes `test/goldens/mamba2/<name>/`: tiny random Mamba-2 checkpoints and their logits.

Each folder holds

    config.json, generation_config.json, model.safetensors    as the library writes them
    tokens.json                an array of arrays of token ids, of unequal lengths
    golden.safetensors         logits_f32.<i>  [T, vocabulary]  the library, f32, no cache
                               logits_f64.<i>  [T, vocabulary]  mamba2_float64.py

The weights are drawn so that none is neutral (norm weights away from 1, biases away from 0) and
the dimensions of a configuration are all different. A bf16 checkpoint is evaluated with its
rounded weights in f32. Where n_groups > 1 the gated norm of the library is replaced by the
per-group form below: transformers 5.0.0 takes one mean over all channels, whereas the models are
trained with one mean per group. The pinned release groups too, and the replacement changes
nothing but the last digits; it makes the goldens independent of the release.

Printed per configuration: the worst relative L2 error of the f32 logits against the f64 ones, the
same with the library's own norm, and that of the library's token-by-token path through its cache,
which ignores time_step_limit in the pinned release and is not recorded. The script fails if the
first exceeds --tolerance.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import torch
from mamba2_float64 import Mamba2Float64
from safetensors.numpy import save_file
from torch import nn
from transformers import Mamba2Config, Mamba2ForCausalLM

INFINITY = float("inf")

# What a configuration does not say. `limit_spelling` is that of an infinite bound in
# config.json: "bare" is what Python's json writes, "tagged" what the pinned library writes.
DEFAULTS = {
    "expand": 2,
    "n_groups": 1,
    "conv_kernel": 4,
    "use_bias": False,
    "use_conv_bias": True,
    "tie_word_embeddings": False,
    "layer_norm_epsilon": 1e-5,
    "time_step_limit": (0.0, INFINITY),
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 1,
}

# name -> (dtype, limit spelling, extremes, config, sequence lengths)
CONFIGURATIONS = {
    "f32_plain": ("f32", "bare", False, dict(
        hidden_size=24, num_heads=6, head_dim=8, state_size=16, num_hidden_layers=2,
        vocab_size=97, chunk_size=256), [1, 2, 15, 33, 48]),
    "bf16_tied": ("bf16", "tagged", False, dict(
        hidden_size=40, num_heads=16, head_dim=5, state_size=7, num_hidden_layers=2,
        vocab_size=131, chunk_size=64, tie_word_embeddings=True), [1, 16, 17, 33, 2]),
    "f32_groups2": ("f32", "tagged", False, dict(
        hidden_size=40, num_heads=10, head_dim=8, state_size=20, num_hidden_layers=2,
        n_groups=2, vocab_size=101, chunk_size=16, layer_norm_epsilon=1e-6), [1, 2, 15, 17, 33]),
    "bf16_groups3": ("bf16", "bare", False, dict(
        hidden_size=24, num_heads=9, head_dim=8, state_size=7, num_hidden_layers=3, expand=3,
        n_groups=3, vocab_size=83, chunk_size=32), [2, 17, 33, 1, 70]),
    "f32_biases": ("f32", "tagged", False, dict(
        hidden_size=40, num_heads=5, head_dim=16, state_size=12, num_hidden_layers=1,
        use_bias=True, vocab_size=113, chunk_size=8, layer_norm_epsilon=3e-3), [1, 2, 15, 16, 48]),
    "bf16_biases_groups2": ("bf16", "tagged", False, dict(
        hidden_size=56, num_heads=14, head_dim=12, state_size=20, num_hidden_layers=1, expand=3,
        n_groups=2, use_bias=True, tie_word_embeddings=True, vocab_size=103, chunk_size=256,
        eos_token_id=[2, 5]), [1, 3, 16, 17, 48]),
    "f32_conv3": ("f32", "bare", False, dict(
        hidden_size=24, num_heads=4, head_dim=12, state_size=7, num_hidden_layers=2,
        conv_kernel=3, use_conv_bias=False, vocab_size=61, chunk_size=64,
        layer_norm_epsilon=1e-3), [1, 2, 3, 33, 70]),
    "bf16_conv2": ("bf16", "bare", False, dict(
        hidden_size=40, num_heads=5, head_dim=16, state_size=32, num_hidden_layers=2,
        conv_kernel=2, vocab_size=67, chunk_size=13), [1, 2, 15, 48, 33]),
    "f32_limit": ("f32", "finite", False, dict(
        hidden_size=30, num_heads=12, head_dim=5, state_size=16, num_hidden_layers=2,
        time_step_limit=(0.02, 0.3), vocab_size=79, chunk_size=64), [1, 2, 17, 33, 70]),
    "bf16_limit_groups2": ("bf16", "finite", False, dict(
        hidden_size=24, num_heads=6, head_dim=8, state_size=20, num_hidden_layers=2,
        n_groups=2, time_step_limit=(0.05, 0.5), use_conv_bias=False, tie_word_embeddings=True,
        vocab_size=89, chunk_size=64), [1, 15, 17, 33, 48]),
    "f32_extreme_decays": ("f32", "tagged", True, dict(
        hidden_size=24, num_heads=16, head_dim=3, state_size=7, num_hidden_layers=2,
        vocab_size=61, chunk_size=256), [1, 2, 16, 33, 130]),
    "bf16_four_layers_long": ("bf16", "tagged", False, dict(
        hidden_size=20, num_heads=8, head_dim=5, state_size=12, num_hidden_layers=4,
        vocab_size=61, chunk_size=64, layer_norm_epsilon=1e-4), [1, 2, 16, 64, 129]),
    "bf16_wide_vocabulary": ("bf16", "tagged", False, dict(
        hidden_size=56, num_heads=7, head_dim=16, state_size=32, num_hidden_layers=1,
        tie_word_embeddings=True, vocab_size=257, chunk_size=32), [1, 2, 5, 7, 17]),
}


class PerGroupGatedNorm(nn.Module):
    """w * g / sqrt(mean(g^2) + eps) with g = x silu(gate), the mean over each group of channels."""

    def __init__(self, weight, groups, epsilon):
        super().__init__()
        self.weight, self.groups, self.epsilon = weight, groups, epsilon

    def forward(self, x, gate=None):
        gated = (x * nn.functional.silu(gate)).unflatten(-1, (self.groups, -1))
        mean = gated.square().mean(-1, keepdim=True)
        return self.weight * (gated * torch.rsqrt(mean + self.epsilon)).flatten(-2)


@torch.no_grad()
def randomise(model, extremes, generator):
    """Draws every weight; the scales keep the logits of the order of one."""

    def normal(tensor, scale, mean=0.0):
        tensor.copy_(mean + scale * torch.randn(tensor.shape, generator=generator))

    def uniform(tensor, low, high):
        tensor.copy_(low + (high - low) * torch.rand(tensor.shape, generator=generator))

    width = model.config.hidden_size
    normal(model.backbone.embeddings.weight, 0.5)
    if not model.config.tie_word_embeddings:
        normal(model.lm_head.weight, width**-0.5)
    normal(model.backbone.norm_f.weight, 0.3, 1.0)
    for block in model.backbone.layers:
        mixer = block.mixer
        normal(block.norm.weight, 0.3, 1.0)
        normal(mixer.norm.weight, 0.3, 1.0)
        normal(mixer.in_proj.weight, 1.2 * width**-0.5)
        normal(mixer.out_proj.weight, mixer.intermediate_size**-0.5)
        normal(mixer.conv1d.weight, 0.6)
        normal(mixer.D, 0.8, 0.3)
        uniform(mixer.dt_bias, -4.0, 1.0)
        uniform(mixer.A_log, -1.5, 2.8)
        for bias in (mixer.in_proj.bias, mixer.out_proj.bias, mixer.conv1d.bias):
            if bias is not None:
                normal(bias, 0.3)
        if extremes:
            # Per head, A runs from -1100, where exp(dt A) underflows, over ordinary decays to
            # -1e-13, where it is one in f32. Per token, dt runs over many orders of magnitude,
            # so that a decay near one follows a huge running sum: a decay computed as the
            # difference of two such sums loses its digits.
            spread = torch.linspace(-30.0, 7.0, mixer.num_heads)
            mixer.A_log.copy_(spread[torch.randperm(mixer.num_heads, generator=generator)])
            uniform(mixer.dt_bias, -5.0, 3.0)
            mixer.in_proj.weight[-mixer.num_heads :] *= 6.0


def spell_limit(path, spelling):
    """Rewrites the infinite bound of config.json; "finite" leaves the file alone."""
    config = json.loads(path.read_text())
    low, high = config["time_step_limit"]
    if spelling == "bare":
        config["time_step_limit"] = [low, INFINITY]
    elif spelling == "tagged":
        config["time_step_limit"] = [low, {"__float__": "Infinity"}]
    else:
        assert np.isfinite(high)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def draw_sequences(vocabulary, lengths, generator):
    """Random ids; the longest sequence starts with the highest and the lowest id, and repeats."""
    sequences = [
        torch.randint(vocabulary, (length,), generator=generator).tolist() for length in lengths
    ]
    longest = max(sequences, key=len)
    longest[:4] = [vocabulary - 1, 0, 0, vocabulary - 1]
    return sequences


def relative(difference, reference):
    return float(np.linalg.norm(difference) / np.linalg.norm(reference))


@torch.no_grad()
def cached_logits(model, ids):
    """The library's logits token by token through its cache."""
    cache, rows = None, []
    for token in ids:
        out = model(torch.tensor([[token]]), cache_params=cache, use_cache=True)
        cache = out.cache_params
        rows.append(out.logits[0, 0])
    return torch.stack(rows).numpy()


@torch.no_grad()
def make(name, seed, out, tolerance):
    dtype, spelling, extremes, given, lengths = CONFIGURATIONS[name]
    generator = torch.Generator().manual_seed(seed)
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    model = Mamba2ForCausalLM(Mamba2Config(**{**DEFAULTS, **given}))
    randomise(model, extremes, generator)
    model.to(torch.bfloat16 if dtype == "bf16" else torch.float32).save_pretrained(folder)
    spell_limit(folder / "config.json", spelling)

    # From here on only what the files say.
    model = Mamba2ForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    config = model.config
    sequences = draw_sequences(config.vocab_size, lengths, generator)
    own = [model(torch.tensor([ids]), use_cache=False).logits[0].numpy() for ids in sequences]
    if config.n_groups > 1:
        for block in model.backbone.layers:
            weight, epsilon = block.mixer.norm.weight, config.layer_norm_epsilon
            block.mixer.norm = PerGroupGatedNorm(weight, config.n_groups, epsilon)

    reference = Mamba2Float64.load(folder)
    golden, worst, norm_error = {}, 0.0, 0.0
    for i, ids in enumerate(sequences):
        f32 = model(torch.tensor([ids]), use_cache=False).logits[0].numpy()
        f64 = reference.logits(ids)
        golden[f"logits_f32.{i}"], golden[f"logits_f64.{i}"] = f32, f64
        worst = max(worst, relative(f32 - f64, f64))
        norm_error = max(norm_error, relative(own[i] - f64, f64))
    save_file(golden, folder / "golden.safetensors")
    lines = ",\n".join(json.dumps(ids) for ids in sequences)
    (folder / "tokens.json").write_text(f"[\n{lines}\n]\n")
    for path in folder.iterdir():
        path.chmod(0o644)

    longest = max(sequences, key=len)
    expected = reference.logits(longest)
    decode = relative(cached_logits(model, longest) - expected, expected)
    spread = float(np.std(golden["logits_f64.1"]))
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(
        f"{name:24s} f32 against f64 {worst:.1e}  unpatched norm {norm_error:.1e}  "
        f"library's cache {decode:.1e}  logit spread {spread:.2f}  {size // 1024} KB", flush=True,
    )
    if not worst < tolerance:
        raise SystemExit(f"{name}: expects a relative error below {tolerance}, but got {worst}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).resolve().parent
    parser.add_argument("--out", type=Path, default=here / "mamba2", help="parent of the folders")
    parser.add_argument("--only", choices=CONFIGURATIONS, help="make one configuration")
    parser.add_argument("--seed", type=int, default=1000, help="of the first configuration")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="relative L2, f32 to f64")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for index, name in enumerate(CONFIGURATIONS):
        if args.only in (None, name):
            make(name, args.seed + index, args.out, args.tolerance)


if __name__ == "__main__":
    main()
