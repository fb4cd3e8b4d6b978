"""Cases of transformers' hybrids of 2025 and 2026 (release 5.24): Qwen3.5, LFM2, Granite 4, Bamba,
Falcon-H1, Nemotron-H."""

import inspect

from transformers.models.bamba import modeling_bamba
from transformers.models.falcon_h1 import modeling_falcon_h1
from transformers.models.granitemoehybrid import modeling_granitemoehybrid
from transformers.models.lfm2 import modeling_lfm2
from transformers.models.lfm2_moe import modeling_lfm2_moe
from transformers.models.nemotron_h import modeling_nemotron_h
from transformers.models.qwen3_5 import modeling_qwen3_5
from transformers.models.qwen3_5_moe import modeling_qwen3_5_moe

from .public import case


def in_torch(module):
    """The library's own functions: where packages of kernels are installed, these take their places."""
    for name in ("torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule", "causal_conv1d_fn",
                 "causal_conv1d_update", "mamba2_chunk_scan", "mamba2_selective_state_update"):
        if hasattr(module, name):
            setattr(module, name, inspect.unwrap(getattr(module, name)))


for library in (modeling_qwen3_5, modeling_qwen3_5_moe, modeling_lfm2, modeling_lfm2_moe, modeling_granitemoehybrid,
                modeling_bamba, modeling_falcon_h1, modeling_nemotron_h):
    in_torch(library)


def beside_sight(model_type, architecture, tied=False):
    """The text's configuration inside that of a model which also sees, as released models have it."""

    def rewrite(config):
        kept = {"transformers_version": config.pop("transformers_version")}
        config.pop("architectures")
        del config["tie_word_embeddings"], config["layer_types"]
        config |= {"full_attention_interval": 2, "attn_output_gate": True, "mamba_ssm_dtype": "float32",
                   "mtp_num_hidden_layers": 1, "mtp_use_dedicated_embeddings": False}
        config["rope_parameters"] |= {"mrope_section": [1, 1, 0], "mrope_interleaved": True}
        return {**kept, "architectures": [architecture], "model_type": model_type, "text_config": config,
                "tie_word_embeddings": tied, "image_token_id": 40, "video_token_id": 41,
                "vision_start_token_id": 38, "vision_end_token_id": 39, "vision_config": {"hidden_size": 12}}

    return rewrite


def of_language(name):
    return name.replace("model.", "model.language_model.", 1)


def of_older_language(name):
    """As releases 4 name the text's part, its head too."""
    return "language_model." + name


QWEN = dict(vocab_size=53, hidden_size=20, intermediate_size=28, num_hidden_layers=3, num_attention_heads=4,
            num_key_value_heads=2, head_dim=8, max_position_embeddings=64, linear_num_key_heads=2,
            linear_num_value_heads=6, linear_key_head_dim=7, linear_value_head_dim=5)
QWEN_MOE = {**QWEN, "moe_intermediate_size": 12, "shared_expert_intermediate_size": 10, "num_experts": 5,
            "num_experts_per_tok": 2}
del QWEN_MOE["intermediate_size"]
# The gated norm is not zero-centred.
QWEN_DRAW = {r"linear_attn\.norm\.weight$": (1.0, 0.3), r"dt_bias$": (0.0, 1.0)}
SIGHT = {"mtp.fc.weight": (4, 3), "model.visual.patch_embed.proj.weight": (5, 2)}
CASES = [
    case("qwen3_5", "plain", "Qwen3_5", {
        **QWEN, "layer_types": ["linear_attention", "full_attention", "linear_attention"]},
         config_class="Qwen3_5TextConfig", zero_centred=True, draw=QWEN_DRAW),
    case("qwen3_5", "seeing_tied_bf16", "Qwen3_5", {
        **QWEN, "vocab_size": 43, "hidden_size": 24, "num_hidden_layers": 2, "num_key_value_heads": 1,
        "linear_num_key_heads": 3, "linear_num_value_heads": 3, "linear_conv_kernel_dim": 3,
        "linear_value_head_dim": 9, "attention_bias": True, "tie_word_embeddings": True,
        "layer_types": ["linear_attention", "full_attention"], "rope_parameters": {
            "rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5}},
         config_class="Qwen3_5TextConfig", zero_centred=True, draw=QWEN_DRAW, dtype="bf16", embedding=0.3,
         rewrite=beside_sight("qwen3_5", "Qwen3_5ForConditionalGeneration", tied=True), rename=of_language,
         buffers=SIGHT),
    # A text that was saved with the names it had beside sight.
    case("qwen3_5", "text_bf16", "Qwen3_5", {
        **QWEN, "vocab_size": 41, "hidden_size": 16, "num_hidden_layers": 2, "linear_num_key_heads": 4,
        "linear_num_value_heads": 4, "linear_value_head_dim": 8, "rms_norm_eps": 1e-5,
        "layer_types": ["full_attention", "linear_attention"]},
         config_class="Qwen3_5TextConfig", zero_centred=True, draw=QWEN_DRAW, dtype="bf16", rename=of_language),
    case("qwen3_5", "seeing_older", "Qwen3_5", {
        **QWEN, "vocab_size": 37, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2,
        "layer_types": ["linear_attention", "full_attention"]},
         config_class="Qwen3_5TextConfig", zero_centred=True, draw=QWEN_DRAW,
         rewrite=beside_sight("qwen3_5", "Qwen3_5ForConditionalGeneration"), rename=of_older_language,
         buffers={"visual.norm.weight": (3,)}),
    # Five of twenty channels turn, in three pairs; `hidden_act` follows the convolution too.
    case("qwen3_5", "text_gelu_odd_turn", "Qwen3_5", {
        **QWEN, "vocab_size": 37, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 20, "hidden_act": "gelu_pytorch_tanh",
        "layer_types": ["full_attention", "linear_attention"]},
         config_class="Qwen3_5TextConfig", zero_centred=True, draw=QWEN_DRAW),
    case("qwen3_5_moe", "single", "Qwen3_5Moe", {
        **QWEN_MOE, "layer_types": ["full_attention", "linear_attention", "linear_attention"]},
         config_class="Qwen3_5MoeTextConfig", zero_centred=True, draw=QWEN_DRAW),
    # Experts as released files hold them.
    case("qwen3_5_moe", "seeing_fused_bf16", "Qwen3_5Moe", {
        **QWEN_MOE, "vocab_size": 47, "hidden_size": 16, "num_hidden_layers": 2, "num_key_value_heads": 1,
        "num_experts": 6, "num_experts_per_tok": 3, "linear_num_key_heads": 1, "linear_num_value_heads": 4,
        "layer_types": ["linear_attention", "full_attention"]},
         config_class="Qwen3_5MoeTextConfig", zero_centred=True, draw=QWEN_DRAW, dtype="bf16",
         rewrite=beside_sight("qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration"), rename=of_language,
         buffers=SIGHT, converted=False),
    case("qwen3_5_moe", "text_fused_bf16", "Qwen3_5Moe", {
        **QWEN_MOE, "vocab_size": 41, "hidden_size": 24, "num_hidden_layers": 2, "num_experts": 4,
        "num_experts_per_tok": 1, "attention_bias": True, "tie_word_embeddings": True,
        "layer_types": ["full_attention", "linear_attention"]},
         config_class="Qwen3_5MoeTextConfig", zero_centred=True, draw=QWEN_DRAW, dtype="bf16", embedding=0.3,
         converted=False),
    case("qwen3_5_moe", "seeing_single", "Qwen3_5Moe", {
        **QWEN_MOE, "vocab_size": 37, "hidden_size": 16, "num_hidden_layers": 2, "moe_intermediate_size": 9,
        "layer_types": ["linear_attention", "full_attention"]},
         config_class="Qwen3_5MoeTextConfig", zero_centred=True, draw=QWEN_DRAW,
         rewrite=beside_sight("qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration"), rename=of_language,
         buffers=SIGHT),
]


def first_lfm2(config):
    """The keys of the first release, some of which say others' sizes once more."""
    del config["layer_types"]
    rope = config.pop("rope_parameters")
    return {**config, "block_ff_dim": config["intermediate_size"], "block_dim": config["hidden_size"],
            "conv_dim": config["hidden_size"], "num_heads": config["num_attention_heads"], "block_norm_eps": 1e-5,
            "block_use_swiglu": True, "theta": rope["rope_theta"], "rope_theta": rope["rope_theta"],
            "tie_embedding": config["tie_word_embeddings"], "use_pos_enc": True}


LFM2 = dict(vocab_size=59, hidden_size=24, intermediate_size=50, num_hidden_layers=4, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=64, block_multiple_of=8)
LFM2_MOE = {**LFM2, "num_hidden_layers": 3, "intermediate_size": 28, "moe_intermediate_size": 10, "num_experts": 5,
            "num_experts_per_tok": 2, "num_dense_layers": 1}
del LFM2_MOE["block_multiple_of"]
LFM2_DRAW = {r"conv\.conv\.weight$": (0.2, 0.6), r"expert_bias$": (0.0, 0.4)}
CASES += [
    case("lfm2", "plain", "Lfm2", {
        **LFM2, "layer_types": ["conv", "conv", "full_attention", "conv"], "full_attn_idxs": [2],
        "block_ffn_dim_multiplier": 1.2}, draw=LFM2_DRAW, embedding=0.3),
    case("lfm2", "one_tap", "Lfm2", {
        **LFM2, "conv_L_cache": 1, "conv_bias": True, "num_hidden_layers": 2, "layer_types": ["conv", "full_attention"],
        "full_attn_idxs": [1], "block_ffn_dim_multiplier": 1.2}, draw=LFM2_DRAW, embedding=0.3),
    case("lfm2", "biases_untied_bf16", "Lfm2", {
        **LFM2, "hidden_size": 20, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "conv_bias": True, "conv_L_cache": 4, "block_auto_adjust_ff_dim": False, "tie_word_embeddings": False,
        "norm_eps": 1e-4, "full_attn_idxs": [0],
        "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
         draw=LFM2_DRAW, dtype="bf16", rewrite=first_lfm2),
    case("lfm2_moe", "plain", "Lfm2Moe", {
        **LFM2_MOE, "layer_types": ["conv", "full_attention", "conv"]}, draw=LFM2_DRAW, embedding=0.3),
    case("lfm2_moe", "scores_fused_bf16", "Lfm2Moe", {
        **LFM2_MOE, "vocab_size": 47, "hidden_size": 16, "num_hidden_layers": 2, "num_key_value_heads": 4,
        "num_experts": 6, "num_experts_per_tok": 3, "num_dense_layers": 0, "norm_topk_prob": False,
        "routed_scaling_factor": 1.5, "layer_types": ["full_attention", "conv"], "conv_bias": True,
        "tie_word_embeddings": False}, draw=LFM2_DRAW, dtype="bf16", converted=False),
]


def granite_as_released(config):
    """Kinds of layers by their old names, and keys that nobody reads."""
    old = {"linear_attention": "mamba", "full_attention": "attention"}
    config["layer_types"] = [old.get(kind, kind) for kind in config["layer_types"]]
    rope = config.pop("rope_parameters")
    return {**config, "rope_theta": rope["rope_theta"], "rope_scaling": None, "init_method": "mup", "mlp_bias": False,
            "normalization_function": "rmsnorm", "time_step_limit": [0.0, {"__float__": "Infinity"}]}


MAMBA_DRAW = {r"dt_bias$": (0.0, 1.0), r"mamba\.D$": (1.0, 0.4)}
GRANITE = dict(vocab_size=53, hidden_size=24, intermediate_size=10, shared_intermediate_size=14, num_hidden_layers=3,
               num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64, num_local_experts=5,
               num_experts_per_tok=2, mamba_n_heads=6, mamba_n_groups=2, mamba_d_state=9, mamba_chunk_size=16,
               embedding_multiplier=1.5, logits_scaling=2.0, residual_multiplier=0.6, attention_multiplier=0.3)
BAMBA = dict(vocab_size=53, hidden_size=24, intermediate_size=28, num_hidden_layers=3, num_attention_heads=3,
             num_key_value_heads=1, max_position_embeddings=64, mamba_n_heads=6, mamba_n_groups=3, mamba_d_state=7,
             mamba_chunk_size=16, attn_layer_indices=[1])
FALCON = dict(vocab_size=53, hidden_size=20, intermediate_size=28, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, head_dim=6, max_position_embeddings=64, mamba_n_heads=4, mamba_d_ssm=36,
              mamba_n_groups=2, mamba_d_state=11, mamba_chunk_size=16, embedding_multiplier=1.25,
              lm_head_multiplier=0.75, attention_in_multiplier=1.5, attention_out_multiplier=0.8, key_multiplier=0.7,
              ssm_in_multiplier=0.9, ssm_out_multiplier=1.1, ssm_multipliers=[0.8, 1.2, 0.9, 1.1, 0.7],
              mlp_multipliers=[1.3, 0.6])
CASES += [
    case("granitemoehybrid", "experts", "GraniteMoeHybrid", {
        **GRANITE, "num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}, draw=MAMBA_DRAW),
    case("granitemoehybrid", "held_bf16", "GraniteMoeHybrid", {
        **GRANITE, "vocab_size": 43, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "num_local_experts": 3, "mamba_n_heads": 4, "layer_types": ["full_attention", "linear_attention"]},
         draw=MAMBA_DRAW, dtype="bf16", converted=False),
    case("granitemoehybrid", "dense_bf16", "GraniteMoeHybrid", {
        **GRANITE, "hidden_size": 20, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "num_local_experts": 0, "num_experts_per_tok": 0, "position_embedding_type": "rope", "attention_bias": True,
        "mamba_n_heads": 5, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_conv": 3, "mamba_proj_bias": True,
        "mamba_conv_bias": False, "tie_word_embeddings": True,
        "layer_types": ["full_attention", "linear_attention"]},
         draw=MAMBA_DRAW, dtype="bf16", embedding=0.3, rewrite=granite_as_released),
    case("bamba", "plain", "Bamba", {**BAMBA, "time_step_limit": (0.3, 1.2)}, draw=MAMBA_DRAW),
    case("bamba", "biases_tied_bf16", "Bamba", {
        **BAMBA, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "mamba_n_heads": 4,
        "mamba_d_head": 8, "mamba_n_groups": 1, "attn_layer_indices": [0], "attention_bias": True, "mlp_bias": True,
        "mamba_proj_bias": True, "mamba_conv_bias": False, "mamba_d_conv": 3, "tie_word_embeddings": True},
         draw=MAMBA_DRAW, dtype="bf16", embedding=0.3),
    case("falcon_h1", "gate_alone", "FalconH1", FALCON, draw=MAMBA_DRAW),
    case("falcon_h1", "one_tap", "FalconH1", {**FALCON, "mamba_d_conv": 1, "num_hidden_layers": 1}, draw=MAMBA_DRAW),
    # What the convolution has behind it.
    case("falcon_h1", "relu", "FalconH1", {**FALCON, "hidden_act": "relu", "num_hidden_layers": 1}, draw=MAMBA_DRAW),
    case("falcon_h1", "norm_first_bf16", "FalconH1", {
        **{k: v for k, v in FALCON.items() if k != "head_dim"}, "hidden_size": 24, "mamba_d_ssm": None,
        "mamba_n_heads": 6, "mamba_rms_norm": True, "num_key_value_heads": 1, "mamba_proj_bias": True,
        "projectors_bias": True, "mamba_conv_bias": False, "attention_bias": True, "mlp_bias": True,
        "tie_word_embeddings": True, "num_hidden_layers": 1},
         draw=MAMBA_DRAW, dtype="bf16", embedding=0.3),
    case("falcon_h1", "norm_in_groups_bf16", "FalconH1", {
        **FALCON, "vocab_size": 47, "mamba_n_groups": 4, "mamba_rms_norm": True, "mamba_norm_before_gate": False,
        "time_step_limit": (0.2, 1.5), "num_hidden_layers": 1,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, draw=MAMBA_DRAW, dtype="bf16"),
]


def nemotron_as_released(config):
    """Kinds of layers by letters, and keys that nobody reads."""
    letters = {"linear_attention": "M", "full_attention": "*", "mlp": "-", "moe": "E"}
    kinds = config.pop("layers_block_type", None) or config.pop("layer_types")
    config.pop("layer_types", None)
    config["attention_head_dim"] = config.pop("head_dim")
    return {**config, "hybrid_override_pattern": "".join(letters[kind] for kind in kinds),
            "num_hidden_layers": len(kinds), "rope_theta": 10000, "partial_rotary_factor": 1.0, "auto_map": {
                "AutoConfig": "configuration_nemotron_h.NemotronHConfig",
                "AutoModelForCausalLM": "modeling_nemotron_h.NemotronHForCausalLM"}}


def nemotron_beside_sight(config):
    """The text's configuration inside that of a model which also sees, as Nemotron Nano 2 VL has it."""
    kept = {"transformers_version": config.pop("transformers_version")}
    config = nemotron_as_released(config)
    return {**kept, "architectures": ["NemotronH_Nano_VL_V2"], "model_type": "NemotronH_Nano_VL_V2",
            "auto_map": {"AutoConfig": "configuration.NemotronH_Nano_VL_V2_Config",
                         "AutoModel": "modeling.NemotronH_Nano_VL_V2"},
            "downsample_ratio": 0.5, "force_image_size": 512, "image_tag_type": "internvl", "llm_config": config,
            "norm_mean": [0.5, 0.5, 0.5], "ps_version": "v2", "template": "a", "vision_config": {"patch_size": 16},
            "vit_hidden_size": 12}


# The bound that the library has in prompts alone does not bind.
NEMOTRON = dict(vocab_size=53, hidden_size=20, intermediate_size=28, num_attention_heads=4, num_key_value_heads=2,
                head_dim=6, max_position_embeddings=64, mamba_num_heads=6, mamba_head_dim=5, n_groups=2,
                ssm_state_size=9, chunk_size=16, time_step_min=1e-9)
CASES += [
    case("nemotron_h", "plain", "NemotronH", {
        **NEMOTRON, "layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp", "linear_attention"]},
         draw={**MAMBA_DRAW, r"mixer\.D$": (1.0, 0.4)}),
    case("nemotron_h", "one_tap", "NemotronH", {
        **NEMOTRON, "conv_kernel": 1, "layers_block_type": ["linear_attention", "full_attention"]},
         draw={**MAMBA_DRAW, r"mixer\.D$": (1.0, 0.4)}),
    case("nemotron_h", "functions", "NemotronH", {
        **NEMOTRON, "mamba_hidden_act": "relu", "mlp_hidden_act": "gelu", "layers_block_type": [
            "linear_attention", "mlp"]}, draw={**MAMBA_DRAW, r"mixer\.D$": (1.0, 0.4)}),
    case("nemotron_h", "letters_bf16", "NemotronH", {
        **NEMOTRON, "vocab_size": 47, "hidden_size": 24, "num_key_value_heads": 1, "n_groups": 3, "conv_kernel": 3,
        "use_bias": True, "use_conv_bias": False, "mlp_bias": True, "layer_norm_epsilon": 1e-4,
        "layers_block_type": ["full_attention", "linear_attention", "mlp"]},
         draw=MAMBA_DRAW, dtype="bf16", rewrite=nemotron_as_released),
]
CASES += [
    case("nemotron_h", "seeing_bf16", "NemotronH", {
        **NEMOTRON, "hidden_size": 16, "layers_block_type": ["linear_attention", "full_attention"]},
         draw={**MAMBA_DRAW, r"mixer\.D$": (1.0, 0.4)}, dtype="bf16", rewrite=nemotron_beside_sight,
         rename=of_older_language, buffers={"vision_model.radio.weight": (4, 3), "mlp1.0.weight": (5,)}),
]
NEMOTRON_MOE = {**NEMOTRON, "moe_intermediate_size": 10, "moe_shared_expert_intermediate_size": 14,
                "n_routed_experts": 5, "num_experts_per_tok": 2, "routed_scaling_factor": 2.5}
NEMOTRON_DRAW = {**MAMBA_DRAW, r"mixer\.D$": (1.0, 0.4), r"e_score_correction_bias$": (0.0, 0.4)}
CASES += [
    case("nemotron_h", "experts", "NemotronH", {
        **NEMOTRON_MOE, "layers_block_type": ["linear_attention", "moe", "full_attention", "moe"]},
         draw=NEMOTRON_DRAW),
    case("nemotron_h", "latent_bf16", "NemotronH", {
        **NEMOTRON_MOE, "vocab_size": 47, "hidden_size": 24, "moe_latent_size": 13, "mlp_bias": True,
        "num_experts_per_tok": 1, "layers_block_type": ["moe", "full_attention", "linear_attention"]},
         draw=NEMOTRON_DRAW, dtype="bf16", rewrite=nemotron_as_released),
    case("nemotron_h", "scores_fused_bf16", "NemotronH", {
        **NEMOTRON_MOE, "vocab_size": 43, "hidden_size": 16, "n_routed_experts": 6, "num_experts_per_tok": 3,
        "norm_topk_prob": False, "layers_block_type": ["full_attention", "moe"]},
         draw=NEMOTRON_DRAW, dtype="bf16", converted=False),
]
