"""Cases of StreamingLLM (Xiao et al., arXiv:2309.17453), by a NumPy forward of LLaMA.

A cache of the first `sinks` tokens and the last `window`, the query's own included. Keys are kept
as they are before they are turned, and turned by their places in the cache, one token after another.
"""

import numpy as np

from .public import LLAMA, case


def rms(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(epsilon)) * weight


def turned(x, place, frequencies):
    """x [heads, channels], whose halves turn together."""
    angle = (np.float64(place) * frequencies).astype(np.float64)
    cosine, sine = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def forward(sinks, window):
    def logits(model, ids):
        config = model.config
        weights = {name: value.detach().numpy() for name, value in model.named_parameters()}
        rope = config.rope_parameters
        channels, heads, key_heads = config.head_dim, config.num_attention_heads, config.num_key_value_heads
        frequencies = rope["rope_theta"] ** (-np.arange(0, channels, 2) / channels) / rope.get("factor", 1.0)
        caches = [[] for _ in range(config.num_hidden_layers)]

        def linear(x, name):
            y = weights[name + ".weight"] @ x
            return y + weights[name + ".bias"] if name + ".bias" in weights else y

        def attend(x, cache, source, here):
            query = linear(x, source + "q_proj").reshape(heads, channels)
            cache.append((linear(x, source + "k_proj").reshape(key_heads, channels),
                          linear(x, source + "v_proj").reshape(key_heads, channels)))
            seen = [cache[j] for j in range(here + 1) if j < sinks or j > here - window]
            keys = np.stack([turned(key, place, frequencies) for place, (key, _) in enumerate(seen)])
            values = np.stack([value for _, value in seen])
            query = turned(query, len(seen) - 1, frequencies).reshape(key_heads, -1, channels)
            scores = np.einsum("gqc,jgc->gqj", query, keys) * x.dtype.type(channels ** -0.5)
            mixed = np.einsum("gqj,jgc->gqc", softmax(scores), values)
            return linear(mixed.reshape(-1), source + "o_proj")

        rows = []
        for here, token in enumerate(ids):
            x = weights["model.embed_tokens.weight"][token]
            for layer, cache in enumerate(caches):
                source = f"model.layers.{layer}."
                normed = rms(x, weights[source + "input_layernorm.weight"], config.rms_norm_eps)
                x = x + attend(normed, cache, source + "self_attn.", here)
                normed = rms(x, weights[source + "post_attention_layernorm.weight"], config.rms_norm_eps)
                gate = linear(normed, source + "mlp.gate_proj")
                gate = gate / (1 + np.exp(-gate))
                x = x + linear(gate * linear(normed, source + "mlp.up_proj"), source + "mlp.down_proj")
            x = rms(x, weights["model.norm.weight"], config.rms_norm_eps)
            rows.append(weights["lm_head.weight"] @ x)
        return np.stack(rows)

    return logits


def streaming(name, sinks, window, config, **more):
    return case("llama", name, "Llama", config, forward=forward(sinks, window),
                options={"sinks": sinks, "window": window}, **more)


# Fewer positions than the sequences have tokens.
SHORT = {**LLAMA, "max_position_embeddings": 20}
CASES = [
    streaming("streaming", 3, 7, {**SHORT, "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}),
    streaming("streaming_biases_bf16", 1, 12, {
        **SHORT, "hidden_size": 24, "num_key_value_heads": 2, "attention_bias": True, "mlp_bias": True,
        "rope_parameters": {"rope_type": "linear", "rope_theta": 150.0, "factor": 2.0}}, dtype="bf16"),
]
