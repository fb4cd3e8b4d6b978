"""Cases of transformers' decoders of 2025 and 2026 whose experts, windows or heads differ from Llama's
(release 5.24): gpt-oss, Granite with windows, Ministral 3,
Gemma 4, MiniMax-M2."""

import torch

from .public import LLAMA, case

E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@torch.no_grad()
def settle_mxfp4(model):
    """Experts as mxfp4 has them: groups of 32 inputs, which lie along the second axis, share a power of two."""
    for name, tensor in model.named_parameters():
        if name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            codes, scales = codes_of(tensor)
            tensor.copy_(numbers_of(codes, scales).transpose(1, 2))


def codes_of(tensor):
    """Codes [E, N, K / 32, 32] and scales [E, N, K / 32] of a tensor [E, K, N]: the nearest ones."""
    groups = tensor.transpose(1, 2).unflatten(2, (-1, 32))
    scales = groups.abs().amax(3).log2().floor().clamp(min=-126) - 2
    scaled = groups / torch.exp2(scales)[..., None]
    codes = (scaled.abs()[..., None] - E2M1).abs().argmin(-1)
    return codes + 8 * (scaled < 0), scales


def numbers_of(codes, scales):
    signs = 1 - 2.0 * (codes >= 8)
    return (signs * E2M1[codes % 8] * torch.exp2(scales)[..., None]).flatten(2)


def pack_mxfp4(tensors):
    """Tensors of blocks and scales, as released."""
    packed = {}
    for name, tensor in tensors.items():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            packed[name] = tensor
            continue
        codes, scales = codes_of(tensor.float())
        packed[name + "_blocks"] = (codes[..., 0::2] + 16 * codes[..., 1::2]).to(torch.uint8)
        packed[name + "_scales"] = (scales + 127).to(torch.uint8)
    return packed


def gpt_oss_as_released(config):
    """The keys of released files."""
    rope = config.pop("rope_parameters")
    config.pop("swiglu_alpha")
    theta = rope.pop("rope_theta")
    return {**config, "rope_theta": theta, "rope_scaling": rope, "initial_context_length": 16,
            "experts_per_token": config["num_experts_per_tok"], "quantization_config": {
                "quant_method": "mxfp4", "modules_to_not_convert": [
                    "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}}


GPT_OSS = {**LLAMA, "hidden_size": 20, "intermediate_size": 14, "num_local_experts": 5, "num_experts_per_tok": 2,
           "sliding_window": 9}
# Gates and ups that their bounds hold.
CLAMPED = {r"gate_up_proj_bias$": (0.0, 1.5), r"sinks$": (0.0, 1.5)}
YARN = {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "beta_fast": 8.0, "beta_slow": 1.0, "truncate": False}
CASES = [
    case("gpt_oss", "plain", "GptOss", {**GPT_OSS, "swiglu_limit": 1.5, "rope_parameters": YARN}, draw=CLAMPED),
    case("gpt_oss", "mxfp4_bf16", "GptOss", {
        **GPT_OSS, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 1, "intermediate_size": 32,
        "num_local_experts": 3, "swiglu_limit": 2.0, "rope_parameters": YARN}, draw=CLAMPED, dtype="bf16",
         settle=settle_mxfp4, pack=pack_mxfp4, rewrite=gpt_oss_as_released),
    case("gpt_oss", "no_biases_tied_bf16", "GptOss", {
        **GPT_OSS, "hidden_size": 24, "num_hidden_layers": 3, "num_experts_per_tok": 1, "attention_bias": False,
        "tie_word_embeddings": True, "swiglu_alpha": 1.2, "layer_types": [
            "full_attention", "sliding_attention", "sliding_attention"],
        "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}, draw=CLAMPED, dtype="bf16", embedding=0.3),
]


def beside_sight(model_type, architecture):
    """The text's configuration inside that of a model which also sees."""

    def rewrite(config):
        kept = {"transformers_version": config.pop("transformers_version")}
        del config["architectures"]
        return {**kept, "architectures": [architecture], "model_type": model_type, "text_config": config,
                "image_token_index": 10, "spatial_merge_size": 2, "vision_config": {"hidden_size": 12}}

    return rewrite


def of_language(name):
    return "language_model." + name


PLAIN = {key: value for key, value in LLAMA.items() if key != "head_dim"} | {"hidden_size": 36}
FEW_HEADS = {**PLAIN, "hidden_size": 24, "num_attention_heads": 4, "num_key_value_heads": 1}
FACTORS = dict(embedding_multiplier=1.5, logits_scaling=2.0, residual_multiplier=0.6, attention_multiplier=0.3)
SINKS = {r"sinks$": (0.0, 1.5)}
GROWING = {"rope_type": "yarn", "rope_theta": 300.0, "factor": 4.0, "original_max_position_embeddings": 16,
           "max_position_embeddings": 64, "beta_fast": 8.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
           "llama_4_scaling_beta": 0.4}
CASES += [
    case("granite_swa", "plain", "GraniteSWA", {
        **PLAIN, **FACTORS, "sliding_window": 9}, draw=SINKS, embedding=0.3),
    case("granite_swa", "thetas_bf16", "GraniteSWA", {
        **FEW_HEADS, **FACTORS, "num_hidden_layers": 4, "intermediate_size": 20, "sliding_window": 7,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention"],
        "layer_rope_theta": [300.0, 0, 1000.0, 300.0], "attention_bias": True, "mlp_bias": True,
        "tie_word_embeddings": False}, draw=SINKS, dtype="bf16"),
    case("ministral3", "plain", "Ministral3", {**LLAMA, "rope_parameters": GROWING}),
    case("ministral3", "window_tied_bf16", "Ministral3", {
        **LLAMA, "num_key_value_heads": 1, "intermediate_size": 28, "sliding_window": 10, "tie_word_embeddings": True,
        "rope_parameters": {**GROWING, "mscale": 0.7, "original_max_position_embeddings": 21}}, dtype="bf16",
         embedding=0.3),
    case("mistral3", "growing_bf16", "Ministral3", {
        **LLAMA, "hidden_size": 20, "intermediate_size": 28, "num_key_value_heads": 2, "rope_parameters": GROWING},
         dtype="bf16", rewrite=beside_sight("mistral3", "Mistral3ForConditionalGeneration"), rename=of_language,
         buffers={"vision_tower.patch_conv.weight": (4, 3), "multi_modal_projector.norm.weight": (5,)}),
    case("mistral3", "plain", "Mistral", {
        **LLAMA, "hidden_size": 24, "intermediate_size": 28, "sliding_window": None}, rewrite=beside_sight(
            "mistral3", "Mistral3ForConditionalGeneration"), rename=lambda name: name.replace(
                "model.", "model.language_model.")),
]


def gemma4_beside_sight(config):
    """As released: heads of layers that see all keys under keys of their own."""
    own = next(iter(config.pop("per_layer_config").values()))
    config |= {"global_head_dim": own["head_dim"], "num_global_key_value_heads": own.get("num_key_value_heads")}
    kept = {"transformers_version": config.pop("transformers_version")}
    del config["architectures"]
    return {**kept, "architectures": ["Gemma4ForConditionalGeneration"], "model_type": "gemma4", "text_config": config,
            "audio_token_id": 9, "boi_token_id": 10, "image_token_id": 11, "audio_config": None,
            "vision_config": {"hidden_size": 12}}


GEMMA4 = dict(vocab_size=59, hidden_size=24, intermediate_size=20, num_hidden_layers=4, num_attention_heads=4,
              num_key_value_heads=2, head_dim=6, global_head_dim=8, max_position_embeddings=64, sliding_window=9,
              layer_types=["sliding_attention", "full_attention"] * 2, hidden_size_per_layer_input=5,
              vocab_size_per_layer_input=59)
GEMMA4_DRAW = {r"layer_scalar$": (1.0, 0.3), r"router\.(per_expert_)?scale$": (1.0, 0.3)}
CASES += [
    # Keys of layers that read others', as released files hold them.
    case("gemma4", "shared_bf16", "Gemma4", {
        **GEMMA4, "num_kv_shared_layers": 2, "use_double_wide_mlp": True}, config_class="Gemma4TextConfig",
         draw=GEMMA4_DRAW, dtype="bf16", embedding=0.3, buffers={
             "model.layers.2.self_attn.k_proj.weight": (4, 3), "model.layers.3.self_attn.v_proj.weight": (4, 3),
             "model.layers.3.self_attn.k_norm.weight": (5,)}),
    case("gemma4", "text", "Gemma4", {
        **GEMMA4, "num_hidden_layers": 3, "layer_types": ["full_attention", "sliding_attention", "full_attention"],
        "num_kv_shared_layers": 1, "tie_word_embeddings": False, "attention_bias": True,
        "final_logit_softcapping": 4.0}, config_class="Gemma4TextConfig", draw=GEMMA4_DRAW),
    # Heads of one size: the library saves no number of its own for any layer.
    case("gemma4", "text_alike_heads", "Gemma4", {
        **GEMMA4, "num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"], "global_head_dim": 6,
        "hidden_size_per_layer_input": 0}, config_class="Gemma4TextConfig", draw=GEMMA4_DRAW, embedding=0.3),
    case("gemma4", "seeing_experts_bf16", "Gemma4", {
        **GEMMA4, "num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"],
        "hidden_size_per_layer_input": 0, "attention_k_eq_v": True, "num_global_key_value_heads": 1,
        "enable_moe_block": True, "num_experts": 5, "top_k_experts": 2, "moe_intermediate_size": 10},
         config_class="Gemma4TextConfig", draw=GEMMA4_DRAW, dtype="bf16", embedding=0.3, rewrite=gemma4_beside_sight,
         rename=lambda name: name.replace("model.", "model.language_model.", 1),
         buffers={"model.vision_tower.patch.weight": (4, 3), "model.embed_vision.norm.weight": (3,)}),
    case("gemma4", "seeing", "Gemma4", {
        **GEMMA4, "num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"],
        "hidden_size_per_layer_input": 0}, config_class="Gemma4TextConfig", draw=GEMMA4_DRAW, embedding=0.3,
         rewrite=gemma4_beside_sight, rename=lambda name: name.replace("model.", "model.language_model.", 1)),
]


def m2_as_released(config):
    """The keys of released files."""
    rope = config.pop("rope_parameters")
    share = rope.pop("partial_rotary_factor")
    return {**config, "rope_theta": rope["rope_theta"], "rotary_dim": int(share * config["head_dim"]),
            "attn_type_list": [1] * config["num_hidden_layers"], "layernorm_full_attention_beta": 1.0,
            "layernorm_linear_attention_beta": 1.0, "layernorm_mlp_beta": 1.0, "mlp_intermediate_size": 40,
            "mtp_transformer_layers": 1, "num_mtp_modules": 3, "use_mtp": True, "qk_norm_type": "per_layer",
            "scoring_func": "sigmoid", "shared_intermediate_size": 0, "shared_moe_mode": "sigmoid",
            "sliding_window": None, "use_qk_norm": True, "use_routing_bias": True,
            "auto_map": {"AutoConfig": "configuration_minimax_m2.MiniMaxM2Config",
                         "AutoModelForCausalLM": "modeling_minimax_m2.MiniMaxM2ForCausalLM"}}


M2 = {**LLAMA, "hidden_size": 20, "intermediate_size": 10, "num_local_experts": 5, "num_experts_per_tok": 2}
M2_DRAW = {r"e_score_correction_bias$": (0.0, 0.4)}
CASES += [
    case("minimax_m2", "plain", "MiniMaxM2", M2, draw=M2_DRAW),
    case("minimax_m2", "saved_held_bf16", "MiniMaxM2", {**M2, "num_local_experts": 3}, draw=M2_DRAW, dtype="bf16",
         converted=False),
    # One expert, whose weight is its share of itself.
    case("minimax_m2", "released_tied_bf16", "MiniMaxM2", {
        **M2, "hidden_size": 24, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 10,
        "num_experts_per_tok": 1, "tie_word_embeddings": True, "rope_parameters": {
            "rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 0.6}},
         draw=M2_DRAW, dtype="bf16", embedding=0.3, rewrite=m2_as_released),
]
