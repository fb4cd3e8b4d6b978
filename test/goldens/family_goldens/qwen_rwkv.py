"""Cases of Qwen2 with mixers of RWKV, whose code is a checkpoint's (`auto_map`) and needs Triton.

Independent forwards in torch, from what llama.cpp says (rwkv6qwen2.cpp, arwkv7.cpp, rwkv6-base.cpp,
rwkv7-base.cpp and conversion/rwkv.py) and the authors' public training code (qwen2rwkv6; modules of
rwkv_hybrid) of names, orders and constants. The authors bound QRWKV6's log-decays by -5, llama.cpp
does not.
"""

import torch
from torch.nn import functional

from .explicit import ExplicitCase, NamedModel, View
from .explicit_parts import linear, norm
from .papers import TOKENS


class QwenRwkv(NamedModel):
    """Norms and MLPs of Qwen2 around `mix`, from a token and the one before it less that."""

    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        width, rms = config["hidden_size"], {"kind": "rms", "eps": config["rms_norm_eps"]}
        table = whole("model.embed_tokens.weight", config["vocab_size"], width)
        x, self.first = functional.embedding(ids[0], table), None
        for index in range(config["num_hidden_layers"]):
            view = View(self.tensors, f"model.layers.{index}.", config)
            y = norm(view, "input_layernorm", x, rms)
            x = x + self.mix(view, config, y, torch.cat([torch.zeros_like(y[:1]), y[:-1]]) - y)
            y = norm(view, "post_attention_layernorm", x, rms)
            gate, up = (linear(view, f"mlp.{part}_proj", y, config["intermediate_size"]) for part in ("gate", "up"))
            x = x + linear(view, "mlp.down_proj", functional.silu(gate) * up, width)
        x = norm(whole, "model.norm", x, rms)
        return (x @ table.T if config["tie_word_embeddings"] else
                linear(whole, "lm_head", x, config["vocab_size"]))[None]


class Rwkv6Qwen2(QwenRwkv):
    def mix(self, view, config, x, delta):
        width, heads, groups = (config[key] for key in ("hidden_size", "num_attention_heads", "num_key_value_heads"))
        rank, keys, bias = config["lora_rank_tokenshift"], width // heads, config.get("attention_bias", True)
        name = "self_attn."
        low = torch.tanh((x + delta * view(name + "time_maa_x", 1, 1, width)[0]) @
                         view(name + "time_maa_w1", width, 5 * rank)).unflatten(-1, (5, rank))
        shares = torch.einsum("tir,ird->itd", low, view(name + "time_maa_w2", 5, rank, width))
        xr, xk, xv, xw, xg = (x + delta * (view(f"{name}time_maa_{part}", 1, 1, width)[0] + share)
                              for part, share in zip("rkvwg", shares))
        q = linear(view, name + "q_proj", xr, width, bias).unflatten(-1, (heads, keys)) * keys ** -0.5
        k, v = (linear(view, f"{name}{part}_proj", token, groups * keys, bias).unflatten(-1, (groups, keys))
                .repeat_interleave(heads // groups, 1) for part, token in (("k", xk), ("v", xv)))
        decay_rank = config["lora_rank_decay"]
        w = view(name + "time_decay", 1, 1, width)[0] + torch.tanh(
            xw @ view(name + "time_decay_w1", width, decay_rank)) @ view(name + "time_decay_w2", decay_rank, width)
        decay = torch.exp((-torch.exp(w)).clamp(min=-5)).unflatten(-1, (heads, keys))
        k = k * (1 - decay)
        state, rows = x.new_zeros(heads, keys, keys), []
        for t in range(len(x)):
            state = decay[t][..., None] * state + k[t][..., None] * v[t][:, None]
            rows.append(torch.einsum("hk,hkv->hv", q[t], state))
        y = torch.stack(rows).flatten(-2) * torch.sigmoid(linear(view, name + "gate", xg, width))
        return linear(view, name + "o_proj", y, width)


class RwkvHybrid(QwenRwkv):
    def mix(self, view, config, x, delta):
        width, keys, name = config["hidden_size"], config["head_size"], "self_attn.time_mixer."
        heads = width // keys

        def stored(part):
            return view(name + part, 1, 1, width)[0]

        def low(part, token, rank, between=lambda y: y):
            return between(token @ view(f"{name}{part}1", width, rank)) @ view(f"{name}{part}2", rank, width)

        def inputs(part):
            return x + delta * stored(f"x_{part}")

        r = linear(view, name + "receptance", inputs("r"), width)
        w = stored("w0") + low("w", inputs("w"), 64, torch.tanh)
        decay = torch.exp(-torch.exp(-functional.softplus(-w) - 0.5))
        k, v = linear(view, name + "key", inputs("k"), width), linear(view, name + "value", inputs("v"), width)
        # The first layer has these tensors too.
        share = torch.sigmoid(stored("v0") + low("v", inputs("v"), 32))
        if self.first is None:
            self.first = v
        else:
            v = v + share * (self.first - v)
        a = torch.sigmoid(stored("a0") + low("a", inputs("a"), 64))
        kk = functional.normalize((k * stored("k_k")).unflatten(-1, (heads, keys)), dim=-1, eps=1e-12)
        k = k + stored("k_a") * (k * a - k)
        r, k, v, a, decay = (y.unflatten(-1, (heads, keys)) for y in (r, k, v, a, decay))
        state, rows = x.new_zeros(heads, keys, keys), []
        for t in range(len(x)):
            read = torch.einsum("hk,hkv->hv", -kk[t], state)
            state = (decay[t][..., None] * state + (kk[t] * a[t])[..., None] * read[:, None]
                     + k[t][..., None] * v[t][:, None])
            rows.append(torch.einsum("hk,hkv->hv", r[t], state))
        y = torch.stack(rows)
        if config["wkv_has_group_norm"]:
            y = functional.layer_norm(y, (keys,), eps=1e-5 * 8 ** 2).flatten(-2)
            y = (y * view(name + "ln_x.weight", width) + view(name + "ln_x.bias", width)).unflatten(-1, (heads, keys))
        y = (y + (r * k * view(name + "r_k", heads, keys)).sum(-1, keepdim=True) * v).flatten(-2)
        if config["wkv_has_gate"]:
            y = y * low("g", inputs("g"), 128, torch.sigmoid)
        return linear(view, name + "output", y, width)


DRAW = {
    r"time_maa_[rkvwgx]$": (0.5, 0.3),
    r"x_[rwkvag]$": (0.5, 0.3),
    # Some decays of which are below the bound.
    r"time_decay$": (0.3, 1.0),
    r"w0$": (-0.5, 0.8),
    r"(a0|v0)$": (0.0, 0.5),
    r"(k_k|k_a)$": (0.9, 0.3),
    r"r_k$": (0.0, 0.4),
    r"ln_x\.weight$": (1.0, 0.3),
    r"(time_decay_w|time_maa_w|[wavg])[12]$": (0.0, 0.3),
}


def case(family, name, kind, config, **more):
    settings = {**TOKENS, **config}
    return ExplicitCase(family, name, lambda: kind(settings), settings["vocab_size"], draw=DRAW, **more)


QRWKV6 = dict(model_type="rwkv6qwen2", architectures=["RWKV6Qwen2ForCausalLM"], vocab_size=53, hidden_size=20,
              intermediate_size=28, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, hidden_act="silu",
              lora_rank_tokenshift=3, lora_rank_decay=7, max_position_embeddings=64, rms_norm_eps=1e-6, rope_theta=1e6,
              sliding_window=None, use_sliding_window=False, max_window_layers=28, attention_dropout=0.0,
              tie_word_embeddings=False, use_cache=True, auto_map={
                  "AutoConfig": "configuration_rwkv6qwen2.RWKV6Qwen2Config",
                  "AutoModelForCausalLM": "modeling_rwkv6qwen2.RWKV6Qwen2ForCausalLM"})
ARWKV = dict(model_type="rwkv_hybrid", architectures=["RwkvHybridForCausalLM"], vocab_size=37, hidden_size=8,
             intermediate_size=20, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, hidden_act="silu",
             head_size=4, wkv_version=7, wkv_has_gate=True, wkv_has_group_norm=True, wkv_layers="full",
             max_position_embeddings=64, rms_norm_eps=1e-6, rope_theta=1e6, tie_word_embeddings=False, use_cache=True,
             auto_map={"AutoConfig": "configuration_rwkv_hybrid.RwkvHybridConfig",
                       "AutoModelForCausalLM": "modeling_rwkv_hybrid.RwkvHybridForCausalLM"})
CASES = [
    case("rwkv6qwen2", "plain", Rwkv6Qwen2, QRWKV6),
    case("rwkv6qwen2", "later_keys_bf16", Rwkv6Qwen2, dict(
        QRWKV6, hidden_size=24, num_attention_heads=3, num_key_value_heads=3, lora_rank_tokenshift=5, lora_rank_decay=4,
        attention_bias=False, balance_state=True, groupnorm_att=False, use_tokenshift=True, use_rope=False,
        gate_rank_type=1, lora_rank_gate=None, tie_word_embeddings=True), dtype="bf16", embedding=0.3),
    case("rwkv_hybrid", "plain", RwkvHybrid, ARWKV),
    case("rwkv_hybrid", "no_gates_bf16", RwkvHybrid, dict(
        ARWKV, hidden_size=12, head_size=6, num_wkv_heads=2, num_hidden_layers=3, wkv_has_gate=False,
        wkv_has_group_norm=False, head_size_divisor=8, tie_word_embeddings=True), dtype="bf16", embedding=0.3),
]
