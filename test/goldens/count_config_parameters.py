#!/usr/bin/env python3
"""Counts the parameters of `test/goldens/configs/*.json` and `published/released.json` by the
public libraries.

Each file has a released configuration, where it is from, and `parameters`, which this script
compares with the sum over the library's model on the meta device; `--write` puts the sum there
where it is null. `unread_parameters` are those that no token reads: the rows before OPT's positions.
"""

import argparse
import copy
import json
from pathlib import Path

import fla.models
import torch
import transformers
from family_goldens.bailing import Ling
from family_goldens.kimi import KimiLinear
from family_goldens.plamo import Plamo2


def count(config):
    # Both libraries have some of the names of model types, so the class says which.
    name = config["architectures"][0]
    if "text_config" in config:
        # Of a model that also sees, the text's part counts.
        text = {**config["text_config"], "tie_word_embeddings": config["tie_word_embeddings"]}
        return count({**text, "architectures": [name.replace("ForConditionalGeneration", "ForCausalLM")]})
    # The code of its checkpoints; transformers has the same tensors under another name.
    name = {"BailingMoeV3ForCausalLM": "BailingHybridForCausalLM"}.get(name, name)
    if name == "BailingMoeLinearV2ForCausalLM":
        # No library here has it; the forward of the goldens names the same tensors.
        with torch.device("meta"):
            return sum(parameter.numel() for parameter in Ling(config).parameters())
    if name == "KimiLinearForCausalLM":
        # Its code is its checkpoint's own and needs Triton; the forward of the goldens names the same tensors.
        with torch.device("meta"):
            return sum(parameter.numel() for parameter in KimiLinear(config).parameters())
    if name == "Plamo2ForCausalLM":
        # Its code is its checkpoint's own and needs mamba_ssm's kernels; as above.
        with torch.device("meta"):
            return sum(parameter.numel() for parameter in Plamo2(config).parameters())
    if "attn_type_list" in config and name != "MiniMaxM2ForCausalLM":
        # The code of MiniMax' checkpoints; transformers has the same tensors.
        kinds = ["linear_attention", "full_attention"]
        name = "MiniMaxForCausalLM"
        config = {**config, "layer_types": [kinds[kind] for kind in config["attn_type_list"]]}
        del config["model_type"]
    kind = getattr(transformers, name, None) or getattr(fla.models, name)
    made = kind.config_class(**copy.deepcopy(config))
    with torch.device("meta"):
        model = kind(made)
    # What balances experts or scales layers is trained, though the library keeps it in a buffer.
    trained = ("correction_bias", "expert_bias", "layer_scalar", "balancing_biases")
    balances = [tensor for name, tensor in model.named_buffers() if name.endswith(trained)]
    return sum(tensor.numel() for tensor in [*model.parameters(), *balances])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="fill in what is null")
    arguments = parser.parse_args()
    wrong = 0
    for path in sorted((Path(__file__).resolve().parent / "configs").glob("*.json")):
        entry = json.loads(path.read_text())
        found = count(entry["config"])
        if entry["parameters"] is None and arguments.write:
            entry["parameters"] = found
            path.write_text(json.dumps(entry, indent=1, sort_keys=True) + "\n")
        good = entry["parameters"] == found
        wrong += not good
        print(f"{path.stem:22} {found:14,}" + ("" if good else f"  but the file has {entry['parameters']}"),
              flush=True)
    published = Path(__file__).resolve().parent / "configs/published/released.json"
    for name, entry in json.loads(published.read_text())["models"].items():
        found = count(entry["config"])
        good = entry["parameters"] == found
        wrong += not good
        print(f"{name:40} {found:16,}" + ("" if good else f"  but the file has {entry['parameters']}"), flush=True)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
