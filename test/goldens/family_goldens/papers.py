"""Cases of layouts whose public code cannot run here: it needs a GPU's kernels, or has no package.

Each is an independent forward in torch, from the papers' equations and what the public code says of
names, orders of rows and constants:

    rodimus      github.com/codefuse-ai/rodimus         Triton, flash-attn
    transnormer  the hub's modeling_transnormer.py      lightning attention's Triton
    cheems       github.com/LoserCheems/WonderfulMatrices    mamba_ssm
    doge         the same, and github.com/SmallDoges/small-doge    releases 4 of transformers
    srm          github.com/blbadger/mrm                caches on a GPU
    masked_mixer github.com/blbadger/maskedmixers       the same
"""

import math

import torch
from torch.nn import functional

from .explicit import ExplicitCase, NamedModel, View
from .explicit_parts import linear, norm, rotate

RMS = {"kind": "rms", "eps": 1e-5}
LAYER = {"kind": "layer", "eps": 1e-5}
TOKENS = dict(bos_token_id=1, eos_token_id=2, pad_token_id=0)


def convolve(weight, bias, x):
    taps = weight.shape[-1]
    return functional.conv1d(functional.pad(x.T[None], (taps - 1, 0)), weight, bias,
                             groups=x.shape[-1])[0].T


def window_softmax(q, k, v, window=None, bias=None):
    """q [T, H, K], k and v [T, G, .]; `bias` [H, T] is added to each key's scores."""
    tokens, heads = q.shape[:2]
    k, v = (x.repeat_interleave(heads // x.shape[1], 1) for x in (k, v))
    scores = torch.einsum("thk,shk->hts", q, k) * q.shape[-1] ** -0.5
    scores = scores if bias is None else scores + bias[:, None]
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)
    seen = distance >= 0 if window is None else (distance >= 0) & (distance < window)
    return torch.einsum("hts,shv->thv", scores.masked_fill(~seen, -math.inf).softmax(-1), v)


class Rodimus(NamedModel):
    """The authors' layout: products are fused, and half of the window is in sight, and the token."""

    def forward(self, ids, use_cache=False):
        config = self.config
        width, mixer, attend = config["d_model"], config["mixer_cfg"], config.get("attn_cfg")
        inner, states = -(-int(mixer["expand_ratio"] * width) // 8) * 8, mixer["mem_size"]
        whole = View(self.tensors, "", config)
        table = whole("model.embeddings.weight", config["vocab_size"], width)
        x = functional.embedding(ids[0], table)
        if config.get("use_scale_embedding"):
            x = x * math.sqrt(states)
        if config.get("use_norm_embedding"):
            x = norm(whole, "model.embed_norm", x, RMS)
        for index in range(config["n_layer"]):
            view = View(self.tensors, f"model.layers.{index}.", config)
            x = x + self.mix(view, norm(view, "mixer_norm", x, RMS), inner, states, mixer)
            if config["block_type"] == "rodimus":
                continue
            ahead = x + self.attend(view, norm(view, "attn_norm", x, RMS), attend)
            hidden = -(-int(attend["ffn_expand_ratio"] * width) // 8) * 8
            u, gate = linear(view, "ffn.fc", norm(view, "ffn_norm", ahead, RMS), 2 * hidden).chunk(2, -1)
            x = x + linear(view, "ffn.out_proj", functional.silu(gate) * u, width)
        x = norm(whole, "model.norm_f", x, RMS)
        return (x @ table.T if config.get("tie_word_embeddings") else
                linear(whole, "lm_head", x, config["vocab_size"]))[None]

    @staticmethod
    def mix(view, x, inner, states, config):
        width = x.shape[-1]
        u, gate = linear(view, "mixer.fc", x, 2 * inner).chunk(2, -1)
        name = "mixer.inner_mixer."
        shifted = functional.silu(convolve(
            view(name + "short_conv.conv1d.weight", inner, 1, config["d_conv"]),
            view(name + "short_conv.conv1d.bias", inner), u))
        q, k = linear(view, name + "in_proj", shifted, 2 * states).chunk(2, -1)
        select, temper = linear(view, name + "mem_gate_proj", shifted, 2 * states, True).chunk(2, -1)
        low = linear(view, name + "ch_gate_proj.0", u, config["input_gate_low_rank"])
        v = u * torch.sigmoid(linear(view, name + "ch_gate_proj.1", low, inner, True))
        g, tau = functional.softplus(select), torch.sigmoid(temper)
        k = k / k.norm(dim=-1, keepdim=True).clamp(min=1e-12) * g ** tau
        decay, state, rows = torch.exp(-g * tau), x.new_zeros(states, inner), []
        for t in range(len(x)):
            state = decay[t][:, None] * state + k[t][:, None] * v[t]
            rows.append(q[t] / math.sqrt(states) @ state)
        y = torch.stack(rows) + view(name + "residual_weight", inner) * shifted
        y = norm(view, "mixer.act_norm", y * functional.silu(gate), RMS)
        return linear(view, "mixer.out_proj", y, width)

    @staticmethod
    def attend(view, x, config):
        width, heads = x.shape[-1], config["num_heads"]
        keys = width // heads
        q = linear(view, "attn.q_proj", x, width).unflatten(-1, (heads, keys))
        k = linear(view, "attn.k_proj", x, config["num_heads_k"] * keys).unflatten(-1, (-1, keys))
        v = linear(view, "attn.v_proj", x, config["num_heads_v"] * keys).unflatten(-1, (-1, keys))
        k, v = (y.repeat(1, heads // y.shape[1], 1) for y in (k, v))
        theta = config.get("rotary_emb_base", 10000.0)
        y = window_softmax(rotate(q, theta), rotate(k, theta), v, config["window_size"] // 2 + 1)
        return linear(view, "attn.out_proj", y.flatten(-2), width)


class TransNormer(NamedModel):
    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        width, layers, heads = (config[f"decoder_{key}"] for key in
                                ("embed_dim", "layers", "attention_heads"))
        inner, hidden = config["hidden_dim"], config["glu_dim"]
        simple = {"kind": "rms_unscaled", "eps": 1e-6}
        x = functional.embedding(ids[0], whole("model.embed_tokens.weight", config["vocab_size"], width))
        x = x if config.get("no_scale_embedding") else x * math.sqrt(width)
        for index in range(layers):
            view = View(self.tensors, f"model.layers.{index}.", config)
            y = linear(view, "token_mixer.qkvu_proj", norm(view, "", x, simple), 4 * inner, config["bias"])
            q, k, v, u = (part.unflatten(-1, (heads, -1)) for part in y.chunk(4, -1))
            q, k = functional.silu(q), functional.silu(k)
            if config["linear_use_lrpe_list"][index]:
                theta = view("token_mixer.lrpe.theta", heads, 1, inner // heads)[:, 0]
                angles = torch.arange(len(x), dtype=x.dtype)[:, None, None] * theta
                q, k = (torch.cat([z * angles.cos(), z * angles.sin()], -1) for z in (q, k))
            factor = 1 - index / (layers - 1) + 1e-5
            slopes = torch.tensor(self.slopes(heads), dtype=x.dtype) * factor
            distance = torch.arange(len(x))[:, None] - torch.arange(len(x))
            decay = torch.exp(-slopes[:, None, None] * distance.clamp(min=0)) * (distance >= 0)
            o = torch.einsum("thk,shk,hts,shv->thv", q, k, decay, v).flatten(-2)
            o = u.flatten(-2) * norm(view, "", o, simple)
            x = x + linear(view, "token_mixer.out_proj", o, width, config["bias"])
            z = norm(view, "", x, simple)
            a, b = (linear(view, f"channel_mixer.l{i}", z, hidden, config["bias"]) for i in (1, 2))
            x = x + linear(view, "channel_mixer.l3", a * b, width, config["bias"])
        return linear(whole, "lm_head", norm(whole, "", x, simple), config["vocab_size"])[None]

    def slopes(self, heads):
        power = 2 ** int(math.log2(heads))
        first = [2 ** (-8 * (h + 1) / power) for h in range(power)]
        if power == heads:
            return first
        return first + [2 ** (-8 * (h + 1) / (2 * power)) for h in range(2 * power)][0::2][:heads - power]


class Cheems(NamedModel):
    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        width = config["hidden_size"]
        rms = {"kind": "rms", "eps": config["rms_norm_eps"]}
        table = whole("model.word_embed.weight", config["vocab_size"], width)
        x = functional.embedding(ids[0], table)
        for index in range(config["num_hidden_layers"]):
            view = View(self.tensors, f"model.layers.{index}.", config)
            y = norm(view, "pre_sequence_layernorm", x, rms)
            attends = index % config["attn_layer_period"] == config["attn_layer_offset"]
            y = self.attend(view, config, y) if attends else self.duality(view, config, y)
            x = view("post_sequence_residual.weight", width) * x + y
            y = self.feed(view, config, norm(view, "pre_state_layernorm", x, rms))
            x = view("post_state_residual.weight", width) * x + y
        x = norm(whole, "model.final_layernorm", x, rms)
        return (x @ table.T if config["tie_word_embeddings"] else
                linear(whole, "lm_head", x, config["vocab_size"]))[None]

    @staticmethod
    def duality(view, config, x):
        heads, bias, width = config["num_attention_heads"], config["hidden_bias"], x.shape[-1]
        c, b, v = (linear(view, f"ssd.{part}_proj", x, width, bias).unflatten(-1, (heads, -1))
                   for part in "cbx")
        c, b = rotate(c, config["rope_theta"]), rotate(b, config["rope_theta"])
        dt = functional.softplus(linear(view, "ssd.dt_proj", x, heads, bias))
        decay = torch.exp(dt * view("ssd.A", heads))
        state, rows = x.new_zeros(heads, width // heads, width // heads), []
        for t in range(len(x)):
            state = decay[t][:, None, None] * state + torch.einsum("hk,hv->hkv", b[t], dt[t][:, None] * v[t])
            rows.append(torch.einsum("hk,hkv->hv", c[t], state))
        return linear(view, "ssd.out_proj", torch.stack(rows).flatten(-2), width, bias)

    @staticmethod
    def attend(view, config, x):
        heads, bias, width = config["num_attention_heads"], config["hidden_bias"], x.shape[-1]
        shared, keys = config["num_key_value_heads"], width // heads
        q = linear(view, "attn.q_proj", x, width, bias).unflatten(-1, (heads, keys))
        k, v = (linear(view, f"attn.{part}_proj", x, shared * keys, bias).unflatten(-1, (shared, keys))
                for part in "kv")
        delta = torch.exp(view("attn.A", heads) * functional.softplus(
            linear(view, "attn.dt_proj", v.flatten(-2), heads, bias)))
        theta = config["rope_theta"]
        y = window_softmax(rotate(q, theta), rotate(k, theta), v, bias=delta.T)
        return linear(view, "attn.o_proj", y.flatten(-2), width, bias)

    @staticmethod
    def feed(view, config, x):
        width, bias, hidden = x.shape[-1], config["hidden_bias"], config["intermediate_size"]
        gate, up = (linear(view, f"feed_forward.{part}_proj", x, hidden, bias) for part in ("gate", "up"))
        y = linear(view, "feed_forward.down_proj", functional.silu(gate) * up, width, bias)
        if not config["is_moe"]:
            return y
        heads, size, count = (config[key] for key in (
            "num_cdmoe_heads", "expert_retrieval_size", "num_cdmoe_experts"))
        side = math.isqrt(count)
        query = linear(view, "feed_forward.queries", x, heads * size).unflatten(-1, (2, heads, size // 2))
        keys = view("feed_forward.keys", heads, side, 2, size // 2)
        scores = torch.einsum("tphn,hkpn->tphk", query, keys)
        pairs = (scores[:, 0, :, :, None] + scores[:, 1, :, None, :]).flatten(-2)
        best = pairs.topk(config["num_cdmoe_experts_per_head"], -1)
        down = view("feed_forward.down_embed.weight", count, width)[best.indices]
        up = view("feed_forward.up_embed.weight", count, width)[best.indices]
        weights = functional.silu(torch.einsum("td,thkd->thk", x, down)) * best.values.softmax(-1)
        return y + torch.einsum("thk,thkd->td", weights, up)


class Doge(Cheems):
    """The authors' first layout: its attention and its experts are those of Cheems, or a router's."""

    def forward(self, ids, use_cache=False):
        config, whole = self.config, View(self.tensors, "", self.config)
        width, bias = config["hidden_size"], config["hidden_bias"]
        rms = {"kind": "rms", "eps": config["rms_norm_eps"]}
        table = whole("model.word_embed.weight", config["vocab_size"], width)
        x = functional.embedding(ids[0], table)
        for index in range(config["num_hidden_layers"]):
            view = View(self.tensors, f"model.layers.{index}.", config)

            def called(name, *shape, view=view):
                return view(name.replace("attn.", "self_attn."), *shape)

            y = self.attend(called, config, norm(view, "pre_layernorm", x, rms))
            x = view("pre_residual.weight", width) * x + y
            y = norm(view, "post_layernorm", x, rms)
            routed = config["is_moe"] and "num_experts" in config
            fed = self.feed(view, {**config, "is_moe": config["is_moe"] and not routed}, y)
            fed = fed + self.route(view, config, y) if routed else fed
            x = view("post_residual.weight", width) * x + fed
        x = norm(whole, "model.final_layernorm", x, rms)
        return (x @ table.T if config.get("tie_word_embeddings", True) else
                linear(whole, "lm_head", x, config["vocab_size"]))[None]

    @staticmethod
    def route(view, config, x):
        """The best sums of a first and a second half's scores, each token by itself."""
        width, count = x.shape[-1], config["num_experts"]
        side = math.isqrt(count)
        first, second = linear(view, "feed_forward.router_gate", x, 2 * side).chunk(2, -1)
        best = (first[:, :, None] + second[:, None]).flatten(1).topk(config["num_experts_per_tok"], -1)
        down, up = (view(f"feed_forward.{part}_embed.weight", count, width)[best.indices] for part in ("down", "up"))
        hidden = functional.silu(torch.einsum("td,tkd->tk", x, down)) * best.values.softmax(-1)
        return torch.einsum("tk,tkd->td", hidden, up)


class StructuredMixer(NamedModel):
    def forward(self, ids, use_cache=False):
        config, width = self.config, self.config["hidden_dim"]
        whole = View(self.tensors, "", config)
        x = functional.embedding(ids[0], whole("input_layer.weight", config["vocab_size"], width))
        for index in range(config["num_blocks"]):
            view = View(self.tensors, f"mixer_blocks.{index}.", config)
            y = norm(view, "channel_norm", x, LAYER)
            y = functional.silu(linear(view, "channel_mixing_layer.0", y, 4 * width, True))
            x = x + linear(view, "channel_mixing_layer.2", y, width, True)
            mixer = View(self.tensors, f"mixer_blocks.{index}.token_mixing_layer.", config)
            x = x + self.mix(mixer, norm(view, "token_norm", x, LAYER))
        return linear(whole, "output_layer", x, config["vocab_size"])[None]

    def mix(self, view, x):
        config, width, limit = self.config, self.config["hidden_dim"], self.config["seq_len"]
        heads, kernel, tokens = config.get("heads") or 0, config.get("kernel", 1), len(x)
        distance = torch.arange(tokens) - torch.arange(tokens)[:, None]
        root = max(limit // (256 if kernel > 1 and not heads else 512), 1)

        def matrix(weight, row, decay=None):
            weight = weight[:tokens]
            m = (weight[:, None] if row else weight[None, :]) * (distance >= 0)
            return m if decay is None else m * decay.clamp(0.9, 1) ** (distance.clamp(min=0) / root)

        if not heads and kernel == 1:
            m = matrix(view("weight", 1, limit)[0], True)
            return m.T @ x + view("bias", limit)[:tokens, None]
        if not heads:
            decay = view("decay_value", 2, 1)[1] if config.get("decay") else None
            padded, y = functional.pad(x, (kernel - 1, 0)), 0
            for i in range(kernel):  # channels from kernel - 1 below to the own
                y = y + matrix(view("weight", kernel, limit)[i], False, decay).T @ padded[:, i:i + width]
            return y + view("bias", limit)[:tokens, None]
        size, projects, parallel = width // heads, config.get("use_projections", True), config.get("parallel_heads")
        if parallel and projects:
            x = linear(view, "in_proj", x, width, True)
        elif projects:
            x = torch.cat([linear(view, f"proj_head.{h}", x, size, True) for h in range(heads)], -1)
        outputs = []
        for h, part in enumerate(x.split(size, -1)):
            name, row = f"mixer_heads.{h}.", h >= heads // 2
            if parallel:
                decay = view("mixer_heads.decay_value", 2, 1)[1] if config.get("decay") else None
                m = matrix(view("mixer_heads.weight", heads, limit)[h], row, decay)
                bias = view("mixer_heads.bias", heads, limit)[h]
            elif config.get("mixed_heads"):
                decay = view(name + "decay_value", 1) if config.get("decay") else None
                m, bias = matrix(view(name + "weight", 1, limit)[0], row, decay), view(name + "bias", limit)
            elif config.get("combined_heads"):
                weight, bias = view(name + "weight", 2, limit), view(name + "bias", limit)
                decay = view(name + "decay_value", 2, 1) if config.get("decay") else (None, None)
                m = matrix(weight[0], True, decay[0]) + matrix(weight[1], False, decay[1])
            else:
                m, bias = matrix(view(name + "weight", 1, limit)[0], False), view(name + "bias", limit)
            outputs.append(m.T @ part + bias[:tokens, None])
        y = torch.cat(outputs, -1)
        return linear(view, "out_proj", y, width, True) if projects else y


class MaskedMixer(NamedModel):
    def forward(self, ids, use_cache=False):
        config, width, limit = self.config, self.config["dim"], self.config["tokenized_length"]
        whole = View(self.tensors, "", config)
        table = whole("wte.weight", config["n_vocab"], width)
        x = functional.embedding(ids[0], table)
        for index in range(config["depth"]):
            view = View(self.tensors, f"mixerblocks.{index}.", config)

            def mix(name, x, bias, view=view):
                kernel = config.get("kernel", 1) if bias else 1
                weight = view(f"{name}.weight", limit, limit, kernel)
                weight = weight * torch.ones(limit, limit, dtype=x.dtype).tril()[..., None]
                y = functional.conv1d(functional.pad(x, (0, 0, 0, limit - len(x)))[None], weight,
                                      view(f"{name}.bias", limit) if bias else None, padding="same")
                return y[0, :len(x)]

            y = norm(view, "seq_layernorm", x, LAYER)
            if config.get("expand_conv"):
                y = mix("conv.2", functional.gelu(mix("conv.0", y, False)), False)
            else:
                y = mix("conv", y, True)
            x = x + y
            y = linear(view, "patch_ff.0", norm(view, "patch_layernorm", x, LAYER), 4 * width, True)
            x = x + linear(view, "patch_ff.2", functional.gelu(y), width, True)
        return (x @ table.T if config.get("tie_weights") else
                linear(whole, "lm_head", x, config["n_vocab"]))[None]


DRAW = {
    r"residual(_weight|\.weight)$": (1.0, 0.3),
    r"conv1d\.weight$": (0.1, 0.5),
    r"dt_proj\.bias$": (-0.5, 1.0),
    r"A_log$": (0.0, 0.7),
    r"mixer\.D$": (1.0, 0.4),
    r"ssd\.A$": (-0.5, 0.3),
    r"attn\.A$": (0.0, 0.8),
    r"theta$": (0.3, 0.4),
    r"decay_value$": (0.95, 0.04),
    r"(mixer_heads[.\d]*|token_mixing_layer)\.weight$": (0.3, 0.5),
    r"conv(\.\d)?\.weight$": (0.05, 0.3),
    r"act_norm\.weight$": (1.0, 0.3),
}


def case(family, name, kind, config, **more):
    settings = {**TOKENS, **config}
    vocabulary = settings.get("n_vocab") or settings["vocab_size"]
    return ExplicitCase(family, name, lambda: kind(settings), vocabulary, draw=DRAW, **more)


RODIMUS = dict(model_type="rodimus", architectures=["RodimusForCausalLM"], vocab_size=61, norm_epsilon=1e-5,
               residual_in_fp32=True, max_position_embeddings=64)
TRANSNORMER = dict(model_type="transnormer", architectures=["TransnormerForCausalLM"], vocab_size=61,
                   norm_type="simplermsnorm", linear_act_fun="silu", init_std=0.02)
CHEEMS = dict(model_type="cheems", architectures=["CheemsForCausalLM"], vocab_size=61, rms_norm_eps=1e-6,
              max_position_embeddings=64, hidden_act="silu", dynamic_mask_ratio=0.0, rope_theta=500.0)
DOGE = dict(model_type="doge", architectures=["DogeForCausalLM"], vocab_size=61, rms_norm_eps=1e-6,
            auto_map={"AutoModelForCausalLM": "modeling_doge.DogeForCausalLM"}, hidden_act="silu",
            hidden_dropout=0.0, max_position_embeddings=64, dynamic_mask_ratio=0.0, rope_theta=500.0,
            rope_scaling={"rope_type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 64})
SRM = dict(model_type="srm", architectures=["MLPMixer"], vocab_size=41, hidden_dim=16, num_blocks=2)
MASKED = dict(model_type="masked_mixer", architectures=["LanguageMixer"], n_vocab=61, dim=20, depth=2)

CASES = [
    case("rodimus", "own_plus", Rodimus, dict(
        RODIMUS, block_type="rodimus_plus", d_model=24, n_layer=2,
        auto_map={"AutoModelForCausalLM": "modeling_rodimus.RodimusForCausalLM"},
        mixer_cfg=dict(d_conv=4, expand_ratio=1.5, mem_size=7, input_gate_low_rank=5),
        attn_cfg=dict(num_heads=3, num_heads_k=1, num_heads_v=3, window_size=18, ffn_expand_ratio=4 / 3))),
    case("rodimus", "own_heads_in_turn", Rodimus, dict(
        RODIMUS, block_type="rodimus_plus", d_model=24, n_layer=2, tie_word_embeddings=True,
        mixer_cfg=dict(d_conv=3, expand_ratio=1, mem_size=5, input_gate_low_rank=3),
        attn_cfg=dict(num_heads=6, num_heads_k=2, num_heads_v=3, window_size=30, ffn_expand_ratio=1.5)),
         embedding=0.3),
    case("rodimus", "own_scaled_bf16", Rodimus, dict(
        RODIMUS, block_type="rodimus", d_model=20, n_layer=3, tie_word_embeddings=True,
        use_scale_embedding=True, use_norm_embedding=True,
        mixer_cfg=dict(d_conv=3, expand_ratio=2, mem_size=9, input_gate_low_rank=4)), dtype="bf16",
         embedding=0.3),
    case("transnormer", "plain", TransNormer, dict(
        TRANSNORMER, decoder_embed_dim=24, decoder_layers=3, decoder_attention_heads=4, hidden_dim=20, glu_dim=28,
        no_scale_embedding=False, bias=False, linear_use_lrpe_list=[1, 0, 0])),
    case("transnormer", "three_heads_bf16", TransNormer, dict(
        TRANSNORMER, decoder_embed_dim=20, decoder_layers=2, decoder_attention_heads=3, hidden_dim=30, glu_dim=36,
        no_scale_embedding=True, bias=True, linear_use_lrpe_list=[0, 1]), dtype="bf16"),
    case("cheems", "dense", Cheems, dict(
        CHEEMS, hidden_size=24, intermediate_size=36, num_hidden_layers=3, hidden_bias=True,
        num_attention_heads=3, num_key_value_heads=1, attn_layer_period=2, attn_layer_offset=1, is_moe=False,
        tie_word_embeddings=False, ssd_chunk_size=16)),
    case("cheems", "experts", Cheems, dict(
        CHEEMS, hidden_size=20, intermediate_size=28, num_hidden_layers=2, hidden_bias=False,
        num_attention_heads=2, num_key_value_heads=2, attn_layer_period=2, attn_layer_offset=0, is_moe=True,
        num_cdmoe_experts=30, num_cdmoe_heads=3, num_cdmoe_experts_per_head=4, expert_retrieval_size=8,
        tie_word_embeddings=True), embedding=0.3),
    case("doge", "own_dense", Doge, dict(
        DOGE, hidden_size=24, intermediate_size=36, num_hidden_layers=2, hidden_bias=True, is_causal=False,
        num_attention_heads=6, num_key_value_heads=2, is_moe=False, num_cdmoe_experts=16348, num_cdmoe_heads=4,
        num_cdmoe_experts_per_head=8, expert_retrieval_size=64, num_channels=3, patch_size=16)),
    case("doge", "own_retrieved_bf16", Doge, dict(
        DOGE, hidden_size=20, intermediate_size=28, num_hidden_layers=2, hidden_bias=False,
        num_attention_heads=2, num_key_value_heads=1, is_moe=True, num_cdmoe_experts=27, num_cdmoe_heads=3,
        num_cdmoe_experts_per_head=4, expert_retrieval_size=6, tie_word_embeddings=False), dtype="bf16"),
    case("doge", "own_routed", Doge, dict(
        DOGE, hidden_size=28, intermediate_size=20, num_hidden_layers=2, hidden_bias=True,
        num_attention_heads=2, num_key_value_heads=2, is_moe=True, num_experts=40, num_experts_per_tok=7,
        keep_window_size=9, norm_topk_prob=False, output_router_logits=False, router_aux_loss_coef=0.001,
        tie_word_embeddings=True), embedding=0.3),
    case("srm", "mixed", StructuredMixer, dict(
        SRM, seq_len=1100, heads=4, mixed_heads=True, decay=True)),
    case("srm", "parallel", StructuredMixer, dict(
        SRM, seq_len=600, heads=4, parallel_heads=True, decay=True, use_projections=True, hidden_dim=20)),
    case("srm", "combined_heads", StructuredMixer, dict(SRM, seq_len=600, heads=2, combined_heads=True, decay=True)),
    case("srm", "kernel_columns", StructuredMixer, dict(SRM, seq_len=512, kernel=3, decay=True)),
    case("srm", "rows", StructuredMixer, dict(SRM, seq_len=520)),
    case("srm", "columns_no_decay", StructuredMixer, dict(SRM, seq_len=540, heads=2)),
    case("masked_mixer", "plain", MaskedMixer, dict(MASKED, tokenized_length=50, kernel=1)),
    case("masked_mixer", "expanded_tied", MaskedMixer, dict(
        MASKED, tokenized_length=52, expand_conv=True, tie_weights=True, dim=24)),
]
