"""What `draw_checkpoints.py` draws of each family: sizes that differ, and keys that are set or left out.

A row returns the public library's class, its configuration and what a case needs besides. What a GGUF file cannot say
(README.md of frontend/gguf) is drawn for checkpoints alone."""

EPSILONS = (1e-6, 1e-5, 1e-3)
# Scaling of positions; the converter writes llama3's for Llama's relatives alone.
KINDS = {False: ("default", "linear", "yarn", "llama3"), True: ("default", "linear", "yarn")}


def rope(random, gguf, kinds=("default", "linear", "yarn", "llama3")):
    """Rotary positions of one of the kinds."""
    kind = random.choice(kinds)
    out = {"rope_type": kind, "rope_theta": random.choice([300.0, 10000.0, 500000.0])}
    if kind != "default":
        out["factor"] = random.choice([2.0, 4.0, 16.0])
    if kind in ("yarn", "llama3"):
        out["original_max_position_embeddings"] = random.choice([8, 16, 32])
    if kind == "llama3":
        out |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if kind == "yarn" and random.random() < 0.5:
        out |= {"beta_fast": 8.0, "beta_slow": 1.0}
    return out


def decoder(random, wide, gguf, kinds=("default", "linear", "yarn", "llama3"), own_width=True):
    """Keys that most decoders share; `wide`: rows are whole blocks of 256."""
    heads = random.choice([2, 4, 8] if wide else [1, 2, 3, 4, 6])
    keys = random.choice([n for n in range(1, heads + 1) if heads % n == 0])
    channels = random.choice([32, 64, 128] if wide else [4, 6, 8, 12])
    if wide:
        channels = max(channels, 256 // heads)
    config = dict(
        vocab_size=random.randrange(67, 130), max_position_embeddings=random.choice([64, 96]),
        hidden_size=256 * random.choice([1, 2]) if wide else heads * channels, num_attention_heads=heads,
        num_key_value_heads=keys, num_hidden_layers=random.randrange(1, 4),
        intermediate_size=256 * random.choice([1, 2, 3]) if wide else random.randrange(5, 50),
        rms_norm_eps=random.choice(EPSILONS), tie_word_embeddings=random.random() < 0.5)
    if own_width:
        config["head_dim"] = channels
    elif wide:
        config["head_dim"] = config["hidden_size"] // heads
    if random.random() < 0.8:
        config["rope_parameters"] = rope(random, gguf, kinds)
    return config


def experts(random, config, count="num_experts"):
    config[count] = random.randrange(1, 9)
    config["num_experts_per_tok"] = random.randrange(1, config[count] + 1)


def llama(random, wide, gguf):
    config = decoder(random, wide, gguf)
    config |= {"attention_bias": random.random() < 0.4, "mlp_bias": random.random() < 0.3}
    return "Llama", config, {}


def qwen2(random, wide, gguf):
    return "Qwen2", decoder(random, wide, gguf, KINDS[gguf], own_width=False), {}


def qwen3(random, wide, gguf):
    return "Qwen3", decoder(random, wide, gguf, KINDS[gguf]) | {"attention_bias": random.random() < 0.3}, {}


def mixtral(random, wide, gguf):
    config = decoder(random, wide, gguf)
    experts(random, config, "num_local_experts")
    return "Mixtral", config, {}


def granite(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default", "linear"), own_width=False)
    config |= {"embedding_multiplier": random.choice([1.0, 12.0]), "logits_scaling": random.choice([1.0, 8.0]),
               "residual_multiplier": random.choice([1.0, 0.22]), "attention_multiplier": random.choice([1.0, 0.3])}
    return "Granite", config, {"embedding": 0.1}


def olmo2(random, wide, gguf):
    return "Olmo2", decoder(random, wide, gguf, ("default", "linear", "yarn"), own_width=False), {}


def olmo3(random, wide, gguf):
    config = decoder(random, wide, gguf, own_width=False)
    whole = rope(random, gguf, ("default", "yarn"))
    config |= {
        "sliding_window": random.choice([1, 5, 20, 60]),
        "layer_types": [random.choice(["sliding_attention", "full_attention"])
                        for _ in range(config["num_hidden_layers"])],
        "rope_parameters": {"full_attention": whole,
                            "sliding_attention": {"rope_type": "default", "rope_theta": random.choice([100.0, 5e5])}}}
    return "Olmo3", config, {}


def gpt_oss(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default", "linear", "yarn"))
    experts(random, config, "num_local_experts")
    config |= {"attention_bias": True, "tie_word_embeddings": False, "sliding_window": random.choice([1, 5, 20, 60]),
               "layer_types": [("sliding_attention", "full_attention")[i % 2]
                               for i in range(config["num_hidden_layers"])]}
    config.setdefault("rope_parameters", {"rope_type": "default", "rope_theta": 300.0})
    if config["rope_parameters"]["rope_type"] == "yarn":
        config["rope_parameters"]["truncate"] = False
    return "GptOss", config, {"draw": {r"sinks$": (0.0, 1.5)}}


def bloom(random, wide, gguf):
    heads = random.choice([2, 4, 5, 7])
    return "Bloom", dict(
        vocab_size=random.randrange(67, 130), hidden_size=256 if wide and heads < 5 else heads * random.randrange(2, 8),
        n_layer=random.randrange(1, 4), n_head=heads, layer_norm_epsilon=random.choice(EPSILONS), seq_length=64,
        apply_residual_connection_post_layernorm=not gguf and random.random() < 0.5), {"embedding": 0.3}


def gpt2(random, wide, gguf):
    heads = random.choice([2, 4, 8])
    return "GPT2", dict(
        # The converter asks for `n_ctx`, and writes 4 times the width whatever `n_inner` says.
        **({"n_ctx": 64} if gguf else {"n_inner": random.choice([None, 512 if wide else 30])}),
        vocab_size=random.randrange(67, 130), n_embd=256 if wide else heads * random.randrange(2, 8), n_head=heads,
        n_layer=random.randrange(1, 4), n_positions=64,
        layer_norm_epsilon=random.choice(EPSILONS), tie_word_embeddings=random.random() < 0.5), {
            "model_class": "GPT2LMHeadModel", "embedding": 0.3}


def gpt_neox(random, wide, gguf):  # the converter asks for `rotary_pct`, which transformers 5 writes no more
    heads = random.choice([2, 4, 8])
    width = 256 if wide else heads * random.choice([4, 8, 12])
    return "GPTNeoX", dict(
        vocab_size=random.randrange(67, 130), hidden_size=width, num_attention_heads=heads, max_position_embeddings=64,
        num_hidden_layers=random.randrange(1, 4), intermediate_size=512 if wide else random.randrange(5, 50),
        layer_norm_eps=random.choice(EPSILONS), use_parallel_residual=random.random() < 0.5,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0,
                         "partial_rotary_factor": random.choice([0.25, 0.5, 1.0])}), {}


def phi3(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default",), own_width=False)
    config |= {"pad_token_id": 0, "original_max_position_embeddings": config["max_position_embeddings"],
               "sliding_window": random.choice([None, 1, 5, 20])}
    if "rope_parameters" in config and random.random() < 0.5:
        config["rope_parameters"]["partial_rotary_factor"] = 0.5
    return "Phi3", config, {}


def gemma2(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default",))
    if gguf:  # the converter writes no base
        config.pop("rope_parameters", None)
    config |= {"sliding_window": random.choice([1, 5, 20, 60]), "query_pre_attn_scalar": config["head_dim"],
               "attn_logit_softcapping": random.choice([5.0, 50.0]), "tie_word_embeddings": True,
               "final_logit_softcapping": random.choice([3.0, 30.0])}
    return "Gemma2", config, {"embedding": 0.1}


def smollm3(random, wide, gguf):
    config = decoder(random, wide, gguf, own_width=False)
    config |= {"attention_bias": random.random() < 0.4, "pad_token_id": 0, "use_sliding_window": False,
               "no_rope_layer_interval": 4}
    return "SmolLM3", config, {}


def cohere2(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default",))
    config["layer_norm_eps"] = config.pop("rms_norm_eps")
    config |= {"sliding_window": random.choice([1, 5, 20, 60]), "logit_scale": random.choice([0.0625, 0.25, 1.0]),
               "tie_word_embeddings": True, "num_hidden_layers": random.choice([4, 5])}
    if gguf:  # the converter asks for the key
        config["rotary_pct"] = 1.0
    return "Cohere2", config, {}


def qwen2_moe(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default",), own_width=False)
    experts(random, config)
    config |= {"moe_intermediate_size": 256 if wide else random.randrange(5, 30),
               "shared_expert_intermediate_size": 512 if wide else random.randrange(5, 30), "decoder_sparse_step": 1}
    return "Qwen2Moe", config, {}


def qwen3_moe(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default",))
    experts(random, config)
    config |= {"moe_intermediate_size": 256 if wide else random.randrange(5, 30), "norm_topk_prob": True}
    return "Qwen3Moe", config, {}


def lfm2(random, wide, gguf):
    config = decoder(random, wide, gguf, ("default",), own_width=False)
    config["norm_eps"] = config.pop("rms_norm_eps")
    config |= {"conv_L_cache": random.choice([3, 4]), "block_auto_adjust_ff_dim": False,
               "layer_types": [random.choice(["conv", "full_attention"]) for _ in range(config["num_hidden_layers"])]}
    return "Lfm2", config, {}


def mamba(random, wide, gguf):
    width = 256 if wide else random.randrange(5, 30)
    return "Mamba", dict(
        vocab_size=8 * random.randrange(9, 15), hidden_size=width, state_size=random.choice([4, 8, 16]), expand=2,
        num_hidden_layers=random.randrange(1, 4), conv_kernel=4, layer_norm_epsilon=random.choice(EPSILONS),
        time_step_rank=random.randrange(1, 9), tie_word_embeddings=random.random() < 0.5), {}


FAMILIES = {row.__name__: row for row in (
    bloom, cohere2, gemma2, gpt2, gpt_neox, gpt_oss, granite, lfm2, llama, mamba, mixtral, olmo2, olmo3, phi3, qwen2,
    qwen2_moe, qwen3, qwen3_moe, smollm3)}
