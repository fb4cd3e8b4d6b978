#!/usr/bin/env python3
"""Writes `test/goldens/layouts/<name>/`: Mamba-2 checkpoints as others than `save_pretrained` lay
them out, and their logits. The files and tensors are those of `make_mamba2_goldens.py`:

    sharded_bf16               the library, in files of at most 16 KB and an index
    f16_groups2                the library, in f16
    mamba_ssm_f16_padded       config.json and names of the package mamba_ssm; 93 tokens padded to 96
    mamba_ssm_f32_groups2      the same, untied, two groups, a time-step limit
    ungrouped_f32_groups3      three groups, and the one gated norm over all channels that releases
                               of the library before 5 compute

The tensors of a mamba_ssm checkpoint go into the library by way of its own hook, which renames
them, and the library gives the f32 logits; the f64 ones are from `mamba2_float64.py`, which knows
neither. `ungrouped_f32_groups3` is made by transformers 4.57.1, as it stands, everything else by
the pinned release:

    make_layout_goldens.py
    make_layout_goldens.py --only ungrouped_f32_groups3     # with transformers 4.57.1

The script fails if the relative L2 error of the f32 logits against the f64 ones exceeds
--tolerance.
"""

import argparse
import json
import shutil
from pathlib import Path

import torch
import transformers
from make_mamba2_goldens import DEFAULTS, draw_sequences, randomise, relative
from mamba2_float64 import Mamba2Float64, read_safetensors
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors
from transformers import Mamba2Config, Mamba2ForCausalLM

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}

# name -> (dtype, layout, config, sequence lengths)
CONFIGURATIONS = {
    "sharded_bf16": ("bf16", "sharded", dict(
        hidden_size=40, num_heads=10, head_dim=8, state_size=12, num_hidden_layers=2,
        vocab_size=109, chunk_size=64), [1, 2, 15, 33]),
    "f16_groups2": ("f16", "whole", dict(
        hidden_size=40, num_heads=10, head_dim=8, state_size=20, num_hidden_layers=2, n_groups=2,
        vocab_size=71, chunk_size=64, tie_word_embeddings=True), [1, 2, 17, 48]),
    "mamba_ssm_f16_padded": ("f16", "mamba_ssm", dict(
        hidden_size=32, num_heads=8, head_dim=8, state_size=12, num_hidden_layers=2,
        vocab_size=96, chunk_size=256, tie_word_embeddings=True), [1, 2, 16, 33]),
    "mamba_ssm_f32_groups2": ("f32", "mamba_ssm", dict(
        hidden_size=24, num_heads=6, head_dim=8, state_size=7, num_hidden_layers=2, n_groups=2,
        conv_kernel=3, time_step_limit=(0.02, 0.4), vocab_size=61, chunk_size=256),
        [1, 3, 17, 40]),
    "ungrouped_f32_groups3": ("f32", "whole", dict(
        hidden_size=24, num_heads=9, head_dim=8, state_size=7, num_hidden_layers=2, expand=3,
        n_groups=3, vocab_size=83, chunk_size=32), [1, 2, 17, 33]),
}

# What mamba_ssm calls the keys above; its defaults are left out, as its users do.
MAMBA_SSM = {
    "mamba_ssm_f16_padded": {
        "d_model": 32, "d_intermediate": 0, "n_layer": 2, "vocab_size": 93,
        "ssm_cfg": {"layer": "Mamba2", "headdim": 8, "d_state": 12},
        "attn_layer_idx": [], "attn_cfg": {}, "rms_norm": True, "residual_in_fp32": True,
        "fused_add_norm": True, "pad_vocab_size_multiple": 16, "tie_embeddings": True},
    "mamba_ssm_f32_groups2": {
        "d_model": 24, "d_intermediate": 0, "n_layer": 2, "vocab_size": 61,
        "ssm_cfg": {"layer": "Mamba2", "headdim": 8, "d_state": 7, "ngroups": 2, "d_conv": 3,
                    "dt_limit": [0.02, 0.4], "chunk_size": 256},
        "attn_layer_idx": [], "attn_cfg": {}, "rms_norm": True, "residual_in_fp32": True,
        "fused_add_norm": True, "pad_vocab_size_multiple": 1, "tie_embeddings": False},
}


def write(model, name, layout, folder):
    if layout == "mamba_ssm":
        tensors = {
            key.replace("embeddings.", "embedding."): value.contiguous()
            for key, value in model.state_dict().items()
            if not (key == "lm_head.weight" and model.config.tie_word_embeddings)
        }
        save_tensors(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "config.json").write_text(json.dumps(MAMBA_SSM[name], indent=4) + "\n")
    elif layout == "sharded":
        model.save_pretrained(folder, max_shard_size="16KB")
        assert (folder / "model.safetensors.index.json").exists()
    else:
        model.save_pretrained(folder)


def read(config, folder):
    """The model in f32, of what the files say."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        tensors.update(read_safetensors(path))
    model = Mamba2ForCausalLM(config)
    state = {key: torch.from_numpy(value.copy()) for key, value in tensors.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    model.tie_weights()
    named = {key.replace("embedding.", "embeddings."): value for key, value in tensors.items()}
    return model.eval(), named


@torch.no_grad()
def make(name, seed, out, tolerance):
    dtype, layout, given, lengths = CONFIGURATIONS[name]
    generator = torch.Generator().manual_seed(seed)
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = Mamba2Config(**{**DEFAULTS, **given})
    model = Mamba2ForCausalLM(config)
    randomise(model, False, generator)
    write(model.to(TYPES[dtype]), name, layout, folder)

    # From here on only what the files say.
    model, tensors = read(config, folder)
    settings = {**DEFAULTS, **given}
    reference = Mamba2Float64(settings, tensors)
    if name.startswith("ungrouped"):
        reference.norm_groups = 1
    golden, worst = {}, 0.0
    sequences = draw_sequences(config.vocab_size, lengths, generator)
    for i, ids in enumerate(sequences):
        f32 = model(torch.tensor([ids]), use_cache=False).logits[0].float().numpy()
        f64 = reference.logits(ids)
        golden[f"logits_f32.{i}"], golden[f"logits_f64.{i}"] = f32, f64
        worst = max(worst, relative(f32 - f64, f64))
    save_file(golden, folder / "golden")
    (folder / "golden").rename(folder / "golden.safetensors")
    lines = ",\n".join(json.dumps(ids) for ids in sequences)
    (folder / "tokens.json").write_text(f"[\n{lines}\n]\n")
    for path in folder.iterdir():
        path.chmod(0o644)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{name:24s} f32 against f64 {worst:.1e}  {size // 1024} KB", flush=True)
    if not worst < tolerance:
        raise SystemExit(f"{name}: expects a relative error below {tolerance}, but got {worst}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).resolve().parent
    parser.add_argument("--out", type=Path, default=here / "layouts", help="parent of the folders")
    parser.add_argument("--only", choices=CONFIGURATIONS, help="make one configuration")
    parser.add_argument("--seed", type=int, default=2000, help="of the first configuration")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="relative L2, f32 to f64")
    args = parser.parse_args()
    torch.set_num_threads(1)
    grouped = int(transformers.__version__.split(".")[0]) >= 5
    for index, name in enumerate(CONFIGURATIONS):
        wanted = name == args.only if args.only else grouped != name.startswith("ungrouped")
        if wanted:
            make(name, args.seed + index, args.out, args.tolerance)


if __name__ == "__main__":
    main()
