"""Cases of Kimi Linear, whose code is a checkpoint's (`auto_map`) and needs Triton.

An independent forward in torch, from the paper (arXiv:2510.26692) and what the code on the hub
(modeling_kimi.py) and vLLM's kimi_linear.py say of names, orders of rows and constants; the delta
rule is flash-linear-attention's naive function. Keys and values are made for every head, which is
not how effc keeps them.

The code on the hub adds the number that chooses experts to their scores in place, and so weighs by
it too; vLLM and the paper of the method (arXiv:2412.19437) do not, nor does this forward.
"""

import inspect

import torch
import transformers
from fla.ops.kda.naive import naive_recurrent_kda
from torch.nn import functional

from . import papers
from .case import Case
from .explicit import NamedModel, View
from .explicit_parts import linear, norm
from .explicit_sequences import log_decays


class KimiLinear(NamedModel):
    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        rms = {"kind": "rms", "eps": config["rms_norm_eps"]}
        table = whole("model.embed_tokens.weight", config["vocab_size"], config["hidden_size"])
        x = functional.embedding(ids[0], table)
        deltas = (config["linear_attn_config"] or {"kda_layers": []})["kda_layers"]
        for index in range(config["num_hidden_layers"]):
            view = View(self.tensors, f"model.layers.{index}.", config)
            mix = self.delta if index + 1 in deltas else self.attend
            x = x + mix(view, config, norm(view, "input_layernorm", x, rms))
            routed = (config["num_experts"] is not None and index >= config["first_k_dense_replace"]
                      and index % config["moe_layer_freq"] == 0)
            feed = self.route if routed else self.feed
            x = x + feed(view, config, norm(view, "post_attention_layernorm", x, rms))
        x = norm(whole, "model.norm", x, rms)
        return (x @ table.T if config["tie_word_embeddings"] else
                linear(whole, "lm_head", x, config["vocab_size"]))[None]

    @staticmethod
    def delta(view, config, x):
        own = config["linear_attn_config"]
        heads, keys = own["num_heads"], own["head_dim"]
        inner, name = heads * keys, "self_attn."

        def short(part):
            weight = view(f"{name}{part}_conv1d.weight", inner, 1, own["short_conv_kernel_size"])
            y = papers.convolve(weight, None, linear(view, f"{name}{part}_proj", x, inner))
            return functional.silu(y).unflatten(-1, (heads, keys))

        def pair(part):
            return linear(view, f"{name}{part}_b_proj", linear(view, f"{name}{part}_a_proj", x, keys), inner)

        q, k, v = (short(part) for part in "qkv")
        q, k = (y / torch.sqrt(y.square().sum(-1, keepdim=True) + 1e-6) for y in (q, k))
        g = log_decays(pair("f"), view(name + "A_log", 1, 1, heads, 1).reshape(heads, 1).expand(
            heads, keys).flatten(), view(name + "dt_bias", inner)).unflatten(-1, (heads, keys))
        beta = torch.sigmoid(linear(view, name + "b_proj", x, heads))
        y = naive_recurrent_kda(*(z[None] for z in (q, k, v, g, beta)), keys ** -0.5)[0][0]
        y = norm(view, name + "o_norm", y, {"kind": "rms", "eps": config["rms_norm_eps"]}).flatten(-2)
        return linear(view, name + "o_proj", y * torch.sigmoid(pair("g")), x.shape[-1])

    @staticmethod
    def attend(view, config, x):
        heads, own, common = (config[key] for key in (
            "num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim"))
        values, rank, name = config["v_head_dim"], config["kv_lora_rank"], "self_attn."
        rms = {"kind": "rms", "eps": 1e-6}  # whatever `rms_norm_eps`
        q = x
        if config["q_lora_rank"] is not None:
            q = norm(view, name + "q_a_layernorm",
                     linear(view, name + "q_a_proj", x, config["q_lora_rank"]), rms)
        q = linear(view, name + ("q_proj" if q is x else "q_b_proj"), q, heads * (own + common))
        row, shared = linear(view, name + "kv_a_proj_with_mqa", x, rank + common).split([rank, common], -1)
        made = linear(view, name + "kv_b_proj", norm(view, name + "kv_a_layernorm", row, rms),
                      heads * (own + values))
        k, v = made.unflatten(-1, (heads, own + values)).split([own, values], -1)
        k = torch.cat([k, shared[:, None].expand(-1, heads, -1)], -1)
        y = papers.window_softmax(q.unflatten(-1, (heads, own + common)), k, v)
        return linear(view, name + "o_proj", y.flatten(-2), x.shape[-1])

    @staticmethod
    def feed(view, config, x, name="mlp.", hidden=None):
        hidden = hidden or config["intermediate_size"]
        inner = functional.silu(linear(view, name + "gate_proj", x, hidden)) * linear(view, name + "up_proj", x, hidden)
        return linear(view, name + "down_proj", inner, x.shape[-1])

    @classmethod
    def route(cls, view, config, x):
        count, taken, hidden = (config[key] for key in (
            "num_experts", "num_experts_per_token", "moe_intermediate_size"))
        name = "block_sparse_moe."
        logits = linear(view, name + "gate", x, count)
        scores = torch.sigmoid(logits) if config["moe_router_activation_func"] == "sigmoid" else logits.softmax(-1)
        chosen = (scores + view(name + "gate.e_score_correction_bias", count)).topk(taken, -1).indices
        weights = scores.gather(-1, chosen)
        if taken > 1 and config["moe_renormalize"]:
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        weights = torch.zeros_like(logits).scatter(-1, chosen, weights * config["routed_scaling_factor"])
        y = torch.zeros_like(x)
        for expert in range(count):
            part = f"{name}experts.{expert}."
            inner = functional.silu(linear(view, part + "w1", x, hidden)) * linear(view, part + "w3", x, hidden)
            y = y + weights[:, expert, None] * linear(view, part + "w2", inner, x.shape[-1])
        shared = config["num_shared_experts"]
        return y + cls.feed(view, config, x, name + "shared_experts.", shared * hidden) if shared else y


KIMI = dict(
    model_type="kimi_linear", architectures=["KimiLinearForCausalLM"],
    auto_map={"AutoConfig": "configuration_kimi.KimiLinearConfig",
              "AutoModelForCausalLM": "modeling_kimi.KimiLinearForCausalLM"},
    hidden_act="silu", initializer_range=0.02, mla_use_nope=True, model_max_length=64, num_expert_group=1,
    topk_group=1, use_grouped_topk=True, num_nextn_predict_layers=0, rope_scaling=None, rope_theta=10000.0)


def case(name, config, **more):
    made = papers.case("kimi_linear", name, KimiLinear, {**KIMI, **config}, **more)
    made.draw = {r"e_score_correction_bias$": (0.0, 0.4), **made.draw}
    return made


CASES = [
    case("plain", dict(
        vocab_size=53, hidden_size=20, num_hidden_layers=3, intermediate_size=28, rms_norm_eps=1e-5, head_dim=6,
        num_attention_heads=3, num_key_value_heads=3, q_lora_rank=None, kv_lora_rank=8, qk_nope_head_dim=5,
        qk_rope_head_dim=4, v_head_dim=7, tie_word_embeddings=False,
        linear_attn_config=dict(num_heads=2, head_dim=9, short_conv_kernel_size=4, kda_layers=[1, 3],
                                full_attn_layers=[2]),
        num_experts=6, num_experts_per_token=2, moe_intermediate_size=10, num_shared_experts=1,
        moe_renormalize=True, moe_router_activation_func="sigmoid", routed_scaling_factor=2.446,
        first_k_dense_replace=1, moe_layer_freq=1)),
    # Convolutions of one tap, by the hub's key of them.
    case("taps_of_one", dict(
        vocab_size=31, hidden_size=12, num_hidden_layers=2, intermediate_size=16, rms_norm_eps=1e-5, head_dim=6,
        num_attention_heads=2, num_key_value_heads=2, q_lora_rank=None, kv_lora_rank=6, qk_nope_head_dim=5,
        qk_rope_head_dim=4, v_head_dim=3, tie_word_embeddings=False,
        linear_attn_config=dict(num_heads=2, head_dim=5, short_conv_kernel_size=1, kda_layers=[1],
                                full_attn_layers=[2]),
        num_experts=4, num_experts_per_token=2, moe_intermediate_size=6, num_shared_experts=1,
        moe_renormalize=True, moe_router_activation_func="sigmoid", routed_scaling_factor=2.446,
        first_k_dense_replace=1, moe_layer_freq=1)),
    # Compressed queries; a softmax's scores as they are; every other layer has experts.
    case("query_rank_bf16", dict(
        vocab_size=47, hidden_size=24, num_hidden_layers=4, intermediate_size=36, rms_norm_eps=1e-4, head_dim=12,
        num_attention_heads=2, num_key_value_heads=2, q_lora_rank=10, kv_lora_rank=7, qk_nope_head_dim=6,
        qk_rope_head_dim=3, v_head_dim=5, tie_word_embeddings=True,
        linear_attn_config=dict(num_heads=3, head_dim=6, short_conv_kernel_size=3, kda_layers=[2, 3],
                                full_attn_layers=[1, 4]),
        num_experts=7, num_experts_per_token=3, moe_intermediate_size=9, num_shared_experts=2,
        moe_renormalize=False, moe_router_activation_func="softmax", routed_scaling_factor=1.5,
        first_k_dense_replace=0, moe_layer_freq=2), dtype="bf16"),
    # One expert, whose weight is its score; no shared one; no layer of the delta rule.
    case("latent_only", dict(
        vocab_size=41, hidden_size=16, num_hidden_layers=2, intermediate_size=20, rms_norm_eps=1e-6, head_dim=4,
        num_attention_heads=4, num_key_value_heads=4, q_lora_rank=None, kv_lora_rank=9, qk_nope_head_dim=6,
        qk_rope_head_dim=2, v_head_dim=3, tie_word_embeddings=False, linear_attn_config=None,
        num_experts=5, num_experts_per_token=1, moe_intermediate_size=11, num_shared_experts=None,
        moe_renormalize=True, moe_router_activation_func="sigmoid", routed_scaling_factor=1.0,
        first_k_dense_replace=1, moe_layer_freq=1)),
]


def build_librarys(taps=3, **more):
    """The public library's own model (releases from 5.24), with its functions in torch and not Triton's."""
    from transformers.models.kimi_linear import modeling_kimi_linear as library
    for name in ("chunk_kimi_delta_attention", "recurrent_kimi_delta_attention", "causal_conv1d_fn",
                 "causal_conv1d_update"):
        setattr(library, name, inspect.unwrap(getattr(library, name)))
    settings = dict(
        vocab_size=23, hidden_size=12, intermediate_size=20, moe_intermediate_size=9, num_hidden_layers=2,
        num_attention_heads=3, num_key_value_heads=3, kv_lora_rank=10, qk_rope_head_dim=4, qk_nope_head_dim=6,
        v_head_dim=5, n_shared_experts=1, num_local_experts=4, num_experts_per_tok=2, linear_head_dim=8,
        linear_num_heads=2, linear_conv_kernel_dim=taps, max_position_embeddings=64, rms_norm_eps=1e-5,
        layer_types=["linear_attention", "full_attention"], mlp_layer_types=["dense", "sparse"],
        experts_implementation="eager", bos_token_id=1, eos_token_id=2, pad_token_id=0)
    return transformers.KimiLinearForCausalLM(transformers.KimiLinearConfig(**{**settings, **more}))


# One expert, whose weight is its share of itself, 1, to the library.
HELD = dict(num_experts_per_tok=1, attention_bias=True, q_lora_rank=7, mlp_layer_types=["sparse", "dense"],
            hidden_act="gelu")


if hasattr(transformers, "KimiLinearConfig"):
    LIBRARYS_DRAW = {r"A_log$": (0.0, 0.7), r"dt_bias$": (0.0, 1.0), r"conv1d\.weight$": (0.1, 0.5),
                     r"e_score_correction_bias$": (0.0, 0.4)}
    CASES += [
        Case("kimi_linear", "saved_by_library", build_librarys, 23, draw=LIBRARYS_DRAW),
        Case("kimi_linear", "one_tap", lambda: build_librarys(taps=1), 23, draw=LIBRARYS_DRAW),
        Case("kimi_linear", "saved_one_expert", lambda: build_librarys(**HELD), 23, draw=LIBRARYS_DRAW),
        # As the library holds them: taps in one tensor, experts in two.
        Case("kimi_linear", "saved_held_bf16", lambda: build_librarys(**HELD), 23, draw=LIBRARYS_DRAW, dtype="bf16",
             converted=False)]
