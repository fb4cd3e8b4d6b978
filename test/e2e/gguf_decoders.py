"""Writers for decoders of attention, LFM2 and the hybrids of Qwen: conversion/llama.py, granite.py, qwen.py, phi.py,
gemma.py, smollm3.py, olmo.py, lfm2.py, gpt_oss.py,
exaone.py, command_r.py of llama.cpp."""
import array
import math
import re

from gguf_file import Tensor, stacked
from gguf_writer import LAYER, MAMBA, NUMBERED, OUTER, QWEN_EXPERTS, Writer


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
    """Factors of muP have keys (Writer.scales)."""
    arch = "granite"

    def describe(self):
        super().describe()
        self.scales()


class Mixtral(Llama):
    layer = LAYER | {r"block_sparse_moe\.gate": "ffn_gate_inp"} | {
        rf"block_sparse_moe\.experts\.\d+\.{name}": f"ffn_{given}_exps" for name, given in NUMBERED.items()}

    def describe(self):
        super().describe()
        self.set(expert_count=self.config["num_local_experts"], expert_used_count=self.config["num_experts_per_tok"])


class SmolLm3(Llama):
    """Every fourth layer turns nothing: no key says so."""
    arch = "smollm3"

    def describe(self):
        self.config["no_rope_layer_interval"] = 4
        self.config["no_rope_layers"] = None
        super().describe()


class Olmo2(Writer):
    """OLMo 3's layers with a window have a theta of their own."""
    arch = "olmo2"
    layer = LAYER | {"post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm"}

    def describe(self):
        self.decoder()
        self.rotary()
        if "sliding_window" in self.config:
            self.set(attention__sliding_window=self.config["sliding_window"],
                     attention__sliding_window_pattern=[kind == "sliding_attention"
                                                        for kind in self.config["layer_types"]])
            # The converter asks the public library, which gives these layers its default where no object is theirs.
            local = self.get("rope_parameters", {}).get("sliding_attention", {"rope_theta": 500000.0})
            self.set(rope__freq_base_swa=float(local["rope_theta"]))


class Exaone4(Olmo2):
    arch = "exaone4"

    def describe(self):
        self.decoder()
        self.rotary()
        if self.get("sliding_window"):
            letters = self.config["sliding_window_pattern"]
            self.set(attention__sliding_window=self.config["sliding_window"], attention__sliding_window_pattern=[
                letters[layer % len(letters)] == "L" for layer in range(self.config["num_hidden_layers"])])


class Cohere2(Writer):
    """Which layers have the window is written as the format's own library reads it; its converter leaves it out."""
    arch = "cohere2"

    def describe(self):
        self.decoder()
        self.rotary()
        self.set(attention__layer_norm_epsilon=self.config["layer_norm_eps"],
                 logit_scale=self.config["logit_scale"], attention__sliding_window=self.config["sliding_window"],
                 rope__scaling__type="none", vocab_size=self.config["vocab_size"],
                 attention__sliding_window_pattern=[kind == "sliding_attention"
                                                    for kind in self.config["layer_types"]])
        del self.keys["cohere2.attention.layer_norm_rms_epsilon"]


class Lfm2(Writer):
    arch = "lfm2"
    outer = OUTER | {r"model\.embedding_norm": "token_embd_norm"}
    layer = LAYER | {"operator_norm": "attn_norm", "ffn_norm": "ffn_norm", r"conv\.(conv|in_proj|out_proj)":
                     r"shortconv.\1", r"self_attn\.out_proj": "attn_output",
                     r"self_attn\.([qk])_layernorm": r"attn_\1_norm"} | {
        rf"feed_forward\.{name}": f"ffn_{given}" for name, given in NUMBERED.items()}

    def hidden(self):
        width = self.config["intermediate_size"]
        if self.get("block_auto_adjust_ff_dim", True):
            multiple = self.get("block_multiple_of", 256)
            width = int(self.get("block_ffn_dim_multiplier", 1) * int(2 * width / 3))
            width = (width + multiple - 1) // multiple * multiple
        return width

    def describe(self):
        self.decoder()
        self.rotary()
        self.set(feed_forward_length=self.hidden(), shortconv__l_cache=self.config["conv_L_cache"],
                 attention__layer_norm_rms_epsilon=self.config["norm_eps"], vocab_size=self.config["vocab_size"],
                 attention__head_count_kv=[self.config["num_key_value_heads"] if kind == "full_attention" else 0
                                           for kind in self.config["layer_types"]])

    def changed(self, name, given, tensor):
        if "conv.conv.weight" in name:
            tensor = tensor.reshaped(*[extent for extent in tensor.shape if extent != 1])
        return [(given, tensor)]


class GptOss(Writer):
    """Gates and ups apart, and matrices turned. Bounds and slopes of gates are the format's own library's, and so is
    which layers have a window: every other one."""
    arch = "gpt-oss"
    layer = LAYER | {"post_attention_layernorm": "post_attention_norm", r"self_attn\.sinks": "attn_sinks.weight",
                     r"mlp\.router": "ffn_gate_inp", r"mlp\.experts\.(gate_up|down)_proj": r"ffn_\1_exps.weight",
                     r"mlp\.experts\.(gate_up|down)_proj_bias": r"ffn_\1_exps.bias"}

    def describe(self):
        self.config["swiglu_limit"], self.config["swiglu_alpha"] = 7.0, 1.702
        self.config["layer_types"] = [("sliding_attention", "full_attention")[i % 2]
                                      for i in range(self.config["num_hidden_layers"])]
        self.decoder()
        self.rotary()
        self.set(attention__sliding_window=self.config["sliding_window"],
                 expert_count=self.config["num_local_experts"], expert_used_count=self.config["num_experts_per_tok"],
                 expert_feed_forward_length=self.config["intermediate_size"])

    def changed(self, name, given, tensor):
        if "mlp.experts" not in name:
            return [(given, tensor)]
        experts, units = self.config["num_local_experts"], self.config["intermediate_size"]
        size = len(tensor.numbers) // experts
        each = [tensor.numbers[i * size:(i + 1) * size] for i in range(experts)]
        if name.endswith("_bias"):
            each = [Tensor([size, 1], numbers) for numbers in each]
        else:
            each = [Tensor(tensor.shape[1:], numbers).transposed() for numbers in each]

        def shape(rows):
            return [experts, rows] if name.endswith("_bias") else [experts, rows, each[0].shape[1]]

        if "gate_up" not in given:
            return [(given, stacked(each, shape(each[0].shape[0])))]
        return [(given.replace("gate_up", part), stacked([one.gather(range(first, 2 * units, 2)) for one in each],
                                                         shape(units)))
                for first, part in enumerate(("gate", "up"))]


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
