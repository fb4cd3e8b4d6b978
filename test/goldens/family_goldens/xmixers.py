"""Cases of the package xmixers (github.com/Doraemonzzz/xmixers), whose code needs Triton's kernels of xopes.

An independent forward in torch, a token at a time, from what both say of names, orders of rows and
constants. Angles are those of the paper on linearised relative positions (arXiv:2307.09270).
"""

import math

import torch
from torch.nn import functional

from .explicit import ExplicitCase, NamedModel, View
from .explicit_parts import ACTIVATIONS, linear, norm
from .papers import TOKENS

RMS = {"kind": "rms", "eps": 1e-5}
FUNCTIONS = {**ACTIVATIONS, "none": ACTIVATIONS["identity"]}


def angles(config, kind, tokens, channels):
    """[T, C] of the C channels, or of the C / 2 pairs, that `lrpe_type` gives angles; 0 for others."""
    count = channels if kind > 3 else channels // 2
    theta = config["base"] ** (-2 / channels * torch.arange(count, dtype=torch.float64))
    half = channels // (2 if kind > 3 else 4)
    if kind in (2, 5):
        theta[:half] = 0
    if kind in (3, 6):
        theta[half:] = 0
    return torch.arange(tokens, dtype=torch.float64)[:, None, None] * theta


def positioned(config, kind, x):
    """x [T, H, K] with its positions: as many channels, or twice as many."""
    a = angles(config, kind, len(x), x.shape[-1])
    cos, sin = a.cos().to(x.dtype), a.sin().to(x.dtype)
    if kind > 3:
        return torch.cat([x * cos, x * sin], -1)
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def recur(q, k, v, decay):
    """q, k [T, H, K], v [T, H, V] and what of the state stays, [T, H, K] or [T, H, 1]."""
    state, rows = v.new_zeros(v.shape[1], k.shape[-1], v.shape[-1]), []
    for t in range(len(v)):
        state = decay[t][:, :, None] * state + torch.einsum("hk,hv->hkv", k[t], v[t])
        rows.append(torch.einsum("hk,hkv->hv", q[t], state))
    return torch.stack(rows)


class LinearTransformer(NamedModel):
    kind = "lrpe_type"

    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        width = config["embed_dim"]
        table = whole("model.embed_tokens.weight", config["vocab_size"], width)
        x = functional.embedding(ids[0], table) * (math.sqrt(width) if config.get("use_embed_scale") else 1)
        if config["use_tpe"]:
            x = self.sums(View(self.tensors, "model.tpe.", config), x)
        for index in range(config["num_layers"]):
            view = View(self.tensors, f"model.layers.{index}.", config)
            x = x + self.mix(view, norm(view, "token_norm", x, RMS), index)
            y = norm(view, "channel_norm", x, RMS)
            gate, up = (linear(view, f"channel_mixer.{name}", y, config["mid_dim"]) for name in ("w1", "w2"))
            x = x + linear(view, "channel_mixer.w3", functional.silu(gate) * up, width)
        x = norm(whole, "model.final_norm", x, RMS)
        return (x @ table.T if config.get("tie_word_embeddings") else
                linear(whole, "lm_head", x, config["vocab_size"]))[None]

    def in_heads(self, x):
        return x.unflatten(-1, (self.config["num_heads"], -1))

    def result_norm(self, view, x):
        return norm(view, "norm", x, RMS, self.config["num_heads"]
                    if self.config["token_mixer_norm_type"] == "grouprmsnorm" else 1)

    def sums(self, view, x):
        q, k = (self.in_heads(view(name, x.shape[-1])).expand(len(x), -1, -1) for name in ("q", "k"))
        decay = torch.sigmoid(view("log_decay", self.config["num_heads"]))[:, None].expand(len(x), -1, -1)
        y = recur(q, k, self.in_heads(x), decay).flatten(-2)
        return linear(view, "o_proj", self.result_norm(view, y), x.shape[-1])

    def mix(self, layer, x, index):
        config, width = self.config, x.shape[-1]
        view = View(self.tensors, layer.prefix + "token_mixer.", config)
        q, v = (linear(view, f"{name}_proj", x, width) for name in "qv")
        k, decay = self.keys_and_decay(view, x, index)
        q = self.in_heads(FUNCTIONS[self.function("q")](q))
        k, decay, v = (self.in_heads(y) for y in (k, decay, v))
        if config["use_lrpe"]:
            kind = config.get(self.kind, 6)
            q, k = positioned(config, kind, q), positioned(config, kind, k)
            if decay.shape[-1] > 1 and kind > 3:
                decay = torch.cat([decay, decay], -1)
        y = recur(q, k, v, decay).flatten(-2)
        gate = None
        if config["use_output_gate"]:
            low = linear(view, "output_gate.0", x, width // config["num_heads"])
            gate = FUNCTIONS[config["gate_act"]](linear(view, "output_gate.1", low, width))
        if gate is not None and config["gate_pos"] == "pre":
            y = y * gate
        y = self.result_norm(view, y)
        if gate is not None and config["gate_pos"] == "post":
            y = y * gate
        return linear(view, "o_proj", y, width)

    def function(self, part):
        return self.config["linear_activation"]

    def keys_and_decay(self, view, x, index):
        k = FUNCTIONS[self.function("k")](linear(view, "k_proj", x, x.shape[-1]))
        return k, x.new_ones(len(x), self.config["num_heads"])


class DecayLinearTransformer(LinearTransformer):
    kind = ""

    def function(self, part):
        return self.config[f"{part}_activation"]

    def keys_and_decay(self, view, x, index):
        config, width = self.config, x.shape[-1]
        rule, shared, scalar = config["decay_type"], config["share_decay"], config["scalar_decay"]
        gates = config["num_heads"] if scalar else width
        k = linear(view, "k_proj", x, width)
        if scalar:
            u = linear(view, "f_proj", x, gates)
        elif not shared:
            u = linear(view, "f_proj.1", linear(view, "f_proj.0", x, width // config["num_heads"]), width)
        else:
            u = k
        if rule == "hgrn2":
            decay = torch.sigmoid(u)
            if config["use_lower_bound"]:
                shares = self.tensors.get_tensor("model.log_lower_bounds", config["num_layers"], gates).softmax(0)
                bound = (shares.cumsum(0) - shares[0])[index]
                decay = bound + (1 - bound) * decay
        elif rule == "gla":
            decay = torch.sigmoid(u / config["gate_denom"])
        elif rule == "mamba_no_a":
            decay = torch.exp(-functional.softplus(u + view("dt_bias", gates)))
        elif rule == "mamba_no_a_no_t":
            decay = torch.exp(-functional.softplus(u))
        else:
            decay = torch.sigmoid(u + view("delta", gates))
        return 1 - decay if shared else FUNCTIONS[self.function("k")](k), decay


DRAW = {
    r"tpe\.[qk]$": (0.2, 0.6),
    r"tpe\.log_decay$": (0.5, 1.0),
    r"log_lower_bounds$": (0.0, 0.7),
    r"(dt_bias|delta)$": (0.4, 0.8),
    r"norm\.weight$": (1.0, 0.3),
}
COMMON = dict(vocab_size=53, embed_dim=16, num_heads=2, bias=False, base=10000, gate_act="sigmoid", gate_pos="pre",
              token_mixer_norm_type="rmsnorm", use_tpe=True, channel_mixer_type="glu", mid_dim=20,
              channel_mixer_activation="silu", use_gate_linear=True, max_position_embeddings=64, num_layers=2,
              use_output_gate=True, norm_type="rmsnorm", causal=True, use_embed_scale=False, ce_type="xopes_flce",
              pad_embed_dim=False, init_type=1, init_std=0.02, token_mixer_init_type=4, rescale_type=2, gain=0.01,
              channel_mixer_init_type=0, tie_word_embeddings=False, use_cache=True)
GROWING = dict(COMMON, model_type="linear_transformer", architectures=["LinearTransformerForCausalLM"],
               token_mixer_type="linear_attn", kv_heads=-1, use_lrpe=True, lrpe_type=1, linear_activation="silu",
               use_ape=False, use_dense_memory=False)
DECAYING = dict(COMMON, model_type="decay_linear_transformer", architectures=["DecayLinearTransformerForCausalLM"],
                token_mixer_type="decay_linear_attn", use_lrpe=False, q_activation="silu", k_activation="silu",
                decay_type="hgrn2", scalar_decay=False, share_decay=False, use_lower_bound=False, gate_denom=16,
                threshold=0.99, A_init_range=[1, 16], dt_min=0.001, dt_max=0.1, dt_init_floor=0.0001,
                use_lightning=False)


def case(name, config, kind, **more):
    settings = {**TOKENS, **config}
    family = "xmixers_decay" if kind is DecayLinearTransformer else "xmixers"
    return ExplicitCase(family, name, lambda: kind(settings), settings["vocab_size"], draw=DRAW, **more)


CASES = [
    case("plain", GROWING, LinearTransformer),
    case("cosformer2_bf16", dict(
        GROWING, lrpe_type=6, base=300, embed_dim=20, use_tpe=False, token_mixer_norm_type="grouprmsnorm",
        gate_pos="post", gate_act="silu", tie_word_embeddings=True, use_embed_scale=True), LinearTransformer,
        dtype="bf16", embedding=0.3),
    case("slow_turned", dict(GROWING, lrpe_type=2, num_layers=1, base=100), LinearTransformer),
    case("fast_turned", dict(GROWING, lrpe_type=3, num_layers=1, use_output_gate=False), LinearTransformer),
    case("reweighted", dict(GROWING, lrpe_type=4, num_layers=1, linear_activation="relu"), LinearTransformer),
    case("slow_reweighted", dict(GROWING, lrpe_type=5, num_layers=1, base=10), LinearTransformer),
    case("plain", DECAYING, DecayLinearTransformer),
    case("shared_bf16", dict(
        DECAYING, use_lower_bound=True, share_decay=True, use_lrpe=True, base=200, embed_dim=24, num_heads=3,
        num_layers=3, token_mixer_norm_type="grouprmsnorm"), DecayLinearTransformer, dtype="bf16"),
    case("bounded_heads", dict(DECAYING, use_lower_bound=True, scalar_decay=True, use_lrpe=True, use_tpe=False),
         DecayLinearTransformer),
    case("divided_shared", dict(DECAYING, decay_type="gla", share_decay=True, gate_denom=4, num_layers=1),
         DecayLinearTransformer),
    case("softplus", dict(DECAYING, decay_type="mamba_no_a", num_layers=1), DecayLinearTransformer),
    case("softplus_heads", dict(DECAYING, decay_type="mamba_no_a_no_t", scalar_decay=True, num_layers=1),
         DecayLinearTransformer),
    case("shifted", dict(DECAYING, decay_type="hgrn3", k_activation="none", num_layers=1), DecayLinearTransformer),
]
