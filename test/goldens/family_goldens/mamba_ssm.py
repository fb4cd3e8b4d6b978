"""Cases of github.com/state-spaces/mamba's layout, whose package needs a GPU's kernels.

An independent forward in torch, from the papers' equations and what the package's code says of names,
orders of rows and defaults: either Mamba, layers of attention and gated layers around them.
"""

import torch
from torch.nn import functional

from .explicit import NamedModel, View
from .explicit_parts import linear, norm, rotate
from .papers import LAYER, RMS, case, convolve, window_softmax


class AuthorsModel(NamedModel):
    def forward(self, ids, use_cache=False):
        config, width = self.config, self.config["d_model"]
        multiple = config["pad_vocab_size_multiple"]
        rows = -(-config["vocab_size"] // multiple) * multiple
        kind = RMS if config.get("rms_norm", True) else LAYER
        whole = View(self.tensors, "", config)
        table = whole("backbone.embedding.weight", rows, width)
        x = functional.embedding(ids[0], table)
        for index in range(config["n_layer"]):
            view = View(self.tensors, f"backbone.layers.{index}.", config)
            y = norm(view, "norm", x, kind)
            inner = View(self.tensors, view.prefix + "mixer.", config)
            if index in config.get("attn_layer_idx", ()):
                x = x + self.attend(inner, y, config["attn_cfg"])
            else:
                x = x + self.scan(inner, y, config["ssm_cfg"])
            if config.get("d_intermediate"):
                hidden = -(-config["d_intermediate"] // 128) * 128
                up, gate = linear(view, "mlp.fc1", norm(view, "norm2", x, kind), 2 * hidden).chunk(2, -1)
                x = x + linear(view, "mlp.fc2", up * functional.silu(gate), width)
        x = norm(whole, "backbone.norm_f", x, kind)
        return (x @ table.T if config["tie_embeddings"] else linear(whole, "lm_head", x, rows))[None]

    @staticmethod
    def attend(view, x, given):
        width, heads, keys = x.shape[-1], given["num_heads"], given["head_dim"]
        shared, bias = given.get("num_heads_kv", heads), given.get("qkv_proj_bias", True)
        rows = (heads + 2 * shared) * keys
        qkv = linear(view, "in_proj", x, rows, bias)
        if given.get("d_conv"):
            qkv = convolve(view("conv1d.weight", rows, 1, given["d_conv"]), view("conv1d.bias", rows), qkv)
        q, k, v = (part.unflatten(-1, (-1, keys)) for part in
                   qkv.split([heads * keys, shared * keys, shared * keys], -1))
        turned, theta = given.get("rotary_emb_dim", 0), given.get("rotary_emb_base", 10000.0)
        if turned:
            q, k = (torch.cat([rotate(z[..., :turned], theta), z[..., turned:]], -1) for z in (q, k))
        y = window_softmax(q, k, v).flatten(-2)
        return linear(view, "out_proj", y, width, given.get("out_proj_bias", True))


class AuthorsMamba(AuthorsModel):
    @staticmethod
    def scan(view, x, given):
        width, bias = x.shape[-1], given.get("bias", False)
        inner, states = given.get("expand", 2) * width, given.get("d_state", 16)
        rank = given.get("dt_rank", -(-width // 16))
        u, z = linear(view, "in_proj", x, 2 * inner, bias).chunk(2, -1)
        u = functional.silu(convolve(
            view("conv1d.weight", inner, 1, given.get("d_conv", 4)),
            view("conv1d.bias", inner) if given.get("conv_bias", True) else None, u))
        low, b, c = linear(view, "x_proj", u, rank + 2 * states).split([rank, states, states], -1)
        dt = functional.softplus(linear(view, "dt_proj", low, inner, True))
        a, state, out = -view("A_log", inner, states).exp(), x.new_zeros(inner, states), []
        for t in range(len(x)):
            state = torch.exp(dt[t][:, None] * a) * state + (dt[t] * u[t])[:, None] * b[t]
            out.append(state @ c[t])
        y = (torch.stack(out) + view("D", inner) * u) * functional.silu(z)
        return linear(view, "out_proj", y, width, bias)


class AuthorsMamba2(AuthorsModel):
    @staticmethod
    def scan(view, x, given):
        width, values, keys = x.shape[-1], given.get("headdim", 64), given.get("d_state", 128)
        inner, groups = given.get("expand", 2) * width, given.get("ngroups", 1)
        mixed = given.get("d_ssm") or inner
        heads, shared, beside = mixed // values, groups * keys, inner - mixed
        channels = mixed + 2 * shared
        up, gated, z, u, dt = linear(view, "in_proj", x, 2 * beside + mixed + channels + heads).split(
            [beside, beside, mixed, channels, heads], -1)
        u = functional.silu(convolve(view("conv1d.weight", channels, 1, 4), view("conv1d.bias", channels), u))
        u, b, c = u.split([mixed, shared, shared], -1)
        b, c = (y.unflatten(-1, (groups, keys)).repeat_interleave(heads // groups, 1) for y in (b, c))
        u, dt = u.unflatten(-1, (heads, values)), functional.softplus(dt + view("dt_bias", heads))
        decay, state, rows = torch.exp(-dt * view("A_log", heads).exp()), x.new_zeros(heads, values, keys), []
        feed = view("D", mixed).view(heads, values) if given.get("D_has_hdim") else view("D", heads)[:, None]
        for t in range(len(x)):
            state = decay[t][:, None, None] * state + torch.einsum("h,hv,hn->hvn", dt[t], u[t], b[t])
            rows.append(torch.einsum("hvn,hn->hv", state, c[t]) + feed * u[t])
        y, gate = torch.stack(rows).flatten(-2), functional.silu(z)
        if not given.get("rmsnorm", True):
            y = y * gate
        elif given.get("norm_before_gate", False):
            y = norm(view, "norm", y, RMS, groups) * gate
        else:
            y = norm(view, "norm", y * gate, RMS, groups)
        return linear(view, "out_proj", torch.cat([functional.silu(up) * gated, y], -1), width)


MAMBA = dict(rms_norm=True, residual_in_fp32=True, fused_add_norm=True)
# As transformerpp-2.7b: no layer has the mixer that `ssm_cfg` describes.
ATTENDING = dict(causal=True, d_conv=0, out_proj_bias=False, qkv_proj_bias=False)

CASES = [
    case("mamba2", "ssm_attention", AuthorsMamba2, dict(
        MAMBA, d_model=24, d_intermediate=0, n_layer=3, vocab_size=59, pad_vocab_size_multiple=8, tie_embeddings=True,
        attn_layer_idx=[1], attn_cfg=dict(causal=True, d_conv=4, head_dim=8, num_heads=3, out_proj_bias=False,
                                          qkv_proj_bias=False, rotary_emb_dim=4),
        ssm_cfg=dict(layer="Mamba2", d_state=10, headdim=6, expand=2))),
    case("mamba2", "ssm_gated_layers_bf16", AuthorsMamba2, dict(
        MAMBA, d_model=16, d_intermediate=100, n_layer=2, vocab_size=61, pad_vocab_size_multiple=1,
        tie_embeddings=False, attn_layer_idx=[0], attn_cfg=dict(causal=True, head_dim=6, num_heads=4, num_heads_kv=2),
        ssm_cfg=dict(layer="Mamba2", d_state=7, headdim=8, expand=3)), dtype="bf16"),
    case("mamba2", "ssm_norm_before_gate", AuthorsMamba2, dict(
        MAMBA, d_model=20, d_intermediate=0, n_layer=2, vocab_size=61, pad_vocab_size_multiple=1,
        tie_embeddings=False, rms_norm=False, attn_layer_idx=[], attn_cfg={},
        ssm_cfg=dict(layer="Mamba2", d_state=6, headdim=5, ngroups=4, norm_before_gate=True))),
    case("mamba2", "ssm_no_gated_norm_bf16", AuthorsMamba2, dict(
        MAMBA, d_model=24, n_layer=2, vocab_size=50, pad_vocab_size_multiple=16, tie_embeddings=True,
        ssm_cfg=dict(layer="Mamba2", d_state=9, headdim=8, ngroups=3, rmsnorm=False)), dtype="bf16",
         embedding=0.3),
    case("mamba2", "ssm_channel_feed", AuthorsMamba2, dict(
        MAMBA, d_model=20, n_layer=2, vocab_size=57, pad_vocab_size_multiple=1, tie_embeddings=False,
        ssm_cfg=dict(layer="Mamba2", d_state=7, headdim=8, ngroups=5, D_has_hdim=True))),
    # 48 inner channels, of which the mixer has 30; both settings at once.
    case("mamba2", "ssm_narrow_bf16", AuthorsMamba2, dict(
        MAMBA, d_model=24, n_layer=2, vocab_size=53, pad_vocab_size_multiple=4, tie_embeddings=True,
        ssm_cfg=dict(layer="Mamba2", d_state=9, headdim=5, ngroups=3, d_ssm=30, D_has_hdim=True)), dtype="bf16",
         embedding=0.3),
    case("mamba", "ssm_padded", AuthorsMamba, dict(
        MAMBA, d_model=24, n_layer=2, vocab_size=59, pad_vocab_size_multiple=8, tie_embeddings=True,
        ssm_cfg=dict(layer="Mamba1", d_state=7))),
    case("mamba", "ssm_default_layer", AuthorsMamba, dict(
        MAMBA, d_model=20, n_layer=2, vocab_size=61, pad_vocab_size_multiple=1, tie_embeddings=False,
        ssm_cfg=dict(d_state=5, d_conv=3, expand=3, dt_rank=4, bias=True))),
    case("mamba", "ssm_layer_norm", AuthorsMamba, dict(
        MAMBA, d_model=20, d_intermediate=70, n_layer=2, vocab_size=59, pad_vocab_size_multiple=4,
        tie_embeddings=True, rms_norm=False, attn_layer_idx=[1],
        attn_cfg=dict(ATTENDING, head_dim=6, num_heads=4, num_heads_kv=2, rotary_emb_dim=6, rotary_emb_base=300.0),
        ssm_cfg=dict(d_state=6)), embedding=0.3),
    case("mamba", "ssm_attending_bf16", AuthorsMamba, dict(
        MAMBA, d_model=24, d_intermediate=128, n_layer=2, vocab_size=53, pad_vocab_size_multiple=16,
        tie_embeddings=False, attn_layer_idx=[0, 1],
        attn_cfg=dict(ATTENDING, head_dim=8, num_heads=3, rotary_emb_dim=8), ssm_cfg={}), dtype="bf16"),
]
