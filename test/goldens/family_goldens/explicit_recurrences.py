"""The explicit layout's recurrences: one step of each, and what is projected for it.

A step gets the operands of one token ([H, ...], groups repeated for their heads), the parameters
and the state, and returns the reading [H, V] and the next state. Those of `explicit_sequences.py`
get all tokens and have no state.
"""

import math
from dataclasses import dataclass
from typing import Callable

import torch
from torch.nn import functional

from . import explicit_sequences as sequences
from .explicit_parts import ACTIVATIONS, linear, norm, positions


def outer(k, v):
    return k[:, :, None] * v[:, None, :]


def read(q, state):
    return torch.einsum("hk,hkv->hv", q, state)


def linear_attention(t, p, s, scale):
    s["S"] = s["S"] + outer(t["k"], t["v"])
    return read(scale * t["q"], s["S"])


def normalised_attention(t, p, s, scale, eps):
    s["S"] = s["S"] + outer(t["k"], t["v"])
    s["z"] = s["z"] + t["k"]
    below = scale * (t["q"] * s["z"]).sum(-1, keepdim=True) + eps
    return read(scale * t["q"], s["S"]) / below


def dynamic_mask_linear(t, p, s):
    s["S"] = s["S"] + t["delta"][:, None, None] * outer(t["k"], t["v"])
    return read(t["q"], s["S"])


def retention(t, p, s, scale):
    s["S"] = p["log_decay"].exp()[:, None, None] * s["S"] + outer(t["k"], t["v"])
    return read(scale * t["q"], s["S"])


def gla(t, p, s, scale, temperature):
    decay = torch.ones_like(s["S"])
    if "key_gate" in t:
        decay = decay * (torch.sigmoid(t["key_gate"]) ** (1 / temperature))[:, :, None]
    if "value_gate" in t:
        decay = decay * (torch.sigmoid(t["value_gate"]) ** (1 / temperature))[:, None, :]
    s["S"] = decay * s["S"] + outer(t["k"], t["v"])
    return read(scale * t["q"], s["S"])


def ssd(t, p, s):
    dt = functional.softplus(t["dt"] + p["dt_bias"])
    decay = torch.exp(-p["a_log"].exp() * dt)
    s["S"] = decay[:, None, None] * s["S"] + outer(t["b"], dt[:, None] * t["x"])
    return read(t["c"], s["S"]) + p["d"][:, None] * t["x"]


def rodimus(t, p, s, scale):
    g, tau = functional.softplus(t["select"]), torch.sigmoid(t["temper"])
    s["S"] = torch.exp(-g * tau)[:, :, None] * s["S"] + outer(g ** tau * t["k"], t["v"])
    return read(scale * t["q"], s["S"]) + p["d"] * t["x"]


def s4d(t, p, s):
    a = torch.complex(-p["log_a"].exp(), p["a_imaginary"])
    power = a * p["log_dt"].exp()[:, None, :]
    state = torch.complex(s["S"], s["imaginary"])
    state = power.exp() * state + (power.exp() - 1) / a * t["x"][:, None, :]
    s["S"], s["imaginary"] = state.real, state.imag
    return 2 * (torch.complex(p["c"], p["c_imaginary"]) * state).real.sum(1) + p["d"] * t["x"]


def rg_lru(t, p, s, exponent):
    log_decay = -exponent * torch.sigmoid(t["recurrence"]) * functional.softplus(p["rate"])
    kept, multiplier = log_decay.exp(), torch.sqrt(-torch.expm1(2 * log_decay))
    if s["first"]:
        kept, multiplier = torch.zeros_like(kept), torch.ones_like(kept)
    s["S"] = (kept * s["S"][:, 0] + multiplier * torch.sigmoid(t["input"]) * t["x"])[:, None]
    return s["S"][:, 0]


@dataclass
class Recurrence:
    # Of one token, or of all of them where `whole` is true.
    step: Callable
    tokens: str
    parameters: str = ""
    numbers: tuple = ()
    turned: str = ""
    optional: str = ""
    # Tokens that are read as they are too; the turned ones are `turned_NAME`.
    both: str = ""
    whole: bool = False


def whole(step, tokens, parameters="", numbers=(), **more):
    return Recurrence(step, tokens, parameters, numbers, whole=True, **more)


QKV = "q:GK k:GK v:HV"
RECURRENCES = {
    "linear_attention": Recurrence(linear_attention, QKV, numbers=("scale",), turned="q k"),
    "normalised_attention": Recurrence(normalised_attention, QKV, numbers=("scale", "eps"),
                                       turned="q k"),
    "dynamic_mask_linear": Recurrence(dynamic_mask_linear, QKV + " delta:H", turned="q k"),
    "retention": Recurrence(retention, QKV, "log_decay:H", ("scale",), turned="q k"),
    "gla": Recurrence(gla, "q:HK k:HK v:HV key_gate:HK value_gate:HV", numbers=("scale", "temperature"),
                      turned="q k", optional="key_gate value_gate"),
    "ssd": Recurrence(ssd, "x:HV dt:H b:GK c:GK", "a_log:H dt_bias:H d:H", turned="b c"),
    "rodimus": Recurrence(rodimus, "q:HK k:HK v:HV select:HK temper:HK x:HV", "d:HV", ("scale",),
                          turned="q k"),
    "s4d": Recurrence(s4d, "x:HV", "log_dt:HV log_a:HKV a_imaginary:HKV c:HKV c_imaginary:HKV d:HV"),
    "rg_lru": Recurrence(rg_lru, "x:HV recurrence:HV input:HV", "rate:HV", ("exponent",)),
    "normalised_rotary": whole(sequences.normalised_rotary, QKV + " dt:H", "a_log:H dt_bias:H", ("eps",),
                               both="q k"),
    "gated_retention": whole(sequences.gated_retention, QKV + " gate:H", numbers=("scale", "temperature"),
                             turned="q k"),
    "hgrn": whole(sequences.hgrn, "x:HV forget:HV", "lower_bound:HV"),
    "hgrn2": whole(sequences.hgrn2, "q:HK forget:HK v:HV", "lower_bound:HK", ("scale",)),
    "mamba": whole(sequences.mamba, "x:HV dt:HV b:GK c:GK", "a_log:HKV dt_bias:HV d:HV"),
    "delta_rule": whole(sequences.delta_rule, QKV + " beta:H", numbers=("scale",), turned="q k"),
    "gated_delta_rule": whole(sequences.gated_delta_rule, QKV + " beta:H a:H", "a_log:H dt_bias:H",
                              ("scale",), turned="q k"),
    "gated_delta_rule_2": whole(sequences.gated_delta_rule_2, QKV + " erase:GK write:HV f:HK", "a_log:H dt_bias:HK",
                                ("scale",), turned="q k"),
    "kda": whole(sequences.kda, QKV + " beta:H f:HK", "a_log:H dt_bias:HK", ("scale",), turned="q k"),
    "momentum_delta_rule": whole(
        sequences.momentum_delta_rule, "q:HK k:HK v:HV beta:H a:H m:H e:H",
        "a_log:H dt_bias:H m_log:H m_bias:H factor_log:H d_log:H", ("scale", "eps", "tau", "most_loss")),
    "rwkv6": whole(sequences.rwkv6, "r:HK k:HK v:HV w:HK", "u:HK"),
    "rwkv7": whole(sequences.rwkv7, "r:HK w:HK k:HK v:HV kk:HK a:HK"),
    "mlstm": whole(sequences.mlstm, QKV + " input:H forget:H", numbers=("scale", "eps"), turned="q k"),
}
DEFAULTS = {"eps": 1e-10, "temperature": 16.0, "exponent": 8.0, "tau": 1.0, "most_loss": 1e9}


def symbols(text):
    return [word.split(":") for word in text.split()]


def taylor(x):
    """Features whose product is 1 + s + s^2 / 2 of s = q . k / sqrt(K)."""
    keys = x.shape[-1]
    square = (x[..., :, None] * x[..., None, :]).flatten(-2)
    return torch.cat([torch.ones_like(x[..., :1]), x / keys ** 0.25, square / math.sqrt(2 * keys)], -1)


def activate(name, x):
    return taylor(x) if name == "taylor" else ACTIVATIONS[name](x)


def convolve(view, name, x, taps, bias):
    weight = view(f"{name}.weight", x.shape[-1], 1, taps)
    shift = view(f"{name}.bias", x.shape[-1]) if bias else None
    return functional.conv1d(functional.pad(x.T[None], (taps - 1, 0)), weight, shift,
                             groups=x.shape[-1])[0].T


def recurrence(view, config, x):
    kind = RECURRENCES[config["part"]]
    dims = {"H": config["heads"], "K": config.get("keys", 1), "V": config["values"]}
    dims["G"] = config.get("groups", dims["H"])
    sources = {"token": x}
    if "inner" in config:
        inner = config["inner"]
        sources["inner"] = linear(view, "inner", x, inner["width"], inner.get("bias", False))
        act = ACTIVATIONS[inner.get("activation", "identity")]
        if "convolution" in inner:
            sources["convolved"] = act(convolve(view, "convolution", sources["inner"],
                                                inner["convolution"], inner.get("convolution_bias", True)))
        else:
            sources["inner"] = act(sources["inner"])

    def project(name, how, rows):
        source = sources[how.get("from", "token")]
        if "rank" not in how:
            return linear(view, name, source, rows, how.get("bias", False))
        low = linear(view, name + ".0", source, how["rank"])
        return linear(view, name + ".1", low, rows, how.get("bias", False))

    def operand(name, letters):
        shape, how = [dims[letter] for letter in letters], config.get(name) or {}
        size = math.prod(shape)
        if "value" in how:
            return torch.full((len(x), *shape), how["value"], dtype=x.dtype)
        if how.get("from") == "tensor":
            return view(name, *shape).expand(len(x), *shape)
        source = sources[how.get("from", "token")]
        if how.get("blocks"):
            parts = source.unflatten(-1, (dims["H"], -1))
            y = torch.einsum("thc,hvc->thv", parts, view(f"{name}.weight", dims["H"], dims["V"], parts.shape[-1]))
            y = (y + view(f"{name}.bias", *shape) if how.get("bias") else y).flatten(-2)
        elif how.get("project", True):
            y = project(name, how, size)
        else:
            y = source
        if "convolution" in how:
            y = convolve(view, name + ".convolution", y, how["convolution"], how.get("convolution_bias", False))
        late = how.get("activation") == "taylor"
        if not late:
            y = activate(how.get("activation", "identity"), y)
        if "gate" in how:
            y = y * activate(how["gate"].get("activation", "identity"),
                             project(name + ".gate", how["gate"], size))
        y = y.unflatten(-1, shape)
        if "unit" in how:
            unit = how["unit"]
            if unit["kind"] == "max_length":
                y = y / y.norm(dim=-1, keepdim=True).clamp(min=unit["eps"])
            else:
                y = y / torch.sqrt(y.square().sum(-1, keepdim=True) + unit["eps"])
        return activate("taylor", y) if late else y

    tokens = {}
    for name, letters in symbols(kind.tokens):
        if name in kind.optional.split() and name not in config:
            continue
        tokens[name] = operand(name, letters)
        if name in kind.both.split():
            tokens["turned_" + name] = positions(view, config.get("positions"), tokens[name])
        if name in kind.turned.split():
            tokens[name] = positions(view, config.get("positions"), tokens[name])
        if letters[0] == "G":
            for each in {name, "turned_" + name} & set(tokens):
                tokens[each] = tokens[each].repeat_interleave(dims["H"] // dims["G"], 1)
    parameters = {}
    for name, letters in symbols(kind.parameters):
        shape, how = [dims[letter] for letter in letters], config.get(name) or {}
        if "value" in how:
            parameters[name] = torch.full(shape, how["value"], dtype=x.dtype)
        elif how.get("rule") == "retention":
            parameters[name] = torch.log1p(-2.0 ** (-5 - torch.arange(shape[0], dtype=x.dtype)))
        else:
            parameters[name] = view(name, *shape)
    numbers = {name: config.get(name, DEFAULTS.get(name, dims["K"] ** -0.5)) for name in kind.numbers}
    if kind.whole:
        y = kind.step(tokens, parameters, **numbers).flatten(-2)
        return mix_out(view, config, x, y, sources, project)
    key = next((tokens[name] for name in ("k", "b") if name in tokens), None)
    keys = dims["K"] if key is None else key.shape[-1]
    state = {"S": x.new_zeros(dims["H"], keys, dims["V"]), "z": x.new_zeros(dims["H"], keys),
             "imaginary": x.new_zeros(dims["H"], keys, dims["V"])}
    rows = []
    for t in range(len(x)):
        state["first"] = t == 0
        rows.append(kind.step({name: value[t] for name, value in tokens.items()}, parameters, state,
                              **numbers))
    return mix_out(view, config, x, torch.stack(rows).flatten(-2), sources, project)


def mix_out(view, config, x, y, sources, project):
    """What follows a recurrence's y [T, H V]."""
    output = config.get("output") or {}
    if "feed" in output:
        y = y + view("d", y.shape[-1]) * sources[output["feed"]["from"]]
    gate = None
    if "gate" in output:
        gate = activate(output["gate"].get("activation", "identity"),
                        project("g", output["gate"], y.shape[-1]))
    if gate is not None and output.get("gate_before_norm"):
        y = y * gate
    y = norm(view, "o_norm", y, output.get("norm"), output.get("groups", 1))
    if gate is not None and not output.get("gate_before_norm"):
        y = y * gate
    y = activate(output.get("activation", "identity"), y)
    if not output.get("project", True):
        return y
    width, bias = x.shape[-1], output.get("bias", False)
    if not output.get("glu"):
        return linear(view, "o", y, width, bias)
    a, b = linear(view, "o", y, 2 * width, bias).chunk(2, -1)
    return a * torch.sigmoid(b)
