"""Cases of transformers' decoders from before LLaMA: GPT-2, GPT-Neo, GPT-NeoX, OPT, BLOOM."""

from torch.nn import functional
from transformers.models.bloom import modeling_bloom

from .public import case

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
