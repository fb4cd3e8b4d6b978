"""Cases of flash-linear-attention, whose models run on the CPU by flash_functions.py."""

import copy

import fla.models

from . import flash_functions  # noqa: F401 (gives the kernels bodies)
from .case import Case

TOKENS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
BASE = dict(vocab_size=67, hidden_size=30, num_hidden_layers=2, intermediate_size=44, norm_eps=1e-5,
            use_cache=False)

# No other form is known; asked for, it is no fallback.
STEP = {"force-form": "step"}

# Gates that are active: decays that neither vanish nor stay at 1.
DRAW = {
    r"A_log$": (0.0, 0.7),
    r"dt_bias$": (0.0, 1.0),
    r"lower_bounds$": (0.0, 1.0),
    r"bonus$": (0.3, 0.5),
    r"x_bias$": (0.3, 0.3),
    r"\.(x_[rwkvag]|mu)$": (0.5, 0.3),
    r"w_(proj\.linear|lora)\.lora\.2\.bias$": (-0.5, 0.8),
    r"lora\.2\.bias$": (0.0, 0.5),
    r"(k_k|k_a)$": (0.9, 0.3),
    r"r_k$": (0.0, 0.4),
    r"gk_proj\.1\.bias$": (-20.0, 12.0),
    r"conv(1d)?\.weight$": (0.1, 0.5),
    r"residual_weight$": (1.0, 0.4),
    r"dt_proj\.bias$": (-0.5, 1.0),
    r"mixer\.D$": (1.0, 0.4),
    r"mixer\.L$": (0.8, 0.5),
    r"activation_norm\.weight$": (1.0, 0.3),
    r"attn\.(decay|D)$": (0.5, 0.7),
}


def case(family, name, kind, config, **more):
    settings = {**BASE, **TOKENS, **config}

    def build():
        made = getattr(fla.models, f"{kind}Config")(**copy.deepcopy(settings))
        return getattr(fla.models, f"{kind}ForCausalLM")(made)

    return Case(family, name, build, settings["vocab_size"], draw={**DRAW, **more.pop("draw", {})}, **more)


CASES = [
    # The library's own layouts of either Mamba, beside transformers' of the same model types.
    case("mamba", "flash_bf16", "Mamba", dict(
        vocab_size=23, hidden_size=20, num_hidden_layers=1, state_size=5, conv_kernel=3, dt_rank=3, use_bias=True),
         dtype="bf16"),
    case("mamba2", "flash_groups", "Mamba2", dict(
        vocab_size=23, hidden_size=16, intermediate_size=32, num_hidden_layers=1, state_size=7, head_dim=8,
        n_groups=2, dt_limit=(0.05, 0.9), norm_eps=1e-4, chunk_size=16)),
    case("mamba2", "flash_norm_first", "Mamba2", dict(
        vocab_size=23, hidden_size=20, intermediate_size=40, num_hidden_layers=1, state_size=6, head_dim=8,
        norm_before_gate=True, conv_kernel=3, D_has_hdim=True, tie_word_embeddings=True, chunk_size=16),
         embedding=0.3),
    # The layers beside are 256 wide at least.
    case("log_linear_mamba2", "plain", "LogLinearMamba2", dict(
        vocab_size=23, hidden_size=12, intermediate_size=24, num_hidden_layers=1, state_size=5, head_dim=8, conv_kernel=3,
        chunk_size=64)),
    case("log_linear_mamba2", "groups_bf16", "LogLinearMamba2", dict(
        vocab_size=29, hidden_size=16, intermediate_size=32, num_hidden_layers=2, state_size=7, head_dim=8, n_groups=2,
        norm_before_gate=True, D_has_hdim=True, use_bias=True, norm_eps=1e-4, chunk_size=64, tie_word_embeddings=True),
         dtype="bf16", embedding=0.3),
    case("gla", "plain", "GLA", dict(num_heads=3, expand_k=0.4, expand_v=1.2)),
    case("gla", "convolutions_hybrid_bf16", "GLA", dict(
        hidden_size=24, num_heads=2, expand_k=0.5, expand_v=1.0, use_short_conv=True, conv_size=3,
        use_output_gate=False, feature_map="relu", num_hidden_layers=3, max_position_embeddings=64,
        attn=dict(layers=[1], num_heads=4, num_kv_heads=2, window_size=9, qkv_bias=True, rope_theta=300.0)),
         dtype="bf16"),
    case("gla", "one_tap", "GLA", dict(
        hidden_size=20, num_heads=2, expand_k=0.5, use_short_conv=True, conv_size=1, num_hidden_layers=1,
        intermediate_size=28)),
    # A bound that binds in some channels.
    case("gla", "shared_keys_bounded", "GLA", dict(
        hidden_size=24, num_heads=6, num_kv_heads=2, expand_k=0.75, expand_v=1.25, clamp_min=-0.4,
        intermediate_size=32)),
    case("retnet", "plain", "RetNet", dict(num_heads=3, expand_k=0.8, expand_v=1.0)),
    case("retnet", "tied", "RetNet", dict(
        hidden_size=24, num_heads=2, expand_k=0.5, expand_v=1.5, feature_map="relu", use_output_gate=False,
        intermediate_size=36, tie_word_embeddings=True), embedding=0.3),
    case("retnet", "shared_keys_bf16", "RetNet", dict(
        hidden_size=24, num_heads=4, num_kv_heads=2, expand_k=1.0, expand_v=1.5, intermediate_size=28),
         dtype="bf16"),
    case("hgrn2", "lower_bounds", "HGRN2", dict(
        expand_ratio=6, num_hidden_layers=3, intermediate_size=28, vocab_size=61)),
    case("hgrn2", "convolutions_no_bounds", "HGRN2", dict(
        hidden_size=24, expand_ratio=8, use_lower_bound=False, use_short_conv=True, conv_size=3)),
    case("hgrn2", "one_tap", "HGRN2", dict(
        hidden_size=20, expand_ratio=5, use_short_conv=True, conv_size=1, num_hidden_layers=1, intermediate_size=28)),
    case("hgrn2", "no_weights", "HGRN2", dict(
        hidden_size=20, expand_ratio=5, elementwise_affine=False, num_hidden_layers=1, intermediate_size=28)),
    case("delta_net", "plain", "DeltaNet", dict(num_heads=3, expand_k=0.8, expand_v=1.2)),
    case("delta_net", "gate_negative", "DeltaNet", dict(
        hidden_size=24, num_heads=2, use_gate=True, allow_neg_eigval=True, use_short_conv=False,
        qk_activation="relu")),
    case("delta_net", "sums_elu", "DeltaNet", dict(
        hidden_size=24, num_heads=3, expand_k=0.75, expand_v=1.25, qk_norm="sum", qk_activation="elu",
        conv_size=3, intermediate_size=36)),
    case("delta_net", "one_rate_bf16", "DeltaNet", dict(
        hidden_size=20, num_heads=2, expand_k=0.5, qk_norm="sum", qk_activation="identity", use_beta=False,
        use_gate=True, intermediate_size=36), dtype="bf16"),
    case("gated_deltanet", "plain", "GatedDeltaNet", dict(num_heads=2, head_dim=6, expand_v=1.5)),
    case("gated_deltanet", "value_heads", "GatedDeltaNet", dict(
        hidden_size=28, num_heads=2, num_v_heads=4, head_dim=5, expand_v=1.0, allow_neg_eigval=True,
        output_gate_activation="sigmoid", conv_size=3, intermediate_size=36)),
    case("gated_deltanet", "one_tap", "GatedDeltaNet", dict(
        hidden_size=20, num_heads=2, head_dim=7, expand_v=1.0, conv_size=1, num_hidden_layers=1, intermediate_size=28)),
    case("gated_deltaproduct", "plain", "GatedDeltaProduct", dict(
        num_heads=2, head_dim=7, expand_v=1.0, num_householder=2, use_forget_gate=True, allow_neg_eigval=True)),
    case("gated_deltaproduct", "single", "GatedDeltaProduct", dict(
        hidden_size=24, num_heads=3, head_dim=6, expand_v=1.5, num_householder=1, use_forget_gate=True, conv_size=3,
        intermediate_size=32, vocab_size=59), dtype="bf16"),
    case("gated_deltaproduct", "one_tap", "GatedDeltaProduct", dict(
        hidden_size=20, num_heads=2, head_dim=6, expand_v=1.5, num_householder=2, conv_size=1, num_hidden_layers=1,
        intermediate_size=28)),
    case("gated_deltaproduct", "no_gates", "GatedDeltaProduct", dict(
        hidden_size=20, num_heads=2, head_dim=5, expand_v=2.0, num_householder=3, use_short_conv=False,
        use_output_gate=False, intermediate_size=28, vocab_size=61)),
    case("forgetting_transformer", "plain", "ForgettingTransformer", dict(
        num_heads=3, qk_norm=True, use_output_gate=True)),
    case("forgetting_transformer", "shared", "ForgettingTransformer", dict(
        hidden_size=24, num_heads=4, num_kv_heads=2, qkv_bias=True, intermediate_size=32, vocab_size=59,
        tie_word_embeddings=True), dtype="bf16", embedding=0.3),
    case("forgetting_transformer", "window", "ForgettingTransformer", dict(
        hidden_size=20, num_heads=2, window_size=7, intermediate_size=28, vocab_size=53, num_hidden_layers=3)),
    case("kda", "plain", "KDA", dict(num_heads=2, head_dim=6, expand_v=1.5, intermediate_size=32)),
    case("kda", "value_heads_bf16", "KDA", dict(
        hidden_size=24, num_heads=2, num_v_heads=4, head_dim=5, use_short_conv=False,
        allow_neg_eigval=True), dtype="bf16"),
    case("kda", "bounded", "KDA", dict(
        hidden_size=20, num_heads=3, head_dim=5, expand_v=1.4, safe_gate=True, lower_bound=-4.5,
        intermediate_size=28)),
    case("comba", "plain", "Comba", dict(num_heads=2, head_dim=6, expand_v=1.5, intermediate_size=28)),
    case("comba", "value_heads_bf16", "Comba", dict(
        hidden_size=24, num_heads=2, num_v_heads=4, head_dim=5, expand_v=1.4, use_output_gate=False, conv_size=3,
        use_inner_decay=False, use_output_correction=False, correction_factor=0.02, tie_word_embeddings=True),
         dtype="bf16", embedding=0.3),
    case("comba", "one_tap", "Comba", dict(
        hidden_size=20, num_heads=2, head_dim=7, expand_v=1.0, conv_size=1, num_hidden_layers=1, intermediate_size=28)),
    case("comba", "no_convolutions_hybrid", "Comba", dict(
        hidden_size=20, num_heads=3, head_dim=7, expand_v=1.0, use_short_conv=False, intermediate_size=28,
        num_hidden_layers=2, max_position_embeddings=64, attn=dict(layers=[1], num_heads=5, num_kv_heads=1,
                                                                   window_size=9, qkv_bias=True, rope_theta=300.0))),
    case("gsa", "plain", "GSA", dict(num_heads=3, num_slots=7, intermediate_size=32)),
    case("gsa", "shared_keys_bf16", "GSA", dict(
        hidden_size=24, num_heads=4, num_kv_heads=2, num_slots=None, exapnd_k=0.5, exapnd_v=0.5,
        elementwise_affine=False, use_short_conv=True, conv_size=3, feature_map="relu", gate_logit_normalizer=3,
        norm_eps=1e-4, intermediate_size=28), dtype="bf16"),
    case("gsa", "one_tap", "GSA", dict(
        hidden_size=20, num_heads=2, num_slots=7, use_short_conv=True, conv_size=1, num_hidden_layers=1,
        intermediate_size=28)),
    case("lightnet", "plain", "LightNet", dict(num_heads=3, expand_ratio=7, gate_low_rank_dim=4, intermediate_size=32),
         options=STEP),
    case("lightnet", "convolutions_bf16", "LightNet", dict(
        hidden_size=24, expand_ratio=6, use_short_conv=True, conv_size=3, gate_low_rank_dim=5, intermediate_size=28,
        elementwise_affine=False, tie_word_embeddings=True), dtype="bf16", embedding=0.3, options=STEP),
    case("lightnet", "one_tap", "LightNet", dict(
        hidden_size=20, expand_ratio=5, use_short_conv=True, conv_size=1, gate_low_rank_dim=6, num_hidden_layers=1,
        intermediate_size=28), options=STEP),
    case("transformer", "plain", "Transformer", dict(num_heads=3, intermediate_size=36, max_position_embeddings=64)),
    case("transformer", "windows_bf16", "Transformer", dict(
        hidden_size=24, num_heads=6, num_kv_heads=2, qkv_bias=True, qk_norm=True, window_size=9, rope_theta=300.0,
        hidden_ratio=None, intermediate_size=28, max_position_embeddings=64, elementwise_affine=False, fuse_norm=False,
        norm_eps=1e-4, tie_word_embeddings=True), dtype="bf16", embedding=0.3),
    case("moba", "plain", "MoBA", dict(
        num_heads=3, moba_chunk_size=8, moba_topk=3, use_output_gate=True, qk_norm=True, rope_theta=300.0,
        max_position_embeddings=64)),
    case("moba", "shared_bf16", "MoBA", dict(
        hidden_size=24, num_heads=4, num_kv_heads=2, qkv_bias=True, moba_chunk_size=5, moba_topk=2,
        intermediate_size=28, max_position_embeddings=64, vocab_size=59, tie_word_embeddings=True), dtype="bf16",
         embedding=0.3),
    case("moba", "without_choice", "MoBA", dict(
        hidden_size=20, num_heads=2, moba_chunk_size=16, moba_topk=1, num_hidden_layers=1, hidden_ratio=None,
        intermediate_size=28, max_position_embeddings=64, vocab_size=53)),
    # The library's kernels ask for at least 16 heads that share a key.
    case("nsa", "plain", "NSA", dict(
        hidden_size=28, num_heads=16, num_kv_heads=1, head_dim=4, block_size=4, block_counts=4, window_size=7,
        rope_theta=300.0, intermediate_size=36, max_position_embeddings=64)),
    case("nsa", "groups_bf16", "NSA", dict(
        hidden_size=20, num_heads=32, num_kv_heads=2, head_dim=6, qkv_bias=True, block_size=3, block_counts=8,
        window_size=0, intermediate_size=28, max_position_embeddings=64, vocab_size=59, norm_eps=1e-4,
        tie_word_embeddings=True), dtype="bf16", embedding=0.3),
    case("rwkv6", "plain", "RWKV6", dict(
        hidden_size=24, num_heads=3, expand_k=0.5, proj_low_rank_dim=4, gate_low_rank_dim=6,
        intermediate_size=40)),
    case("rwkv6", "no_first_norm_bf16", "RWKV6", dict(
        hidden_size=32, num_heads=2, expand_k=1.0, proj_low_rank_dim=3, gate_low_rank_dim=5,
        norm_first=False, norm_bias=False, intermediate_size=36, vocab_size=53), dtype="bf16"),
    case("rwkv7", "plain", "RWKV7", dict(
        hidden_size=24, head_dim=6, num_heads=4, decay_low_rank_dim=5, gate_low_rank_dim=7,
        a_low_rank_dim=4, v_low_rank_dim=3, intermediate_size=40)),
    case("rwkv7", "separate_norm_bf16", "RWKV7", dict(
        hidden_size=32, head_dim=8, num_heads=4, decay_low_rank_dim=6, gate_low_rank_dim=4,
        a_low_rank_dim=5, v_low_rank_dim=3, intermediate_size=36, fuse_norm=False, num_hidden_layers=3,
        vocab_size=53), dtype="bf16"),
    case("rodimus", "plus", "Rodimus", dict(
        hidden_size=24, block_type="rodimus_plus", residual_in_fp32=False, expand_ratio=7, input_gate_low_rank=5, conv_size=3,
        ska_attn=dict(num_heads=3, window_size=11, qk_norm=True, qkv_bias=True, rope_theta=500.0),
        intermediate_size=30, vocab_size=61, tie_word_embeddings=False)),
    case("rodimus", "hybrid_bf16", "Rodimus", dict(
        hidden_size=20, block_type="rodimus", residual_in_fp32=False, expand_ratio=9, num_hidden_layers=3, k_norm_eps=1e-6,
        attn=dict(layers=[1], num_heads=2, num_kv_heads=1, window_size=None, rope_theta=300.0),
        intermediate_size=28, tie_word_embeddings=True), dtype="bf16", embedding=0.3),
    case("rodimus", "one_tap", "Rodimus", dict(
        hidden_size=20, block_type="rodimus", residual_in_fp32=False, expand_ratio=7, input_gate_low_rank=5, conv_size=1,
        num_hidden_layers=1, intermediate_size=28)),
    case("hgrn", "lower_bounds", "HGRN", dict(
        hidden_size=20, num_hidden_layers=3, expand_ratio=2, intermediate_size=28)),
    case("hgrn", "convolutions_no_bounds", "HGRN", dict(
        hidden_size=24, use_lower_bound=False, use_short_conv=True, conv_size=3, vocab_size=61)),
    case("hgrn", "one_tap", "HGRN", dict(
        hidden_size=20, use_short_conv=True, conv_size=1, num_hidden_layers=1, intermediate_size=28)),
    case("hgrn", "no_weights", "HGRN", dict(
        hidden_size=20, elementwise_affine=False, num_hidden_layers=1, intermediate_size=28)),
    case("yoco", "gated_retention", "YOCO", dict(
        hidden_size=24, num_self_decoder_layers=2, num_hidden_layers=4, intermediate_size=28,
        max_position_embeddings=64, vocab_size=59,
        self_decoder_attn=dict(type="gated_retention", num_heads=3, rope_theta=300.0, rope_inv_freq="yoco",
                               gate_logit_normalizer=7.0),
        cross_decoder_attn=dict(num_heads=4, num_kv_heads=2, qkv_bias=True, qk_norm=True,
                                rope_theta=500.0))),
    case("yoco", "windows_bf16", "YOCO", dict(
        num_self_decoder_layers=1, num_hidden_layers=4, intermediate_size=28, fuse_norm=False,
        max_position_embeddings=64, tie_word_embeddings=True,
        self_decoder_attn=dict(type="swa", num_heads=5, num_v_heads=1, qkv_bias=True, window_size=7,
                               rope_theta=300.0),
        cross_decoder_attn=dict(num_heads=3, rope_inv_freq="yoco")), dtype="bf16", embedding=0.1),
    case("yoco", "gated_deltanet", "YOCO", dict(
        hidden_size=20, num_self_decoder_layers=2, num_hidden_layers=3, intermediate_size=36,
        max_position_embeddings=64,
        self_decoder_attn=dict(num_heads=2, num_v_heads=4, head_dim=6, expand_v=1.5, conv_size=3),
        cross_decoder_attn=dict(num_heads=5, num_kv_heads=1))),
    case("linear_attn", "product", "LinearAttention", dict(num_heads=3, expand_k=0.8, expand_v=1.2)),
    case("linear_attn", "elu_bf16", "LinearAttention", dict(
        hidden_size=24, num_heads=2, expand_k=0.5, feature_map="elu", norm_feature_map=True,
        elementwise_affine=True, intermediate_size=36), dtype="bf16"),
    case("linear_attn", "t2r", "LinearAttention", dict(
        hidden_size=20, num_heads=4, expand_k=0.8, expand_v=1.4, feature_map="t2r", norm_feature_map=True,
        elementwise_affine=False, intermediate_size=28)),
    case("linear_attn", "hedgehog_bf16", "LinearAttention", dict(
        hidden_size=24, num_heads=3, expand_k=0.75, expand_v=0.5, feature_map="hedgehog", norm_feature_map=True,
        intermediate_size=28), dtype="bf16"),
    case("linear_attn", "dpfp", "LinearAttention", dict(
        hidden_size=28, num_heads=2, expand_k=0.5, expand_v=0.5, feature_map="dpfp", intermediate_size=20)),
    case("linear_attn", "shared_keys_sums", "LinearAttention", dict(
        hidden_size=24, num_heads=6, num_kv_heads=3, expand_k=0.75, expand_v=0.5, feature_map="hedgehog",
        norm_q=True, norm_k=True, intermediate_size=20)),
    case("linear_attn", "shared_keys_bf16", "LinearAttention", dict(
        hidden_size=20, num_heads=4, num_kv_heads=1, expand_v=1.4, feature_map="elementwise_product",
        intermediate_size=28), dtype="bf16"),
    case("samba", "plain", "Samba", dict(
        hidden_size=12, state_size=5, time_step_rank=3, num_hidden_layers=3, hidden_ratio=4,
        attn=dict(layers=[1], num_heads=3, window_size=7, rope_theta=300.0)), dtype="bf16"),
    case("samba", "biases", "Samba", dict(
        hidden_size=10, state_size=7, conv_kernel=3, expand=3, use_bias=True, tie_word_embeddings=False,
        vocab_size=59, attn=dict(layers=[1], num_heads=5, num_kv_heads=1, qkv_bias=True,
                                 rope_theta=500.0))),
    case("samba", "one_tap", "Samba", dict(
        hidden_size=12, state_size=5, conv_kernel=1, time_step_rank=3, num_hidden_layers=1, hidden_ratio=4,
        attn=dict(layers=[], num_heads=3))),
]
