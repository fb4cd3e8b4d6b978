"""Cases of PLaMo-2, whose code is a checkpoint's (`auto_map`) and needs mamba_ssm's kernels, and of
PLaMo-3, whose code is a checkpoint's too.

Independent forwards in torch, from what llama.cpp's plamo2.cpp, plamo3.cpp and conversion/plamo.py,
vLLM's plamo2.py and plamo3.py, and mlx-lm's plamo2.py say of names, orders of rows and constants. The
recurrence is Mamba-2's, a token at a time. Stretched positions are those of the YaRN paper
(arXiv:2309.00071), with the bounds of its ramp as they are.
"""

import math

import torch
from torch.nn import functional

from .explicit import ExplicitCase, NamedModel, View
from .explicit_parts import linear, rotate
from .papers import TOKENS, convolve, window_softmax


def rms(x, eps):
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)


class Plamo(NamedModel):
    """What both have around their mixers."""

    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        width = config["hidden_size"]
        table = whole("model.embed_tokens.weight", config["vocab_size"], width)
        x = functional.embedding(ids[0], table)
        for index in range(config["num_hidden_layers"]):
            view = View(self.tensors, f"model.layers.layers.{index}.", config)
            y = self.mix(view, config, index, self.norm(view, "pre_mixer_norm", x, 1.0))
            x = x + self.norm(view, "post_mixer_norm", y, 1 / 5)
            y = linear(view, "mlp.gate_up_proj", self.norm(view, "pre_mlp_norm", x, 1.0),
                       2 * config["intermediate_size"])
            gate, up = y.chunk(2, -1)
            y = linear(view, "mlp.down_proj", functional.silu(gate) * up, width)
            x = x + self.norm(view, "post_mlp_norm", y, 1 / 5 ** 1.5)
        x = self.norm(whole, "model.norm", x, 1.0)
        return (x @ table.T if config["tie_word_embeddings"] else
                linear(whole, "lm_head", x, config["vocab_size"]))[None]

    @staticmethod
    def norm(view, name, x, offset):
        """What is stored is the weight without the offset."""
        return rms(x, view.config["rms_norm_eps"]) * (view(f"{name}.weight", x.shape[-1]) + offset)


class Plamo2(Plamo):
    def mix(self, view, config, index, x):
        layers, step = config["num_hidden_layers"], config["mamba_step"]
        recurs = index != layers - 1 if layers <= step // 2 else index % step != step // 2
        return (self.recur if recurs and config.get("mamba_enabled", True) else self.attend)(view, config, x)

    @staticmethod
    def recur(view, config, x):
        heads, channels, states = (config[key] for key in ("mamba_num_heads", "hidden_size_per_head", "mamba_d_state"))
        width, inner = x.shape[-1], heads * channels
        rank, eps = max(64, width // 16), config["rms_norm_eps"]
        z, u = linear(view, "mixer.in_proj", x, 2 * inner).unflatten(-1, (heads, 2, channels)).unbind(-2)
        u = functional.silu(convolve(view("mixer.conv1d.weight", inner, 1, config["mamba_d_conv"]), None, u.flatten(-2)))
        b, c, step = linear(view, "mixer.bcdt_proj", u, 2 * states + rank).split([states, states, rank], -1)
        b, c, step = (rms(y, eps) * view(f"mixer.{name}_norm_weight", y.shape[-1])
                      for name, y in (("B", b), ("C", c), ("dt", step)))
        step = functional.softplus(linear(view, "mixer.dt_proj", step, heads) + view("mixer.dt_bias", heads))
        decay = torch.exp(-torch.exp(view("mixer.A_log", heads)) * step)
        u, state, rows = u.unflatten(-1, (heads, channels)), x.new_zeros(heads, states, channels), []
        for t in range(len(x)):
            state = decay[t][:, None, None] * state + torch.einsum("k,hv->hkv", b[t], step[t][:, None] * u[t])
            rows.append(torch.einsum("k,hkv->hv", c[t], state))
        y = torch.stack(rows) + view("mixer.D", heads)[:, None] * u
        return linear(view, "mixer.out_proj", (y * functional.silu(z)).flatten(-2), width)

    @staticmethod
    def attend(view, config, x):
        heads, groups, keys = (config[key] for key in
                               ("num_attention_heads", "num_key_value_heads", "hidden_size_per_head"))
        q, k, v = (y.unflatten(-1, (-1, keys)) for y in linear(
            view, "mixer.qkv_proj", x, (heads + 2 * groups) * keys).split([heads * keys, groups * keys, groups * keys], -1))
        q = rms(q, 1e-6) * view("mixer.q_weight", heads, keys)
        k = rms(k, 1e-6) * view("mixer.k_weight", groups, keys)
        theta = config.get("rope_theta", 10000.0)
        y = window_softmax(rotate(q, theta), rotate(k, theta), v)
        return linear(view, "mixer.o_proj", y.flatten(-2), x.shape[-1])


def unrounded_yarn(keys, theta, factor, original, fast=32.0, slow=1.0):
    """The pairs' frequencies, and what cosines and sines are multiplied with."""
    own = theta ** (-torch.arange(0, keys, 2, dtype=torch.float64) / keys)
    low, high = (keys * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta)) for turns in (fast, slow))
    low, high = max(low, 0.0), min(high, keys - 1.0)
    ramp = ((torch.arange(keys // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    return own / factor * ramp + own * (1 - ramp), 0.1 * math.log(factor) + 1


def turned(x, frequencies, amplitude):
    """x [T, H, K] by its position; in double until it is a factor of x."""
    angles = torch.arange(len(x), dtype=torch.float64)[:, None, None] * frequencies
    cos, sin = ((amplitude * f(angles)).to(x.dtype) for f in (torch.cos, torch.sin))
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Plamo3(Plamo):
    def mix(self, view, config, index, x):
        heads, groups, keys = (config[key] for key in ("num_attention_heads", "num_key_value_heads", "head_dim"))
        q, k, v = (y.unflatten(-1, (-1, keys)) for y in linear(
            view, "mixer.qkv_proj", x, (heads + 2 * groups) * keys).split([heads * keys, groups * keys, groups * keys], -1))
        q, k = self.norm(view, "mixer.q_norm", q, 1.0), self.norm(view, "mixer.k_norm", k, 1.0)
        slides = (index + 1) % config["sliding_window_pattern"] != 0
        theta = config["rope_local_theta" if slides else "rope_theta"]
        frequencies, amplitude = theta ** (-torch.arange(0, keys, 2, dtype=torch.float64) / keys), 1.0
        if not slides and config["rope_scaling_factor"] != 1:
            frequencies, amplitude = unrounded_yarn(keys, theta, config["rope_scaling_factor"],
                                                    config["initial_context_length"])
        q, k = turned(q, frequencies, amplitude), turned(k, frequencies, amplitude)
        y = window_softmax(q, k, v, config["window_size"] if slides else None)
        return linear(view, "mixer.o_proj", y.flatten(-2), x.shape[-1])


DRAW = {
    r"_(mixer|mlp)_norm\.weight$": (0.0, 0.15),
    r"(model\.|[qk]_)norm\.weight$": (0.0, 0.3),
    r"(_norm|mixer\.[qk])_weight$": (1.0, 0.3),
    r"conv1d\.weight$": (0.1, 0.5),
    r"A_log$": (0.0, 0.7),
    r"dt_bias$": (0.0, 1.0),
    r"mixer\.D$": (1.0, 0.4),
}


def case(name, config, kind=Plamo2, **more):
    settings = {**TOKENS, **config}
    return ExplicitCase(config["model_type"], name, lambda: kind(settings), settings["vocab_size"], draw=DRAW, **more)


PLAMO2 = dict(model_type="plamo2", architectures=["Plamo2ForCausalLM"], vocab_size=53, hidden_size=16,
              intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
              hidden_size_per_head=6, mamba_num_heads=2, mamba_d_state=7, mamba_d_conv=4, mamba_step=2,
              mamba_enabled=True, mamba_chunk_size=16, rms_norm_eps=1e-6, max_position_embeddings=10485760,
              attention_window_size=64, tie_word_embeddings=True, use_cache=True, linear_type="normal", auto_map={
                  "AutoConfig": "modeling_plamo.Plamo2Config", "AutoModelForCausalLM": "modeling_plamo.Plamo2ForCausalLM"})
PLAMO3 = dict(model_type="plamo3", architectures=["Plamo3ForCausalLM"], vocab_size=53, hidden_size=16,
              intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=6,
              max_position_embeddings=64, window_size=9, sliding_window_pattern=2, rope_theta=1000000,
              rope_local_theta=10000, rope_scaling_factor=1, rms_norm_eps=1e-6, attention_bias=False,
              hidden_activation="swiglu", image_feature_size=None, image_proj_type="linear", image_token_id=None,
              linear_type="normal", tie_word_embeddings=True, use_cache=True, auto_map={
                  "AutoConfig": "modeling_plamo.Plamo3Config", "AutoModelForCausalLM": "modeling_plamo.Plamo3ForCausalLM"})
CASES = [
    case("plain", PLAMO2, embedding=0.3),
    case("one_tap", dict(PLAMO2, mamba_d_conv=1), embedding=0.3),
    # Of three layers in a step of four, the last one attends.
    case("last_attends_bf16", dict(
        PLAMO2, hidden_size=20, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, mamba_step=6,
        mamba_d_conv=3, mamba_d_state=5, mamba_num_heads=3, hidden_size_per_head=8, rms_norm_eps=1e-5,
        tie_word_embeddings=False, rope_theta=300.0, attention_window_size=60), dtype="bf16"),
    case("plain", PLAMO3, Plamo3, embedding=0.3),
    # Positions that full layers stretch by 4, beyond 12; as a re-saved file says the windows once more.
    case("stretched_bf16", dict(
        PLAMO3, hidden_size=20, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2, head_dim=14,
        intermediate_size=28, window_size=7, sliding_window_pattern=3, interleaved_sliding_window=[7, 7, None],
        rope_theta=800, rope_local_theta=90, rope_scaling_factor=4, initial_context_length=12, rms_norm_eps=1e-5,
        tie_word_embeddings=False), Plamo3, dtype="bf16"),
]
