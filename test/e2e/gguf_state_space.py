"""Writers for hybrids with Mamba-2's mixer: conversion/granite.py, falcon_h1.py, nemotron.py of llama.cpp."""
import math
import re

from gguf_decoders import Llama
from gguf_file import stacked
from gguf_writer import LAYER, MAMBA, OUTER, Writer


class Hybrid(Llama):
    """Queries and keys in pairs, as of Llama, and the mixer's tensors as of Mamba-2."""
    groups, heads = "mamba_n_groups", "mamba_n_heads"

    def kinds(self):
        return [kind in ("attention", "full_attention") for kind in self.config["layer_types"]]

    def width(self):
        """Channels inside the mixer."""
        return self.config["mamba_expand"] * self.config["hidden_size"]

    def hybrid(self):
        self.set(attention__head_count_kv=[self.config["num_key_value_heads"] * attends for attends in self.kinds()])
        self.mixer()

    def mixer(self):
        self.set(ssm__conv_kernel=self.config["mamba_d_conv"], ssm__state_size=self.config["mamba_d_state"],
                 ssm__group_count=self.config[self.groups], ssm__inner_size=self.width(),
                 ssm__time_step_rank=self.config[self.heads])

    def changed(self, name, given, tensor):
        if re.search(r"\.[qk]_proj\.", name):
            return super().changed(name.replace("mixer.", "self_attn."), given, tensor)
        [(given, tensor)] = Writer.changed(self, name, given, tensor)
        if name.endswith(("A_log", ".D")):
            tensor = tensor.reshaped(tensor.shape[0], 1)
        if "ssm_norm" in given:
            tensor = tensor.reshaped(self.config[self.groups], self.width() // self.config[self.groups])
        return [(given, tensor)]


class GraniteHybrid(Hybrid):
    """What is beside experts is named so, and gates and ups are apart."""
    arch = "granitehybrid"
    layer = LAYER | {rf"mamba\.{name}": given for name, given in MAMBA.items()} | {
        r"block_sparse_moe\.router\.layer": "ffn_gate_inp", r"block_sparse_moe\.input_linear": "gate_up_exps",
        r"block_sparse_moe\.output_linear": "ffn_down_exps", r"shared_mlp\.input_linear": "gate_up",
        r"shared_mlp\.output_linear": "ffn_down"}

    def describe(self):
        self.decoder()
        self.rotary()
        self.hybrid()
        self.scales()
        self.set(vocab_size=self.config["vocab_size"],
                 expert_count=self.config["num_local_experts"], expert_used_count=self.config["num_experts_per_tok"],
                 expert_shared_feed_forward_length=self.config["shared_intermediate_size"],
                 rope__scaling__finetuned=self.get("position_embedding_type") == "rope")
        if not self.config["num_local_experts"]:
            # The format has one width for both.
            self.set(feed_forward_length=self.config["shared_intermediate_size"])

    def changed(self, name, given, tensor):
        beside = "_shexp" if self.config["num_local_experts"] else ""
        if given.endswith("gate_up.weight"):
            half = tensor.shape[0] // 2
            return [(given.replace("gate_up", f"ffn_{part}{beside}"), tensor.gather(range(first, first + half)))
                    for part, first in (("gate", 0), ("up", half))]
        if given.endswith("gate_up_exps.weight"):
            experts, rows, width = tensor.shape
            flat = tensor.reshaped(experts * rows, width)
            return [(given.replace("gate_up", f"ffn_{part}"), flat.gather(
                [e * rows + first + i for e in range(experts) for i in range(rows // 2)], [experts, rows // 2, width]))
                    for part, first in (("gate", 0), ("up", rows // 2))]
        if given.endswith("ffn_down.weight"):
            given = given.replace("ffn_down", f"ffn_down{beside}")
        return super().changed(name, given, tensor)


class Bamba(Hybrid):
    """The same architecture, without factors."""
    arch = "granitehybrid"
    outer = OUTER | {r"model\.final_layernorm": "output_norm"}
    layer = LAYER | {rf"mamba\.{name}": given for name, given in MAMBA.items()} | {
        "pre_ff_layernorm": "ffn_norm", r"feed_forward\.(gate|up|down)_proj": r"ffn_\1"}

    def kinds(self):
        return [layer in self.config["attn_layer_indices"] for layer in range(self.config["num_hidden_layers"])]

    def describe(self):
        self.config.pop("time_step_limit")
        # Logarithms of rates that f32 holds, as the file has rates.
        for name, tensor in self.tensors.items():
            if name.endswith("A_log"):
                self.tensors[name] = tensor.map(math.exp).map(math.log)
        self.decoder()
        self.rotary()
        self.hybrid()
        self.set(rope__scaling__finetuned=True, rope__dimension_count=self.head_width() // 2)


class FalconH1(Hybrid):
    """All factors are multiplied into matrices."""
    arch = "falcon-h1"
    outer = OUTER | {r"model\.final_layernorm": "output_norm"}
    layer = LAYER | {rf"mamba\.{name}": given for name, given in MAMBA.items()} | {
        "pre_ff_layernorm": "ffn_norm", r"feed_forward\.(gate|up|down)_proj": r"ffn_\1"}

    def width(self):
        return self.config["mamba_d_ssm"]

    def describe(self):
        self.fold()
        self.config.pop("time_step_limit")
        self.decoder()
        self.set(rope__freq_base=float(self.rope()["rope_theta"]), vocab_size=self.config["vocab_size"])
        self.mixer()

    def fold(self):
        """Puts factors into the tensors, and 1 into the configuration."""
        config, mlp, rows = self.config, self.config["mlp_multipliers"], self.config["ssm_multipliers"]
        keys = config["mamba_n_groups"] * config["mamba_d_state"]
        extents = [self.width(), self.width(), keys, keys, config["mamba_n_heads"]]
        each = [factor * config["ssm_in_multiplier"] for factor, count in zip(rows, extents) for _ in range(count)]
        factors = {"down_proj": mlp[1], "gate_proj": mlp[0],
                   "k_proj": config["key_multiplier"] * config["attention_in_multiplier"],
                   "q_proj": config["attention_in_multiplier"], "v_proj": config["attention_in_multiplier"],
                   ".o_proj": config["attention_out_multiplier"], "out_proj": config["ssm_out_multiplier"],
                   "lm_head": config["lm_head_multiplier"], "embed_tokens": config["embedding_multiplier"]}
        for name, tensor in self.tensors.items():
            for part, factor in factors.items():
                if part in name:
                    self.tensors[name] = tensor.map(lambda x: x * factor)
                    break
            else:
                if "in_proj" in name:
                    whole = [tensor.gather([row]).map(lambda x: x * each[row]) for row in range(tensor.shape[0])]
                    self.tensors[name] = stacked(whole, tensor.shape)
        for key in ("key_multiplier", "attention_in_multiplier", "attention_out_multiplier", "ssm_in_multiplier",
                    "ssm_out_multiplier", "lm_head_multiplier", "embedding_multiplier"):
            config[key] = 1.0
        config["mlp_multipliers"], config["ssm_multipliers"] = [1.0] * 2, [1.0] * 5

    def changed(self, name, given, tensor):
        if re.search(r"\.[qk]_proj\.", name):
            return [(given, tensor)]  # not in pairs
        return super().changed(name, given, tensor)


class NemotronH(Hybrid):
    """One mixer a layer; experts, where there are any, make it another architecture."""
    outer = {r"(backbone|model)\.embeddings": "token_embd", r"(backbone|model)\.norm_f": "output_norm",
             r"lm_head": "output"}
    prefix = r"(?:backbone|model)\.layers\.(\d+)\."
    layer = {"norm": "attn_norm"} | {rf"mixer\.{name}": given for name, given in MAMBA.items()} | {
        r"mixer\.([qkv])_proj": r"attn_\1", r"mixer\.o_proj": "attn_output", r"mixer\.(up|down)_proj": r"ffn_\1",
        r"mixer\.gate": "ffn_gate_inp", r"mixer\.gate\.e_score_correction_bias": "exp_probs_b.bias",
        r"mixer\.experts\.\d+\.(up|down)_proj": r"ffn_\1_exps",
        r"mixer\.shared_experts\.(up|down)_proj": r"ffn_\1_shexp"}
    groups, heads = "n_groups", "mamba_num_heads"
    letters = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe", "linear_attention": "mamba",
               "full_attention": "attention"}

    def __init__(self, config, tensors):
        config["layers"] = [self.letters.get(kind, kind) for kind in
                            config.get("hybrid_override_pattern") or config["layers_block_type"]]
        self.arch = "nemotron_h_moe" if "moe" in config["layers"] else "nemotron_h"
        config["num_hidden_layers"] = len(config["layers"])
        super().__init__(config, tensors)

    def kinds(self):
        return [kind == "attention" for kind in self.config["layers"]]

    def width(self):
        return self.config["mamba_num_heads"] * self.config["mamba_head_dim"]

    def head_width(self):
        return self.get("head_dim", self.get("attention_head_dim"))

    def mixer(self):
        self.set(ssm__conv_kernel=self.config["conv_kernel"], ssm__state_size=self.config["ssm_state_size"],
                 ssm__group_count=self.config["n_groups"], ssm__inner_size=self.width(),
                 ssm__time_step_rank=self.config["mamba_num_heads"])

    def describe(self):
        moe = self.arch == "nemotron_h_moe"
        units = self.config["moe_intermediate_size" if moe else "intermediate_size"]
        self.decoder()
        self.hybrid()
        self.set(attention__layer_norm_epsilon=self.config["layer_norm_epsilon"],
                 attention__layer_norm_rms_epsilon=self.config["layer_norm_epsilon"],
                 attention__key_length=self.head_width(), attention__value_length=self.head_width(),
                 rope__dimension_count=self.head_width(), rope__scaling__finetuned=False,
                 feed_forward_length=[units if kind == ("moe" if moe else "mlp") else 0
                                      for kind in self.config["layers"]])
        if moe:
            self.set(expert_count=self.config["n_routed_experts"],
                     expert_used_count=self.config["num_experts_per_tok"],
                     expert_feed_forward_length=units, expert_shared_count=self.config["n_shared_experts"],
                     expert_shared_feed_forward_length=self.config["moe_shared_expert_intermediate_size"],
                     expert_weights_norm=self.config["norm_topk_prob"],
                     expert_weights_scale=float(self.config["routed_scaling_factor"]),
                     expert_group_count=self.config["n_group"], expert_group_used_count=self.config["topk_group"])
