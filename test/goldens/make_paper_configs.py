#!/usr/bin/env python3
"""Writes `configs/papers/<model>.json`: the papers' own models at their sizes, in the authors' layouts.

    rodimus_*   arXiv:2410.06577, tables 8 and 9 and D.5: twice the layers without attention, heads of
                128, a window of half the training context, of which the layout's key is the double;
                the tokenizer of the smallest is GPT-NeoX's, that of the others has 126,340 entries
    cheems_*    arXiv:2412.11834, table 7, under its names; what it does not give is by the code's
                defaults, so that the larger has more parameters than its name says
    mamba2attn_2_7b    huggingface.co/state-spaces/mamba2attn-2.7b, of arXiv:2405.21060
    bamba_9_8b    github.com/foundation-model-stack/fms-fsdp, `mamba_9.8b`, which became Bamba
    transnormer_*    the defaults of the checkpoints' configuration_transnormer.py, with the paper's positions
                (arXiv:2307.14995: in the first layer alone)
    masked_mixer_*   github.com/blbadger/maskedmixers, mixer_lm/mixer_trainer_fineweb.py
    srm_*       Badger, Structured Recurrent Mixers: tables S6 to S10, mixed heads with decay

Parameters are counted by the independent forwards of `family_goldens`, on no device.
Rodimus' are held to the paper's formula (tables 12 and 13), SRM's to what the tables print.
"""

import json
import shutil
from pathlib import Path

import torch
from family_goldens.mamba_ssm import AuthorsMamba2
from family_goldens.papers import Cheems, MaskedMixer, Rodimus, StructuredMixer, TransNormer

ROOT = Path(__file__).resolve().parent / "configs/papers"
NEOX, OWN = 50277, 126340


def rodimus(width, layers, vocabulary, plus):
    config = dict(
        model_type="rodimus", architectures=["RodimusForCausalLM"], vocab_size=vocabulary, d_model=width,
        n_layer=layers if plus else 2 * layers, block_type="rodimus_plus" if plus else "rodimus",
        norm_epsilon=1e-5, residual_in_fp32=True, max_position_embeddings=2048, tie_word_embeddings=True,
        mixer_cfg=dict(d_conv=4, expand_ratio=2, mem_size=64, input_gate_low_rank=max(width // 64, 16)))
    if plus:
        heads = width // 128
        config["attn_cfg"] = dict(num_heads=heads, num_heads_k=1, num_heads_v=heads, window_size=2048,
                                  ffn_expand_ratio=4 / 3)
    return config


def printed_rodimus(config):
    """Tables 12 and 13, and beside it the attention and the gated layer of Rodimus+."""
    d, v, mixer = config["d_model"], config["vocab_size"], config["mixer_cfg"]
    e, n, rank = 2 * d, mixer["mem_size"], mixer["input_gate_low_rank"]
    block = 3 * e * d + 5 * e + 4 * n * e + 2 * n + 2 * e * rank + 3 * e + d
    if "attn_cfg" in config:
        hidden = -(-int(4 / 3 * d) // 8) * 8
        block += 3 * d * d + 128 * d + 3 * d * hidden + 2 * d
    return config["n_layer"] * block + d + d * v


def cheems(width, heads, experts):
    return dict(
        model_type="cheems", architectures=["CheemsForCausalLM"], vocab_size=32768, hidden_size=width,
        intermediate_size=2 * width, num_hidden_layers=24, hidden_bias=False, hidden_act="silu",
        num_attention_heads=heads, num_key_value_heads=heads, attn_layer_period=8, attn_layer_offset=7,
        is_moe=True, num_cdmoe_experts=experts, num_cdmoe_heads=4, num_cdmoe_experts_per_head=8,
        expert_retrieval_size=64, rms_norm_eps=1e-6, max_position_embeddings=8192, rope_theta=10000.0,
        dynamic_mask_ratio=0.0, tie_word_embeddings=True)


def srm(width, context=512, **more):
    return dict(model_type="srm", architectures=["MLPMixer"], vocab_size=8000, hidden_dim=width,
                seq_len=context, num_blocks=16, heads=4, mixed_heads=True, decay=True, **more)


# Six of its layers attend.
MAMBA2ATTN = dict(
    d_model=2560, d_intermediate=0, n_layer=64, vocab_size=50277, pad_vocab_size_multiple=16, tie_embeddings=True,
    rms_norm=True, residual_in_fp32=True, fused_add_norm=True, attn_layer_idx=[9, 18, 27, 36, 45, 56],
    attn_cfg=dict(causal=True, d_conv=4, head_dim=128, num_heads=30, out_proj_bias=False, qkv_proj_bias=False,
                  rotary_emb_dim=64),
    ssm_cfg=dict(layer="Mamba2"))


# With gated layers, and keys that heads share.
BAMBA = dict(
    MAMBA2ATTN, d_model=4096, d_intermediate=14336, n_layer=32, vocab_size=128256, tie_embeddings=False,
    attn_layer_idx=[9, 18, 27],
    attn_cfg=dict(causal=True, d_conv=0, head_dim=128, num_heads=32, num_heads_kv=8, out_proj_bias=False,
                  qkv_proj_bias=False, rotary_emb_dim=64))

TRANSNORMER = dict(
    model_type="transnormer", architectures=["TransnormerForCausalLM"], vocab_size=64000, decoder_embed_dim=1024,
    decoder_layers=24, decoder_attention_heads=8, no_scale_embedding=False, add_bos_token=False,
    norm_type="simplermsnorm", linear_use_lrpe_list=[1] + 23 * [0], hidden_dim=1024, linear_act_fun="silu",
    glu_dim=2816, bias=False, init_std=0.02)
MASKED_MIXER = dict(model_type="masked_mixer", architectures=["LanguageMixer"], n_vocab=8000, dim=512, depth=8,
                    tokenized_length=512, kernel=1)


def count(kind, config):
    with torch.device("meta"):
        return sum(tensor.numel() for tensor in kind(config).parameters())


# What tables S6 to S10 print, in millions of parameters, by width.
PROJECTED = {128: 4.76, 256: 14.69, 512: 50.29, 1024: 184.40, 2048: 704.28}
VARIANTS = {
    "c512": (dict(), PROJECTED),
    "c512_parallel": (dict(parallel_heads=True), PROJECTED),
    "c512_no_projections": (dict(use_projections=False),
                            {128: 4.23, 256: 12.59, 512: 41.89, 1024: 150.80, 2048: 570.00}),
    "c1024": (dict(context=1024), {128: 4.82, 256: 14.76, 512: 50.36, 1024: 184.47, 2048: 704.35}),
}


def rows():
    for plus, infix in ((False, ""), (True, "plus_")):
        sizes = (("130m", 768, 12, NEOX), ("460m", 1024, 24, OWN), ("1_4b", 2048, 24, OWN))
        names = {"460m": "470m", "1_4b": "1_6b"} if plus else {}
        for size, width, layers, vocabulary in sizes:
            config = rodimus(width, layers, vocabulary, plus)
            found = count(Rodimus, config)
            assert found == printed_rodimus(config), (size, found, printed_rodimus(config))
            yield f"rodimus_{infix}{names.get(size, size)}", "arXiv:2410.06577, tables 8 and 9", config, found
    for size, width, heads, experts in (("320m", 768, 12, 3072), ("1_3b", 2048, 32, 8192)):
        config = cheems(width, heads, experts)
        yield f"cheems_{size}", "arXiv:2412.11834, table 7", config, count(Cheems, config)
    found = count(AuthorsMamba2, MAMBA2ATTN)
    assert round(found / 1e8) == 27, found
    yield "mamba2attn_2_7b", "https://huggingface.co/state-spaces/mamba2attn-2.7b", MAMBA2ATTN, found
    found = count(AuthorsMamba2, BAMBA)
    assert round(found / 1e8) == 98, found
    yield "bamba_9_8b", "https://github.com/foundation-model-stack/fms-fsdp, mamba_9.8b", BAMBA, found
    source = "https://huggingface.co/OpenNLPLab/TransNormerLLM-385M, its code's defaults"
    yield "transnormer_400m", source, TRANSNORMER, count(TransNormer, TRANSNORMER)
    source = "https://github.com/blbadger/maskedmixers"
    yield "masked_mixer_512", source, MASKED_MIXER, count(MaskedMixer, MASKED_MIXER)
    for variant, (keys, printed) in VARIANTS.items():
        for width, millions in printed.items():
            config = srm(width, **keys)
            found = count(StructuredMixer, config)
            assert abs(found / 1e6 - millions) <= 0.02, (variant, width, found, millions)
            # Every row is counted; of the variants, two are kept.
            if variant == "c512" or width in (512, 2048):
                source = "Badger, Structured Recurrent Mixers, tables S6 to S10"
                yield f"srm_{variant}_{width}", source, config, found


def main():
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(parents=True)
    for name, source, config, parameters in rows():
        entry = {"source": source, "parameters": parameters, "config": config}
        if config.get("parallel_heads"):
            # Two decays are stored in each block, of which the second counts for all heads.
            entry["unread_parameters"] = config["num_blocks"]
        (ROOT / f"{name}.json").write_text(json.dumps(entry, indent=1) + "\n")
        print(f"{name:32} {parameters / 1e6:9.2f} M")


if __name__ == "__main__":
    main()
