#!/usr/bin/env python3
"""Writes recurrence/naive_cases.json: recurrences by flash-linear-attention's naive functions.

Each case is of the form that make_recurrence_goldens.py describes. The functions are
plain torch, token by token; their files are loaded without the package around them, which
wants Triton, and with `float` meaning f64, so that the results are in f64. States are not
zero. Their layer's own work on gates (sigmoid, softplus, lower bounds) is done here as
the library's layers do it, since our ops hold it. The queries' scale K^-0.5 is theirs.

  linear_attention, normalised_attention   naive_recurrent_linear_attn
  retention                naive_retention, whose decays are 1 - 2^(-5 - h)
  gated_retention          naive_recurrent_simple_gla, g = logsigmoid(gate) / 16
  gated_linear_attention   naive_recurrent_gla, gk = logsigmoid(gate) / 16
  hgrn2                    the same, k = 1 - f and gk = log f
  hgrn                     naive_recurrent_hgrn
  delta_rule               delta_rule_recurrence
  gated_delta_rule         naive_recurrent_gated_delta_rule
  gated_delta_rule_2       naive_recurrent_gdn2
  kimi_delta_attention     naive_recurrent_kda
  rwkv6                    naive_recurrent_rwkv6, scale 1
  rwkv7                    dplr_recurrence, alpha = -kk, beta = kk a, keys and scale undone
"""
import argparse
import importlib.metadata
import importlib.util
import json
import math
import pathlib

import torch
from torch.nn.functional import logsigmoid, normalize, softplus

from recurrence_cases import case, datum, numbers


def naive(module, function):
    """A function of flash-linear-attention whose `float` is f64."""
    path = importlib.metadata.distribution("fla-core").locate_file(f"fla/ops/{module}.py")
    spec = importlib.util.spec_from_file_location(module.replace("/", "_"), path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return getattr(loaded, function)


torch.float = torch.float32 = torch.float64
torch.Tensor.float = torch.Tensor.double


class Draw:
    """Operands of one case: a batch of one, [1, T, heads, channels]."""

    def __init__(self, seed, tokens, heads, keys, values):
        self.generator = torch.Generator().manual_seed(seed)
        self.tokens, self.heads, self.keys, self.values = tokens, heads, keys, values

    def numbers(self, *shape):
        return numbers(self.generator, *shape)

    def per_token(self, *channels):
        return self.numbers(1, self.tokens, self.heads, *channels)

    def state(self):
        return self.numbers(1, self.heads, self.keys, self.values)


def heads_first(*tensors):
    return [tensor.transpose(1, 2) for tensor in tensors]


def finish(op, operands, results, attributes="", name=""):
    """A case from tensors with a batch of one, or parameters without."""
    def unbatched(tensor):
        return datum((tensor[0] if tensor.shape[0] == 1 and tensor.dim() > 1 else tensor).contiguous())
    return case(f"naive_{name or op}", op, [unbatched(t) for t in operands], [unbatched(t) for t in results], attributes)


def scale(keys):
    return f"scale = {keys ** -0.5!r} : f64"


def linear_attention():
    d = Draw(1, 7, 3, 4, 5)
    q, k, v, state = d.per_token(4), d.per_token(4), d.per_token(5), d.state()
    y, after = naive("linear_attn/naive", "naive_recurrent_linear_attn")(q, k, v, None, state, True)
    return finish("linear_attention", [q, k, v, state], [y, after], scale(4))


def normalised_attention():
    d = Draw(2, 6, 2, 5, 3)
    q, k, v = d.per_token(5).abs(), d.per_token(5).abs(), d.per_token(3)
    state, total = d.state(), d.numbers(1, 2, 5).abs()
    y, after = naive("linear_attn/naive", "naive_recurrent_linear_attn")(
        q, k, v, None, (state, total[:, None]), True, normalize=True)
    # The function returns the sum beside the state where it normalises.
    after, total_after = after
    return finish("normalised_attention", [q, k, v, state, total], [y, after, total_after.reshape(1, 2, 5)],
                  scale(5) + ", eps = 1.0e-10 : f64")


def retention():
    d = Draw(3, 9, 4, 5, 3)
    q, k, v = d.per_token(5), d.per_token(5), d.per_token(3)
    y = naive("retention/naive", "naive_retention")(*heads_first(q, k, v)).transpose(1, 2)
    decay = 1 - 2.0 ** (-5 - torch.arange(4).double())
    left = decay[None] ** (8 - torch.arange(9).double())[:, None]
    after = torch.einsum("th,bthk,bthv->bhkv", left, k, v)
    return finish("retention", [q, k, v, decay.log(), torch.zeros_like(after)], [y, after], scale(5))


def gated_retention():
    d = Draw(4, 8, 3, 4, 5)
    q, k, v, gate, state = d.per_token(4), d.per_token(4), d.per_token(5), d.per_token() * 4, d.state()
    y, after = naive("simple_gla/naive", "naive_recurrent_simple_gla")(
        q, k, v, logsigmoid(gate) / 16, initial_state=state)
    return finish("gated_retention", [q, k, v, gate, state], [y, after], scale(4))


def gated_linear_attention():
    d = Draw(5, 8, 3, 4, 5)
    q, k, v, gate, state = d.per_token(4), d.per_token(4), d.per_token(5), d.per_token(4) * 4, d.state()
    y, after = naive("gla/naive", "naive_recurrent_gla")(q, k, v, logsigmoid(gate) / 16, state, True)
    return finish("gated_linear_attention", [q, k, v, gate, state], [y, after],
                  scale(4) + ", operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>")


def hgrn2():
    d = Draw(6, 7, 2, 3, 5)
    q, forget, v, state = d.per_token(3), d.per_token(3), d.per_token(5), d.state()
    bound = d.numbers(2, 3).abs() / 4
    f = bound + (1 - bound) * torch.sigmoid(forget)
    y, after = naive("gla/naive", "naive_recurrent_gla")(q, 1 - f, v, f.log(), state, True)
    return finish("hgrn2", [q, forget, v, bound, state], [y, after], scale(3))


def hgrn():
    d = Draw(7, 9, 2, 1, 5)
    x, forget, state, bound = d.per_token(5), d.per_token(5), d.state(), d.numbers(2, 5).abs() / 4
    f = bound + (1 - bound) * torch.sigmoid(forget)
    y, after = naive("hgrn/naive", "naive_recurrent_hgrn")(
        ((1 - f) * x).reshape(1, 9, 10), f.log().reshape(1, 9, 10), state.reshape(1, 10), True)
    return finish("hgrn", [x, forget, bound, state], [y.reshape(1, 9, 2, 5), after.reshape(1, 2, 1, 5)])


def delta_rule():
    d = Draw(8, 7, 3, 4, 5)
    q, k, v, beta, state = (d.per_token(4), normalize(d.per_token(4), dim=-1), d.per_token(5), d.per_token().abs(),
                            d.state())
    y, after = naive("delta_rule/naive", "delta_rule_recurrence")(*heads_first(q, k, v, beta), state)
    return finish("delta_rule", [q, k, v, beta, state], [y.transpose(1, 2), after], scale(4))


def gated_delta_rule():
    d = Draw(9, 7, 3, 4, 5)
    q, k, v, beta, state = (d.per_token(4), normalize(d.per_token(4), dim=-1), d.per_token(5), d.per_token().abs(),
                            d.state())
    a, a_log, bias = d.per_token(), d.numbers(3), d.numbers(3)
    y, after = naive("gated_delta_rule/naive", "naive_recurrent_gated_delta_rule")(
        q, k, v, beta, -a_log.exp() * softplus(a + bias), None, state, True)
    return finish("gated_delta_rule", [q, k, v, beta, a, a_log, bias, state], [y, after], scale(4))


def kimi_delta_attention():
    d = Draw(10, 7, 3, 4, 5)
    q, k, v, beta, state = (d.per_token(4), normalize(d.per_token(4), dim=-1), d.per_token(5), d.per_token().abs(),
                            d.state())
    f, a_log, bias = d.per_token(4), d.numbers(3), d.numbers(3, 4)
    y, after = naive("kda/naive", "naive_recurrent_kda")(
        q, k, v, -a_log.exp()[:, None] * softplus(f + bias), beta, None, state, True)
    return finish("kimi_delta_attention", [q, k, v, beta, f, a_log, bias, state], [y, after], scale(4))


def gated_delta_rule_2():
    d = Draw(13, 7, 3, 4, 5)
    q, k, v, state = d.per_token(4), normalize(d.per_token(4), dim=-1), d.per_token(5), d.state()
    erase, write = d.per_token(4).abs(), d.per_token(5).abs() / 2
    f, a_log, bias = d.per_token(4), d.numbers(3), d.numbers(3, 4)
    y, after = naive("gdn2/naive", "naive_recurrent_gdn2")(
        q, k, v, -a_log.exp()[:, None] * softplus(f + bias), erase, write, None, state, True)
    return finish("gated_delta_rule_2", [q, k, v, erase, write, f, a_log, bias, state], [y, after], scale(4))


def rwkv6():
    d = Draw(11, 7, 3, 4, 5)
    r, k, v, w, u, state = d.per_token(4), d.per_token(4), d.per_token(5), d.per_token(4), d.numbers(3, 4), d.state()
    y, after = naive("rwkv6/recurrent_naive", "naive_recurrent_rwkv6")(
        *heads_first(r, k, v, -w.exp()), u, 1.0, state, True)
    return finish("rwkv6", [r, k, v, w, u, state], [y.transpose(1, 2), after])


def rwkv7():
    d = Draw(12, 7, 3, 4, 5)
    r, w, k, v, state = d.per_token(4), d.per_token(4) * 2, d.per_token(4), d.per_token(5), d.state()
    kk, a = normalize(d.per_token(4), dim=-1), torch.sigmoid(d.per_token(4))
    y, after = naive("generalized_delta_rule/dplr/naive", "dplr_recurrence")(
        *heads_first(r * 4 ** 0.5, k, v, -kk, kk * a, -math.exp(-0.5) * torch.sigmoid(w)), state)
    return finish("rwkv7", [r, w, k, v, kk, a, state], [y.transpose(1, 2), after])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "recurrence" / "naive_cases.json")
    output = parser.parse_args().output
    cases = [make() for make in (linear_attention, normalised_attention, retention, gated_retention,
                                 gated_linear_attention, hgrn2, hgrn, delta_rule, gated_delta_rule,
                                 kimi_delta_attention, rwkv6, rwkv7, gated_delta_rule_2)]
    output.write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
