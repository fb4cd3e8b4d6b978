"""More cases of transformers' hybrids of 2025 and 2026 (release 5.24): OLMo Hybrid, LFM3, Zamba2,
Lara 4 Mini, Ling 3; and Nemotron-H's experts in groups."""

import inspect

import torch
from transformers.models.bailing_hybrid import modeling_bailing_hybrid
from transformers.models.lara_mini import modeling_lara_mini
from transformers.models.lfm3 import modeling_lfm3
from transformers.models.olmo_hybrid import modeling_olmo_hybrid
from transformers.models.zamba2 import modeling_zamba2

from .hybrids import LFM2_DRAW, NEMOTRON_DRAW, NEMOTRON_MOE, in_torch
from .public import case

for library in (modeling_lara_mini, modeling_lfm3, modeling_olmo_hybrid, modeling_zamba2):
    in_torch(library)
for name in ("chunk_kimi_delta_attention", "recurrent_kimi_delta_attention", "causal_conv1d_fn",
             "causal_conv1d_update"):
    setattr(modeling_bailing_hybrid, name, inspect.unwrap(getattr(modeling_bailing_hybrid, name)))


def taps_as_released(tensors):
    """Taps of queries, keys and values with their own rows: the library saves thirds of their sum."""
    keys, values = 14, 22
    cut = {}
    for name, tensor in tensors.items():
        if name.endswith(("k_conv1d.weight", "v_conv1d.weight")):
            continue
        if not name.endswith("q_conv1d.weight"):
            cut[name] = tensor
            continue
        stem = name.removesuffix("q_conv1d.weight")
        whole = torch.cat([tensors[f"{stem}{part}_conv1d.weight"] for part in "qkv"])
        for part, rows in zip("qkv", whole.split([keys, keys, values])):
            cut[f"{stem}{part}_conv1d.weight"] = rows.contiguous()
    return cut


def as_released(tensors):
    """Layers that attend have norms behind their halves alone, by the names of OLMo 2."""
    return {name.replace("layers.1.feedforward_layer_norm", "layers.1.post_attention_layernorm"): tensor
            for name, tensor in taps_as_released(tensors).items()}


OLMO = dict(vocab_size=53, hidden_size=24, intermediate_size=28, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=64, linear_num_key_heads=2, linear_num_value_heads=6, linear_key_head_dim=7,
            linear_value_head_dim=5)
OLMO_DRAW = {r"dt_bias$": (0.0, 1.0)}
LFM3 = dict(vocab_size=59, hidden_size=24, intermediate_size=28, num_hidden_layers=3, num_attention_heads=4,
            num_key_value_heads=2, head_dim=12, max_position_embeddings=64, sliding_window=9)
CASES = [
    # Without positions; in the file as the library saves it.
    case("olmo_hybrid", "plain", "OlmoHybrid", {
        **OLMO, "rope_parameters": {"rope_type": "default", "rope_theta": None}}, draw=OLMO_DRAW),
    case("olmo_hybrid", "one_tap", "OlmoHybrid", {
        **OLMO, "linear_conv_kernel_dim": 1, "rope_parameters": {"rope_type": "default", "rope_theta": None}},
         draw=OLMO_DRAW),
    case("olmo_hybrid", "released_bf16", "OlmoHybrid", {
        **OLMO, "linear_num_value_heads": 2, "linear_value_head_dim": 11, "num_key_value_heads": 2, "attention_bias": True, "linear_allow_neg_eigval": False,
        "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}, draw=OLMO_DRAW, dtype="bf16", pack=as_released),
    # Taps of queries, keys and values in one tensor, as the library holds them.
    case("olmo_hybrid", "saved_held_bf16", "OlmoHybrid", {
        **OLMO, "linear_num_value_heads": 2, "num_key_value_heads": 2, "hidden_act": "relu2",
        "rope_parameters": {"rope_type": "default", "rope_theta": None}}, draw=OLMO_DRAW, dtype="bf16",
         converted=False),
    case("lfm3", "plain", "Lfm3", {
        **LFM3, "layer_types": ["conv", "sliding_attention", "full_attention"]}, draw=LFM2_DRAW, embedding=0.3),
    case("lfm3", "no_gates_untied_bf16", "Lfm3", {
        **LFM3, "num_key_value_heads": 1, "use_attention_gate": False, "use_sandwich_norm": False, "conv_bias": True,
        "attention_bias": True, "conv_L_cache": 3, "tie_word_embeddings": False,
        "layer_types": ["full_attention", "conv", "sliding_attention"], "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "rope_theta": 300.0, "partial_rotary_factor": 0.3,
                               "factor": 2.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}}, draw=LFM2_DRAW, dtype="bf16"),
]


def zamba2_as_released(config):
    """Old names of kinds, and keys that repeat others."""
    kinds = config.pop("layers_block_type", None) or config.pop("layer_types")
    config.pop("layer_types", None)
    rope = config.pop("rope_parameters")
    return {**config, "layers_block_type": ["mamba" if kind == "linear_attention" else kind for kind in kinds],
            "hybrid_layer_ids": [i for i, kind in enumerate(kinds) if kind == "hybrid"], "rope_theta": rope["rope_theta"],
            "attention_hidden_size": 2 * config["hidden_size"], "use_mem_eff_path": True, "num_logits_to_keep": 1}


# The bound that the library has in prompts alone does not bind.
ZAMBA2 = dict(vocab_size=53, hidden_size=16, intermediate_size=20, num_hidden_layers=3, num_attention_heads=4,
              max_position_embeddings=64, mamba_d_state=7, mamba_ngroups=2, n_mamba_heads=4, chunk_size=16,
              adapter_rank=3, time_step_min=1e-9)
ZAMBA2_DRAW = {r"dt_bias$": (0.0, 1.0), r"mamba\.D$": (1.0, 0.4)}
CASES += [
    case("zamba2", "two_blocks_bf16", "Zamba2", {
        **ZAMBA2, "num_mem_blocks": 2, "use_shared_attention_adapter": True,
        "use_mem_rope": True, "layers_block_type": ["hybrid"] * 3},
         draw=ZAMBA2_DRAW, dtype="bf16", rewrite=zamba2_as_released),
    # Without tied embeddings the library ties no blocks either, and stores each.
    case("zamba2", "every_block", "Zamba2", {
        **ZAMBA2, "num_key_value_heads": 2, "add_bias_linear": True, "mamba_d_conv": 3, "mamba_ngroups": 1,
        "tie_word_embeddings": False, "layers_block_type": ["hybrid", "linear_attention", "hybrid"]}, draw=ZAMBA2_DRAW),
]


LARA = dict(vocab_size=53, hidden_size=20, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
            max_position_embeddings=64, sliding_window=9, linear_num_key_heads=2, linear_num_value_heads=6,
            linear_key_head_dim=7, linear_value_head_dim=5, moe_intermediate_size=10,
            shared_expert_intermediate_size=8, num_experts=5, num_experts_per_tok=2)
CASES += [
    case("lara_mini", "plain", "LaraMini", {
        **LARA, "layer_types": ["linear_attention", "sliding_attention", "full_attention"]}, draw=OLMO_DRAW,
         embedding=0.3),
    case("lara_mini", "held_untied_bf16", "LaraMini", {
        **LARA, "num_hidden_layers": 2, "num_key_value_heads": 1, "num_experts": 4, "num_experts_per_tok": 3,
        "norm_topk_prob": False, "attention_bias": True, "linear_conv_kernel_dim": 3, "tie_word_embeddings": False,
        "layer_types": ["sliding_attention", "linear_attention"],
        "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}, draw=OLMO_DRAW, dtype="bf16",
         converted=False),
]


def bailing_as_released(config):
    """The keys of released files, of which some say nothing. Theirs are heads of the delta rule."""
    for key in ("layer_types", "mlp_layer_types", "linear_num_heads", "linear_conv_kernel_dim", "pretraining_tp"):
        del config[key]
    width = config.pop("linear_head_dim")
    for saved, released in (("num_expert_group", "n_group"), ("num_experts_per_token", "num_experts_per_tok"),
                            ("moe_renormalize", "norm_topk_prob"), ("model_max_length", "max_position_embeddings")):
        config[released] = config.pop(saved)
    config["rope_parameters"]["partial_rotary_factor"] = 0.5
    turned = config["qk_rope_head_dim"]
    return {**config, "architectures": ["BailingMoeV3ForCausalLM"], "head_dim": width, "rotary_dim": turned,
            "auto_map": {"AutoConfig": "configuration_bailing_moe_v3.BailingMoeV3Config",
                         "AutoModelForCausalLM": "modeling_bailing_moe_v3.BailingMoeV3ForCausalLM"},
            "embedding_dropout": 0.0, "output_dropout": 0.0, "expert_swiglu_limit_list": None,
            "share_expert_swiglu_limit_list": None, "gated_attention_proj_granularity_type": "head_wise",
            "group_norm_size": 1, "linear_silu": True, "max_window_layers": 20, "moe_router_enable_expert_bias": True,
            "moe_shared_expert_intermediate_size": config["moe_intermediate_size"], "mtp_use_kda": False,
            "no_kda_lora": True, "num_kv_heads_for_linear_attn": 0, "partial_rotary_factor": 0.5,
            "rope_interleave": True, "router_dtype": "fp32", "scale_router_input": False,
            "score_function": "sigmoid", "scoring_func": "sigmoid", "seq_aux": True, "topk_method": "noaux_tc",
            "up_proj_norm": False, "use_bias": False, "use_kda_lora": False, "use_mla_nope": False,
            "use_nGPT": False, "use_qk_norm": True, "use_qkv_bias": False, "value_norm": False}


BAILING = dict(vocab_size=53, hidden_size=20, intermediate_size=28, moe_intermediate_size=6, num_hidden_layers=2,
               num_attention_heads=3, num_key_value_heads=3, kv_lora_rank=8, qk_nope_head_dim=6, qk_rope_head_dim=4,
               v_head_dim=7, head_dim=8, num_local_experts=6, num_experts_per_tok=3, n_group=3, topk_group=2,
               first_k_dense_replace=1, layer_group_size=2, max_position_embeddings=64)
BAILING_DRAW = {r"A_log$": (0.0, 0.7), r"dt_bias$": (0.0, 1.0), r"conv1d\.weight$": (0.1, 0.5),
                r"e_score_correction_bias$": (0.0, 0.4)}
CASES += [
    case("bailing_hybrid", "bounded", "BailingHybrid", BAILING, draw=BAILING_DRAW),
    case("bailing_hybrid", "one_tap", "BailingHybrid", {**BAILING, "linear_conv_kernel_dim": 1}, draw=BAILING_DRAW),
    case("bailing_hybrid", "hub_one_tap", "BailingHybrid", {
        **BAILING, "hidden_size": 16, "num_local_experts": 4, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 1,
        "short_conv_kernel_size": 1}, draw=BAILING_DRAW, rewrite=bailing_as_released),
    # By the library's own names, and with the biases that no release has.
    case("bailing_hybrid", "held_bf16", "BailingHybrid", {
        **BAILING, "q_lora_rank": 7, "attention_bias": True, "hidden_act": "gelu"}, draw=BAILING_DRAW, dtype="bf16",
         converted=False),
    case("bailing_hybrid", "released_bf16", "BailingHybrid", {
        **BAILING, "hidden_size": 24, "q_lora_rank": 9, "kda_safe_gate": False, "short_conv_kernel_size": 3,
        "n_shared_experts": 2, "num_local_experts": 8, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2,
        "norm_topk_prob": False, "rms_norm_eps": 1e-5, "rope_theta": 300.0}, draw=BAILING_DRAW, dtype="bf16",
         rewrite=bailing_as_released, buffers={"model.layers.2.eh_proj.weight": (4, 3)}),
    case("nemotron_h", "groups", "NemotronH", {
        **NEMOTRON_MOE, "n_routed_experts": 8, "n_group": 4, "topk_group": 2, "num_experts_per_tok": 3,
        "layers_block_type": ["full_attention", "moe"]}, draw=NEMOTRON_DRAW),
]
