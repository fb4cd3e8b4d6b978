"""Writers for recurrences and their hybrids: conversion/mamba.py, jamba.py, kimi_linear.py, minimax.py, rwkv.py of
llama.cpp."""
import re

from gguf_file import Tensor, stacked
from gguf_writer import LATENT, LAYER, MAMBA, NUMBERED, OUTER, Writer, keys_and_values


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
    layer = LAYER | LATENT | {
        r"self_attn\.([qkv])_conv1d": r"ssm_conv1d_\1",
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
            return keys_and_values(self.config, given, tensor)
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
