"""Cases of StreamingLLM whose models have a forward of their own here: the cache written out, in torch.

As in `streaming.py`: keys are kept as they are before they are turned, and turned by their places in a
cache of the first tokens and the last. A layer with a narrower window of its own has a cache of that alone.
"""

import torch
from torch.nn import functional

from . import papers
from .explicit import GLU, ExplicitModel, block, case, rodimus
from .explicit_parts import PARTS, linear, positions, rotate

SINKS, WINDOW = 3, 7


def attend(q, k, v, turn, sinks, window, scale=None, numbers=None):
    """q [T, H, K], k and v [T, G, .]: [T, H, V]. `numbers` [T, H] are added to their keys' scores."""
    heads, rows = q.shape[1], []
    v = v.repeat_interleave(heads // v.shape[1], 1)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    for here in range(len(q)):
        cache = [j for j in range(here + 1) if j < sinks or j > here - window]
        keys = turn(k[cache]).repeat_interleave(heads // k.shape[1], 1)
        query = turn(q[here].expand(len(cache), -1, -1))[-1]
        scores = torch.einsum("hk,jhk->hj", query, keys) * scale
        if numbers is not None:
            scores = scores + numbers[cache].T
        rows.append(torch.einsum("hj,jhv->hv", scores.softmax(-1), v[cache]))
    return torch.stack(rows)


def attention(view, config, x):
    """The explicit layout's part, with a mask that adds or none."""
    heads, keys = config["heads"], config["keys"]
    key_heads = config.get("key_heads", heads)
    value_heads, values = config.get("value_heads", key_heads), config.get("values", keys)
    q = linear(view, "q", x, heads * keys).unflatten(-1, (heads, keys))
    k = linear(view, "k", x, key_heads * keys).unflatten(-1, (key_heads, keys))
    v = linear(view, "v", x, value_heads * values).unflatten(-1, (value_heads, values))
    own, numbers = config.get("window"), None
    if "mask" in config:
        count = config["mask"].get("heads", heads)
        rate = functional.softplus(linear(view, "dt", v.flatten(-2), count))
        numbers = torch.exp(view("a", count) * rate).repeat_interleave(heads // count, 1)
    y = attend(q, k, v, lambda z: positions(view, config.get("positions"), z),
               0 if own else SINKS, own or WINDOW, config.get("scale"), numbers)
    return linear(view, "o", y.flatten(-2), x.shape[-1])


class CachedExplicit(ExplicitModel):
    parts = {**PARTS, "attention": attention}


class CachedRodimus(papers.Rodimus):
    @staticmethod
    def attend(view, x, config):
        width, heads = x.shape[-1], config["num_heads"]
        q, k, v = (linear(view, f"attn.{part}_proj", x, count * width // heads).unflatten(-1, (count, -1))
                   for part, count in (("q", heads), ("k", config["num_heads_k"]), ("v", heads)))
        theta = config["rotary_emb_base"]
        y = attend(q, k, v, lambda z: rotate(z, theta), SINKS, WINDOW)
        return linear(view, "attn.out_proj", y.flatten(-2), width)


class CachedCheems(papers.Cheems):
    @staticmethod
    def attend(view, config, x):
        heads, shared, width = config["num_attention_heads"], config["num_key_value_heads"], x.shape[-1]
        q, k, v = (linear(view, f"attn.{part}_proj", x, count * width // heads, config["hidden_bias"])
                   .unflatten(-1, (count, -1)) for part, count in (("q", heads), ("k", shared), ("v", shared)))
        numbers = torch.exp(view("attn.A", heads) * functional.softplus(
            linear(view, "attn.dt_proj", v.flatten(-2), heads, config["hidden_bias"])))
        y = attend(q, k, v, lambda z: rotate(z, config["rope_theta"]), SINKS, WINDOW, numbers=numbers)
        return linear(view, "attn.o_proj", y.flatten(-2), width, config["hidden_bias"])


OPTIONS = {"sinks": SINKS, "window": WINDOW}
# Fewer positions than the sequences have tokens.
SHORT = {"max_position_embeddings": 20}
ROTARY = {"kind": "rotary", "rope_theta": 300.0}

CASES = [
    case("effc_rodimus", "streaming", [
        block(rodimus(), {"part": "attention", "heads": 4, "key_heads": 1, "value_heads": 4, "keys": 6, "values": 5,
                          "positions": ROTARY, "residual": "two_hop"}, GLU),
        block({"part": "attention", "heads": 3, "keys": 8, "window": 5, "positions": ROTARY}, GLU)],
         kind=CachedExplicit, options=OPTIONS, **SHORT),
    case("effc_wonderful", "streaming", [
        block({"part": "attention", "heads": 6, "key_heads": 2, "keys": 4, "scale": 0.4,
               "mask": {"kind": "bias", "heads": 3}, "positions": {**ROTARY, "interleaved": True}}, GLU),
        block({"part": "attention", "heads": 2, "keys": 9})],
         kind=CachedExplicit, options=OPTIONS, **SHORT),
    papers.case("rodimus", "streaming", CachedRodimus, dict(
        {**papers.RODIMUS, **SHORT}, block_type="rodimus_plus", d_model=24, n_layer=2,
        mixer_cfg=dict(d_conv=4, expand_ratio=1.5, mem_size=7, input_gate_low_rank=5),
        attn_cfg=dict(num_heads=4, num_heads_k=1, num_heads_v=4, rotary_emb_base=300.0, ffn_expand_ratio=4 / 3)),
         options=OPTIONS),
    # Its own window is of 13 tokens.
    papers.case("rodimus", "streaming_narrow_bf16", CachedRodimus, dict(
        {**papers.RODIMUS, **SHORT}, block_type="rodimus_plus", d_model=20, n_layer=2, tie_word_embeddings=True,
        mixer_cfg=dict(d_conv=3, expand_ratio=2, mem_size=6, input_gate_low_rank=4),
        attn_cfg=dict(num_heads=2, num_heads_k=2, num_heads_v=2, rotary_emb_base=200.0, window_size=24,
                      ffn_expand_ratio=1.5)), dtype="bf16", embedding=0.3, options=OPTIONS),
    papers.case("cheems", "streaming", CachedCheems, dict(
        {**papers.CHEEMS, **SHORT}, hidden_size=24, intermediate_size=28, num_hidden_layers=2, hidden_bias=True,
        num_attention_heads=4, num_key_value_heads=2, attn_layer_period=2, attn_layer_offset=0, is_moe=False,
        tie_word_embeddings=False), options=OPTIONS),
]
