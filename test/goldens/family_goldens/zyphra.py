"""Cases of Zyphra's models by transformers (release 5.24): Zamba and ZAYA1."""

import torch

from .public import case


def zamba_as_released(config):
    """Which layers use the block by a period, as first releases say it."""
    config.pop("layers_block_type", None)
    config.pop("layer_types", None)
    del config["attention_hidden_size"], config["attention_head_dim"]
    return {**config, "mamba_dt_rank": "auto", "num_logits_to_keep": 1}


ZAMBA = dict(vocab_size=53, hidden_size=16, intermediate_size=20, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=4, max_position_embeddings=64, mamba_d_state=7, mamba_dt_rank=3)
ZAMBA_DRAW = {r"dt_proj_bias$": (-0.5, 1.0), r"mamba\.D$": (1.0, 0.4)}
CASES = [
    # Of a period of 1 every layer behind the second uses the block.
    case("zamba", "period_bf16", "Zamba", {
        **ZAMBA, "num_hidden_layers": 4, "mamba_dt_rank": "auto", "attn_layer_period": 1, "attn_layer_offset": 0},
         draw=ZAMBA_DRAW, dtype="bf16", embedding=0.3, rewrite=zamba_as_released),
    # Without tied embeddings the library ties no blocks either, and stores each.
    case("zamba", "four_heads_untied", "Zamba", {
        **ZAMBA, "hidden_size": 20, "intermediate_size": 24, "num_key_value_heads": 2, "n_mamba_heads": 4,
        "mamba_d_conv": 3, "mamba_proj_bias": True, "mamba_conv_bias": False, "tie_word_embeddings": False,
        "layers_block_type": ["hybrid", "linear_attention", "hybrid"]}, draw=ZAMBA_DRAW),
    case("zamba", "one_tap", "Zamba", {
        **ZAMBA, "num_hidden_layers": 2, "mamba_d_conv": 1, "tie_word_embeddings": False,
        "layers_block_type": ["linear_attention", "hybrid"]}, draw=ZAMBA_DRAW),
]


@torch.no_grad()
def skipping_as_loaded(model):
    """The number that balances tokens without an expert is what the library puts there when it loads."""
    for name, tensor in model.named_buffers():
        if name.endswith("balancing_biases"):
            tensor[-1] = -1.0


ZAYA = dict(vocab_size=53, hidden_size=20, moe_intermediate_size=10, num_hidden_layers=3, num_attention_heads=4,
            num_key_value_heads=2, head_dim=8, max_position_embeddings=64, num_experts=5, router_hidden_size=7)
ZAYA_DRAW = {r"balancing_biases$": (0.0, 0.1), r"temp$": (1.0, 0.3), r"_scale$": (1.0, 0.3),
             r"conv_qk_\w+\.weight$": (0.1, 0.4)}
CASES += [
    # Of experts that are about as unwelcome as none, so that some tokens take none.
    case("zaya", "skipping", "Zaya", ZAYA, draw={**ZAYA_DRAW, r"balancing_biases$": (-1.0, 0.05),
                                                 r"router_mlp\.out_proj\.weight$": (0.0, 2.0)},
         embedding=0.3, settle=skipping_as_loaded),
    case("zaya", "taps_of_one_head_bias", "Zaya", {
        **ZAYA, "num_hidden_layers": 2, "num_experts": 3, "cca_time0": 1, "cca_time1": 1, "lm_head_bias": True},
         draw=ZAYA_DRAW, embedding=0.3, settle=skipping_as_loaded),
    case("zaya", "windows_biases_bf16", "Zaya", {
        **ZAYA, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 3,
        "head_dim": 4, "num_experts": 4, "router_hidden_size": 9, "cca_time0": 3, "cca_time1": 4,
        "attention_bias": True, "tie_word_embeddings": False, "sliding_window": 9, "rms_norm_eps": 1e-6,
        "layer_types": ["hybrid_sliding", "hybrid"], "rope_parameters": {
            "hybrid": {"rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 0.5},
            "hybrid_sliding": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 1.0}}},
         draw=ZAYA_DRAW, dtype="bf16", settle=skipping_as_loaded),
]
