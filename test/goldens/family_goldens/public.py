"""Cases of the public library transformers."""

import torch
import transformers
from transformers.models.minimax import modeling_minimax
from transformers.models.minimax_m2 import modeling_minimax_m2
from transformers.models.recurrent_gemma import modeling_recurrent_gemma
from transformers.models.xlstm import modeling_xlstm

from .case import Case


def one_token_after_another(self, query, key, value, igate, fgate, c_initial=None, n_initial=None,
                            m_initial=None, **unused):
    """The library's own recurrence; its chunks of tokens mix up the sizes of keys and values."""
    return modeling_xlstm.mlstm_recurrent_sequence_native(
        query, key, value, igate, fgate, c_initial, n_initial, m_initial, return_last_states=True,
        eps=self.config.eps, dtype_state=torch.float32)


modeling_xlstm.xLSTMBackend.forward = one_token_after_another

scan = modeling_recurrent_gemma.RecurrentGemmaRglru._rnn_scan
# Its default type was read when the module was, before anything is in double.
modeling_recurrent_gemma.RecurrentGemmaRglru._rnn_scan = (
    lambda self, **operands: scan(self, **operands, acc_dtype=torch.float32))

# It fails on fused weights, and all of them are drawn anyway.
modeling_xlstm.xLSTMPreTrainedModel._init_weights = lambda self, module: None

# It turns all channels whatever the configuration says; its successor, whose functions these are,
# those that are to be turned.
modeling_minimax.apply_rotary_pos_emb = modeling_minimax_m2.apply_rotary_pos_emb
modeling_minimax.MiniMaxRotaryEmbedding.compute_default_rope_parameters = staticmethod(
    modeling_minimax_m2.MiniMaxM2RotaryEmbedding.compute_default_rope_parameters)

# Gates that are active: decays that neither vanish nor stay at 1.
DRAW = {
    r"A_log$": (0.0, 0.7),
    r"dt_proj\.bias$": (-0.5, 1.0),
    r"mixer\.D$": (1.0, 0.4),
    r"conv_?1d\.weight$": (0.1, 0.5),
    r"time_decay$": (0.0, 1.0),
    r"time_first$": (0.3, 0.5),
    r"time_mix_\w+$": (0.5, 0.3),
    r"ln\w*\.weight$": (1.0, 0.3),
    r"recurrent_param$": (0.0, 1.0),
    r"igate_preact\.bias$": (0.0, 1.5),
    r"fgate_preact\.bias$": (1.5, 1.5),
}

# Tokens with a meaning, which every configuration has.
TOKENS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def case(family, name, kind, config, **more):
    """A case of the library's classes `kind`Config and `kind`ForCausalLM."""

    def build():
        settings = dict(config)
        # Reading a configuration may change what is nested in it.
        for key, value in settings.items():
            if isinstance(value, dict):
                settings[key] = {k: dict(v) if isinstance(v, dict) else v for k, v in value.items()}
        made = getattr(transformers, more_config)(**{**TOKENS, **settings})
        made._attn_implementation = made._experts_implementation = "eager"
        return getattr(transformers, more_model)(made)

    more_config = more.pop("config_class", f"{kind}Config")
    more_model = more.pop("model_class", f"{kind}ForCausalLM")
    return Case(family, name, build, config["vocab_size"], draw={**DRAW, **more.pop("draw", {})}, **more)


def of_release_4(config):
    """The spelling of releases before 5: rope_theta and rope_scaling."""
    rope = dict(config.pop("rope_parameters"))
    config.pop("layer_types", None)
    config["torch_dtype"] = config.pop("dtype")
    config["rope_theta"] = rope.pop("rope_theta")
    if "partial_rotary_factor" in rope:
        config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    kind = rope.pop("rope_type")
    config["rope_scaling"] = {"type": kind, **rope} if kind != "default" else None
    config["transformers_version"] = "4.44.0"
    return config


def of_first_jamba(config):
    """Jamba's first release, whose code is its own, by what its converters read: github.com/ggml-org/llama.cpp
    (conversion of Mini-Jamba) and TechxGenus' script for Jamba-v0.1."""
    positions = config.pop("max_position_embeddings")
    return {**config, "n_ctx": positions, "mamba_inner_layernorms": True,
            "calc_logits_for_entire_prompt": False,
            "auto_map": {"AutoConfig": "configuration_jamba.JambaConfig",
                         "AutoModelForCausalLM": "modeling_jamba.JambaForCausalLM"}}


def named_as_first_jamba(name):
    """Norms of keys and queries in capitals; a layer without a router is its expert 0."""
    for new, old in (("b_layernorm", "B_layernorm"), ("c_layernorm", "C_layernorm"),
                     ("pre_ff_layernorm", "pre_moe_layernorm")):
        name = name.replace(new, old)
    if "feed_forward.experts" in name or "feed_forward.router" in name:
        return name.replace("feed_forward", "moe")
    return name.replace("feed_forward", "moe.experts.0")


def of_several_parts(config):
    """The text's configuration inside that of a model which also sees."""
    kept = {key: config.pop(key) for key in ("bos_token_id", "eos_token_id", "transformers_version")}
    config.pop("architectures")
    return {**kept, "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
            "text_config": config, "vision_config": {"hidden_size": 12}}


LLAMA = dict(vocab_size=67, hidden_size=30, intermediate_size=44, num_hidden_layers=2,
             num_attention_heads=6, num_key_value_heads=3, head_dim=8, max_position_embeddings=64)

CASES = [
    case("llama", "llama3_scaling", "Llama", {
        **LLAMA, "rope_parameters": {
            "rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 16},
        "eos_token_id": [2, 5]}),
    case("llama", "biases_yarn_tied_bf16", "Llama", {
        **LLAMA, "num_key_value_heads": 2, "attention_bias": True, "mlp_bias": True,
        "tie_word_embeddings": True, "rms_norm_eps": 1e-5, "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 200.0, "factor": 3.0,
            "original_max_position_embeddings": 21}}, dtype="bf16", embedding=0.3),
    case("llama", "release_4_linear", "Llama", {
        **LLAMA, "head_dim": None, "num_attention_heads": 5, "num_key_value_heads": 1,
        "rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0}},
         rewrite=of_release_4),
    case("mistral", "window", "Mistral", {
        **LLAMA, "sliding_window": 9, "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}),
    case("mistral", "no_window_bf16", "Mistral", {
        **LLAMA, "sliding_window": None, "num_key_value_heads": 1, "intermediate_size": 52,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}}, dtype="bf16"),
    case("qwen2", "tied", "Qwen2", {
        **{k: v for k, v in LLAMA.items() if k != "head_dim"}, "hidden_size": 36,
        "tie_word_embeddings": True}, embedding=0.3),
    case("qwen2", "windows_above", "Qwen2", {
        **{k: v for k, v in LLAMA.items() if k != "head_dim"}, "hidden_size": 32,
        "num_attention_heads": 4, "num_key_value_heads": 2, "use_sliding_window": True,
        "sliding_window": 7, "max_window_layers": 1, "rms_norm_eps": 1e-5}),
    case("qwen3", "head_norms", "Qwen3", {**LLAMA, "rope_parameters": {
        "rope_type": "default", "rope_theta": 400.0}}),
    case("qwen3", "biases_windows", "Qwen3", {
        **LLAMA, "num_attention_heads": 4, "num_key_value_heads": 1, "attention_bias": True,
        "layer_types": ["sliding_attention", "full_attention"], "use_sliding_window": True,
        "sliding_window": 11}),
    case("phi3", "plain_window", "Phi3", {
        **{k: v for k, v in LLAMA.items() if k != "head_dim"}, "hidden_size": 36,
        "sliding_window": 13}),
    # One token a call: in longer ones the library turns all of them by the last one's factors.
    case("phi3", "longrope_long", "Phi3", {
        **{k: v for k, v in LLAMA.items() if k != "head_dim"}, "hidden_size": 32,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 40,
        "original_max_position_embeddings": 24, "rope_parameters": {
            "rope_type": "longrope", "rope_theta": 150.0, "partial_rotary_factor": 0.75,
            "short_factor": [1.0, 1.1, 1.3], "long_factor": [1.2, 2.0, 4.5]}}, lengths=(48, 27), stepwise=True),
    case("phi3", "longrope_short", "Phi3", {
        **{k: v for k, v in LLAMA.items() if k != "head_dim"}, "hidden_size": 24,
        "num_attention_heads": 4, "num_key_value_heads": 1, "intermediate_size": 36,
        "original_max_position_embeddings": 64, "rope_parameters": {
            "rope_type": "longrope", "rope_theta": 150.0, "attention_factor": 1.25,
            "short_factor": [1.0, 1.1, 1.3], "long_factor": [1.2, 2.0, 4.5]}}),
]
for name, window, more in [
        ("caps_window", 10, {}),
        ("no_caps_untied", 40, {"attn_logit_softcapping": None, "final_logit_softcapping": None,
                                "tie_word_embeddings": False, "attention_bias": True})]:
    CASES.append(case("gemma2", name, "Gemma2", {
        **LLAMA, "sliding_window": window, "query_pre_attn_scalar": 12,
        "attn_logit_softcapping": 3.0, "final_logit_softcapping": 5.0, **more},
        zero_centred=True, embedding=0.25))
GEMMA3 = {**LLAMA, "num_hidden_layers": 3, "sliding_window": 8, "query_pre_attn_scalar": 7,
          "intermediate_size": 28, "vocab_size": 61}
CASES += [
    case("gemma3", "text_linear", "Gemma3", {
        **GEMMA3, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "rope_theta": 1000.0, "factor": 8.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}},
         config_class="Gemma3TextConfig", zero_centred=True, embedding=0.25),
    case("gemma3", "text_caps", "Gemma3", {
        **GEMMA3, "num_attention_heads": 5, "num_key_value_heads": 1, "final_logit_softcapping": 4.0,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"]},
         config_class="Gemma3TextConfig", zero_centred=True, embedding=0.25, dtype="bf16"),
    case("gemma3", "beside_vision", "Gemma3", {
        **GEMMA3, "num_hidden_layers": 2, "intermediate_size": 36,
        "layer_types": ["sliding_attention", "full_attention"]},
         config_class="Gemma3TextConfig", zero_centred=True, embedding=0.25,
         rewrite=of_several_parts, rename=lambda name: "language_" + name.replace("model.", "model.model.", 1)),
    # As release 5 names it, with tensors of what sees.
    case("gemma3", "seeing_bf16", "Gemma3", {
        **GEMMA3, "num_hidden_layers": 2, "intermediate_size": 40, "num_key_value_heads": 1, "sliding_window": 5,
        "layer_types": ["full_attention", "sliding_attention"]},
         config_class="Gemma3TextConfig", zero_centred=True, embedding=0.25, dtype="bf16",
         rewrite=of_several_parts, rename=lambda name: name.replace("model.", "model.language_model.", 1),
         buffers={"model.vision_tower.head.weight": (3, 5), "model.multi_modal_projector.norm.weight": (7,)}),
]

MAMBA = dict(vocab_size=61, hidden_size=24, state_size=5, num_hidden_layers=2, time_step_rank=3)
GRIFFIN = dict(vocab_size=61, hidden_size=24, intermediate_size=56, num_attention_heads=3,
               num_key_value_heads=1, num_hidden_layers=3, attention_window_size=9)
XLSTM = dict(vocab_size=61, hidden_size=24, num_hidden_layers=2, num_heads=3, ffn_proj_factor=1.4,
             ffn_round_up_to_multiple_of=4, chunkwise_kernel="chunkwise--native_autograd",
             sequence_kernel="native_sequence__native", step_kernel="native", mode="inference",
             autocast_kernel_dtype="float32", chunk_size=16)
CASES += [
    case("mamba", "plain", "Mamba", MAMBA, embedding=0.3),
    case("mamba", "biases_untied_bf16", "Mamba", {
        **MAMBA, "hidden_size": 20, "state_size": 7, "conv_kernel": 3, "use_bias": True,
        "use_conv_bias": False, "time_step_rank": "auto", "tie_word_embeddings": False, "expand": 3},
         dtype="bf16"),
    case("mamba", "gelu", "Mamba", {**MAMBA, "hidden_size": 16, "num_hidden_layers": 1, "hidden_act": "gelu"},
         embedding=0.3),
    case("mamba2", "relu", "Mamba2", dict(
        vocab_size=31, hidden_size=20, state_size=5, num_hidden_layers=1, num_heads=4, head_dim=10, n_groups=2,
        hidden_act="relu"), embedding=0.3),
    case("mamba2", "plain", "Mamba2", dict(
        vocab_size=59, hidden_size=20, state_size=9, num_hidden_layers=2, num_heads=6, head_dim=10, expand=3,
        n_groups=2, tie_word_embeddings=False, time_step_limit=(0.3, 1.2), layer_norm_epsilon=1e-4), embedding=0.3),
    case("mamba2", "tied_biases_bf16", "Mamba2", dict(
        vocab_size=53, hidden_size=24, state_size=7, num_hidden_layers=3, num_heads=8, head_dim=6, n_groups=1,
        conv_kernel=3, use_bias=True, use_conv_bias=False, tie_word_embeddings=True), embedding=0.3, dtype="bf16"),
    case("falcon_mamba", "plain", "FalconMamba", MAMBA, embedding=0.3),
    case("falcon_mamba", "untied_bf16", "FalconMamba", {
        **MAMBA, "hidden_size": 20, "state_size": 7, "time_step_rank": 4, "use_bias": True,
        "tie_word_embeddings": False, "mixer_rms_eps": 1e-4}, dtype="bf16"),
    case("rwkv4", "plain", "Rwkv", dict(
        vocab_size=61, hidden_size=24, num_hidden_layers=2, intermediate_size=40)),
    # Halving the residual halves what stands beside the norms' epsilon, so it is another model.
    case("rwkv4", "not_rescaled_bf16", "Rwkv", dict(
        vocab_size=53, hidden_size=20, num_hidden_layers=3, rescale_every=0,
        layer_norm_epsilon=1e-4), dtype="bf16"),
    case("recurrent_gemma", "plain", "RecurrentGemma", GRIFFIN, zero_centred=True, embedding=0.25),
    case("recurrent_gemma", "one_tap", "RecurrentGemma", {
        **GRIFFIN, "conv1d_width": 1, "num_hidden_layers": 2, "block_types": ["recurrent", "attention"]},
         zero_centred=True, embedding=0.25),
    case("recurrent_gemma", "wide_bf16", "RecurrentGemma", {
        **GRIFFIN, "lru_width": 30, "attention_bias": True, "num_key_value_heads": 3,
        "block_types": ["attention", "recurrent"], "logits_soft_cap": 4.0, "num_hidden_layers": 2,
        "attention_window_size": 20}, zero_centred=True, embedding=0.25, dtype="bf16"),
    case("xlstm", "single", "xLSTM", XLSTM),
    # The library applies the last norm all the same.
    case("xlstm", "norm_unasked", "xLSTM", {
        **XLSTM, "hidden_size": 16, "num_hidden_layers": 1, "num_heads": 2, "add_out_norm": False}),
    case("xlstm", "fused_biases", "xLSTM", {
        **XLSTM, "num_heads": 2, "weight_mode": "fused", "use_bias": True, "qk_dim_factor": 0.75,
        "gate_soft_cap": 6.0, "output_logit_soft_cap": 3.0}, draw={r"ifgate_preact\.bias$": (0.5, 1.5)}),
]
# Norms over a handful of numbers would multiply every rounding where these happen to be small.
JAMBA = dict(vocab_size=53, hidden_size=20, intermediate_size=12, num_hidden_layers=3,
             num_attention_heads=4, num_key_value_heads=2, attn_layer_period=2, attn_layer_offset=1,
             expert_layer_period=2, expert_layer_offset=0, num_experts=5, num_experts_per_tok=2,
             mamba_d_state=9, mamba_dt_rank=7, max_position_embeddings=64, use_mamba_kernels=False)
CASES += [
    case("jamba", "experts", "Jamba", JAMBA),
    case("jamba", "one_tap", "Jamba", {**JAMBA, "mamba_d_conv": 1, "num_hidden_layers": 2}),
    case("jamba", "first_release", "Jamba", {
        **JAMBA, "hidden_size": 16, "num_experts": 3, "num_hidden_layers": 4, "mamba_d_state": 6,
        "expert_layer_offset": 1}, rewrite=of_first_jamba, rename=named_as_first_jamba),
    case("jamba", "first_dense_bf16", "Jamba", {
        **JAMBA, "num_experts": 1, "num_experts_per_tok": 1, "intermediate_size": 28, "num_hidden_layers": 2,
        "mamba_d_conv": 3, "tie_word_embeddings": True}, rewrite=of_first_jamba, rename=named_as_first_jamba,
         dtype="bf16", embedding=0.3),
    case("jamba", "dense_biases_bf16", "Jamba", {
        **JAMBA, "num_experts": 1, "num_experts_per_tok": 1, "intermediate_size": 36,
        "attn_layer_period": 3, "attn_layer_offset": 2, "mamba_proj_bias": True,
        "mamba_conv_bias": False, "num_key_value_heads": 1, "tie_word_embeddings": True},
         dtype="bf16", embedding=0.3),
]


def as_minimax_is_released(config):
    """How many channels turn is said by another key there, beside some that nobody reads."""
    rotary = config.pop("rope_parameters")
    turned = round(rotary["partial_rotary_factor"] * config["head_dim"])
    return {**config, "rope_theta": rotary["rope_theta"], "rotary_dim": turned, "postnorm": True,
            "shared_moe_mode": "sigmoid"}


MINIMAX = dict(vocab_size=53, hidden_size=20, intermediate_size=12, num_hidden_layers=3, head_dim=6,
               num_attention_heads=4, num_key_value_heads=2, num_local_experts=5, num_experts_per_tok=2,
               max_position_embeddings=64, block_size=16)
CASES += [
    case("minimax", "plain", "MiniMax", MINIMAX),
    case("minimax", "saved_held", "MiniMax", {
        **MINIMAX, "num_hidden_layers": 2, "num_local_experts": 3, "layer_types": ["full_attention", "linear_attention"]},
         converted=False),
    case("minimax", "shares_window_bf16", "MiniMax", {
        **MINIMAX, "num_hidden_layers": 2, "num_key_value_heads": 1, "num_local_experts": 3,
        "layer_types": ["linear_attention", "full_attention"], "sliding_window": 10,
        "full_attn_alpha_factor": 1.5, "full_attn_beta_factor": 0.75, "linear_attn_alpha_factor": 0.5,
        "linear_attn_beta_factor": 1.25, "mlp_alpha_factor": 2.0, "mlp_beta_factor": 0.5}, dtype="bf16"),
    case("minimax", "released_keys", "MiniMax", {
        **MINIMAX, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 10,
        "layer_types": ["linear_attention", "full_attention"], "full_attn_alpha_factor": 1.25,
        "rope_parameters": {"rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 0.6}},
         rewrite=as_minimax_is_released),
]
