#!/usr/bin/env python3
"""Writes attention/cases.json: softmax attention and rotations by a public library.

Each case of `attention` holds queries, keys and values, what the op's
attributes are, and the result in f64 of the library's own function on the CPU:

  eager_attention_forward of llama, gemma2 (soft-cap) and gpt_oss (sinks), with the
  masks of masking_utils (causal, sliding window) and the slopes of bloom (ALiBi);
  prepare_dynamic_mask of doge (a bias per key, and the keys with the largest biases)

llama and gemma2 take the softmax in f32, whatever their inputs, so their results are
good to some 1e-7; the others are f64 throughout. Shared keys (one key head, a value
head per query head) are llama's function on repeated keys.

Each case of `rotary` holds the frequencies and the amplitude of a scaling, from
LlamaRotaryEmbedding (halves, all rope types) or gptj's tables (neighbours), and a
tensor before and after apply_rotary_pos_emb.

Each case of `dynamic_steps` holds queries, keys and values as they are before they are
turned, and what the library's rotations and attention make of them one token a call, keys
kept as each call has turned them: the frequencies of each call and the result.

Each case of `sink_cache` holds queries, keys and values as they are before they are
turned, and the result of StreamingLLM's cache (arXiv:2309.17453) written out: a list of
keys that nothing has turned, of which the first `first` and the last `window` stay, each
turned by its place in the list whenever it is read, the query by the last place; slopes
act on the distance of places. numpy, f64.

Each case of `frequencies` holds a rope type as #seq.rotary_frequencies spells it and
what ROPE_INIT_FUNCTIONS makes of the same config, for heads of 64 channels.
"""
import argparse
import json
import pathlib
import types

import numpy
import torch
from transformers import LlamaConfig
from transformers.masking_utils import causal_mask_function, sliding_window_causal_mask_function
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.doge.modeling_doge import DogeAttention
from transformers.models.gemma2 import modeling_gemma2 as gemma2
from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama

TOKENS = 13


def numbers(generator, *shape):
    """Multiples of 1/64 from -2 to 2, which print short and are exact in any type."""
    return torch.randint(-128, 129, shape, generator=generator).double() / 64


def visible(tokens, window):
    rule = sliding_window_causal_mask_function(window) if window else causal_mask_function
    index = torch.arange(tokens)
    return torch.tensor([[bool(rule(0, 0, q, k)) for k in index] for q in index])


def mask_of(tokens, window):
    mask = torch.zeros(tokens, tokens, dtype=torch.float64)
    return mask.masked_fill(~visible(tokens, window), float("-inf"))[None, None]


def flat(tensor):
    return tensor.reshape(-1).tolist()


def attention_case(name, function, seed, heads, key_heads, value_heads, channels, value_channels, window=0,
                   soft_cap=0.0, sinks=False, slopes=False, bias=False, keep=0):
    generator = torch.Generator().manual_seed(seed)
    q = numbers(generator, TOKENS, heads, channels)
    k = numbers(generator, TOKENS, key_heads, channels)
    v = numbers(generator, TOKENS, value_heads, value_channels)
    case = {"name": name, "tokens": TOKENS, "H": heads, "G": key_heads, "J": value_heads, "K": channels,
            "V": value_channels, "window": window, "scale": channels ** -0.5, "soft_cap": soft_cap, "keep": keep,
            "q": flat(q), "k": flat(k), "v": flat(v)}
    module = types.SimpleNamespace(num_key_value_groups=heads // value_heads, training=False, head_dim=channels)
    if key_heads != value_heads:  # the library repeats keys and values alike
        k = k.repeat_interleave(value_heads // key_heads, dim=1)
    options = {}
    mask = mask_of(TOKENS, window)
    if soft_cap:
        options["softcap"] = soft_cap
    if sinks:
        module.sinks = numbers(generator, heads)
        case["sinks"] = flat(module.sinks)
    if slopes:
        alibi = build_alibi_tensor(torch.ones(1, TOKENS), heads, torch.float64)
        mask = mask + alibi[None]
        # What the library adds is slope times position; a slope is that at 1.
        case["slopes"] = flat(alibi[:, 0, 1])
    if bias:
        d = numbers(generator, TOKENS, key_heads) + torch.arange(TOKENS).double()[:, None] / 1024
        case["d"], case["key_score"] = flat(d), "bias"
        hidden = torch.zeros(1, TOKENS, 1, dtype=torch.float64)
        doge = DogeAttention.prepare_dynamic_mask(None, hidden, d.T[None], keep or TOKENS, visible(TOKENS, window)[None, None])
        mask = doge.repeat_interleave(heads // key_heads, dim=1)
    swap = lambda x: x.transpose(0, 1)[None]
    y, _ = function(module, swap(q), swap(k), swap(v), mask, scaling=channels ** -0.5, dropout=0.0, **options)
    case["y"] = flat(y[0])
    return case


def attention_cases():
    case = attention_case
    return [
        case("llama_causal_mha", llama.eager_attention_forward, 1, 4, 4, 4, 8, 8),
        case("llama_causal_gqa", llama.eager_attention_forward, 2, 6, 2, 2, 7, 5),
        case("mistral_window_mqa", llama.eager_attention_forward, 3, 6, 1, 1, 8, 9, window=6),
        case("mistral_window_of_one", llama.eager_attention_forward, 4, 2, 1, 1, 5, 3, window=1),
        case("shared_key_window", llama.eager_attention_forward, 5, 6, 1, 6, 10, 4, window=11),
        case("gemma2_cap", gemma2.eager_attention_forward, 6, 4, 2, 2, 12, 6, soft_cap=1.5),
        case("gemma2_cap_window", gemma2.eager_attention_forward, 7, 4, 2, 2, 9, 6, window=5, soft_cap=3.0),
        case("gpt_oss_sinks", gpt_oss.eager_attention_forward, 8, 6, 3, 3, 8, 5, sinks=True),
        case("gpt_oss_sinks_window", gpt_oss.eager_attention_forward, 9, 6, 2, 2, 7, 6, window=8, sinks=True),
        case("bloom_slopes", llama.eager_attention_forward, 10, 8, 8, 8, 6, 4, slopes=True),
        case("bloom_slopes_twelve_heads", llama.eager_attention_forward, 11, 12, 4, 4, 5, 3, slopes=True),
        case("doge_bias", llama.eager_attention_forward, 12, 6, 2, 2, 8, 5, bias=True),
        case("doge_bias_keep", llama.eager_attention_forward, 13, 6, 3, 3, 6, 7, bias=True, keep=4),
        case("doge_bias_window", llama.eager_attention_forward, 14, 4, 2, 2, 6, 7, window=9, bias=True),
    ]


def rotary_cases():
    scalings = {
        "default": {"rope_type": "default", "rope_theta": 10000.0},
        "linear": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0},
        "dynamic": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0},
        "llama3": {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                   "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
        "yarn": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 64},
        "longrope": {"rope_type": "longrope", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 64,
                     "short_factor": [1.0, 1.5, 2.0, 2.5, 3.0, 4.0], "long_factor": [2.0, 3.0, 4.0, 5.0, 6.0, 8.0]},
    }
    heads, channels, tokens = 3, 12, 9
    cases = []
    for seed, (name, scaling) in enumerate(scalings.items(), 1):
        config = LlamaConfig(hidden_size=heads * channels, num_attention_heads=heads, head_dim=channels,
                             max_position_embeddings=256, rope_parameters=scaling)
        embedding = llama.LlamaRotaryEmbedding(config)
        generator = torch.Generator().manual_seed(seed)
        x = numbers(generator, tokens, heads, channels)
        positions = torch.arange(3, 3 + tokens)
        cosine, sine = embedding(x, positions[None])
        y, _ = llama.apply_rotary_pos_emb(x.transpose(0, 1)[None], x.transpose(0, 1)[None], cosine, sine)
        cases.append({"name": name, "scaling": scaling, "max_position_embeddings": 256, "pairs": "half", "start": 3,
                      "tokens": tokens, "H": heads, "K": channels, "amplitude": float(embedding.attention_scaling),
                      "frequencies": flat(embedding.inv_freq), "x": flat(x), "y": flat(y[0].transpose(0, 1))})
    generator = torch.Generator().manual_seed(99)
    turned, width = 8, 11  # gptj turns the first channels and leaves the rest
    x = numbers(generator, tokens, heads, width)
    table = gptj.create_sinusoidal_positions(64, turned)[5:5 + tokens].double()
    sine, cosine = torch.split(table, turned // 2, dim=-1)
    y = torch.cat([gptj.apply_rotary_pos_emb(x[None, ..., :turned], sine[None], cosine[None])[0], x[..., turned:]], dim=-1)
    frequencies = 1.0 / (10000 ** (torch.arange(0, turned, 2, dtype=torch.int64) / turned))
    cases.append({"name": "gptj_interleaved", "pairs": "interleaved", "start": 5, "tokens": tokens, "H": heads, "K": width,
                  "amplitude": 1.0, "frequencies": flat(frequencies), "x": flat(x), "y": flat(y)})
    return cases


def dynamic_steps_case(name, seed, trained, factor, theta, tokens, heads, key_heads, channels, value_channels):
    config = LlamaConfig(hidden_size=heads * channels, num_attention_heads=heads, head_dim=channels,
                         max_position_embeddings=trained,
                         rope_parameters={"rope_type": "dynamic", "rope_theta": theta, "factor": factor})
    embedding = llama.LlamaRotaryEmbedding(config)
    generator = torch.Generator().manual_seed(seed)
    q = numbers(generator, tokens, heads, channels)
    k = numbers(generator, tokens, key_heads, channels)
    v = numbers(generator, tokens, key_heads, value_channels)
    module = types.SimpleNamespace(num_key_value_groups=heads // key_heads, training=False, head_dim=channels)
    keys, outputs, frequencies = torch.zeros(1, key_heads, 0, channels, dtype=torch.float64), [], []
    for t in range(tokens):
        cosine, sine = embedding(q, torch.tensor([[t]]))
        frequencies += flat(embedding.inv_freq)
        query, key = llama.apply_rotary_pos_emb(q[None, t, :, None], k[None, t, :, None], cosine, sine)
        keys = torch.cat([keys, key], dim=2)
        y, _ = llama.eager_attention_forward(module, query, keys, v[:t + 1].transpose(0, 1)[None], None,
                                             scaling=channels ** -0.5, dropout=0.0)
        outputs += flat(y)
    return {"name": name, "rule": f"theta = {theta:.1f} : f64, factor = {factor:.1f} : f64, original_context = {trained}",
            "tokens": tokens, "H": heads, "G": key_heads, "K": channels, "V": value_channels, "scale": channels ** -0.5,
            "frequencies": frequencies, "q": flat(q), "k": flat(k), "v": flat(v), "y": outputs}


def dynamic_steps_cases():
    return [dynamic_steps_case("long_after_seven", 1, 7, 4.0, 100.0, 29, 4, 2, 8, 5),
            dynamic_steps_case("never_long", 2, 16, 2.0, 10000.0, 11, 2, 1, 6, 3)]


def turned(x, place, frequencies):
    low, high, angle = x[:len(frequencies)], x[len(frequencies):], place * frequencies
    return numpy.concatenate([low * numpy.cos(angle) - high * numpy.sin(angle),
                              high * numpy.cos(angle) + low * numpy.sin(angle)])


def sink_cache_case(name, seed, heads, key_heads, channels, value_channels, first, window, tokens, slopes=False):
    random = numpy.random.default_rng(seed)
    draw = lambda *shape: random.integers(-128, 129, shape) / 64
    q, k, v = draw(tokens, heads, channels), draw(tokens, key_heads, channels), draw(tokens, key_heads, value_channels)
    frequencies = 100.0 ** -(numpy.arange(channels // 2) / (channels // 2))
    slope = abs(draw(heads)) if slopes else numpy.zeros(heads)
    scale = channels ** -0.5
    y = numpy.zeros((tokens, heads, value_channels))
    for h in range(heads):
        cache = []
        for t in range(tokens):
            cache.append((k[t, h * key_heads // heads], v[t, h * key_heads // heads]))
            if len(cache) > first + window:
                del cache[first]
            last = len(cache) - 1
            query = turned(q[t, h], last, frequencies)
            scores = numpy.array([scale * turned(key, place, frequencies) @ query + slope[h] * (place - last)
                                  for place, (key, _) in enumerate(cache)])
            weights = numpy.exp(scores - scores.max())
            y[t, h] = weights / weights.sum() @ numpy.array([value for _, value in cache])
    flat = lambda x: x.reshape(-1).tolist()
    case = {"name": name, "tokens": tokens, "H": heads, "G": key_heads, "K": channels, "V": value_channels,
            "first": first, "window": window, "scale": scale, "frequencies": flat(frequencies), "q": flat(q),
            "k": flat(k), "v": flat(v), "y": flat(y)}
    return {**case, "slopes": flat(slope)} if slopes else case


def sink_cache_cases():
    case = sink_cache_case
    return [
        case("four_first", 1, 4, 2, 6, 5, 4, 7, 31),
        case("window_of_one", 2, 2, 2, 4, 3, 3, 1, 11),
        case("more_first_than_window", 3, 3, 1, 8, 4, 9, 5, 29),
        case("never_full", 4, 2, 1, 4, 3, 8, 9, 13),
        case("slopes_in_the_cache", 5, 4, 2, 6, 4, 2, 6, 23, slopes=True),
    ]


def frequency_cases():
    # Public configs' numbers where there are some; o: the context of the training.
    short, long = [1.0 + i / 16 for i in range(32)], [2.0 + i / 4 for i in range(32)]
    rule = "scaling = {}, theta = {:.1f} : f64"
    o = ", original_context = {}"
    cases = []
    for kind, theta, attributes, scaling, trained, length in [
        ("default", 1e4, "", {}, 4096, None),
        ("default", 5e5, "", {}, 8192, None),
        ("linear", 1e4, ", factor = 4.0 : f64", {"factor": 4.0}, 4096, None),
        ("dynamic", 1e4, ", factor = 2.0 : f64" + o.format(4096) + ", planned_context = 1000", {"factor": 2.0}, 4096, 1000),
        ("dynamic", 1e4, ", factor = 2.0 : f64" + o.format(4096) + ", planned_context = 16384", {"factor": 2.0}, 4096, 16384),
        ("llama3", 5e5, ", factor = 8.0 : f64" + o.format(8192) + ", low = 1.0 : f64, high = 4.0 : f64",
         {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}, 131072, None),
        ("yarn", 1e6, ", factor = 4.0 : f64" + o.format(32768) + ", low = 1.0 : f64, high = 32.0 : f64",
         {"factor": 4.0, "original_max_position_embeddings": 32768}, 131072, None),
        ("yarn", 1e4, ", factor = 16.0 : f64" + o.format(256) + ", low = 2.0 : f64, high = 24.0 : f64",
         {"factor": 16.0, "original_max_position_embeddings": 256, "beta_fast": 24.0, "beta_slow": 2.0}, 4096, None),
        ("longrope", 1e4, f", divisors = {short}", {"factor": 32.0, "original_max_position_embeddings": 4096,
                                                   "short_factor": short, "long_factor": long}, 131072, 4096),
        ("longrope", 1e4, f", divisors = {long}", {"factor": 32.0, "original_max_position_embeddings": 4096,
                                                  "short_factor": short, "long_factor": long}, 131072, 8192),
    ]:
        config = LlamaConfig(hidden_size=128, num_attention_heads=2, head_dim=64, max_position_embeddings=trained,
                             rope_parameters={"rope_type": kind, "rope_theta": theta, **scaling})
        if kind == "default":
            frequencies = llama.LlamaRotaryEmbedding(config).inv_freq
        else:
            frequencies, _ = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=length)
        cases.append({"rule": rule.format(kind, theta) + attributes, "frequencies": flat(frequencies)})
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    path = pathlib.Path(__file__).parent / "attention" / "cases.json"
    path.write_text(json.dumps({"attention": attention_cases(), "rotary": rotary_cases(),
                                "frequencies": frequency_cases(),
                                "dynamic_steps": dynamic_steps_cases(),
                                "sink_cache": sink_cache_cases()}, separators=(",", ":")) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
