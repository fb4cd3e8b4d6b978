"""Cases of the explicit layout, by forwards written from the papers' equations.

No public library reads this layout, so its goldens are made here: `config.json` is the case's own
dictionary, and each part's forward is a loop over tokens (or the quadratic sum) in torch, one
function for each equation. `frontend/families/explicit.md` says what the keys mean.
"""

import json
import math

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from .case import Case
from .explicit_parts import PARTS, linear, norm
from .explicit_recurrences import RECURRENCES, recurrence


def expand(blocks, defaults):
    """The parts of each block, repetitions written out."""
    result = []
    for entry in blocks:
        own = {key: entry.get(key, defaults[key]) for key in ("residual", "norm")}
        once = (expand(entry["blocks"], own) if "blocks" in entry else
                [[{**own, **part} for part in entry["parts"]]])
        result += once * entry.get("repeat", 1)
    return result


class Tensors(dict):
    """Parameters by name, made when they are first asked for, of the shape they are asked for in."""

    def __init__(self):
        super().__init__()
        self.frozen = False

    def get_tensor(self, name, *shape):
        if name not in self:
            assert not self.frozen, name
            self[name] = nn.Parameter(torch.zeros(shape))
        assert self[name].shape == shape, (name, self[name].shape, shape)
        return self[name]


class View:
    """The tensors below a name."""

    def __init__(self, tensors, prefix, config):
        self.tensors, self.prefix, self.config = tensors, prefix, config

    def __call__(self, name, *shape):
        return self.tensors.get_tensor(self.prefix + name, *shape)


class NamedModel(nn.Module):
    """A forward as one method, whose parameters are named as a file names them."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.tensors = Tensors()
        self.forward(torch.zeros(1, 3, dtype=torch.long))  # makes every parameter
        self.tensors.frozen = True

    def named_parameters(self, *args, **kwargs):
        yield from self.tensors.items()

    def parameters(self, recurse=True):
        yield from self.tensors.values()

    def load_state_dict(self, state, strict=True):
        assert set(state) == set(self.tensors)
        with torch.no_grad():
            for name, value in state.items():
                self.tensors[name].copy_(value)

    def state_dict(self, *args, **kwargs):
        return {name: value.detach() for name, value in self.tensors.items()}

    def _apply(self, fn, recurse=True):
        for name, value in self.tensors.items():
            self.tensors[name] = nn.Parameter(fn(value.detach()))
        return self

    def forward(self, ids, use_cache=False):
        raise NotImplementedError


class ExplicitModel(NamedModel):
    parts = PARTS

    def forward(self, ids, use_cache=False):
        config, width = self.config, self.config["hidden_size"]
        whole = View(self.tensors, "", config)
        table = whole("embedding.weight", config["vocab_size"], width)
        x = functional.embedding(ids[0], table) * config.get("embedding_scale", 1.0)
        default = {"kind": "rms", "eps": 1e-5}
        defaults = {"residual": config.get("residual", "plain"), "norm": config.get("norm", default)}
        for index, block in enumerate(expand(config["blocks"], defaults)):
            ahead = 0
            for number, part in enumerate(block):
                view = View(self.tensors, f"blocks.{index}.{number}.", config)
                seen, ahead = norm(view, "norm", x + ahead, part["norm"]), 0
                kind = part["part"]
                if kind in RECURRENCES:
                    y = recurrence(view, part, seen)
                else:
                    y = self.parts[kind](view, part, seen)
                residual = part["residual"]
                if residual == "plain":
                    x = x + y
                elif residual == "learned":
                    x = view("residual", width) * x + y
                elif residual == "two_hop":
                    ahead = y
                else:
                    x = y
        x = norm(whole, "final_norm", x, config.get("final_norm", defaults["norm"]))
        if config.get("tie_word_embeddings"):
            logits = x @ table.T
        else:
            logits = linear(whole, "head", x, config["vocab_size"])
        cap = config.get("logits_soft_cap")
        return (logits if cap is None else cap * torch.tanh(logits / cap))[None]


class ExplicitCase(Case):
    """A case whose config.json is the table's own."""

    def save(self, model, folder):
        kind = torch.bfloat16 if self.dtype == "bf16" else torch.float32
        tensors = {name: value.to(kind).contiguous() for name, value in model.state_dict().items()}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "config.json").write_text(
            json.dumps(model.config, indent=1, sort_keys=True) + "\n")
        (folder / "generation_config.json").write_text(
            json.dumps({"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}, indent=2) + "\n")
        if self.options:
            (folder / "options.json").write_text(json.dumps(self.options) + "\n")


# No other form is known; asked for, it is no fallback.
STEP = {"force-form": "step"}

# Gates that are active: decays that neither vanish nor stay at 1.
DRAW = {
    r"\.(m_log|factor_log|d_log)$": (0.0, 0.7),
    r"\.m_bias$": (-0.5, 1.0),
    r"\.(a_log|log_a)$": (0.0, 0.7),
    r"\.dt_bias$": (-0.5, 1.0),
    r"\.log_dt$": (-2.0, 0.7),
    r"\.a_imaginary$": (1.0, 1.5),
    r"\.log_decay$": (-0.4, 0.1),
    r"\.lower_bound$": (0.4, 0.12),
    r"\.d$": (1.0, 0.4),
    r"\.residual$": (1.0, 0.3),
    r"convolution\.weight$": (0.1, 0.5),
    r"\.(key_gate|value_gate|gate)\.(1\.)?bias$": (-2.0, 2.0),
    r"\.theta$": (0.3, 0.4),
    r"\.decay$": (0.95, 0.04),
    r"\.(row\.|column\.)?w$": (0.3, 0.5),
    r"\.mixer(\.\d)?\.weight$": (0.05, 0.3),
    r"o_norm\.weight$": (1.0, 0.3),
    r"\.rate$": (0.0, 1.0),
    r"\.a$": (0.0, 0.8),
}

BASE = dict(model_type="effc", architectures=["EffcForCausalLM"], hidden_size=24, vocab_size=61,
            max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)


def case(family, name, blocks, kind=ExplicitModel, **config):
    more = {key: config.pop(key) for key in ("dtype", "draw", "embedding", "options") if key in config}
    settings = {**BASE, "blocks": blocks, **config}
    defaults = {"residual": "plain", "norm": None}
    settings["num_hidden_layers"] = len(expand(blocks, defaults))
    return ExplicitCase(family, name, lambda: kind(settings), settings["vocab_size"],
                        draw={**DRAW, **more.pop("draw", {})}, **more)


def block(*parts, **more):
    return {"parts": list(parts), **more}


ROTARY = {"kind": "rotary", "rope_theta": 500.0}
SHARED = {"hidden": 20}
LAYER = {"kind": "layer", "eps": 1e-5}
GLU = {"part": "glu", "hidden": 36}
INNER = {"width": 40, "convolution": 4, "activation": "silu"}
LOW = {"from": "inner", "rank": 5, "bias": True, "activation": "sigmoid"}


def rodimus(**more):
    """Rodimus as its paper has it: both gates, the low-rank gate of values, the feed-through."""
    part = {
        "part": "rodimus", "heads": 1, "keys": 9, "values": 40, "inner": INNER,
        "q": {"from": "convolved"},
        "k": {"from": "convolved", "unit": {"kind": "max_length", "eps": 1e-12}},
        "v": {"from": "inner", "project": False, "gate": LOW},
        "select": {"from": "convolved", "bias": True}, "temper": {"from": "convolved", "bias": True},
        "x": {"from": "convolved", "project": False},
        "output": {"gate": {"activation": "silu"}, "gate_before_norm": True,
                   "norm": {"kind": "rms", "eps": 1e-5}},
    }
    return {**part, **more}


def without(part, *names):
    return {key: value for key, value in part.items() if key not in names}


def no_decay(part):
    """The same block around a state without gates."""
    part = without(part, "select", "temper", "x")
    output = {**part["output"], "feed": {"from": "convolved"}}
    return {**part, "part": "linear_attention", "output": output}


PLAIN_VALUES = {"from": "inner", "project": False}
SKA = {"part": "attention", "heads": 3, "key_heads": 1, "value_heads": 3, "keys": 8, "window": 11,
       "positions": ROTARY}
SSD_ROTARY = {"part": "ssd", "heads": 3, "groups": 1, "keys": 10, "values": 8, "positions": ROTARY,
              "dt_bias": {"value": 0.0}}
SSD_CONVOLUTION = {"part": "ssd", "heads": 4, "groups": 2, "keys": 7, "values": 6,
                   "x": {"convolution": 4, "convolution_bias": True, "activation": "silu"},
                   "b": {"convolution": 4, "convolution_bias": True, "activation": "silu"},
                   "c": {"convolution": 4, "convolution_bias": True, "activation": "silu"}}
ATTENTION = {"part": "attention", "heads": 3, "keys": 8, "positions": ROTARY}


def masked(kind, **more):
    return {**ATTENTION, "mask": {"kind": kind, **more}}


LISTING = {"part": "cdmoe", "heads": 2, "experts": 30, "taken": 3, "keys": 5, "activation": "silu",
           "weighting": "score", "weight_inside": True, "shared": {"hidden": 20, "gated": False}}
CODE = {"part": "cdmoe", "heads": 3, "experts": 25, "taken": 4, "keys": 4, "activation": "silu",
        "shared": SHARED}
COSFORMER = {"part": "linear_attention", "heads": 3, "keys": 8, "values": 8, "scale": 1.0,
             "q": {"activation": "silu"}, "k": {"activation": "silu"},
             "positions": {"kind": "cosine_sine"},
             "output": {"norm": {"kind": "rms", "eps": 1e-5},
                        "gate": {"rank": 8, "activation": "sigmoid"}}}
TPE = {"part": "retention", "heads": 3, "keys": 8, "values": 8, "scale": 1.0, "residual": "none",
       "norm": None, "q": {"from": "tensor"}, "k": {"from": "tensor"}, "v": {"project": False},
       "output": {"norm": {"kind": "rms", "eps": 1e-5}}}
S4D = {"part": "s4d", "heads": 1, "keys": 5, "values": 24, "x": {"project": False},
       "output": {"activation": "gelu", "glu": True, "bias": True}}
HAWK = {"part": "rg_lru", "heads": 4, "values": 7, "inner": {"width": 28, "bias": True, "convolution": 4},
        "x": {"from": "convolved", "project": False},
        "recurrence": {"from": "convolved", "blocks": True, "bias": True},
        "input": {"from": "convolved", "blocks": True, "bias": True},
        "output": {"gate": {"bias": True, "activation": "gelu_tanh"}, "bias": True}}
SHORT = {"convolution": 4, "activation": "silu"}
UNIT_SHORT = {**SHORT, "unit": {"kind": "sum_square", "eps": 1e-6}}
SIGMOID = {"activation": "sigmoid"}
RMS = {"kind": "rms", "eps": 1e-5}
# What a scalar or a vector gates, from retention to Mamba.
GATED_RETENTION = {"part": "gated_retention", "heads": 4, "groups": 2, "keys": 6, "values": 5,
                   "temperature": 9.0, "gate": {"bias": True}, "positions": ROTARY,
                   "output": {"norm": RMS, "groups": 4, "gate": {"activation": "silu"}}}
HGRN = {"part": "hgrn", "heads": 3, "values": 7, "x": {"activation": "silu"},
        "output": {"norm": {"kind": "rms", "eps": 1e-6}, "gate": {"activation": "silu"}}}
HGRN2 = {"part": "hgrn2", "heads": 2, "keys": 9, "values": 11, "q": SHORT, "forget": {"bias": True},
         "v": {"convolution": 3}, "output": {"norm": RMS}}
MAMBA = {"part": "mamba", "heads": 2, "groups": 1, "keys": 5, "values": 13,
         "inner": {"width": 26, "convolution": 4, "activation": "silu"},
         "x": {"from": "convolved", "project": False}, "dt": {"from": "convolved", "rank": 3},
         "b": {"from": "convolved"}, "c": {"from": "convolved"},
         "output": {"gate": {"activation": "silu"}}}
# What corrects what its keys read.
DELTA_RULE = {"part": "delta_rule", "heads": 4, "groups": 2, "keys": 7, "values": 5, "q": UNIT_SHORT,
              "k": UNIT_SHORT, "v": SHORT, "beta": SIGMOID,
              "output": {"norm": RMS, "groups": 4}}
GATED_DELTA_RULE = {"part": "gated_delta_rule", "heads": 3, "groups": 1, "keys": 8, "values": 11,
                    "scale": 0.7, "q": UNIT_SHORT, "k": UNIT_SHORT, "v": SHORT, "beta": SIGMOID,
                    "output": {"norm": RMS, "groups": 3, "gate": {"activation": "silu"}}}
KDA = {"part": "kda", "heads": 2, "keys": 9, "values": 13, "q": UNIT_SHORT, "k": UNIT_SHORT, "v": SHORT,
       "beta": SIGMOID, "f": {"rank": 5},
       "output": {"norm": RMS, "groups": 2, "gate": {"rank": 6, "bias": True, **SIGMOID}}}
# The layer of flash-linear-attention, whose model class 0.6 lacks; and one without convolutions.
GATED_DELTA_RULE_2 = {"part": "gated_delta_rule_2", "heads": 4, "groups": 2, "keys": 7, "values": 9, "q": UNIT_SHORT,
                      "k": UNIT_SHORT, "v": SHORT, "erase": SIGMOID, "write": SIGMOID, "f": {"rank": 9},
                      "output": {"norm": RMS, "groups": 4, "gate": {"rank": 9, "bias": True, **SIGMOID}}}
PLAIN_GATED_DELTA_RULE_2 = {
    "part": "gated_delta_rule_2", "heads": 3, "keys": 10, "values": 6, "scale": 0.4,
    "q": {"unit": {"kind": "sum_square", "eps": 1e-6}}, "k": {"unit": {"kind": "sum_square", "eps": 1e-6}},
    "erase": {"rank": 5, "bias": True, **SIGMOID}, "write": {"value": 0.75}, "output": {"norm": RMS}}
# What a token corrects is pushed on by what those before it have: all of its layer, and as little as may be.
MOMENTUM = {"part": "momentum_delta_rule", "heads": 2, "keys": 9, "values": 13, "eps": 1e-6, "tau": 3.5, "most_loss": 2.0,
            "q": SHORT, "k": SHORT, "v": SHORT, "beta": SIGMOID,
            "output": {"norm": RMS, "groups": 2, "gate": {"activation": "silu"}}}
PLAIN_MOMENTUM = {"part": "momentum_delta_rule", "heads": 3, "keys": 5, "values": 7, "scale": 0.6, "eps": 1e-6,
                  "beta": {"value": 1.0}, "d_log": {"value": -1e30}, "e": {"rank": 4, "bias": True}}
NORMALISED_ROTARY = {"part": "normalised_rotary", "heads": 6, "groups": 2, "keys": 10, "values": 3,
                     "q": {"activation": "softplus"}, "k": {"activation": "elu_plus_one"},
                     "positions": {"kind": "rotary", "rope_theta": 300.0}}
RWKV6 = {"part": "rwkv6", "heads": 3, "keys": 8, "values": 7, "w": {"rank": 4, "bias": True},
         "output": {"norm": LAYER, "groups": 3, "gate": {"activation": "silu"}}}
RWKV7 = {"part": "rwkv7", "heads": 2, "keys": 10, "values": 9, "w": {"rank": 3, "bias": True},
         "kk": {"unit": {"kind": "max_length", "eps": 1e-12}}, "a": {"rank": 4, "bias": True, **SIGMOID},
         "output": {"norm": LAYER, "groups": 2, "gate": {"rank": 5, **SIGMOID}}}
MLSTM = {"part": "mlstm", "heads": 4, "groups": 2, "keys": 6, "values": 5, "eps": 1e-5,
         "input": {"bias": True}, "forget": {"bias": True}, "output": {
             "norm": {"kind": "layer", "eps": 1e-6, "bias": False}, "groups": 4, "gate": SIGMOID}}
BASED = {"part": "normalised_attention", "heads": 3, "keys": 4, "values": 8, "scale": 1.0, "eps": 1e-12,
         "q": {"activation": "taylor"}, "k": {"activation": "taylor"}}
SRM_FEED = {"part": "mlp", "hidden": 40, "bias": True}


def srm(name, parts, **more):
    """SRM: first the feed-forward part, then the mixer; LayerNorms, none at the end."""
    mixers = [{"part": "srm", **part} for part in parts]
    return case("effc_srm", name, [block(SRM_FEED, part) for part in mixers], norm=LAYER,
                final_norm=None, **more)


CASES = [
    # Rodimus: tables 14 to 18.
    case("effc_rodimus", "plus", [block(
        rodimus(), {**SKA, "residual": "two_hop"}, GLU), block(rodimus(), {**SKA, "residual": "two_hop"}, GLU)]),
    case("effc_rodimus", "reordered", [block(
        {**SKA, "key_heads": 3}, GLU, rodimus()), block(
        {**SKA, "residual": "two_hop", "value_heads": 1}, GLU, rodimus())], tie_word_embeddings=True, embedding=0.3),
    case("effc_rodimus", "gates_off", [
        block(no_decay(rodimus(v=PLAIN_VALUES))), block(no_decay(rodimus())),
        block(rodimus(v=PLAIN_VALUES, temper={"value": 100.0})), block(rodimus(temper={"value": 100.0})),
        block(rodimus(v=PLAIN_VALUES))], vocab_size=43, hidden_size=22),
    case("effc_rodimus", "beta_on", [
        block({**no_decay(rodimus()), "part": "gla", "value_gate": {"from": "convolved", "bias": True}}),
        block({**no_decay(rodimus()), "part": "gla", "temperature": 1.0,
               "key_gate": {"from": "convolved", "bias": True},
               "value_gate": {"from": "inner", "rank": 4, "bias": True}})], hidden_size=20),
    # Wonderful Matrices: tables 1 and 2, figure 9.
    case("effc_wonderful", "ssd_and_masks", [
        block(SSD_ROTARY, GLU), block(masked("bias"), LISTING), block(masked("scale", heads=1), CODE)],
        residual="learned", norm={"kind": "rms", "eps": 1e-6}),
    case("effc_wonderful", "convolution", [
        block(SSD_CONVOLUTION, GLU), block(masked("threshold"), CODE, LISTING),
        block({**SSD_ROTARY, "positions": None, "d": {"value": 0.0}}, GLU)]),
    case("effc_wonderful", "mask_linear", [
        block({"part": "dynamic_mask_linear", "heads": 3, "keys": 8, "values": 8, "positions": ROTARY,
               "delta": {"activation": "sigmoid"}}, GLU), block(masked("bias", keep=9), GLU)]),
    # Retrieval.
    case("effc_retrieval", "pkm_peer", [
        block(ATTENTION, {"part": "pkm", "heads": 2, "experts": 36, "taken": 5, "keys": 6,
                          "query_bias": True}),
        block(ATTENTION, {"part": "peer", "heads": 3, "experts": 25, "taken": 4, "keys": 5})]),
    case("effc_retrieval", "experts", [
        block(ATTENTION, {"part": "experts", "experts": 5, "taken": 2, "hidden": 14, "shared": SHARED}),
        block(ATTENTION, {"part": "peer", "heads": 3, "experts": 49, "taken": 1, "keys": 4,
                          "weighting": "relu", "activation": "gelu"})], hidden_size=20),
    # What has no public layout.
    case("effc_linear", "cosformer2", [block(TPE), block(COSFORMER, GLU), block(COSFORMER, GLU)],
         draw={r"0\.0\.[qk]$": (0.5, 0.5)}),
    case("effc_linear", "s4d_hawk", [block(S4D), block(HAWK, GLU)]),
    case("effc_linear", "based_bf16", [
        block(BASED, GLU), block({**ATTENTION, "window": 7}, GLU),
        block({**BASED, "part": "normalised_attention", "keys": 6, "values": 5, "eps": 1e-6,
               "q": {"activation": "elu_plus_one"}, "k": {"activation": "elu_plus_one"}}, GLU)],
        dtype="bf16"),
    case("effc_linear", "gated", [block(GATED_RETENTION), block(HGRN, GLU), block(HGRN2), block(MAMBA)],
         hidden_size=22),
    case("effc_linear", "corrected", [
        block(DELTA_RULE), block(GATED_DELTA_RULE), block(KDA), block(NORMALISED_ROTARY)], vocab_size=53),
    case("effc_linear", "erase_write", [block(GATED_DELTA_RULE_2, GLU), block(PLAIN_GATED_DELTA_RULE_2)],
         vocab_size=59),
    case("effc_linear", "erase_write_bf16", [block(PLAIN_GATED_DELTA_RULE_2, GLU), block(GATED_DELTA_RULE_2)],
         hidden_size=22, tie_word_embeddings=True, dtype="bf16", embedding=0.3),
    case("effc_linear", "momentum", [block(MOMENTUM, GLU), block(MOMENTUM)], vocab_size=53, options=STEP),
    case("effc_linear", "momentum_bf16", [block(PLAIN_MOMENTUM), block(PLAIN_MOMENTUM, GLU)], hidden_size=20,
         dtype="bf16", options=STEP),
    case("effc_linear", "read_before_write", [block(RWKV6, GLU), block(RWKV7), block(MLSTM)],
         hidden_size=20, draw={r"\.w\.1\.bias$": (-1.0, 1.5), r"\.forget\.bias$": (2.0, 1.0),
                              r"\.input\.bias$": (0.5, 1.5)}),
    # Structured recurrent mixers and masked mixers.
    srm("mixed_combined", [{"heads": 4}, {"heads": 3, "repeat_kind": "combined"}]),
    srm("row_column", [{"heads": 4, "repeat_kind": "row", "decay": False},
                       {"heads": 2, "repeat_kind": "column", "projections": False},
                       {"heads": 1, "repeat_kind": "row", "decay": False, "projections": False}],
        hidden_size=20, max_position_embeddings=1100),
    srm("diagonal_kernel", [{"heads": 4, "diagonal": True},
                            {"heads": 1, "repeat_kind": "column", "kernel": 3}]),
    case("effc_masked_mixer", "plain", [block(
        {"part": "masked_mixer"}, {"part": "mlp", "hidden": 40, "bias": True, "activation": "gelu"})] * 2,
        norm=LAYER, final_norm=None, max_position_embeddings=50),
    case("effc_masked_mixer", "wide", [
        block({"part": "masked_mixer", "kernel": 4}, SRM_FEED),
        block({"part": "masked_mixer", "expanded": True}, SRM_FEED)], norm=LAYER, final_norm=None,
        hidden_size=20, max_position_embeddings=52),
]
