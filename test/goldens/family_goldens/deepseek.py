"""Cases of DeepSeek-V2 and V3 and of GLM-4.7-Flash by transformers (release 5.24)."""

from .public import case


def as_released(model_type, version):
    """The keys of released files, of which some say nothing; the library leaves further layers aside."""

    def rewrite(config):
        rope = config.pop("rope_parameters")
        kind = rope.pop("rope_type")
        for key in ("head_dim", "qk_head_dim"):
            config.pop(key, None)
        name = f"DeepseekV{version}"
        theta = rope.pop("rope_theta")
        return {**config, "rope_theta": theta, "rope_scaling": {"type": kind, **rope} if rope else None,
                "aux_loss_alpha": 0.001, "ep_size": 1, "moe_layer_freq": 1, "seq_aux": True,
                "scoring_func": "softmax" if version == 2 else "sigmoid", "auto_map": {
                    "AutoConfig": f"configuration_deepseek.{name}Config",
                    "AutoModelForCausalLM": f"modeling_deepseek.{name}ForCausalLM"}}

    return rewrite


YARN = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "beta_fast": 8.0, "beta_slow": 1.0,
        "mscale": 0.707, "mscale_all_dim": 0.5, "original_max_position_embeddings": 16}
V2 = dict(vocab_size=53, hidden_size=20, intermediate_size=28, moe_intermediate_size=6, num_hidden_layers=2,
          num_attention_heads=5, kv_lora_rank=8, q_lora_rank=None, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=7,
          n_routed_experts=6, n_shared_experts=2, num_experts_per_tok=3, first_k_dense_replace=1,
          max_position_embeddings=64)
V3 = {**V2, "num_key_value_heads": 5, "n_group": 3, "topk_group": 2, "n_shared_experts": 1}
CASES = [
    case("deepseek_v2", "plain", "DeepseekV2", {
        **V2, "attention_bias": True, "q_lora_rank": 9, "rms_norm_eps": 1e-5}),
    case("deepseek_v2", "groups_yarn_bf16", "DeepseekV2", {
        **V2, "hidden_size": 24, "num_attention_heads": 3, "topk_method": "group_limited_greedy", "n_group": 4,
        "topk_group": 2, "n_routed_experts": 8, "num_experts_per_tok": 3, "routed_scaling_factor": 1.5,
        "first_k_dense_replace": 0, "rope_parameters": YARN}, dtype="bf16", rewrite=as_released("deepseek_v2", 2)),
    case("deepseek_v2", "mlp_biases_bf16", "DeepseekV2", {
        **V2, "hidden_size": 16, "intermediate_size": 20, "n_routed_experts": 3, "n_shared_experts": 1,
        "num_experts_per_tok": 2, "mlp_bias": True}, dtype="bf16"),
    case("deepseek_v3", "plain", "DeepseekV3", {
        **V3, "norm_topk_prob": False, "rope_interleave": False, "routed_scaling_factor": 1.25},
         draw={r"e_score_correction_bias$": (0.0, 0.4)}),
    case("deepseek_v3", "released_bf16", "DeepseekV3", {
        **V3, "hidden_size": 24, "num_attention_heads": 3, "num_key_value_heads": 3, "q_lora_rank": 9, "n_routed_experts": 8, "n_group": 2,
        "topk_group": 1, "num_experts_per_tok": 2, "attention_bias": True, "num_nextn_predict_layers": 1,
        "rope_parameters": {**YARN, "mscale": 1.0, "mscale_all_dim": 1.0}},
         draw={r"e_score_correction_bias$": (0.0, 0.4)}, dtype="bf16", rewrite=as_released("deepseek_v3", 3),
         buffers={"model.layers.2.eh_proj.weight": (4, 3)}),
]


def flash_as_released(config):
    """The keys of the released file, which says the first layers' kind by their number."""
    rope = config.pop("rope_parameters")
    for key in ("mlp_layer_types", "qk_head_dim", "rope_interleave"):
        config.pop(key, None)
    return {**config, "rope_theta": rope["rope_theta"], "rope_scaling": None, "partial_rotary_factor": 1.0,
            "first_k_dense_replace": 1, "num_nextn_predict_layers": 1, "topk_method": "noaux_tc"}


GLM = {**{key: value for key, value in V3.items() if key != "first_k_dense_replace"}, "n_group": 1, "topk_group": 1}
CASES += [
    case("glm4_moe_lite", "listed", "Glm4MoeLite", {
        **GLM, "q_lora_rank": 9, "routed_scaling_factor": 1.8, "mlp_layer_types": ["sparse", "dense"]},
         draw={r"e_score_correction_bias$": (0.0, 0.4)}),
    case("glm4_moe_lite", "released_bf16", "Glm4MoeLite", {
        **GLM, "hidden_size": 24, "num_attention_heads": 3, "num_key_value_heads": 3, "q_lora_rank": 7,
        "n_routed_experts": 8, "num_experts_per_tok": 2, "rope_parameters": {
            "rope_type": "default", "rope_theta": 300.0}},
         draw={r"e_score_correction_bias$": (0.0, 0.4)}, dtype="bf16", rewrite=flash_as_released,
         buffers={"model.layers.2.eh_proj.weight": (4, 3)}),
]
