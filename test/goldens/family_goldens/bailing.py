"""Cases of Ling and Ring 2 and 2.5, and of Sarvam.

Ling 2 has the tensors and the mathematics of transformers' Sarvam (release 5.24), whose model gives its cases.
Ring 2 and Ling 2.5 have lightning attention, and code of their own that no library here has: an independent forward in
torch, from what SGLang (bailing_moe_linear.py) and vLLM say of names, rows and norms. Decays are the authors', which
count the layer before (modeling_bailing_moe_v2_5.py, as public ports of it quote it); those two engines count the
layer itself.
"""

import torch
from torch.nn import functional

from . import papers
from .explicit import NamedModel, View
from .explicit_parts import linear, norm, rotate
from .kimi import KimiLinear
from .public import case


def ling_as_released(config):
    """The keys of released files."""
    for saved, released in (("n_routed_experts", "num_experts"), ("n_shared_experts", "num_shared_experts"),
                            ("attention_bias", "use_qkv_bias")):
        config[released] = config.pop(saved)
    rope = config.pop("rope_parameters")
    share = rope.get("partial_rotary_factor", 1.0)
    return {**config, "architectures": ["BailingMoeV2ForCausalLM"], "model_type": "bailing_moe",
            "auto_map": {"AutoConfig": "configuration_bailing_moe_v2.BailingMoeV2Config",
                         "AutoModelForCausalLM": "modeling_bailing_moe_v2.BailingMoeV2ForCausalLM"},
            "embedding_dropout": 0.0, "output_dropout": 0.0, "max_window_layers": 20,
            "moe_router_enable_expert_bias": True,
            "moe_shared_expert_intermediate_size": config["moe_intermediate_size"], "partial_rotary_factor": share,
            "rope_scaling": None, "rope_theta": rope["rope_theta"], "rotary_dim": int(config["head_dim"] * share),
            "router_dtype": "fp32", "score_function": "sigmoid", "use_bias": False, "use_rmsnorm": True}


SARVAM = dict(vocab_size=53, hidden_size=20, intermediate_size=24, moe_intermediate_size=6, num_hidden_layers=2,
              num_attention_heads=4, num_key_value_heads=2, head_dim=8, n_routed_experts=6, n_shared_experts=1,
              num_experts_per_tok=3, n_group=3, topk_group=2, first_k_dense_replace=1, max_position_embeddings=64)
HALF = {"rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 0.5}
# The library has a configuration of its own and the model of GLM-4.
MODEL = "Glm4MoeForCausalLM"
DRAW = {r"(e_score_correction|expert)_bias$": (0.0, 0.4)}
CASES = [
    case("sarvam_moe", "plain", "SarvamMoE", SARVAM, model_class=MODEL, draw=DRAW),
    case("sarvam_moe", "biases_tied_bf16", "SarvamMoE", {
        **SARVAM, "hidden_size": 24, "num_key_value_heads": 1, "n_group": 1, "topk_group": 1, "attention_bias": True,
        "use_qk_norm": False, "norm_topk_prob": False, "tie_word_embeddings": True, "rope_parameters": HALF},
         model_class=MODEL, draw=DRAW, dtype="bf16", embedding=0.3),
    case("sarvam_moe", "held_bf16", "SarvamMoE", {**SARVAM, "attention_bias": True}, model_class=MODEL, draw=DRAW,
         dtype="bf16", converted=False),
    case("bailing_moe", "plain", "SarvamMoE", {**SARVAM, "rope_parameters": HALF}, model_class=MODEL, draw=DRAW,
         rewrite=ling_as_released),
    case("bailing_moe", "biases_bf16", "SarvamMoE", {
        **SARVAM, "hidden_size": 24, "n_shared_experts": 2, "n_routed_experts": 8, "n_group": 2, "topk_group": 1,
        "num_experts_per_tok": 2, "attention_bias": True, "rope_parameters": HALF}, model_class=MODEL, draw=DRAW,
         dtype="bf16", rewrite=ling_as_released),
]


def slopes(heads):
    """Of each head, in equal ratios; of a number that is no power of two, every other one of the next power's too."""
    power = 2 ** (heads.bit_length() - 1)
    own = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    return own if power == heads else own + slopes(2 * power)[0::2][:heads - power]


def turn(config, x):
    """The first channels of each head [T, H, K]."""
    turned = int(config["head_dim"] * config["partial_rotary_factor"])
    return torch.cat([rotate(x[..., :turned], config["rope_theta"]), x[..., turned:]], -1)


class Ling(NamedModel):
    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        self.rms = {"kind": "rms", "eps": config["rms_norm_eps"]}
        x = functional.embedding(ids[0], whole("model.word_embeddings.weight", config["vocab_size"],
                                               config["hidden_size"]))
        for index in range(config["num_hidden_layers"]):
            view = View(self.tensors, f"model.layers.{index}.", config)
            attends = (index + 1) % config["layer_group_size"] == 0
            mix = self.lightning if not attends else self.latent if "kv_lora_rank" in config else self.softmax
            x = x + mix(view, norm(view, "input_layernorm", x, self.rms), index)
            token = norm(view, "post_attention_layernorm", x, self.rms)
            x = x + (self.route(view, token) if index >= config["first_k_dense_replace"] else
                     KimiLinear.feed(view, config, token))
        return linear(whole, "lm_head", norm(whole, "model.norm", x, self.rms), config["vocab_size"])[None]

    def heads(self, view, x, keys):
        """Queries, keys and values in heads, the first two normalised and turned."""
        config = self.config
        width, count = config["head_dim"], config["num_attention_heads"]
        rows = [count * width, keys * width, keys * width]
        q, k, v = linear(view, "attention.query_key_value", x, sum(rows), config["use_qkv_bias"]).split(rows, -1)
        q, k, v = (y.unflatten(-1, (-1, width)) for y in (q, k, v))
        if config["use_qk_norm"]:
            q, k = (norm(view, f"attention.{part}_layernorm", y, self.rms) for part, y in (("query", q), ("key", k)))
        return turn(config, q), turn(config, k), v

    def softmax(self, view, x, index):
        y = papers.window_softmax(*self.heads(view, x, self.config["num_key_value_heads"]))
        return linear(view, "attention.dense", y.flatten(-2), x.shape[-1])

    def lightning(self, view, x, index):
        config = self.config
        heads, width = config["num_attention_heads"], config["head_dim"]
        q, k, v = self.heads(view, x, heads)
        share = 1 - (index - 1) / (config["num_hidden_layers"] - 1) + 1e-5
        decays = torch.tensor(slopes(heads), dtype=torch.float64) * -share
        state, rows = torch.zeros(heads, width, width, dtype=x.dtype), []
        for token in range(len(x)):
            state = state * decays.exp().to(x.dtype)[:, None, None] + k[token, :, :, None] * v[token, :, None]
            rows.append(torch.einsum("hk,hkv->hv", q[token] * width ** -0.5, state))
        y = norm(view, "attention.g_norm", torch.stack(rows).flatten(-2), self.rms, config["group_norm_size"])
        gate = torch.sigmoid(linear(view, "attention.g_proj", x, heads * width))
        return linear(view, "attention.dense", y * gate, x.shape[-1])

    def latent(self, view, x, index):
        config = self.config
        heads, own, common = (config[key] for key in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim"))
        values, rank, small = config["v_head_dim"], config["kv_lora_rank"], {"kind": "rms", "eps": 1e-6}
        q = x
        if config["q_lora_rank"] is not None:
            q = norm(view, "attention.q_a_layernorm",
                     linear(view, "attention.q_a_proj", x, config["q_lora_rank"]), small)
        q = linear(view, "attention.q_proj" if q is x else "attention.q_b_proj", q, heads * (own + common))
        q, turned = q.unflatten(-1, (heads, -1)).split([own, common], -1)
        q = torch.cat([q, rotate(turned, config["rope_theta"], interleaved=True)], -1)
        row, shared = linear(view, "attention.kv_a_proj_with_mqa", x, rank + common).split([rank, common], -1)
        shared = rotate(shared[:, None], config["rope_theta"], interleaved=True)
        made = linear(view, "attention.kv_b_proj", norm(view, "attention.kv_a_layernorm", row, small),
                      heads * (own + values))
        k, v = made.unflatten(-1, (heads, own + values)).split([own, values], -1)
        y = papers.window_softmax(q, torch.cat([k, shared.expand(-1, heads, -1)], -1), v)
        return linear(view, "attention.dense", y.flatten(-2), x.shape[-1])

    def route(self, view, x):
        config = self.config
        count, groups, hidden = config["num_experts"], config["n_group"], config["moe_intermediate_size"]
        scores = torch.sigmoid(linear(view, "mlp.gate", x, count))
        order = (scores + view("mlp.gate.expert_bias", count)).unflatten(-1, (groups, -1))
        taken = order.topk(2, -1).values.sum(-1).topk(config["topk_group"], -1).indices
        seen = torch.zeros(len(x), groups, dtype=torch.bool).scatter(1, taken, True)
        order = order.masked_fill(~seen[..., None], float("-inf")).flatten(1)
        chosen = order.topk(config["num_experts_per_tok"], -1).indices
        weights = scores.gather(-1, chosen)
        if config["norm_topk_prob"]:
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        weights = torch.zeros_like(scores).scatter(-1, chosen, weights * config["routed_scaling_factor"])
        y = KimiLinear.feed(view, config, x, "mlp.shared_experts.", hidden * config["num_shared_experts"])
        for expert in range(count):
            y = y + weights[:, expert, None] * KimiLinear.feed(view, config, x, f"mlp.experts.{expert}.", hidden)
        return y


RING = dict(
    vocab_size=53, hidden_size=24, intermediate_size=28, num_hidden_layers=2, num_attention_heads=3,
    num_key_value_heads=1, head_dim=8, layer_group_size=2, group_norm_size=3, partial_rotary_factor=0.5,
    rope_theta=10000.0, rope_scaling=None, rms_norm_eps=1e-6, use_qk_norm=True, use_qkv_bias=False, use_bias=False,
    linear_silu=False, hidden_act="silu", max_position_embeddings=64, tie_word_embeddings=False,
    first_k_dense_replace=1, moe_intermediate_size=6, moe_shared_expert_intermediate_size=6, num_shared_experts=1,
    num_experts=6, num_experts_per_tok=3, n_group=3, topk_group=2, norm_topk_prob=True, routed_scaling_factor=2.5,
    score_function="sigmoid", moe_router_enable_expert_bias=True, router_dtype="fp32", num_nextn_predict_layers=0,
    initializer_range=0.02)
LINEAR = dict(model_type="bailing_moe_linear", architectures=["BailingMoeLinearV2ForCausalLM"], auto_map={
    "AutoConfig": "configuration_bailing_moe_linear_v2.BailingMoeLinearV2Config",
    "AutoModelForCausalLM": "modeling_bailing_moe_linear_v2.BailingMoeLinearV2ForCausalLM"})
LATENT = dict(model_type="bailing_hybrid", architectures=["BailingMoeV2_5ForCausalLM"], auto_map={
    "AutoConfig": "configuration_bailing_moe_v2_5.BailingMoeV2_5Config",
    "AutoModelForCausalLM": "modeling_bailing_moe_v2_5.BailingMoeV2_5ForCausalLM"}, num_key_value_heads=3,
    kv_lora_rank=9, q_lora_rank=None, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=7, rotary_dim=4,
    rope_interleave=True, topk_method="noaux_tc")


def own(family, name, config, **more):
    made = papers.case(family, name, Ling, {**RING, **config}, **more)
    made.draw = {**DRAW, **made.draw}
    return made


CASES += [
    own("bailing_moe_linear", "plain", LINEAR),
    own("bailing_moe_linear", "three_bf16", {
        **LINEAR, "num_hidden_layers": 3, "hidden_size": 16, "num_attention_heads": 2, "layer_group_size": 3,
        "group_norm_size": 4, "use_qkv_bias": True, "use_qk_norm": False, "first_k_dense_replace": 2,
        "rope_theta": 300.0, "rms_norm_eps": 1e-5}, dtype="bf16"),
    own("bailing_hybrid", "lightning", LATENT),
    own("bailing_hybrid", "lightning_bf16", {
        **LATENT, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4, "group_norm_size": 2,
        "q_lora_rank": 10, "num_experts": 4, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2,
        "first_k_dense_replace": 0, "norm_topk_prob": False, "rope_theta": 300.0}, dtype="bf16"),
]
