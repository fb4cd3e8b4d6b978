#!/usr/bin/env python3
"""Writes `test/goldens/importance.json`: what the public library's products read, of recorded checkpoints.

Sums of squares, in double, of each input of each `torch.nn.Linear` over the case's tokens, by the name of its weight;
and of experts those of the tokens that chose each, of what gates and ups read and of what the outputs read before
weights of experts come in:

    {"<family>/<case>": {"<tensor>": {"counts": [tokens], "sums": [[number, ...]]}}}

with a row for each expert where the library's module holds them all. These are computed here, from the module's tensors
and its arguments.
"""

import argparse
import json
from pathlib import Path

import torch
import transformers

CASES = ["qwen3_moe/plain", "granitemoehybrid/experts", "gpt_oss/plain", "nemotron_h/experts", "llama/llama3_scaling"]


class Sums(dict):
    def add(self, name, rows, row, x):
        entry = self.setdefault(name, {"counts": [0] * rows, "sums": torch.zeros(rows, x.shape[-1], dtype=torch.double)})
        entry["counts"][row] += x.shape[0]
        entry["sums"][row] += x.double().square().sum(0)


def units(experts, expert, x):
    """The hidden units of one expert, as the module's forward has them before it multiplies by `down_proj`."""
    if hasattr(experts, "gate_up_proj_bias"):
        return experts._apply_gate(x @ experts.gate_up_proj[expert] + experts.gate_up_proj_bias[expert])
    if hasattr(experts, "gate_up_proj"):
        gate, up = (x @ experts.gate_up_proj[expert].T).chunk(2, dim=-1)
        return experts.act_fn(gate) * up
    return experts.act_fn(x @ experts.up_proj[expert].T)


def watch_experts(sums, name, experts):
    """The module gets tokens [T, D] and the experts of each [T, J]."""
    def hook(_, arguments):
        x, chosen = arguments[:2]
        inner = "gate_up_proj" if hasattr(experts, "gate_up_proj") else "up_proj"
        count = getattr(experts, inner).shape[0]
        for expert in range(count):
            own = x.reshape(-1, x.shape[-1])[(chosen == expert).any(-1)]
            sums.add(f"{name}.{inner}", count, expert, own)
            sums.add(name + ".down_proj", count, expert, units(experts, expert, own))
    return hook


def gather(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, experts_implementation="eager").eval()
    sums = Sums()
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(
                lambda _, inputs, name=name: sums.add(name + ".weight", 1, 0, inputs[0].reshape(-1, inputs[0].shape[-1])))
        elif isinstance(getattr(module, "down_proj", None), torch.nn.Parameter):
            module.register_forward_pre_hook(watch_experts(sums, name, module))
    with torch.no_grad():
        for tokens in json.loads((folder / "tokens.json").read_text()):
            model(torch.tensor([tokens]), use_cache=False)
    return {name: {"counts": entry["counts"], "sums": [[float(f"{x:.9g}") for x in row] for row in entry["sums"]]}
            for name, entry in sums.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "importance.json")
    arguments = parser.parse_args()
    recorded = {case: gather(Path(__file__).parent / "families" / case) for case in CASES}
    arguments.out.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
