#!/usr/bin/env python3
"""Writes `test/goldens/retrieval/goldens.safetensors`: inputs, weights and outputs of public layers
that retrieve.

    mixtral       transformers' MixtralSparseMoeBlock: softmax over all experts, renormalised
    qwen2_moe     transformers' Qwen2MoeSparseMoeBlock: the same without renormalising, with a shared
                  expert behind a gate of its own
    qwen2_moe_norm  the same with norm_topk_prob
    doge          transformers' DogeCDMoE, fed one token at a time: its router mixes the tokens of
                  longer calls. 30 experts, of which 5 x 5 can be reached
    peer          Mixture of a million experts (He, arXiv:2407.04153), from its formulas, in the
                  layouts of lucidrains/PEER-pytorch: queries (half, head, channel), keys
                  [head, key, half, channel]
    pkm           Product-key memory (Lample et al., arXiv:1907.05242), from its formulas, in the
                  layouts of facebookresearch/XLM: queries (head, half, channel), keys
                  [head, half, key, channel]
    norms         torch's layer_norm, group_norm and normalize, and Gemma's norm

Modules run in f64 with weights that f32 holds; the two routers of transformers take their softmax
in f32 all the same. For each layer there are `<name>.x`, its weights under the names of its code,
and `<name>.y` in f64.
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from transformers import DogeConfig, GemmaConfig, MixtralConfig, Qwen2MoeConfig
from transformers.models.doge.modeling_doge import DogeCDMoE
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock
from transformers.models.qwen2_moe.modeling_qwen2_moe import Qwen2MoeSparseMoeBlock

TOKENS = 6


def draw(*shape, scale=1.0):
    """Numbers that f32 holds, in f64."""
    return (torch.randn(*shape) * scale).float().double()


def run(module, x, together):
    """Outputs of all tokens of x [T, D], in one call or one by one."""
    pieces = [x] if together else x.split(1)
    outputs = [module(piece[None]) for piece in pieces]
    return torch.cat([(y[0] if isinstance(y, tuple) else y)[0] for y in outputs])


def of_module(module, width, together=True):
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(draw(*parameter.shape, scale=0.5))
        x = draw(TOKENS, width)
        return {"x": x, **dict(module.named_parameters()), "y": run(module, x, together)}


def choose(scores, count):
    """The best pairs of scores [2, T, H, S]: their scores and numbers."""
    keys = scores.shape[-1]
    pairs = scores[0][..., :, None] + scores[1][..., None, :]
    return pairs.flatten(-2).topk(count, dim=-1)


def peer(width=14, heads=3, keys=6, channels=4, count=5):
    x, experts = draw(TOKENS, width), keys * keys
    query = draw(2 * heads * channels, width, scale=0.5)
    sub_keys = draw(heads, keys, 2, channels)
    down, up = draw(experts, width, scale=0.5), draw(experts, width)
    q = (x @ query.T).view(TOKENS, 2, heads, channels)
    scores, chosen = choose(torch.einsum("tphc,hkpc->pthk", q, sub_keys), count)
    hidden = F.gelu(torch.einsum("td,thkd->thk", x, down[chosen])) * scores.softmax(-1)
    return {"x": x, "query": query, "keys": sub_keys, "down": down, "up": up,
            "y": torch.einsum("thk,thkd->td", hidden, up[chosen])}


def pkm(width=10, heads=2, keys=7, channels=3, count=4, out=9):
    x = draw(TOKENS, width)
    query, bias = draw(heads * 2 * channels, width, scale=0.5), draw(heads * 2 * channels)
    sub_keys, values = draw(heads, 2, keys, channels), draw(keys * keys, out)
    q = (x @ query.T + bias).view(TOKENS, heads, 2, channels)
    scores, chosen = choose(torch.einsum("thpc,hpkc->pthk", q, sub_keys), count)
    return {"x": x, "query": query, "bias": bias, "keys": sub_keys, "values": values,
            "y": torch.einsum("thk,thkd->td", scores.softmax(-1), values[chosen])}


def norms(width=12, groups=3):
    x, w, b = draw(TOKENS, width), draw(width), draw(width)
    gemma = GemmaRMSNorm(width, eps=1e-6).double()
    with torch.no_grad():
        gemma.weight.copy_(w)
        return {"x": x, "w": w, "b": b,
                "layer": F.layer_norm(x, (width,), w, b, eps=1e-5),
                "group": F.group_norm(x, groups, w, b, eps=6.4e-4),
                "normalize": F.normalize(x.view(TOKENS, groups, -1), dim=-1, eps=1e-12).view_as(x),
                "gemma": gemma(x)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "retrieval")
    arguments = parser.parse_args()
    torch.manual_seed(2412_11834)
    qwen = dict(hidden_size=12, moe_intermediate_size=5, shared_expert_intermediate_size=9,
                num_experts=8, num_experts_per_tok=3)
    cases = {
        "mixtral": of_module(MixtralSparseMoeBlock(MixtralConfig(
            hidden_size=10, intermediate_size=7, num_local_experts=6, num_experts_per_tok=2)), 10),
        "qwen2_moe": of_module(Qwen2MoeSparseMoeBlock(Qwen2MoeConfig(
            norm_topk_prob=False, **qwen)), 12),
        "qwen2_moe_norm": of_module(Qwen2MoeSparseMoeBlock(Qwen2MoeConfig(
            norm_topk_prob=True, **qwen)), 12),
        "doge": of_module(DogeCDMoE(DogeConfig(
            hidden_size=16, intermediate_size=11, num_experts=30, num_experts_per_tok=4,
            num_attention_heads=2, is_moe=True)), 16, together=False),
        "peer": peer(),
        "pkm": pkm(),
        "norms": norms(),
    }
    results = {"y", "layer", "group", "normalize", "gemma"}
    tensors = {f"{case}.{name}": (value if name in results else value.float()).contiguous()
               for case, values in cases.items() for name, value in values.items()}
    arguments.out.mkdir(exist_ok=True)
    save_file({name: value.detach() for name, value in tensors.items()},
              arguments.out / "goldens.safetensors")


if __name__ == "__main__":
    main()
