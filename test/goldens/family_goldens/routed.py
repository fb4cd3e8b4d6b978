"""Cases of transformers' models with experts, and of those whose attention is not plain: Qwen2-MoE,
Qwen3-MoE, Qwen3-Next, Doge."""

from transformers.models.qwen3_next import modeling_qwen3_next

from .public import case

# The library's own functions: where flash-linear-attention is installed, its kernels for GPUs take
# their places.
for function in ("torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule", "causal_conv1d_fn",
                 "causal_conv1d_update"):
    setattr(modeling_qwen3_next, function, getattr(modeling_qwen3_next, function).__wrapped__)


def by_interval(config):
    """Every second layer attends, as releases of 4 say it."""
    del config["layer_types"]
    return {**config, "full_attention_interval": 2}


def by_number(config):
    """Windows in the layers that `max_window_layers` gives, as releases of 4 say it."""
    del config["layer_types"]
    return config


QWEN = dict(vocab_size=53, hidden_size=20, intermediate_size=28, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=2, moe_intermediate_size=12, num_experts=5,
            num_experts_per_tok=2, max_position_embeddings=64)
NEXT = {**QWEN, "hidden_size": 24, "head_dim": 8, "shared_expert_intermediate_size": 10,
        "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6,
        "linear_value_head_dim": 5}
# The gated norm is not zero-centred.
NEXT_DRAW = {r"linear_attn\.norm\.weight$": (1.0, 0.3), r"dt_bias$": (0.0, 1.0)}
DOGE = dict(vocab_size=61, hidden_size=32, intermediate_size=44, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
DOGE_DRAW = {r"self_attn\.A$": (0.0, 0.7), r"_residual$": (1.0, 0.3), r"(down|up)_embed\.weight$": (0.0, 0.3)}
CASES = [
    case("qwen2_moe", "plain", "Qwen2Moe", {
        **QWEN, "hidden_size": 24, "shared_expert_intermediate_size": 16, "mlp_only_layers": [1]}),
    case("qwen2_moe", "windows_bf16", "Qwen2Moe", {
        **QWEN, "hidden_size": 32, "num_hidden_layers": 2, "num_key_value_heads": 1, "num_experts": 3,
        "qkv_bias": False,
        "shared_expert_intermediate_size": 8, "norm_topk_prob": True, "decoder_sparse_step": 2,
        "use_sliding_window": True, "sliding_window": 9, "rms_norm_eps": 1e-5,
        "layer_types": ["sliding_attention", "full_attention"], "tie_word_embeddings": True},
         dtype="bf16", embedding=0.3),
    # Windows in layers 0 and 2 of the five.
    case("qwen2_moe", "windows_by_number", "Qwen2Moe", {
        **QWEN, "hidden_size": 16, "num_hidden_layers": 5, "num_experts": 2, "num_experts_per_tok": 1,
        "moe_intermediate_size": 8, "shared_expert_intermediate_size": 12, "use_sliding_window": True,
        "sliding_window": 6, "max_window_layers": 4}, rewrite=by_number),
    case("qwen3_moe", "plain", "Qwen3Moe", {
        **QWEN, "head_dim": 6, "norm_topk_prob": True, "decoder_sparse_step": 2}),
    case("qwen3_moe", "window_biases_bf16", "Qwen3Moe", {
        **QWEN, "num_hidden_layers": 2, "head_dim": 8, "num_key_value_heads": 1, "num_experts": 6,
        "num_experts_per_tok": 3, "attention_bias": True, "mlp_only_layers": [0],
        "use_sliding_window": True, "sliding_window": 10}, dtype="bf16"),
    case("qwen3_next", "plain", "Qwen3Next", {
        **NEXT, "hidden_size": 20,
        "layer_types": ["linear_attention", "full_attention", "linear_attention"]},
         zero_centred=True, draw=NEXT_DRAW),
    case("qwen3_next", "one_tap", "Qwen3Next", {
        **NEXT, "linear_conv_kernel_dim": 1, "num_hidden_layers": 1, "layer_types": ["linear_attention"]},
         zero_centred=True, draw=NEXT_DRAW),
    case("qwen3_next", "dense_first_bf16", "Qwen3Next", {
        **NEXT, "num_hidden_layers": 2, "num_key_value_heads": 1, "linear_num_key_heads": 3,
        "linear_num_value_heads": 3, "linear_conv_kernel_dim": 3, "linear_value_head_dim": 9,
        "mlp_only_layers": [0], "norm_topk_prob": False, "attention_bias": True, "num_experts": 4,
        "layer_types": ["linear_attention", "full_attention"],
        "rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5}},
         zero_centred=True, draw=NEXT_DRAW, dtype="bf16", rewrite=by_interval),
    # The first layer's numbers of keys are those of tokens: a token twice is a tie.
    case("doge", "dense", "Doge", {**DOGE, "keep_window_size": 7, "sliding_window": 20}, draw=DOGE_DRAW,
         distinct=True),
    # One token a call: in longer ones the library's router mixes tokens.
    case("doge", "experts_bf16", "Doge", {
        **DOGE, "hidden_size": 24, "num_attention_heads": 3, "num_key_value_heads": None,
        "intermediate_size": 20, "attention_bias": True, "mlp_bias": True, "keep_window_size": 12,
        "is_moe": True, "num_experts": 30, "num_experts_per_tok": 3, "tie_word_embeddings": True},
         draw=DOGE_DRAW, dtype="bf16", embedding=0.3, stepwise=True, distinct=True),
]
