#!/usr/bin/env python3
"""Writes `configs/ablations/<paper>_<row>.json`: every ablation row of the papers, in the explicit layout.

Rows that differ from another in a number alone, as a rank or a width, are in `configs/sweeps/`.

Sizes are the papers' where they give them: Rodimus D.10 (d 512 and 6 layers on WikiText-103; table 8
on the Pile; window 1024, 128 channels a head), Wonderful Matrices table 7 (320M: d 768, 24 layers,
12 heads, state 128), Structured Recurrent Mixers (d 1024, 16 blocks, 512 positions). What they do not
give (the width of gated layers but for Rodimus' 4/3, sizes of retrieval) is that of the code
beside them. The 1B models of the scaling laws have gated layers of 8 d / 3. Parameters are counted by
the independent forward of `family_goldens/explicit.py`; of Rodimus' ranks and states they are held to
what tables 12 and 13 print.
"""

import json
import shutil
from pathlib import Path

import torch
from family_goldens.explicit import ExplicitModel, expand, without

ROOT = Path(__file__).resolve().parent / "configs"
ROTARY = {"kind": "rotary", "rope_theta": 10000.0}


def model(width, blocks, vocabulary=50277, context=2048, **more):
    config = dict(model_type="effc", architectures=["EffcForCausalLM"], vocab_size=vocabulary,
                  hidden_size=width, max_position_embeddings=context, blocks=blocks, **more)
    config["num_hidden_layers"] = len(expand(blocks, {"residual": "plain", "norm": None}))
    return config


def times(count, *parts, **more):
    return {"repeat": count, "parts": list(parts), **more}


# Rodimus.

def rodimus(width, rank=16, states=64):
    inner = 2 * width
    low = {"from": "inner", "rank": rank, "bias": True, "activation": "sigmoid"}
    return {
        "part": "rodimus", "heads": 1, "keys": states, "values": inner,
        "inner": {"width": inner, "convolution": 4, "activation": "silu"},
        "q": {"from": "convolved"},
        "k": {"from": "convolved", "unit": {"kind": "max_length", "eps": 1e-12}},
        "v": {"from": "inner", "project": False, "gate": low},
        "select": {"from": "convolved", "bias": True}, "temper": {"from": "convolved", "bias": True},
        "x": {"from": "convolved", "project": False},
        "output": {"gate": {"activation": "silu"}, "gate_before_norm": True,
                   "norm": {"kind": "rms", "eps": 1e-5}}}


def gates(width, beta_hat, g, tau, beta=False):
    part = rodimus(width)
    if not beta_hat:
        part["v"] = without(part["v"], "gate")
    if g and not tau:
        part["temper"] = {"value": 100.0}
    if g:
        return part
    part = without(part, "select", "temper", "x")
    part["output"]["feed"] = {"from": "convolved"}
    part["part"] = "gla" if beta else "linear_attention"
    if beta:
        part["value_gate"] = {"from": "convolved", "bias": True}
    return part


def attention(width, kind, window=None, channels=128):
    heads = width // channels
    shared = {"mha": {}, "gqa": {"key_heads": heads // 3},
              "ska": {"key_heads": 1, "value_heads": heads}}[kind]
    part = {"part": "attention", "heads": heads, "keys": channels, "positions": ROTARY, **shared}
    return {**part, "window": window} if window else part


def glu(width, hidden):
    return {"part": "glu", "hidden": hidden}


def rodimus_plus(width, layers, kind="ska", hops=True, reordered=False):
    # Without 768 = 6 x 128 a multiple: widths of 512 have four heads.
    window = {**attention(width, kind, 1024), **({"residual": "two_hop"} if hops else {})}
    feed = glu(width, (4 * width // 3 + 7) // 8 * 8)
    parts = [window, feed, rodimus(width)] if reordered else [rodimus(width), window, feed]
    return model(width, [times(layers, *parts)], tie_word_embeddings=True)


def rodimus_rows():
    for kind in ("mha", "gqa", "ska"):
        yield f"rodimus_t14_transformer_{kind}", model(
            768, [times(12, attention(768, kind), glu(768, 2048))], tie_word_embeddings=True)
        yield f"rodimus_t14_plus_{kind}", rodimus_plus(768, 12, kind)
    rows = {"none": (0, 0, 0), "beta_hat": (1, 0, 0), "g": (0, 1, 0), "g_tau": (0, 1, 1),
            "beta_hat_g": (1, 1, 0), "all": (1, 1, 1)}
    for name, flags in rows.items():
        yield f"rodimus_t15_{name}", model(512, [times(6, gates(512, *flags))], tie_word_embeddings=True)
    yield "rodimus_t16_beta", model(512, [times(6, gates(512, 1, 0, 0, beta=True))],
                                    tie_word_embeddings=True)
    for layers in (6, 24):
        for hops in (True, False):
            yield f"rodimus_t17_{layers}_layers_{'two_hop' if hops else 'one_hop'}", rodimus_plus(
                512, layers, hops=hops)
    yield "rodimus_t18_x_first_6_layers", rodimus_plus(512, 6, reordered=True)
    yield "rodimus_t18_rodimus_first_pile", rodimus_plus(1024, 24)
    yield "rodimus_t18_x_first_pile", rodimus_plus(1024, 24, reordered=True)


# What tables 12 and 13 print, in millions of parameters: by rank at 16 states, by states at rank 16.
RANKS = {"125m": (126.3, 126.4, 126.5, 126.8, 127.4, 128.6, 130.9, 135.7),
         "350m": (360.8, 361.0, 361.4, 362.2, 363.7, 366.9, 373.2, 385.8)}
STATES = {"125m": (127.4, 129.8, 134.5, 143.9, 162.8), "350m": (363.7, 370.0, 382.6, 407.8, 458.1)}


def rodimus_sweeps():
    for size, width, layers in (("125m", 768, 24), ("350m", 1024, 48)):
        def alone(**sizes):
            return model(width, [times(layers, rodimus(width, **sizes))], tie_word_embeddings=True)
        for index, printed in enumerate(RANKS[size]):
            yield f"rodimus_t12_{size}_rank_{2 ** index}", alone(rank=2 ** index, states=16), printed
        for index, printed in enumerate(STATES[size]):
            yield f"rodimus_t13_{size}_states_{16 << index}", alone(rank=16, states=16 << index), printed


# Scaling Laws for Linear Complexity Language Models.

ASPECTS = ((1536, 32), (1792, 24), (2048, 18), (3072, 8))


def scaling(width, layers, sequence, norm, before=()):
    feed = glu(width, 8 * width // 3)
    return model(width, [*before, times(layers, sequence, feed)], 100280, 8192, tie_word_embeddings=True, norm=norm,
                 final_norm=None)


def cosformer2(width, layers):
    heads, unscaled = width // 128, {"kind": "rms_unscaled", "eps": 1e-6}
    positions = {"part": "retention", "heads": heads, "keys": 128, "values": 128, "scale": 1.0, "residual": "none",
                 "norm": None, "q": {"from": "tensor"}, "k": {"from": "tensor"}, "v": {"project": False},
                 "output": {"norm": unscaled}}
    silu = {"activation": "silu"}
    mixer = {"part": "linear_attention", "heads": heads, "keys": 128, "values": 128, "scale": 1.0, "q": silu, "k": silu,
             "positions": {"kind": "cosine_sine"},
             "output": {"norm": unscaled, "gate": {"rank": 128, "activation": "sigmoid"}}}
    return scaling(width, layers, mixer, unscaled, before=[times(1, positions)])


def scaling_sweeps():
    for width, layers in ASPECTS:
        attend = {"part": "attention", "heads": width // 128, "keys": 128, "positions": ROTARY}
        yield f"scaling_t5_llama_{width}", scaling(width, layers, attend, {"kind": "layer", "eps": 1e-5}), None
        yield f"scaling_t5_cos2_{width}", cosformer2(width, layers), None


# Wonderful Matrices.

def wonderful_ssd(width, heads, kind):
    part = {"part": "ssd", "heads": heads, "groups": 1, "keys": 128, "values": width // heads,
            "dt_bias": {"value": 0.0}}
    convolved = {"convolution": 4, "convolution_bias": True, "activation": "silu"}
    if kind == "convolution":
        return {**part, **{symbol: convolved for symbol in "xbc"}}
    part["d"] = {"value": 0.0}
    return {**part, "positions": ROTARY} if kind == "rope" else part


def wonderful_attention(width, heads, kind, mask=None):
    part = {"part": "attention", "heads": heads, "keys": width // heads}
    if kind == "rope":
        part["positions"] = ROTARY
    return {**part, "mask": {"kind": mask}} if mask else part


def cdmoe(width, experts=3072):
    return {"part": "cdmoe", "heads": 4, "experts": experts, "taken": 8, "keys": 32, "activation": "silu",
            "shared": {"hidden": 2 * width}}


def wonderful(layers, width=768, **more):
    return model(width, layers, context=8192, residual="learned", tie_word_embeddings=True,
                 norm={"kind": "rms", "eps": 1e-6}, **more)


def stack(sequence, every=None, feed=None, repeat=3, width=768):
    """Eight layers, the last of which is `every`, three times."""
    feed = feed or glu(width, 4 * width)
    last = [times(1, every, feed)] if every else [times(1, sequence, feed)]
    return wonderful([{"repeat": repeat, "blocks": [times(7, sequence, feed), *last]}], width=width)


def wonderful_rows():
    width, heads = 768, 12
    yield "wonderful_t1_qcattn_rope", stack(wonderful_attention(width, heads, "rope"))
    for kind, name in (("convolution", "conv1d_d"), ("decay", "a_t"), ("rope", "rope")):
        ssd = wonderful_ssd(width, heads, kind)
        yield f"wonderful_t1_ssd_{name}", stack(ssd)
        yield f"wonderful_t1_ssd_qcattn_{name}", stack(ssd, wonderful_attention(width, heads, kind))
        for mask, short in (("bias", "add"), ("scale", "mul")):
            yield f"wonderful_t1_ssd_dma_{short}_{name}", stack(
                ssd, wonderful_attention(width, heads, kind, mask))
    ssd, attend = wonderful_ssd(width, heads, "rope"), wonderful_attention(width, heads, "rope")
    dense, sparse = glu(width, 4 * width), cdmoe(width)
    for pattern in ("MMMMMMMM", "EMMMMMMM", "MMMMMMME", "EMMMMMME", "MEEEEEEM", "EEEEEEEE"):
        layers = [times(1, attend if i == 7 else ssd, sparse if letter == "E" else dense)
                  for i, letter in enumerate(pattern)]
        yield f"wonderful_t2_{pattern.lower()}", wonderful(layers)
    for size, width, heads, experts in (("320m", 768, 12, 3072), ("1_3b", 2048, 32, 8192)):
        ssd = wonderful_ssd(width, heads, "rope")
        attend = wonderful_attention(width, heads, "rope")
        isolated = {"part": "experts", "experts": 4, "taken": 1, "hidden": width,
                    "shared": {"hidden": 2 * width}}
        yield f"wonderful_t7_cheems_{size}", stack(
            ssd, wonderful_attention(width, heads, "rope", "scale"), cdmoe(width, experts), width=width)
        yield f"wonderful_t7_llama3_{size}", stack(attend, None, isolated, width=width)
        yield f"wonderful_t7_mamba2_{size}", stack(
            wonderful_ssd(width, heads, "convolution"), None, isolated, width=width)
        yield f"wonderful_t7_jamba_{size}", stack(
            wonderful_ssd(width, heads, "convolution"), wonderful_attention(width, heads, None), isolated,
            width=width)
    # About as many parameters, and as many that a token takes: six experts, of which it takes three; or
    # four and one that all tokens take.
    attend = wonderful_attention(2048, 32, "rope")
    experts = {"part": "experts", "experts": 6, "taken": 3, "hidden": 2048}
    isolated = {"part": "experts", "experts": 4, "taken": 1, "hidden": 2048, "shared": {"hidden": 4096}}
    for name, feed in (("moe", experts), ("seimoe", isolated), ("cdmoe", cdmoe(2048, 8192))):
        yield f"wonderful_t3_{name}", stack(attend, None, feed, width=2048)
    for count in (1, 2, 4):
        mask = wonderful_attention(768, 12, "rope", "bias")
        yield f"wonderful_f9_{count}_cdmoe", wonderful([times(24 // count, mask, *[cdmoe(768)] * count)])


# Structured recurrent mixers.

def srm(**part):
    feed = {"part": "mlp", "hidden": 4096, "bias": True}
    return model(1024, [times(16, feed, {"part": "srm", **part})], 8000, 512, final_norm=None,
                 norm={"kind": "layer", "eps": 1e-5})


def srm_rows():
    alone = {"heads": 1, "decay": False}
    four = {"heads": 4, "decay": False}
    yield "srm_s2_row_headless", srm(repeat_kind="row", projections=False, **alone)
    yield "srm_s2_column_headless", srm(repeat_kind="column", projections=False, **alone)
    yield "srm_s2_row", srm(repeat_kind="row", **four)
    yield "srm_s2_column", srm(repeat_kind="column", **four)
    yield "srm_s2_combined", srm(repeat_kind="combined", **four)
    yield "srm_s2_mixed", srm(**four)
    yield "srm_s2_mixed_decay", srm(heads=4)
    yield "srm_s2_combined_decay", srm(repeat_kind="combined", heads=4)
    yield "srm_s2_mixed_decay_no_projections", srm(heads=4, projections=False)
    yield "srm_s5_diagonal", srm(diagonal=True, **four)
    yield "srm_s5_diagonal_decay", srm(diagonal=True, heads=4)


def count(config):
    with torch.device("meta"):
        return sum(tensor.numel() for tensor in ExplicitModel(config).parameters())


SOURCES = {"rodimus": "arXiv:2410.06577", "wonderful": "arXiv:2412.11834",
           "scaling": "Scaling Laws for Linear Complexity Language Models",
           "srm": "Badger, Structured Recurrent Mixers"}


def write(folder, rows):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, config, printed in rows:
        parameters = count(config)
        assert printed is None or abs(parameters / 1e6 - printed) <= 0.1, (name, parameters, printed)
        paper, row = name.split("_", 1)
        entry = {"source": f"{SOURCES[paper]}, {row}", "parameters": parameters, "config": config}
        if printed is not None:
            entry["printed_millions"] = printed
        (folder / f"{name}.json").write_text(json.dumps(entry, indent=1) + "\n")
        print(f"{name:48} {parameters / 1e6:9.2f} M")


def main():
    write(ROOT / "ablations",
          ((*row, None) for row in (*rodimus_rows(), *wonderful_rows(), *srm_rows())))
    write(ROOT / "sweeps", (*rodimus_sweeps(), *scaling_sweeps()))


if __name__ == "__main__":
    main()
