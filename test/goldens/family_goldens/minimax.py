"""Cases of MiniMax-Text-01's own layout, whose code is a checkpoint's (`auto_map`) and not a package's.

An independent forward in torch, from the paper (arXiv:2501.08313) and what the code on the hub
(modeling_minimax_text_01.py) and vLLM's minimax_text_01.py say of names, orders of rows and constants.
"""

import math

import torch
from torch.nn import functional

from . import papers
from .explicit import NamedModel, View
from .explicit_parts import linear, norm, rotate


class MiniMax(NamedModel):
    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        width, rms = config["hidden_size"], {"kind": "rms", "eps": config["rms_norm_eps"]}
        x = functional.embedding(ids[0], whole("model.embed_tokens.weight", config["vocab_size"], width))
        for index, kind in enumerate(config["attn_type_list"]):
            view = View(self.tensors, f"model.layers.{index}.", config)
            normed = norm(view, "input_layernorm", x, rms)
            mixed = (self.attend if kind else self.lightning)(view, config, index, normed)
            x = self.sum("full_attention" if kind else "linear_attention", x, normed, mixed)
            normed = norm(view, "post_attention_layernorm", x, rms)
            x = self.sum("mlp", x, normed, self.route(view, config, normed))
        return linear(whole, "lm_head", norm(whole, "model.norm", x, rms), config["vocab_size"])[None]

    def sum(self, part, x, normed, made):
        alpha, beta = (self.config.get(f"layernorm_{part}_{which}", 1) for which in ("alpha", "beta"))
        return alpha * (normed if self.config.get("postnorm", False) else x) + beta * made

    @staticmethod
    def lightning(view, config, index, x):
        heads, keys, layers = config["num_attention_heads"], config["head_dim"], config["num_hidden_layers"]
        q, k, v = functional.silu(linear(view, "self_attn.qkv_proj", x, 3 * heads * keys)).unflatten(
            -1, (heads, 3, keys)).unbind(-2)
        slopes = torch.tensor(papers.TransNormer.slopes(None, heads), dtype=x.dtype)
        decay = torch.exp(-slopes * (1 - index / (layers - 1) + 1e-5))[:, None, None]
        state, rows = x.new_zeros(heads, keys, keys), []
        for t in range(len(x)):
            state = decay * state + k[t][:, :, None] * v[t][:, None]
            rows.append(torch.einsum("hk,hkv->hv", q[t], state))
        y = norm(view, "self_attn.norm", torch.stack(rows).flatten(-2), {"kind": "rms", "eps": 1e-6})
        gate = torch.sigmoid(linear(view, "self_attn.output_gate", x, heads * keys))
        return linear(view, "self_attn.out_proj", gate * y, x.shape[-1])

    @staticmethod
    def attend(view, config, index, x):
        heads, keys = config["num_attention_heads"], config["head_dim"]
        q, k, v = (linear(view, f"self_attn.{part}_proj", x, count * keys).unflatten(-1, (count, keys))
                   for part, count in (("q", heads), ("k", config["num_key_value_heads"]),
                                       ("v", config["num_key_value_heads"])))
        turned = config.get("rotary_dim", keys)
        q, k = (torch.cat([rotate(z[..., :turned], config["rope_theta"]), z[..., turned:]], -1) for z in (q, k))
        return linear(view, "self_attn.o_proj", papers.window_softmax(q, k, v).flatten(-2), x.shape[-1])

    @staticmethod
    def route(view, config, x):
        count, hidden, width = config["num_local_experts"], config["intermediate_size"], x.shape[-1]
        logits = linear(view, "block_sparse_moe.gate", x, count)
        best = logits.topk(config["num_experts_per_tok"], -1)
        weights = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values).softmax(-1)
        y = torch.zeros_like(x)
        for expert in range(count):
            name = f"block_sparse_moe.experts.{expert}."
            inner = functional.silu(linear(view, name + "w1", x, hidden)) * linear(view, name + "w3", x, hidden)
            y = y + weights[:, expert, None] * linear(view, name + "w2", inner, width)
        return y


TEXT_01 = dict(
    model_type="minimax_text_01", architectures=["MiniMaxText01ForCausalLM"],
    auto_map={"AutoModelForCausalLM": "modeling_minimax_text_01.MiniMaxText01ForCausalLM"},
    hidden_act="silu", max_position_embeddings=64, attention_dropout=0.0, output_router_logits=False,
    router_aux_loss_coef=0.001, router_jitter_noise=0.0, shared_intermediate_size=0,
    shared_moe_mode="sigmoid", sliding_window=None, tie_word_embeddings=False)

CASES = [
    papers.case("minimax", "own", MiniMax, dict(
        TEXT_01, vocab_size=53, hidden_size=20, intermediate_size=12, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=10, rotary_dim=6, rope_theta=300.0, rms_norm_eps=1e-5, num_local_experts=5,
        num_experts_per_tok=2, attn_type_list=[0, 0, 1], postnorm=True, layernorm_full_attention_alpha=3.5,
        layernorm_full_attention_beta=1.0, layernorm_linear_attention_alpha=2.5,
        layernorm_linear_attention_beta=0.75, layernorm_mlp_alpha=1.5, layernorm_mlp_beta=0.5)),
    # Three heads, whose slopes are those of two and every other one of four.
    papers.case("minimax", "own_three_heads_bf16", MiniMax, dict(
        TEXT_01, model_type="minimax_m1", architectures=["MiniMaxM1ForCausalLM"], vocab_size=47, hidden_size=24,
        intermediate_size=16, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=6,
        rope_theta=500.0, rms_norm_eps=1e-6, num_local_experts=3, num_experts_per_tok=1, attn_type_list=[1, 0],
        postnorm=False), dtype="bf16"),
]
