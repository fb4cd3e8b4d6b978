"""Cases of transformers' decoders from before LLaMA (GPT-2, GPT-Neo, GPT-NeoX, OPT, BLOOM) and of its later
relatives (Granite, Ministral, Mixtral, SmolLM3, OLMo 2 and 3, EXAONE 4, Cohere 2; release 5.24)."""

from torch.nn import functional
from transformers.models.bloom import modeling_bloom

from .public import LLAMA, case

# It writes out the constant of the tangent's approximation to eight digits, which double shows.
modeling_bloom.bloom_gelu_forward = lambda x: functional.gelu(x, approximate="tanh")


def without(prefix):
    return lambda name: name.removeprefix(prefix)


def rotary_of_release_4(config):
    rope = config.pop("rope_parameters")
    config["rotary_pct"] = rope["partial_rotary_factor"]
    config["rotary_emb_base"] = rope["rope_theta"]
    config["torch_dtype"] = config.pop("dtype")
    return config


def first_bloom(config):
    """The spelling of the first releases."""
    config["n_embed"] = config.pop("hidden_size")
    config["num_attention_heads"] = config.pop("n_head")
    return {**config, "seq_length": 64, "n_inner": None, "masked_softmax_fusion": True,
            "offset_alibi": 100, "skip_bias_add": True, "unk_token_id": 0}


GPT2 = dict(vocab_size=61, n_embd=28, n_layer=2, n_head=4, n_positions=64)
NEO = dict(vocab_size=61, hidden_size=28, num_layers=2, num_heads=7, max_position_embeddings=64,
           window_size=7, attention_types=[[["global", "local"], 1]])
NEOX = dict(vocab_size=67, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=44, max_position_embeddings=64)
OPT = dict(vocab_size=67, hidden_size=30, num_hidden_layers=2, ffn_dim=44, num_attention_heads=5,
           max_position_embeddings=64)
BLOOM = dict(vocab_size=67, hidden_size=25, n_layer=2, n_head=5)
CASES = [
    case("gpt2", "plain", "GPT2", GPT2, model_class="GPT2LMHeadModel", embedding=0.3),
    case("gpt2", "by_layer_untied_bf16", "GPT2", {
        **GPT2, "n_embd": 24, "n_layer": 3, "n_head": 3, "n_inner": 40, "n_positions": 52,
        "activation_function": "gelu", "scale_attn_by_inverse_layer_idx": True,
        "layer_norm_epsilon": 1e-4, "tie_word_embeddings": False}, model_class="GPT2LMHeadModel",
         dtype="bf16", rename=without("transformer."),
         buffers={"h.0.attn.bias": (1, 1, 12, 12), "h.2.attn.masked_bias": (1,)}),
    case("gpt_neo", "plain", "GPTNeo", NEO, embedding=0.3),
    case("gpt_neo", "local_first_bf16", "GPTNeo", {
        **NEO, "hidden_size": 24, "num_layers": 3, "num_heads": 3, "intermediate_size": 40,
        "attention_types": [[["local"], 2], [["global"], 1]], "window_size": 11,
        "activation_function": "relu", "tie_word_embeddings": False}, dtype="bf16"),
    case("gpt_neox", "parallel", "GPTNeoX", NEOX),
    case("gpt_neox", "in_series_bf16", "GPTNeoX", {
        **NEOX, "hidden_size": 30, "num_attention_heads": 3, "intermediate_size": 52,
        "use_parallel_residual": False, "attention_bias": False, "hidden_act": "gelu_new",
        "layer_norm_eps": 1e-4,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.4}},
         dtype="bf16", rewrite=rotary_of_release_4, rename=lambda name: name.replace("lm_head", "embed_out"),
         buffers={"gpt_neox.layers.0.attention.rotary_emb.inv_freq": (2,),
                  "gpt_neox.layers.1.attention.bias": (1, 1, 12, 12)}),
    case("opt", "plain", "OPT", OPT, embedding=0.3),
    case("opt", "narrow_norm_last_bf16", "OPT", {
        **OPT, "hidden_size": 24, "num_attention_heads": 3, "word_embed_proj_dim": 20, "ffn_dim": 40,
        "do_layer_norm_before": False, "max_position_embeddings": 52}, dtype="bf16", embedding=0.3),
    case("opt", "without_biases", "OPT", {
        **OPT, "hidden_size": 32, "num_attention_heads": 4, "ffn_dim": 36, "enable_bias": False,
        "layer_norm_elementwise_affine": False, "activation_function": "gelu",
        "tie_word_embeddings": False}, rename=without("model.")),
    case("bloom", "plain", "Bloom", BLOOM, embedding=0.3),
    case("bloom", "normed_tokens_bf16", "Bloom", {
        **BLOOM, "hidden_size": 24, "n_head": 4, "n_layer": 3, "layer_norm_epsilon": 1e-4,
        "apply_residual_connection_post_layernorm": True, "tie_word_embeddings": False}, dtype="bf16",
         rename=without("transformer."), rewrite=first_bloom),
]


def of_first_cohere(config):
    """The keys of the first releases."""
    del config["layer_types"]
    rope = config.pop("rope_parameters")
    return {**config, "rope_theta": rope["rope_theta"], "sliding_window_pattern": 2, "layer_switch": 2,
            "cache_implementation": "hybrid", "order_of_interleaved_layers": "local_attn_first",
            "position_embedding_type": "rope_gptj", "rotary_pct": 1.0, "use_embedding_sharing": True,
            "use_gated_activation": True, "use_parallel_block": True, "use_parallel_embedding": True,
            "use_qk_norm": False}


def of_first_olmo3(config):
    """Positions outside of an object for each kind of layers."""
    rope = config.pop("rope_parameters")["full_attention"]
    config["rope_theta"] = rope.pop("rope_theta")
    return {**config, "rope_scaling": rope}


def by_letters(config):
    """Kinds of layers by a pattern of letters."""
    del config["layer_types"]
    return {**config, "sliding_window_pattern": "LG"}


def by_number(config):
    """Windows as their number alone gives them."""
    del config["layer_types"]
    return config


FACTORS = dict(embedding_multiplier=1.5, logits_scaling=2.0, residual_multiplier=0.6, attention_multiplier=0.3)
PLAIN = {key: value for key, value in LLAMA.items() if key != "head_dim"} | {"hidden_size": 36}
FEW_HEADS = {**PLAIN, "hidden_size": 24, "num_attention_heads": 4, "num_key_value_heads": 1}
TWO_KINDS = ["sliding_attention", "full_attention"]
THETA = {"rope_type": "default", "rope_theta": 300.0}
YARN = {"rope_type": "yarn", "rope_theta": 300.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "beta_fast": 8.0, "beta_slow": 1.0, "attention_factor": 1.2}
CASES += [
    case("granite", "plain", "Granite", {**PLAIN, **FACTORS}),
    case("granite", "biases_tied_bf16", "Granite", {
        **FEW_HEADS, **FACTORS, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True,
        "rope_parameters": THETA}, dtype="bf16", embedding=0.3),
    case("ministral", "windows", "Ministral", {
        **LLAMA, "sliding_window": 9, "layer_types": TWO_KINDS, "rope_parameters": THETA}),
    case("ministral", "everywhere_bf16", "Ministral", {
        **LLAMA, "sliding_window": 11, "num_key_value_heads": 1, "intermediate_size": 52}, dtype="bf16",
         rewrite=by_number),
    case("mixtral", "plain", "Mixtral", {
        **LLAMA, "hidden_size": 20, "intermediate_size": 14, "num_local_experts": 5, "num_experts_per_tok": 2}),
    case("mixtral", "window_fused_bf16", "Mixtral", {
        **FEW_HEADS, "intermediate_size": 12, "num_local_experts": 4, "num_experts_per_tok": 3, "sliding_window": 10,
        "rope_parameters": THETA}, dtype="bf16", converted=False, rename=lambda name: name.replace(
            "mlp.", "block_sparse_moe.")),
    # By the library's own names.
    case("mixtral", "saved_held", "Mixtral", {
        **LLAMA, "hidden_size": 20, "intermediate_size": 12, "num_hidden_layers": 1, "num_local_experts": 3,
        "num_experts_per_tok": 1}, converted=False),
    case("smollm3", "plain", "SmolLM3", {
        **PLAIN, "num_hidden_layers": 3, "intermediate_size": 28, "no_rope_layer_interval": 2}, embedding=0.3),
    case("smollm3", "windows_untied_bf16", "SmolLM3", {
        **FEW_HEADS, "no_rope_layers": [0, 1], "use_sliding_window": True, "sliding_window": 7,
        "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False, "rope_parameters": THETA},
         dtype="bf16"),
    case("olmo2", "plain", "Olmo2", PLAIN),
    case("olmo2", "biases_tied_bf16", "Olmo2", {
        **FEW_HEADS, "attention_bias": True, "tie_word_embeddings": True, "rope_parameters": THETA}, dtype="bf16",
         embedding=0.3),
    case("olmo3", "scaled", "Olmo3", {
        **PLAIN, "sliding_window": 9, "layer_types": TWO_KINDS, "rope_parameters": {
            "full_attention": YARN, "sliding_attention": THETA}}),
    # Keys that the library saves beside the objects of each kind of layers, and does not read.
    case("olmo3", "saved_keys_beside", "Olmo3", {
        **PLAIN, "num_hidden_layers": 1, "intermediate_size": 20, "sliding_window": 9, "rope_parameters": {
            "rope_type": "linear", "rope_theta": 700.0, "factor": 2.0}}),
    case("olmo3", "released_keys_bf16", "Olmo3", {
        **FEW_HEADS, "sliding_window": 12, "attention_bias": True, "layer_types": TWO_KINDS, "rope_parameters": {
            "full_attention": {**YARN, "rope_theta": 500000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 500000.0}}},
         dtype="bf16", rewrite=of_first_olmo3),
    case("exaone4", "windows", "Exaone4", {
        **LLAMA, "sliding_window": 8, "layer_types": TWO_KINDS, "rope_parameters": {
            **THETA, "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 16}},
         rewrite=by_letters),
    case("exaone4", "no_window_bf16", "Exaone4", {
        **FEW_HEADS, "sliding_window": None, "layer_types": ["full_attention"] * 2, "rope_parameters": THETA},
         dtype="bf16"),
    case("cohere2", "windows", "Cohere2", {
        **PLAIN, "sliding_window": 9, "layer_types": TWO_KINDS, "logit_scale": 0.25}, embedding=0.3),
    case("cohere2", "first_keys_bf16", "Cohere2", {
        **FEW_HEADS, "sliding_window": 7, "attention_bias": True, "layer_types": TWO_KINDS, "layer_norm_eps": 1e-4,
        "rope_parameters": THETA}, dtype="bf16", embedding=0.3, rewrite=of_first_cohere),
]
