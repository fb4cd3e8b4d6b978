"""Writers for decoders with experts or latent attention, Gemma 4 and Ministral 3: conversion/deepseek.py, glm.py,
lfm2.py, gemma.py, minimax.py, bailingmoe.py, bailingmoe3.py, mistral3.py, granite.py of llama.cpp."""
import array
import math
import re

from gguf_decoders import Gemma2, Granite, Lfm2, Llama
from gguf_file import Tensor
from gguf_state_space import GraniteHybrid
from gguf_writer import LATENT, LAYER, NUMBERED, Writer, f32, keys_and_values

EXPERTS = {rf"mlp\.experts\.\d+\.{part}_proj": f"ffn_{part}_exps" for part in ("gate", "up", "down")} | {
    r"mlp\.shared_experts\.(gate|up|down)_proj": r"ffn_\1_shexp", r"mlp\.gate": "ffn_gate_inp"}
SCORES = {"softmax": 1, "sigmoid": 2}


class DeepSeek(Writer):
    """Keys of a compressed row and values apart; earlier releases had both in one tensor."""
    arch = "deepseek2"
    layer = LAYER | LATENT | EXPERTS | {r"mlp\.gate\.e_score_correction_bias": "exp_probs_b.bias"}

    def further(self):
        """Layers that guess further tokens, which the converter leaves out."""
        return 0

    def leaves(self, name):
        layer = re.match(self.prefix, name)
        return layer and int(layer[1]) >= self.config["num_hidden_layers"] + self.further()

    def describe(self):
        config, rope = self.config, self.rope()
        if "rope_interleave" in config:
            config["rope_interleave"] = True
        keys, turned = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
        if "mscale_all_dim" in rope:
            # The format has a tenth of it, in f32, and nothing for the other.
            tenth = f32(0.1 * rope["mscale_all_dim"])
            config["rope_scaling"]["mscale"] = config["rope_scaling"]["mscale_all_dim"] = tenth * 10
            self.set(rope__scaling__yarn_log_multiplier=tenth)
        self.decoder()
        self.rotary(turned)
        self.set(block_count=config["num_hidden_layers"] + self.further(), vocab_size=config["vocab_size"],
                 nextn_predict_layers=self.further() or None,
                 leading_dense_block_count=self.get("first_k_dense_replace", 0),
                 attention__q_lora_rank=self.get("q_lora_rank"), attention__kv_lora_rank=config["kv_lora_rank"],
                 attention__key_length=keys + turned, attention__value_length=config["v_head_dim"],
                 expert_feed_forward_length=config["moe_intermediate_size"], expert_count=config["n_routed_experts"],
                 expert_used_count=config["num_experts_per_tok"], expert_shared_count=config["n_shared_experts"],
                 expert_weights_scale=float(config["routed_scaling_factor"]),
                 expert_weights_norm=config["norm_topk_prob"] or None, expert_group_count=self.get("n_group"),
                 expert_group_used_count=self.get("topk_group"),
                 expert_gating_func=SCORES.get(self.get("scoring_func")))
        if not self.old:
            self.set(attention__head_count_kv=1, attention__key_length=config["kv_lora_rank"] + turned,
                     attention__value_length=config["kv_lora_rank"], attention__key_length_mla=keys + turned,
                     attention__value_length_mla=config["v_head_dim"])

    def changed(self, name, given, tensor):
        if given.endswith("kv_b.weight") and not self.old:
            return keys_and_values(self.config, given, tensor)
        return [(given, tensor)]


class Glm4MoeLite(DeepSeek):
    """Layers that guess further tokens are in the file."""
    layer = DeepSeek.layer | {"eh_proj": "nextn.eh_proj"}

    def further(self):
        return self.get("num_nextn_predict_layers", 0)


class Lfm2Moe(Lfm2):
    arch = "lfm2moe"
    layer = Lfm2.layer | {r"feed_forward\.gate": "ffn_gate_inp", r"feed_forward\.expert_bias": "exp_probs_b.bias"} | {
        rf"feed_forward\.experts\.\d+\.{name}": f"ffn_{given}_exps" for name, given in NUMBERED.items()}

    def hidden(self):
        return self.config["intermediate_size"]

    def describe(self):
        super().describe()
        self.set(expert_count=self.config["num_experts"], expert_used_count=self.config["num_experts_per_tok"],
                 expert_feed_forward_length=self.config["moe_intermediate_size"],
                 leading_dense_block_count=self.config["num_dense_layers"], expert_gating_func=2)


class Gemma4(Gemma2):
    """Norms' weights stay as they are."""
    arch = "gemma4"
    outer = Gemma2.outer | {
        r"model\.embed_tokens_per_layer": "per_layer_token_embd", r"model\.per_layer_projection_norm":
        "per_layer_proj_norm", r"model\.per_layer_model_projection": "per_layer_model_proj"}
    layer = Gemma2.layer | {
        "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj", "post_per_layer_input_norm": "post_norm",
        "layer_scalar": "layer_output_scale.weight", r"post_feedforward_layernorm_([12])": r"post_ffw_norm_\1",
        "pre_feedforward_layernorm_2": "pre_ffw_norm_2", r"router\.proj": "ffn_gate_inp",
        r"router\.scale": "ffn_gate_inp.scale", r"router\.per_expert_scale": "ffn_down_exps.scale",
        r"experts\.(gate_up|down)_proj": r"ffn_\1_exps.weight"}

    def whole(self, key, otherwise):
        """A number of layers that see all keys: by its own key, or in what the first of them has."""
        if self.get(otherwise) is not None:
            return self.config[otherwise]
        each = self.get("per_layer_config", {})
        for layer, kind in enumerate(self.config["layer_types"]):
            if kind == "full_attention" and key in each.get(str(layer), {}):
                return each[str(layer)][key]
        return None

    def describe(self):
        config, layers = self.config, self.config["num_hidden_layers"]
        self.decoder()
        slides = [kind == "sliding_attention" for kind in config["layer_types"]]
        width, local = self.whole("head_dim", "global_head_dim"), config["head_dim"]
        heads = config["num_key_value_heads"]
        whole = self.whole("num_key_value_heads", "num_global_key_value_heads")
        rope, shared, units = config["rope_parameters"], config["num_kv_shared_layers"], config["intermediate_size"]
        self.set(attention__sliding_window=config["sliding_window"], attention__sliding_window_pattern=slides,
                 attention__shared_kv_layers=shared, attention__key_length=width, attention__value_length=width,
                 attention__key_length_swa=local, attention__value_length_swa=local,
                 embedding_length_per_layer_input=self.get("hidden_size_per_layer_input", 0),
                 rope__freq_base=rope["full_attention"]["rope_theta"],
                 rope__freq_base_swa=rope["sliding_attention"]["rope_theta"], rope__dimension_count=width,
                 rope__dimension_count_swa=local, expert_count=self.get("num_experts"),
                 expert_used_count=self.get("top_k_experts"),
                 expert_feed_forward_length=self.get("moe_intermediate_size"))
        if self.get("final_logit_softcapping"):
            self.set(final_logit_softcapping=config["final_logit_softcapping"])
        if self.get("use_double_wide_mlp", False):
            self.set(feed_forward_length=[units * (1 + (layer >= layers - shared)) for layer in range(layers)])
        if whole is not None:
            self.set(attention__head_count_kv=[heads if slide else whole for slide in slides])
        turned = int(width * rope["full_attention"]["partial_rotary_factor"] / 2)
        self.special["rope_freqs.weight"] = Tensor([width // 2], array.array(
            "f", [1.0] * turned + [1e30] * (width // 2 - turned)))

    def changed(self, name, given, tensor):
        return [(given, tensor)]


class MiniMaxM2(Writer):
    arch = "minimax-m2"
    layer = LAYER | {r"block_sparse_moe\.gate": "ffn_gate_inp",
                     r"block_sparse_moe\.e_score_correction_bias": "exp_probs_b.bias"} | {
        rf"block_sparse_moe\.experts\.\d+\.{name}": f"ffn_{given}_exps" for name, given in NUMBERED.items()}

    def describe(self):
        self.decoder()
        self.set(rope__freq_base=float(self.rope()["rope_theta"]),
                 rope__dimension_count=self.get("rotary_dim", self.config["head_dim"]),
                 expert_count=self.config["num_local_experts"], expert_used_count=self.config["num_experts_per_tok"],
                 expert_feed_forward_length=self.config["intermediate_size"],
                 expert_gating_func=SCORES.get(self.get("scoring_func")))


class BailingMoe2(Writer):
    arch = "bailingmoe2"
    outer = {r"model\.word_embeddings": "token_embd", r"model\.norm": "output_norm", r"lm_head": "output"}
    layer = LAYER | EXPERTS | {
        r"attention\.query_key_value": "attn_qkv", r"attention\.query_layernorm": "attn_q_norm",
        r"attention\.key_layernorm": "attn_k_norm", r"attention\.dense": "attn_output",
        r"mlp\.gate\.expert_bias": "exp_probs_b.bias"}

    def describe(self):
        config = self.config
        self.decoder()
        self.set(rope__freq_base=float(config["rope_theta"]), vocab_size=config["vocab_size"],
                 rope__dimension_count=int(self.head_width() * config["partial_rotary_factor"]),
                 leading_dense_block_count=config["first_k_dense_replace"], expert_count=config["num_experts"],
                 expert_used_count=config["num_experts_per_tok"], expert_shared_count=config["num_shared_experts"],
                 expert_feed_forward_length=config["moe_intermediate_size"],
                 expert_shared_feed_forward_length=config["moe_shared_expert_intermediate_size"],
                 expert_weights_scale=config["routed_scaling_factor"], expert_weights_norm=config["norm_topk_prob"],
                 expert_group_count=config["n_group"], expert_group_used_count=config["topk_group"],
                 expert_gating_func=SCORES[config["score_function"]],
                 nextn_predict_layers=config["num_nextn_predict_layers"])


class Glm4Moe(BailingMoe2):
    """GLM-4.5, of Sarvam's checkpoint, which the public library makes of its class: rows of queries, keys and values
    are in a tensor each."""
    arch = "glm4moe"
    layer = BailingMoe2.layer | {"post_attention_layernorm": "post_attention_norm"}

    def describe(self):
        config = self.config
        self.decoder()
        self.rotary()
        self.set(leading_dense_block_count=config["first_k_dense_replace"], expert_count=config["n_routed_experts"],
                 expert_used_count=config["num_experts_per_tok"], expert_shared_count=config["n_shared_experts"],
                 expert_feed_forward_length=config["moe_intermediate_size"], expert_gating_func=2,
                 expert_weights_scale=config["routed_scaling_factor"], expert_weights_norm=config["norm_topk_prob"],
                 expert_group_count=config["n_group"], expert_group_used_count=config["topk_group"],
                 nextn_predict_layers=config["num_nextn_predict_layers"])

    def changed(self, name, given, tensor):
        if "query_key_value" not in name:
            return [(given, tensor)]
        width, first, made = self.head_width(), 0, []
        for part, key in (("q", "num_attention_heads"), ("k", "num_key_value_heads"), ("v", "num_key_value_heads")):
            rows = self.config[key] * width
            made.append((given.replace("qkv", part), tensor.gather(range(first, first + rows))))
            first += rows
        return made


class BailingMoe3(BailingMoe2):
    """Ling 3, by the library's names of keys. Rates of decay are exp of what is saved."""
    arch = "bailingmoe3"
    layer = BailingMoe2.layer | {
        name.replace("self_attn", "attention"): given for name, given in LATENT.items()} | {
        rf"attention\.{name}": given for name, given in {
            "([qkv])_proj": r"attn_\1", "([qkv])_conv1d": r"ssm_conv1d_\1", "f_proj": "ssm_f_a", "g_proj": "g_proj",
            "b_proj": "ssm_beta", "o_norm": "ssm_norm", "dt_bias": "ssm_dt.bias", "A_log": "ssm_a"}.items()}

    def attends(self, layer):
        kinds = self.config["layer_types"]
        return layer >= len(kinds) or kinds[layer] == "full_attention"

    def describe(self):
        config, turned = self.config, self.config["qk_rope_head_dim"]
        layers = config["num_hidden_layers"] + config["num_nextn_predict_layers"]
        self.decoder()
        self.rotary(turned)
        self.set(block_count=layers, context_length=config["model_max_length"], vocab_size=config["vocab_size"],
                 attention__head_count_kv=[int(self.attends(layer)) for layer in range(layers)],
                 ssm__conv_kernel=config["short_conv_kernel_size"], kda__head_dim=config["linear_head_dim"],
                 kda__safe_gate=config["kda_safe_gate"], kda__gate_lower_bound=config["kda_lower_bound"],
                 attention__q_lora_rank=self.get("q_lora_rank"), attention__kv_lora_rank=config["kv_lora_rank"],
                 attention__key_length=config["kv_lora_rank"] + turned,
                 attention__key_length_mla=config["qk_nope_head_dim"] + turned,
                 attention__value_length_mla=config["v_head_dim"], expert_count=config["num_experts"],
                 expert_used_count=config["num_experts_per_token"],
                 expert_feed_forward_length=config["moe_intermediate_size"],
                 expert_shared_feed_forward_length=config["moe_intermediate_size"],
                 expert_shared_count=config["num_shared_experts"], expert_gating_func=2,
                 leading_dense_block_count=config["first_k_dense_replace"],
                 expert_weights_scale=config["routed_scaling_factor"], expert_weights_norm=config["moe_renormalize"],
                 expert_group_count=config["num_expert_group"], expert_group_used_count=config["topk_group"],
                 nextn_predict_layers=config["num_nextn_predict_layers"] or None)

    def changed(self, name, given, tensor):
        if given.endswith("kv_b.weight"):
            return keys_and_values(self.config, given, tensor)
        if "conv1d" in name:
            tensor = tensor.reshaped(1, tensor.shape[0], 1, tensor.shape[-1])
        if name.endswith("A_log"):
            tensor = tensor.map(math.exp).reshaped(len(tensor.numbers), 1)
        if "g_proj" in given:
            layer = int(given.split(".")[1])
            given = given.replace("g_proj", "attn_gate" if self.attends(layer) else "ssm_g_a")
        return [(given, tensor)]


class Mistral3(Llama):
    """Mistral Small 3, or Ministral 3, whose queries grow."""
    arch = "mistral3"

    def describe(self):
        super().describe()
        if self.config["model_type"] == "ministral3":
            rope = self.rope()
            self.set(rope__scaling__yarn_log_multiplier=float(rope["mscale_all_dim"]),
                     attention__temperature_scale=float(rope["llama_4_scaling_beta"]))


class GraniteSwa(Granite):
    """One theta for all layers that turn: the first one's."""
    arch = "granite_swa"
    layer = LAYER | {r"self_attn\.sinks": "attn_sinks.weight"}

    def describe(self):
        thetas = self.config["layer_rope_theta"]
        theta = next(theta for theta in thetas if theta)
        self.config["layer_rope_theta"] = [theta if own else 0 for own in thetas]
        self.config["rope_parameters"]["rope_theta"] = theta
        super().describe()
        self.set(attention__sliding_window=self.config["sliding_window"],
                 attention__sliding_window_pattern=[kind == "sliding_attention" for kind in self.config["layer_types"]])
        if not all(thetas):
            self.set(attention__rope_pattern=[bool(theta) for theta in thetas])


class GraniteMoe(GraniteHybrid):
    """Granite 3 with experts, of a checkpoint of Granite 4: layers that attend, without what every token passes."""
    arch = "granitemoe"

    def describe(self):
        config, kept = self.config, {}
        layers = [layer for layer, attends in enumerate(self.kinds()) if attends]
        for name, tensor in self.tensors.items():
            found = re.match(self.prefix, name)
            if found and (int(found[1]) not in layers or "shared_mlp" in name):
                continue
            kept[f"model.layers.{layers.index(int(found[1]))}.{name[found.end():]}" if found else name] = tensor
        self.tensors = kept
        config["num_hidden_layers"], config["layer_types"] = len(layers), ["full_attention"] * len(layers)
        config["shared_intermediate_size"], config["position_embedding_type"] = 0, "rope"
        self.decoder()
        self.rotary()
        self.scales()
        self.set(vocab_size=config["vocab_size"], expert_count=config["num_local_experts"],
                 expert_used_count=config["num_experts_per_tok"])
