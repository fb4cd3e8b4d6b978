#!/usr/bin/env python3
"""Writes a recorded checkpoint as a GGUF file, as llama.cpp's converter would.

  test/e2e/write_gguf.py test/goldens/families/llama/llama3_scaling /tmp/m.gguf [--shards 2] [--checkpoint DIR]

The rules are those of conversion/*.py in llama.cpp, written the way the converter goes: names, rows of queries and
keys put in pairs, -exp of logarithms of decays, norms' weights + 1, experts stacked. effc's tables go the other way.
Keys that the converter has no place for are refused; `--checkpoint` writes a folder whose configuration differs from
the recorded one in what the format cannot say, so that effc's two readings can be compared. Standard library alone.
"""
import argparse
import array
import json
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # beside the sources
from gguf_file import Tensor, read_safetensors, stacked, write_gguf, write_safetensors

# What several architectures share: a checkpoint's name, the file's, and what is done.
OUTER = {r"model\.embed_tokens": "token_embd", r"model\.norm": "output_norm", r"lm_head": "output"}
LAYER = {r"input_layernorm": "attn_norm", r"post_attention_layernorm": "ffn_norm",
         r"self_attn\.([qkv])_proj": r"attn_\1", r"self_attn\.o_proj": "attn_output",
         r"self_attn\.([qk])_norm": r"attn_\1_norm", r"mlp\.(gate|up|down)_proj": r"ffn_\1"}
MAMBA = {r"in_proj": "ssm_in", r"conv1d": "ssm_conv1d", r"x_proj": "ssm_x", r"dt_proj": "ssm_dt",
         r"out_proj": "ssm_out", r"A_log": "ssm_a", r"D": "ssm_d", r"norm": "ssm_norm", r"dt_bias": "ssm_dt.bias",
         r"(dt|b|c)_layernorm": r"ssm_\1_norm"}
QWEN_EXPERTS = {r"mlp\.gate": "ffn_gate_inp", r"mlp\.experts\.\d+\.(gate|up|down)_proj": r"ffn_\1_exps",
                r"mlp\.shared_expert_gate": "ffn_gate_inp_shexp",
                r"mlp\.shared_expert\.(gate|up|down)_proj": r"ffn_\1_shexp"}
NUMBERED = {"w1": "gate", "w2": "down", "w3": "up"}


class Writer:
    """Keys and tensors of one architecture; subclasses say what is special."""
    arch = None
    outer, layer = OUTER, LAYER
    prefix = r"model\.layers\.(\d+)\."

    def __init__(self, config, tensors):
        self.config, self.tensors, self.keys = config, tensors, {"general.architecture": self.arch}

    def set(self, **keys):
        for key, value in keys.items():
            if value is not None:
                self.keys[f"{self.arch}.{key.replace('__', '.')}"] = value

    def get(self, key, otherwise=None):
        value = self.config.get(key)
        return otherwise if value is None else value

    def rope(self):
        """`rope_parameters` of release 5, or what release 4 had in their place."""
        rope = dict(self.get("rope_parameters", {}))
        if not rope:
            rope = dict(self.get("rope_scaling", {}))
            rope["rope_type"] = rope.pop("type", rope.get("rope_type", "default"))
            rope["rope_theta"] = self.get("rope_theta", 10000.0)
        return rope.get("full_attention", rope)

    def head_width(self):
        return self.get("head_dim", self.config["hidden_size"] // self.config["num_attention_heads"])

    def common(self):
        self.set(block_count=self.config["num_hidden_layers"], embedding_length=self.config["hidden_size"],
                 context_length=self.get("max_position_embeddings", 1 << 20))

    def decoder(self):
        self.common()
        self.set(feed_forward_length=self.get("intermediate_size"),
                 attention__head_count=self.config["num_attention_heads"],
                 attention__head_count_kv=self.get("num_key_value_heads", self.config["num_attention_heads"]),
                 attention__layer_norm_rms_epsilon=float(self.get("rms_norm_eps", 1e-6)))
        if self.get("head_dim"):
            self.set(attention__key_length=self.config["head_dim"], attention__value_length=self.config["head_dim"])

    def rotary(self):
        rope = self.rope()
        self.set(rope__freq_base=float(rope.get("rope_theta", 10000.0)))
        share = rope.get("partial_rotary_factor", self.get("partial_rotary_factor"))
        self.set(rope__dimension_count=int(self.head_width() * share) if share else self.head_width())
        kind = rope.get("rope_type", "default")
        if kind in ("linear", "yarn"):
            self.set(rope__scaling__type=kind, rope__scaling__factor=float(rope["factor"]))
        if kind == "yarn":
            self.set(rope__scaling__original_context_length=rope.get("original_max_position_embeddings"),
                     rope__scaling__yarn_beta_fast=rope.get("beta_fast"),
                     rope__scaling__yarn_beta_slow=rope.get("beta_slow"))
        if kind == "llama3":
            self.special["rope_freqs.weight"] = self.llama3(rope)

    def llama3(self, rope):
        """The divisor of each pair's frequency."""
        divisors, width = array.array("f"), self.head_width()
        original, factor = rope["original_max_position_embeddings"], rope["factor"]
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        for pair in range(0, width, 2):
            wave = 2 * math.pi * rope["rope_theta"] ** (pair / width)
            if wave < original / high:
                divisors.append(1)
            elif wave > original / low:
                divisors.append(factor)
            else:
                smooth = (original / wave - low) / (high - low)
                divisors.append(1 / ((1 - smooth) / factor + smooth))
        return Tensor([len(divisors)], divisors)

    def named(self, name):
        """The file's name of a tensor without its suffix, or None."""
        for pattern, given in self.outer.items():
            if re.fullmatch(pattern, name):
                return re.sub(pattern, given, name)
        found = re.match(self.prefix, name)
        if found:
            for pattern, given in self.layer.items():
                rest = name[found.end():]
                if re.fullmatch(pattern, rest):
                    return f"blk.{found[1]}." + re.sub(pattern, given, rest)
        return None

    def changed(self, name, given, tensor):
        """What becomes of a tensor; a list of names and tensors."""
        if name.endswith("A_log"):
            tensor = tensor.map(lambda x: -math.exp(x))
        if "conv1d.weight" in name:
            tensor = tensor.reshaped(*[extent for extent in tensor.shape if extent != 1])
        return [(given, tensor)]

    def write(self):
        self.special = {}
        self.describe()
        out, experts = dict(self.special), {}
        for name, tensor in self.tensors.items():
            stem, _, suffix = name.rpartition(".")
            if suffix not in ("weight", "bias"):
                stem, suffix = name, ""
            given = self.named(stem)
            if given is None:
                raise SystemExit(f"no name for {name}")
            number = re.search(r"experts\.(\d+)\.", name)
            whole = given + (f".{suffix}" if suffix and not given.endswith((".weight", ".bias")) else "")
            if number:
                experts.setdefault(whole, {})[int(number[1])] = tensor
                continue
            for other, changed in self.changed(name, whole, tensor):
                out[other] = changed
        for whole, parts in experts.items():
            out[whole] = stacked([parts[i] for i in range(len(parts))])
        return self.keys, out


class Llama(Writer):
    arch = "llama"

    def describe(self):
        self.decoder()
        self.rotary()
        self.set(vocab_size=self.config["vocab_size"])

    def changed(self, name, given, tensor):
        if re.search(r"self_attn\.[qk]_proj", name):
            width = self.head_width()
            half = width // 2
            # The converter's reshape(heads, 2, half).swapaxes(1, 2).
            tensor = tensor.gather([head * width + i * half + j for head in range(tensor.shape[0] // width)
                                    for j in range(half) for i in range(2)])
        return [(given, tensor)]


class Granite(Llama):
    arch = "granite"

    def describe(self):
        super().describe()
        self.set(attention__scale=float(self.get("attention_multiplier", 1)),
                 embedding_scale=float(self.get("embedding_multiplier", 1)),
                 residual_scale=float(self.get("residual_multiplier", 1)),
                 logit_scale=float(self.get("logits_scaling", 1)))


class Qwen2(Writer):
    arch = "qwen2"

    def describe(self):
        self.decoder()
        self.rotary()


class Qwen3(Qwen2):
    arch = "qwen3"


class Qwen2Moe(Qwen2):
    arch = "qwen2moe"
    layer = LAYER | QWEN_EXPERTS

    def describe(self):
        super().describe()
        self.experts()

    def experts(self):
        self.set(expert_count=self.get("num_experts", self.get("num_local_experts")),
                 expert_used_count=self.config["num_experts_per_tok"],
                 expert_feed_forward_length=self.config["moe_intermediate_size"],
                 expert_shared_feed_forward_length=self.get("shared_expert_intermediate_size"))


class Qwen3Moe(Qwen2Moe):
    arch = "qwen3moe"


class Qwen3Next(Qwen2Moe):
    arch = "qwen3next"
    layer = QWEN_EXPERTS | LAYER | {rf"linear_attn\.{name}": given for name, given in MAMBA.items()} | {
        "post_attention_layernorm": "post_attention_norm", r"linear_attn\.in_proj_qkvz": "qkvz",
        r"linear_attn\.in_proj_ba": "ssm_ba"}

    def describe(self):
        super().describe()
        width = self.config["linear_value_head_dim"]
        self.set(ssm__conv_kernel=self.config["linear_conv_kernel_dim"],
                 ssm__state_size=self.config["linear_key_head_dim"],
                 ssm__group_count=self.config["linear_num_key_heads"],
                 ssm__time_step_rank=self.config["linear_num_value_heads"],
                 ssm__inner_size=width * self.config["linear_num_value_heads"],
                 full_attention_interval=self.get("full_attention_interval", 4))
        if self.get("layer_types"):
            self.set(attention__recurrent_layers=[kind == "linear_attention" for kind in self.config["layer_types"]])

    def changed(self, name, given, tensor):
        if name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
            return [(given, tensor.map(lambda x: x + 1))]
        if given.endswith("qkvz.weight"):
            keys, groups = self.config["linear_key_head_dim"], self.config["linear_num_key_heads"]
            values = self.config["linear_value_head_dim"] * self.config["linear_num_value_heads"] // groups
            stride = 2 * keys + 2 * values

            def part(offset, size):
                return [group * stride + offset + i for group in range(groups) for i in range(size)]

            qkv = part(0, keys) + part(keys, keys) + part(2 * keys, values)
            return [(given.replace("qkvz", "attn_qkv"), tensor.gather(qkv)),
                    (given.replace("qkvz", "attn_gate"), tensor.gather(part(2 * keys + values, values)))]
        return super().changed(name, given, tensor)


class Qwen35(Qwen3Next):
    """Heads of values in turn: one of each group of keys, where there are fewer groups than heads."""
    arch = "qwen35"
    layer = Qwen3Next.layer | {r"linear_attn\.in_proj_qkv": "attn_qkv", r"linear_attn\.in_proj_z": "attn_gate",
                               r"linear_attn\.in_proj_b": "ssm_beta", r"linear_attn\.in_proj_a": "ssm_alpha"}

    def experts(self):
        pass

    def describe(self):
        super().describe()
        self.set(rope__dimension_sections=[11, 11, 10, 0])

    def changed(self, name, given, tensor):
        groups, heads = self.config["linear_num_key_heads"], self.config["linear_num_value_heads"]
        width, keys = self.config["linear_value_head_dim"], self.config["linear_key_head_dim"] * groups

        def turned(width):
            order = [group * (heads // groups) + i for i in range(heads // groups) for group in range(groups)]
            return [head * width + i for head in order for i in range(width)]

        if re.search(r"in_proj_z|in_proj_[ab]|A_log|dt_bias", name):
            tensor = tensor.gather(turned(width if "_z" in name else 1))
        elif re.search(r"in_proj_qkv|conv1d", name):
            tensor = tensor.gather(list(range(2 * keys)) + [2 * keys + row for row in turned(width)])
        elif "linear_attn.out_proj" in name:
            tensor = tensor.transposed().gather(turned(width)).transposed()
        return super().changed(name, given, tensor)


class Qwen35Moe(Qwen35):
    arch = "qwen35moe"

    def experts(self):
        Qwen2Moe.experts(self)


class Phi3(Writer):
    arch = "phi3"
    layer = LAYER | {r"self_attn\.qkv_proj": "attn_qkv", r"mlp\.gate_up_proj": "ffn_up"}

    def describe(self):
        self.decoder()
        self.rotary()
        rope = self.rope()
        original = rope.get("original_max_position_embeddings", self.get("original_max_position_embeddings"))
        self.set(rope__scaling__original_context_length=original,
                 attention__sliding_window=self.get("sliding_window", 0))
        if "long_factor" in rope:
            scale = self.config["max_position_embeddings"] / original
            self.set(rope__scaling__attn_factor=math.sqrt(1 + math.log(scale) / math.log(original))
                     if scale > 1 else 1.0)
            for length in ("long", "short"):
                factors = array.array("f", rope[f"{length}_factor"])
                self.special[f"rope_factors_{length}.weight"] = Tensor([len(factors)], factors)


class Gemma2(Writer):
    arch = "gemma2"
    layer = LAYER | {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
                     "post_feedforward_layernorm": "post_ffw_norm"}

    def describe(self):
        self.decoder()
        self.rotary()
        self.set(attention__sliding_window=self.config["sliding_window"],
                 attention__scale=self.config["query_pre_attn_scalar"] ** -0.5)
        for cap in ("attn_logit_softcapping", "final_logit_softcapping"):
            if self.get(cap):
                self.set(**{cap: float(self.config[cap])})

    def changed(self, name, given, tensor):
        return [(given, tensor.map(lambda x: x + 1) if name.endswith("norm.weight") else tensor)]


class Gemma3(Gemma2):
    arch = "gemma3"

    def describe(self):
        super().describe()
        self.set(attention__sliding_window_pattern=[kind == "sliding_attention"
                                                    for kind in self.config["layer_types"]],
                 rope__freq_base_swa=self.config["rope_parameters"]["sliding_attention"]["rope_theta"])


class Mamba(Writer):
    arch = "mamba"
    outer = {r"backbone\.embeddings": "token_embd", r"backbone\.norm_f": "output_norm", r"lm_head": "output"}
    prefix = r"backbone\.layers\.(\d+)\."
    layer = {r"norm": "attn_norm"} | {rf"mixer\.{name}": given for name, given in MAMBA.items()}

    def describe(self):
        self.common()
        self.set(feed_forward_length=0, attention__head_count=0,
                 attention__layer_norm_rms_epsilon=self.config["layer_norm_epsilon"],
                 ssm__conv_kernel=self.config["conv_kernel"], ssm__state_size=self.config["state_size"])
        self.mixer()

    def mixer(self):
        self.set(ssm__inner_size=self.config["intermediate_size"], ssm__time_step_rank=self.config["time_step_rank"],
                 ssm__dt_b_c_rms=self.config["model_type"] == "falcon_mamba")


class Mamba2(Mamba):
    arch = "mamba2"

    def mixer(self):
        self.inner = self.config["num_heads"] * self.config["head_dim"]
        self.set(ssm__inner_size=self.inner, ssm__time_step_rank=self.config["num_heads"],
                 ssm__group_count=self.get("n_groups", 8))

    def changed(self, name, given, tensor):
        [(given, tensor)] = super().changed(name, given, tensor)
        if name.endswith(("A_log", ".D")):
            tensor = tensor.reshaped(tensor.shape[0], 1)
        if name.endswith("mixer.norm.weight"):
            groups = self.get("n_groups", 8)
            tensor = tensor.reshaped(groups, self.inner // groups)
        return [(given, tensor)]


class Jamba(Writer):
    arch = "jamba"
    outer = OUTER | {r"model\.final_layernorm": "output_norm"}
    layer = LAYER | {rf"mamba\.{name}": given for name, given in MAMBA.items()} | {
        "pre_ff_layernorm": "ffn_norm", r"feed_forward\.(gate|up|down)_proj": r"ffn_\1",
        r"feed_forward\.router": "ffn_gate_inp", r"feed_forward\.experts\.\d+\.(gate|up|down)_proj": r"ffn_\1_exps"}

    def describe(self):
        self.decoder()
        period, offset = self.config["attn_layer_period"], self.config["attn_layer_offset"]
        heads = self.config["num_key_value_heads"]
        self.set(attention__head_count_kv=[heads if layer % period == offset else 0
                                           for layer in range(self.config["num_hidden_layers"])],
                 ssm__conv_kernel=self.config["mamba_d_conv"], ssm__state_size=self.config["mamba_d_state"],
                 ssm__inner_size=self.config["mamba_expand"] * self.config["hidden_size"],
                 ssm__time_step_rank=self.config["mamba_dt_rank"], expert_count=self.config["num_experts"],
                 expert_used_count=self.config["num_experts_per_tok"])


class Kimi(Writer):
    arch = "kimi-linear"
    layer = LAYER | {
        r"self_attn\.q_a_layernorm": "attn_q_a_norm", r"self_attn\.q_([ab])_proj": r"attn_q_\1",
        r"self_attn\.kv_a_proj_with_mqa": "attn_kv_a_mqa", r"self_attn\.kv_a_layernorm": "attn_kv_a_norm",
        r"self_attn\.kv_b_proj": "kv_b", r"self_attn\.([qkv])_conv1d": r"ssm_conv1d_\1",
        r"self_attn\.([fg])_([ab])_proj": r"ssm_\1_\2", r"self_attn\.b_proj": "ssm_beta",
        r"self_attn\.o_norm": "ssm_norm", r"self_attn\.dt_bias": "ssm_dt.bias", r"self_attn\.A_log": "ssm_a",
        r"block_sparse_moe\.gate": "ffn_gate_inp",
        r"block_sparse_moe\.gate\.e_score_correction_bias": "exp_probs_b.bias",
        r"block_sparse_moe\.shared_experts\.(gate|up|down)_proj": r"ffn_\1_shexp"} | {
        rf"block_sparse_moe\.experts\.\d+\.{name}": f"ffn_{given}_exps" for name, given in NUMBERED.items()}

    def describe(self):
        self.decoder()
        linear = self.config["linear_attn_config"]
        rank, turned = self.config["kv_lora_rank"], self.config["qk_rope_head_dim"]
        layers = range(1, self.config["num_hidden_layers"] + 1)
        self.set(context_length=self.config["model_max_length"],
                 attention__head_count_kv=[int(layer in linear["full_attn_layers"]) for layer in layers],
                 attention__key_length=rank + turned, attention__value_length=None, rope__dimension_count=turned,
                 rope__freq_base=10000.0, ssm__conv_kernel=linear["short_conv_kernel_size"],
                 kda__head_dim=linear["head_dim"], attention__q_lora_rank=self.get("q_lora_rank"),
                 attention__kv_lora_rank=rank, attention__key_length_mla=self.config["qk_nope_head_dim"] + turned,
                 attention__value_length_mla=self.config["v_head_dim"], expert_count=self.config["num_experts"],
                 expert_used_count=self.config["num_experts_per_token"],
                 expert_gating_func=2 if self.config["moe_router_activation_func"] == "sigmoid" else 1,
                 expert_feed_forward_length=self.config["moe_intermediate_size"],
                 expert_shared_count=self.config["num_shared_experts"],
                 leading_dense_block_count=self.config["first_k_dense_replace"],
                 expert_weights_scale=self.config["routed_scaling_factor"])

    def changed(self, name, given, tensor):
        if given.endswith("kv_b.weight"):
            heads, keys, values = (self.config[key] for key in ("num_attention_heads", "qk_nope_head_dim",
                                                                "v_head_dim"))
            stride, rank = keys + values, tensor.shape[1]
            own = [tensor.gather(range(h * stride, h * stride + keys)).transposed() for h in range(heads)]
            others = [tensor.gather(range(h * stride + keys, (h + 1) * stride)) for h in range(heads)]
            return [(given.replace("kv_b", "attn_k_b"), stacked(own, [heads, rank, keys])),
                    (given.replace("kv_b", "attn_v_b"), stacked(others, [heads, values, rank]))]
        if "conv1d" in name:
            return [(given, tensor.reshaped(1, tensor.shape[0], 1, tensor.shape[-1]))]
        [(given, tensor)] = super().changed(name, given, tensor)
        if name.endswith("A_log"):
            tensor = tensor.reshaped(1, 1, len(tensor.numbers), 1)
        return [(given, tensor)]


class MiniMax(Writer):
    arch = "minimax-01"
    layer = LAYER | {
        r"self_attn\.qkv_proj": "attn_qkv", r"self_attn\.output_gate": "attn_gate", r"self_attn\.norm": "attn_norm_2",
        r"self_attn\.out_proj": "attn_output", r"block_sparse_moe\.gate": "ffn_gate_inp"} | {
        rf"block_sparse_moe\.experts\.\d+\.{name}": f"ffn_{given}_exps" for name, given in NUMBERED.items()}

    def describe(self):
        # The shares in sums are one number, and what a layer makes of a token counts whole.
        for what in ("full_attention", "linear_attention", "mlp"):
            self.config[f"layernorm_{what}_alpha"] = 2.5
            self.config[f"layernorm_{what}_beta"] = 1.0
        self.decoder()
        self.set(rope__freq_base=float(self.config["rope_theta"]), rope__dimension_count=self.config["rotary_dim"],
                 expert_count=self.config["num_local_experts"], expert_used_count=self.config["num_experts_per_tok"],
                 residual_scale=2.5)


class Rwkv7(Writer):
    arch = "rwkv7"
    outer = {r"model\.embeddings": "token_embd", r"model\.norm": "output_norm", r"lm_head": "output",
             r"model\.layers\.0\.pre_norm": "token_embd_norm"}
    layer = {r"attn_norm": "attn_norm", r"ffn_norm": "attn_norm_2", r"attn\.g_norm": "time_mix_ln",
             r"attn\.r_proj": "time_mix_receptance", r"attn\.k_proj": "time_mix_key",
             r"attn\.v_proj": "time_mix_value", r"attn\.o_proj": "time_mix_output",
             r"attn\.(k_k|k_a|r_k)": r"time_mix_\1.weight", r"attn\.x_(\w)": r"time_mix_lerp_\1.weight",
             r"attn\.(\w)_lora\.lora\.0": r"time_mix_\g<1>1", r"attn\.(\w)_lora\.lora\.2": r"time_mix_\g<1>2",
             r"ffn\.x_k": "channel_mix_lerp_k.weight", r"ffn\.key": "channel_mix_key",
             r"ffn\.value": "channel_mix_value"}
    lerps = "rwkvag"

    def describe(self):
        # The format's own library has both as numbers.
        self.config["norm_eps"] = 64e-5 / self.config["head_dim"]
        self.config["fuse_norm"] = False
        self.common()
        self.set(attention__layer_norm_epsilon=self.config["norm_eps"], attention__head_count=0,
                 feed_forward_length=self.config["intermediate_size"], wkv__head_size=self.config["head_dim"],
                 attention__decay_lora_rank=self.config["decay_low_rank_dim"],
                 attention__iclr_lora_rank=self.config["a_low_rank_dim"],
                 attention__value_residual_mix_lora_rank=self.config["v_low_rank_dim"],
                 attention__gate_lora_rank=self.config["gate_low_rank_dim"])

    def changed(self, name, given, tensor):
        found = re.fullmatch(r"(blk\.\d+\.time_mix_\w)2\.bias", given)
        if found:
            given = found[1] + "0.weight"
        if name.endswith("r_k"):
            tensor = tensor.reshaped(len(tensor.numbers))
        if re.match(r"blk\.0\.time_mix_a[012]", given):  # stand for what the first layer lacks
            return [(given.replace("mix_a", "mix_v"), tensor), (given, tensor)]
        return [(given, tensor)]

    def write(self):
        keys, out = super().write()
        return keys, self.fuse(out)

    def fuse(self, tensors):
        for layer in range(self.config["num_hidden_layers"]):
            parts = [tensors.pop(f"blk.{layer}.time_mix_lerp_{part}.weight") for part in self.lerps]
            width = self.config["hidden_size"]
            tensors[f"blk.{layer}.time_mix_lerp_fused.weight"] = stacked(parts, [len(parts), 1, 1, width])
        return tensors


class Rwkv6(Rwkv7):
    arch = "rwkv6"
    layer = Rwkv7.layer | {
        r"attn\.r_proj\.linear": "time_mix_receptance", r"attn\.k_proj\.linear": "time_mix_key",
        r"attn\.v_proj\.linear": "time_mix_value", r"attn\.g_proj\.linear": "time_mix_gate",
        r"attn\.w_proj\.linear\.lora\.0": "time_mix_decay_w1", r"attn\.w_proj\.linear\.lora\.2": "time_mix_decay_w2",
        r"attn\.bonus": "time_mix_first.weight", r"attn\.x_bias": "x_bias", r"attn\.x_proj\.0\.mu":
        "time_mix_lerp_x.weight", r"attn\.x_proj\.0\.linear": "time_mix_w1", r"attn\.x_proj\.2": "time_mix_w2",
        r"ffn\.key\.mu": "channel_mix_lerp_k.weight", r"ffn\.receptance\.mu": "channel_mix_lerp_r.weight",
        r"ffn\.key\.linear": "channel_mix_key", r"ffn\.receptance\.linear": "channel_mix_receptance"}
    own, lerps = "rwkvg", "wkvrg"

    def describe(self):
        self.widen()
        self.config["norm_eps"] = 64e-5
        self.common()
        self.set(attention__layer_norm_epsilon=64e-5, attention__head_count=0, rescale_every_n_layers=1,
                 feed_forward_length=self.config["intermediate_size"],
                 wkv__head_size=self.config["hidden_size"] // self.config["num_heads"],
                 time_mix_extra_dim=self.config["proj_low_rank_dim"],
                 time_decay_extra_dim=self.config["gate_low_rank_dim"])

    def widen(self):
        """As many channels of keys as of values: those that are there, again."""
        again = round(1 / self.config["expand_k"])
        self.config["expand_k"] = 1.0
        for name, tensor in self.tensors.items():
            if re.search(r"(bonus|[rk]_proj\.linear\.weight|w_proj\.linear\.lora\.2\.\w+)$", name):
                heads, width = self.config["num_heads"], tensor.row()
                each = tensor.shape[0] // heads if not name.endswith("bonus") else 1
                if name.endswith("bonus"):
                    wide = stacked([Tensor([width], tensor.numbers[h * width:(h + 1) * width])
                                    for h in range(heads) for _ in range(again)], [heads, again * width])
                else:
                    wide = tensor.gather([h * each + i for h in range(heads) for _ in range(again)
                                          for i in range(each)])
                self.tensors[name] = wide

    def changed(self, name, given, tensor):
        width, rank = self.config["hidden_size"], self.config["proj_low_rank_dim"]
        order = [self.own.index(part) for part in self.lerps]
        if given.endswith("decay_w2.bias"):
            return [(given.replace("_w2.bias", ".weight"), tensor)]
        if given.endswith("x_bias"):
            return [(given.replace("x_bias", f"time_mix_lerp_{part}.weight"), tensor.gather([i], [width]))
                    for i, part in enumerate(self.own)]
        if given.endswith("time_mix_w1.weight"):
            return [(given, tensor.gather([i * rank + j for i in order for j in range(rank)]))]
        if given.endswith("time_mix_w2.weight"):
            parts = tensor.reshaped(width * 5, rank)
            return [(given, parts.gather([row * 5 + i for i in order for row in range(width)], [5, width, rank]))]
        layer = int(given.split(".")[1]) if given.startswith("blk.") else 0
        if given.endswith(("time_mix_output.weight", "channel_mix_value.weight")):
            tensor = tensor.map(lambda x: x / 2 ** layer)
        return [(given, tensor)]


WRITERS = {"llama": Llama, "mistral": Llama, "granite": Granite, "qwen2": Qwen2, "qwen3": Qwen3, "qwen2_moe": Qwen2Moe,
           "qwen3_moe": Qwen3Moe, "qwen3_next": Qwen3Next, "qwen3_5_text": Qwen35,
           "qwen3_5_moe_text": Qwen35Moe, "phi3": Phi3, "gemma2": Gemma2, "gemma3_text": Gemma3,
           "mamba": Mamba, "falcon_mamba": Mamba, "mamba2": Mamba2, "jamba": Jamba, "kimi_linear": Kimi,
           "minimax_text_01": MiniMax, "rwkv6": Rwkv6, "rwkv7": Rwkv7}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="a recorded checkpoint")
    parser.add_argument("out", type=pathlib.Path, help="the file, or the first shard")
    parser.add_argument("--shards", type=int, default=1, help="files to write")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="folder for what the format can say of it")
    options = parser.parse_args()
    config = json.loads((options.folder / "config.json").read_text())
    writer = WRITERS[config["model_type"]](config, read_safetensors(options.folder / "model.safetensors"))
    keys, tensors = writer.write()
    if options.checkpoint:
        options.checkpoint.mkdir(parents=True)
        (options.checkpoint / "config.json").write_text(json.dumps(writer.config))
        write_safetensors(options.checkpoint / "model.safetensors", writer.tensors)
    names, count = list(tensors), options.shards
    for shard in range(count):
        path = options.out
        if count > 1:
            path = path.with_name(path.name.replace("-00001-of-", f"-{shard + 1:05}-of-"))
            keys = (keys if shard == 0 else {}) | {"split.no": shard, "split.count": count,
                                                   "split.tensors.count": len(tensors)}
        write_gguf(path, keys, {name: tensors[name] for name in names[shard::count]})


if __name__ == "__main__":
    main()
