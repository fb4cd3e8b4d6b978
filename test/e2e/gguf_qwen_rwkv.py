"""Writers for recurrences in the place of another model's attention, and for PLaMo: conversion/rwkv.py, plamo.py of
llama.cpp."""
import re

from gguf_file import stacked
from gguf_recurrent import Rwkv7
from gguf_writer import OUTER, Writer

NORMS_AND_MLP = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
                 r"mlp\.(gate|up|down)_proj": r"ffn_\1"}


class QwenRwkv6(Rwkv7):
    """Low ranks' matrices turned, and in another order of the five inputs."""
    arch = "rwkv6qwen2"
    outer = OUTER
    layer = {
        r"self_attn\.time_maa_w([12])": r"time_mix_w\1.weight", r"self_attn\.time_maa_(\w)":
        r"time_mix_lerp_\1.weight", r"self_attn\.time_decay": "time_mix_decay.weight",
        r"self_attn\.time_decay_w([12])": r"time_mix_decay_w\1.weight", r"self_attn\.q_proj": "time_mix_receptance",
        r"self_attn\.k_proj": "time_mix_key", r"self_attn\.v_proj": "time_mix_value",
        r"self_attn\.o_proj": "time_mix_output", r"self_attn\.gate": "time_mix_gate"} | NORMS_AND_MLP
    own, lerps = "rkvwg", "wkvrg"

    def describe(self):
        config = self.config
        self.common()
        self.set(context_length=1 << 20, wkv__head_size=config["hidden_size"] // config["num_attention_heads"],
                 time_mix_extra_dim=config["lora_rank_tokenshift"], time_decay_extra_dim=config["lora_rank_decay"],
                 feed_forward_length=config["intermediate_size"], token_shift_count=1,
                 attention__layer_norm_rms_epsilon=config["rms_norm_eps"],
                 attention__head_count_kv=config["num_key_value_heads"], attention__head_count=0)

    def changed(self, name, given, tensor):
        order = [self.own.index(part) for part in self.lerps]
        if re.search(r"time_mix_(decay_w[12]|w1)\.weight", given):
            tensor = tensor.transposed()
        if given.endswith("time_mix_w1.weight"):
            rank = tensor.shape[0] // 5
            tensor = tensor.gather([i * rank + j for i in order for j in range(rank)])
        if given.endswith("time_mix_w2.weight"):
            _, rank, width = tensor.shape
            each = [tensor.gather([i]).reshaped(rank, width).transposed() for i in order]
            tensor = stacked(each, [5, width, rank])
        if "lerp" in given or given.endswith("time_mix_decay.weight"):
            tensor = tensor.reshaped(len(tensor.numbers))
        return [(given, tensor)]


class Arwkv7(Rwkv7):
    """Low ranks' matrices turned; what the first layer has no use of are others' numbers."""
    arch = "arwkv7"
    outer = OUTER
    layer = NORMS_AND_MLP | {
        rf"self_attn\.time_mixer\.{name}": given for name, given in {
            r"x_(\w)": r"time_mix_lerp_\1.weight", r"([wavg])([012])": r"time_mix_\1\2.weight",
            "(k_k|k_a|r_k)": r"time_mix_\1.weight", "receptance": "time_mix_receptance", "key": "time_mix_key",
            "value": "time_mix_value", "output": "time_mix_output", "ln_x": "time_mix_ln"}.items()}

    def describe(self):
        config, gate = self.config, self.config["wkv_has_gate"]
        self.lerps = "rwkvag" if gate else "rwkva"
        self.common()
        self.set(context_length=1 << 20, attention__layer_norm_rms_epsilon=config["rms_norm_eps"],
                 wkv__head_size=config["head_size"], attention__decay_lora_rank=64, attention__iclr_lora_rank=64,
                 attention__value_residual_mix_lora_rank=32, attention__gate_lora_rank=128 if gate else 0,
                 feed_forward_length=config["intermediate_size"], token_shift_count=1, attention__head_count=0)

    def leaves(self, name):
        return re.search(r"layers\.0\..*time_mixer\.v[012]$", name)

    def changed(self, name, given, tensor):
        tensor = tensor.reshaped(*[extent for extent in tensor.shape if extent != 1])
        if re.search(r"time_mix_[wavg][12]\.weight", given):
            tensor = tensor.transposed()
        return super().changed(name, given, tensor)


class Plamo(Writer):
    """Weights of norms are whole, those behind a mixer or an MLP too."""
    prefix = r"model\.layers\.layers\.(\d+)\."
    layer = {
        "pre_mixer_norm": "attn_norm", "post_mixer_norm": "post_attention_norm", "pre_mlp_norm": "ffn_norm",
        "post_mlp_norm": "post_ffw_norm", r"mlp\.gate_up_proj": "ffn_up", r"mlp\.down_proj": "ffn_down",
        r"mixer\.qkv_proj": "attn_qkv", r"mixer\.o_proj": "attn_output"}
    plus_one = (".pre_mixer_norm.weight", ".pre_mlp_norm.weight", ".norm.weight")

    def changed(self, name, given, tensor):
        added = 0
        if name.endswith(self.plus_one):
            added = 1
        elif name.endswith(".post_mixer_norm.weight"):
            added = 1 / 5
        elif name.endswith(".post_mlp_norm.weight"):
            added = 1 / 5 ** 1.5
        if name.endswith(("post_mixer_norm.weight", "post_mlp_norm.weight")):
            given = given.removesuffix(".weight")
        if added:
            return [(given, tensor.map(lambda x: x + added))]
        return super().changed(name, given, tensor)


class Plamo2(Plamo):
    """A Mamba in most layers."""
    arch = "plamo2"
    layer = Plamo.layer | {
        rf"mixer\.{name}": given for name, given in {
            "([qk])_weight": r"attn_\1_norm.weight", "in_proj": "ssm_in", "conv1d": "ssm_conv1d", "bcdt_proj": "ssm_x",
            "dt_proj": "ssm_dt", "dt_bias": "ssm_dt.bias", "dt_norm_weight": "ssm_dt_norm", "B_norm_weight":
            "ssm_b_norm", "C_norm_weight": "ssm_c_norm", "A_log": "ssm_a", "D": "ssm_d", "out_proj":
            "ssm_out"}.items()}

    def recurs(self, layer):
        step, layers = self.get("mamba_step", 2), self.config["num_hidden_layers"]
        return layer != layers - 1 if layers <= step // 2 else layer % step != step // 2

    def describe(self):
        config, width = self.config, self.config["hidden_size_per_head"]
        recurs = [self.recurs(layer) for layer in range(config["num_hidden_layers"])]
        self.common()
        self.set(vocab_size=config["vocab_size"],
                 attention__head_count=[0 if own else config["num_attention_heads"] for own in recurs],
                 attention__head_count_kv=[0 if own else config["num_key_value_heads"] for own in recurs],
                 attention__key_length=width, attention__value_length=width,
                 attention__layer_norm_rms_epsilon=config["rms_norm_eps"],
                 rope__freq_base=float(self.get("rope_theta", 10000)), ssm__state_size=config["mamba_d_state"],
                 ssm__conv_kernel=config["mamba_d_conv"], ssm__time_step_rank=config["mamba_num_heads"],
                 ssm__inner_size=config["mamba_num_heads"] * width, ssm__group_count=0,
                 feed_forward_length=config["intermediate_size"])


class Plamo3(Plamo):
    """Attention in a window in most layers; stretched positions are said the usual way."""
    arch = "plamo3"
    layer = Plamo.layer | {r"mixer\.([qk])_norm": r"attn_\1_norm"}
    plus_one = Plamo.plus_one + (".mixer.q_norm.weight", ".mixer.k_norm.weight")

    def describe(self):
        config, factor = self.config, self.get("rope_scaling_factor", 1)
        self.decoder()
        self.set(vocab_size=config["vocab_size"], attention__sliding_window=config["window_size"],
                 attention__sliding_window_pattern=config["sliding_window_pattern"],
                 rope__freq_base=float(config["rope_theta"]), rope__freq_base_swa=float(config["rope_local_theta"]))
        if factor != 1:
            self.set(rope__scaling__type="yarn", rope__scaling__factor=float(factor),
                     rope__scaling__original_context_length=config["initial_context_length"],
                     rope__scaling__yarn_beta_fast=32.0, rope__scaling__yarn_beta_slow=1.0)
