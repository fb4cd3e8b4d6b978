"""The explicit layout's recurrences over whole sequences: no state is carried here.

Operands are [T, H, ...], groups repeated for their heads; the result is [T, H, V]. Where
flash-linear-attention has a naive function, it is that; its layers' work on gates is done here as
its layers do it. The others are the quadratic sums of their papers: Wonderful Matrices eq. 4,
xLSTM's parallel form, Mamba's scan as a sum over the tokens before.
"""

import math

import torch
from fla.ops.delta_rule.naive import delta_rule_recurrence
from fla.ops.gated_delta_rule.naive import naive_recurrent_gated_delta_rule
from fla.ops.gdn2.naive import naive_recurrent_gdn2
from fla.ops.generalized_delta_rule.dplr.naive import dplr_recurrence
from fla.ops.gla.naive import naive_recurrent_gla
from fla.ops.hgrn.naive import naive_recurrent_hgrn
from fla.ops.kda.naive import naive_recurrent_kda
from fla.ops.momentum_delta_rule.naive import recurrent_momentum_delta_rule_ref
from fla.ops.rwkv6.recurrent_naive import naive_recurrent_rwkv6
from fla.ops.simple_gla.naive import naive_recurrent_simple_gla
from torch.nn import functional


def batched(*tensors):
    return [tensor[None] for tensor in tensors]


def heads_first(*tensors):
    return [tensor[None].transpose(1, 2) for tensor in tensors]


def scaled(q, scale):
    """Queries for a function that multiplies them with K^-1/2."""
    return q * (scale * math.sqrt(q.shape[-1]))


def log_decays(a, a_log, dt_bias):
    return -a_log.exp() * functional.softplus(a + dt_bias)


def gated_retention(t, p, scale, temperature):
    g = functional.logsigmoid(t["gate"]) / temperature
    return naive_recurrent_simple_gla(*batched(t["q"], t["k"], t["v"], g), scale=scale)[0][0]


def forget_gate(t, p):
    return p["lower_bound"] + (1 - p["lower_bound"]) * torch.sigmoid(t["forget"])


def hgrn(t, p):
    f = forget_gate(t, p)
    y = naive_recurrent_hgrn(*batched(((1 - f) * t["x"]).flatten(1), f.log().flatten(1)))[0]
    return y.view(f.shape)


def hgrn2(t, p, scale):
    f = forget_gate(t, p)
    return naive_recurrent_gla(*batched(scaled(t["q"], scale), 1 - f, t["v"], f.log()))[0][0]


def delta_rule(t, p, scale):
    y, _ = delta_rule_recurrence(*heads_first(scaled(t["q"], scale), t["k"], t["v"], t["beta"]))
    return y[0].transpose(0, 1)


def gated_delta_rule(t, p, scale):
    g = log_decays(t["a"], p["a_log"], p["dt_bias"])
    return naive_recurrent_gated_delta_rule(*batched(t["q"], t["k"], t["v"], t["beta"], g), scale)[0][0]


def gated_delta_rule_2(t, p, scale):
    g = log_decays(t["f"], p["a_log"][:, None], p["dt_bias"])
    return naive_recurrent_gdn2(*batched(t["q"], t["k"], t["v"], g, t["erase"], t["write"]), scale)[0][0]


def kda(t, p, scale):
    g = log_decays(t["f"], p["a_log"][:, None], p["dt_bias"])
    return naive_recurrent_kda(*batched(t["q"], t["k"], t["v"], g, t["beta"]), scale)[0][0]


def momentum_delta_rule(t, p, scale, eps, tau, most_loss):
    """As the library's layer and the function that it calls do it: the probe is a decayed key."""
    q, k = (x / torch.sqrt(x.square().sum(-1, keepdim=True) + eps)
            for x in (t["q"] - p["d_log"].exp()[:, None] * t["k"], t["k"]))
    log_mu = log_decays(t["m"], p["m_log"], p["m_bias"]).clamp_min(-most_loss)
    eta = torch.tanh(t["e"] / tau) + 1
    theta = torch.arctan(eta * p["factor_log"].exp())
    log_alpha = (torch.cos(theta) ** 2).log() + log_decays(t["a"], p["a_log"], p["dt_bias"])
    beta = torch.sin(theta) ** 2 * t["beta"]
    probe = k * log_alpha.exp()[..., None]
    return recurrent_momentum_delta_rule_ref(*batched(q, k, t["v"], log_alpha, log_mu, probe, beta, eta), scale)[0][0]


def rwkv6(t, p):
    y, _ = naive_recurrent_rwkv6(*heads_first(t["r"], t["k"], t["v"], -t["w"].exp()), p["u"], 1.0)
    return y[0].transpose(0, 1)


def rwkv7(t, p):
    g = -math.exp(-0.5) * torch.sigmoid(t["w"])
    y, _ = dplr_recurrence(*heads_first(scaled(t["r"], 1), t["k"], t["v"], -t["kk"], t["kk"] * t["a"], g))
    return y[0].transpose(0, 1)


def weights(log_decay):
    """exp(log_decay[i] + ... + log_decay[j + 1]) at [i, j, ...], 0 where j > i."""
    sums = log_decay.cumsum(0)
    differences = sums[:, None] - sums[None]
    later = torch.ones(len(sums), len(sums), dtype=torch.bool).triu(1)
    return differences.masked_fill(later.view(len(sums), len(sums), *[1] * (sums.dim() - 1)), -math.inf).exp()


def mamba(t, p):
    step = functional.softplus(t["dt"] + p["dt_bias"])
    kept = weights(-p["a_log"].exp() * step[:, :, None])
    y = torch.einsum("ihk,ijhkv,jhk,jhv->ihv", t["c"], kept, t["b"], step * t["x"])
    return y + p["d"] * t["x"]


def normalised_rotary(t, p, eps):
    kept = weights(log_decays(t["dt"], p["a_log"], p["dt_bias"]))
    above = torch.einsum("ihk,jhk,ijh,jhv->ihv", t["turned_q"], t["turned_k"], kept, t["v"])
    below = torch.einsum("ihk,jhk,ijh->ih", t["q"], t["k"], kept)
    return above / (below[..., None] + eps)


def mlstm(t, p, scale, eps):
    sums = functional.logsigmoid(t["forget"]).cumsum(0)
    logs = sums[:, None] - sums[None] + t["input"][None]
    later = torch.ones(len(sums), len(sums), dtype=torch.bool).triu(1)
    logs = logs.masked_fill(later[:, :, None], -math.inf)
    # The running maximum begins at 0.
    largest = torch.maximum(logs.amax(1), sums)
    scores = scale * torch.einsum("ihk,jhk->ijh", t["q"], t["k"]) * (logs - largest[:, None]).exp()
    below = torch.maximum(scores.sum(1).abs(), (-largest).exp()) + eps
    return torch.einsum("ijh,jhv->ihv", scores, t["v"]) / below[..., None]
