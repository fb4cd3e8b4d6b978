"""Mamba-3: flash-linear-attention's model, whose scan needs a GPU, with a body in torch for that scan; and
the authors' layout by an independent forward.

The recurrence is the paper's: the exponential-trapezoidal rule, on keys and queries that turn by the running
sum of their angles. It was held to `mamba3_siso_step_ref` of github.com/state-spaces/mamba (tests/ops/triton,
e9594ce) on random inputs: 3e-16 in double.
"""

import math

import fla.layers.mamba3
import torch
from torch.nn import functional

from . import flash_functions  # noqa: F401 (gives the kernels bodies)
from .explicit_parts import linear
from .flash import case as flash_case
from .mamba_ssm import MAMBA, AuthorsModel
from .papers import case


def turned(x, angles):
    """Pairs of neighbours of x [L, H, N] turned by angles [L, H, P]; channels behind them are not."""
    pairs = angles.shape[-1]
    even, odd = x[..., :2 * pairs].unflatten(-1, (pairs, 2)).unbind(-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2),
                      x[..., 2 * pairs:]], -1)


def scan(c, b, x, rate, dt, share, angles, d):
    """c, b [L, H, N], x [L, H, V], rate, dt, share [L, H], angles [L, P], d [H]."""
    running = torch.cumsum(math.pi * torch.tanh(angles)[:, None] * dt[..., None], 0)
    c, b, share = turned(c, running), turned(b, running), torch.sigmoid(share)
    state, rows = x.new_zeros(*x.shape[1:], b.shape[-1]), []
    earlier = torch.zeros_like(state)
    for t in range(len(x)):
        decay, now = torch.exp(-rate[t] * dt[t])[:, None, None], torch.einsum("hv,hn->hvn", x[t], b[t])
        own = (share[t] * dt[t])[:, None, None]
        state = decay * (state + ((1 - share[t]) * dt[t])[:, None, None] * earlier) + own * now
        rows.append(torch.einsum("hvn,hn->hv", state, c[t]) + d[:, None] * x[t])
        earlier = now
    return torch.stack(rows)


def siso(Q, K, V, ADT, DT, Trap, Q_bias, K_bias, Angles, D, Z, **unused):
    heads = V.shape[2]
    c, b = (part[0].repeat_interleave(heads // part.shape[2], 1) + bias
            for part, bias in ((Q, Q_bias), (K, K_bias)))
    y = scan(c, b, V[0], (-ADT / DT)[0].T, DT[0].T, Trap[0].T, Angles[0, :, 0], D)
    return (y if Z is None else y * functional.silu(Z[0]))[None]


def forward(self, hidden_states, **unused):
    return self.cuda_kernels_forward(hidden_states)[0], None, None


fla.layers.mamba3.mamba3_siso_combined = siso
fla.layers.mamba3.Mamba3.forward = forward


class AuthorsMamba3(AuthorsModel):
    @staticmethod
    def scan(view, x, given):
        width, values, keys = x.shape[-1], given.get("headdim", 64), given.get("d_state", 128)
        inner, groups = given.get("expand", 2) * width, given.get("ngroups", 1)
        heads, pairs = inner // values, int(keys * given.get("rope_fraction", 0.5)) // 2
        z, u, b, c, dt, a, share, angles = linear(
            view, "in_proj", x, 2 * inner + 2 * groups * keys + 3 * heads + pairs).split(
            [inner, inner, groups * keys, groups * keys, heads, heads, heads, pairs], -1)

        def in_heads(name, part):
            part = part.unflatten(-1, (groups, keys))
            part = part * torch.rsqrt(part.square().mean(-1, keepdim=True) + 1e-5) * view(f"{name}_norm.weight", keys)
            return part.repeat_interleave(heads // groups, 1) + view(f"{name}_bias", heads, 1, keys)[:, 0]

        b, c = in_heads("B", b), in_heads("C", c)
        dt = functional.softplus(dt + view("dt_bias", heads))
        rate = functional.softplus(a) if given["A_activation"] == "softplus" else torch.where(
            a >= 0, 1 + a, 1 / (1 - a.clamp(max=0)))
        y = scan(c, b, u.unflatten(-1, (heads, values)), rate.clamp(min=given.get("A_floor", 1e-4)), dt, share,
                 angles, view("D", heads))
        if given.get("is_outproj_norm", False):
            y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5) * view("norm.weight", inner).view(heads, values)
        return linear(view, "out_proj", y.flatten(-2) * functional.silu(z), width)


DRAW = {r"[BC]_bias$": (0.5, 0.4), r"[BC]_norm\.weight$": (1.0, 0.3)}

CASES = [
    flash_case("mamba3", "plain", "Mamba3", dict(
        hidden_size=24, state_size=10, head_dim=8, intermediate_size=None, num_hidden_layers=2), draw=DRAW),
    flash_case("mamba3", "groups_norm_bf16", "Mamba3", dict(
        vocab_size=59, hidden_size=20, state_size=7, head_dim=5, n_groups=4, expand=2, rope_fraction=1.0,
        is_outproj_norm=True, A_floor=0.7, use_bias=True, tie_word_embeddings=True, intermediate_size=None),
               draw=DRAW, dtype="bf16", embedding=0.3),
    case("mamba3", "ssm_heavy_tail", AuthorsMamba3, dict(
        MAMBA, d_model=24, d_intermediate=0, n_layer=3, vocab_size=61, pad_vocab_size_multiple=8,
        tie_embeddings=False, attn_layer_idx=[1], attn_cfg=dict(causal=True, head_dim=6, num_heads=4, num_heads_kv=2),
        ssm_cfg=dict(layer="Mamba3", d_state=12, headdim=6, A_activation="heavy_tail"))),
    case("mamba3", "ssm_softplus", AuthorsMamba3, dict(
        MAMBA, d_model=20, n_layer=2, vocab_size=53, pad_vocab_size_multiple=1, tie_embeddings=True,
        ssm_cfg=dict(layer="Mamba3", d_state=9, headdim=8, expand=2, rope_fraction=1.0, is_outproj_norm=True,
                     A_activation="softplus")), embedding=0.3),
]
