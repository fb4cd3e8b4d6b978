#!/usr/bin/env python3
"""Writes recurrence/cases.json: recurrences by a public library or a formula, in f64.

recurrence_cases.py says what a case holds.

  rg_lru               transformers' RecurrentGemmaRglru on the CPU, its scan told to
                       accumulate in f64. The gates are the products with the layer's
                       weights, which the op does not hold. Positions start at 0, later
                       on, or anew in the middle.
  s4d                  the convolution with the kernel of the public s4d.py,
                       K_l = 2 Re sum_n C_n (e^{dt A_n} - 1) / A_n e^{dt A_n l},
                       and its final state by the same powers
  normalised_rotary    the quadratic sums of both parts, keys and queries turned by
                       transformers' apply_rotary_pos_emb, decays as running products
  dynamic_mask_linear  the quadratic sum
  structured_recurrence  x^T M with the matrix M of the paper, M_ij = w_i l^(j-i) for
                       rows, w_j l^(j-i) for columns, its diagonal replaced or not
  causal_mix           the lower triangle of the weights times the tokens
"""
import argparse
import functools
import json
import pathlib

import torch
from transformers import RecurrentGemmaConfig
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
from transformers.models.recurrent_gemma.modeling_recurrent_gemma import RecurrentGemmaRglru

from recurrence_cases import case, datum, numbers


def rg_lru(name, seed, heads, width, positions):
    generator = torch.Generator().manual_seed(seed)
    config = RecurrentGemmaConfig(lru_width=heads * width, num_attention_heads=heads, hidden_size=heads * width)
    layer = RecurrentGemmaRglru(config).double()
    layer._rnn_scan = functools.partial(layer._rnn_scan, acc_dtype=torch.float64)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(numbers(generator, *parameter.shape))
    tokens = len(positions)
    x = numbers(generator, 1, tokens, heads * width)
    state = numbers(generator, 1, heads * width)
    layer.recurrent_states = state.clone()
    blocks = x.reshape(tokens, heads, width)

    def gate(weight, bias):
        return torch.einsum("thi,hij->thj", blocks, weight) + bias

    places = torch.tensor([positions], dtype=torch.int32)
    per_token, vector = [tokens, heads, width], [heads, 1, width]
    with torch.no_grad():
        operands = [
            datum(x, per_token), datum(gate(layer.recurrent_gate_weight, layer.recurrent_gate_bias)),
            datum(gate(layer.input_gate_weight, layer.input_gate_bias)), datum(places, [tokens]),
            datum(layer.recurrent_param, [heads, width]), datum(state, vector),
        ]
        y = layer(x, places)
        return case("rg_lru_" + name, "rg_lru", operands,
                    [datum(y, per_token), datum(layer.recurrent_states, vector)])


def s4d(name, seed, channels, modes, tokens):
    generator = torch.Generator().manual_seed(seed)
    u = numbers(generator, channels, tokens)
    log_dt = numbers(generator, channels) - 3
    log_a, a_imaginary = numbers(generator, channels, modes) / 2, 1 + numbers(generator, channels, modes).abs() * 3
    c = torch.complex(numbers(generator, channels, modes), numbers(generator, channels, modes))
    d = numbers(generator, channels)
    a = torch.complex(-torch.exp(log_a), a_imaginary)
    exponent = a * torch.exp(log_dt)[:, None]
    b = torch.expm1(exponent) / a
    powers = torch.exp(exponent[..., None] * torch.arange(tokens))
    kernel = 2 * torch.einsum("hn,hnl->hl", c * b, powers).real
    y = torch.stack([(kernel[:, :t + 1].flip(-1) * u[:, :t + 1]).sum(-1) for t in range(tokens)]) + (d * u.T)
    state = (b[..., None] * powers.flip(-1) * u[:, None, :]).sum(-1)

    def transposed(tensor):
        return datum(tensor.T[None].contiguous())

    zero = torch.zeros(channels, modes, dtype=torch.float64)
    operands = [datum(u.T[:, None].contiguous()), datum(log_dt[None]), transposed(log_a), transposed(a_imaginary),
                transposed(c.real), transposed(c.imag), datum(d[None]), transposed(zero), transposed(zero)]
    return case("s4d_" + name, "s4d", operands,
                [datum(y[:, None]), transposed(state.real), transposed(state.imag)])


def normalised_rotary(name, seed, heads, groups, keys, values, tokens):
    generator = torch.Generator().manual_seed(seed)
    q, k = numbers(generator, tokens, groups, keys).abs(), numbers(generator, tokens, groups, keys).abs()
    v, dt = numbers(generator, tokens, heads, values), numbers(generator, tokens, heads)
    a_log, dt_bias = numbers(generator, heads), numbers(generator, heads)
    angles = torch.arange(tokens)[:, None] * 10000.0 ** (-2 * torch.arange(keys // 2).double() / keys)
    angles = torch.cat([angles, angles], dim=-1)[None]
    turned_q, turned_k = (part[0].transpose(0, 1) for part in apply_rotary_pos_emb(
        q.transpose(0, 1)[None], k.transpose(0, 1)[None], angles.cos(), angles.sin()))
    decay = torch.exp(-torch.exp(a_log) * torch.nn.functional.softplus(dt + dt_bias))

    def per_head(tensor):
        return tensor.repeat_interleave(heads // groups, dim=1)

    def left(j, t):
        """What is left at token t of what token j wrote, per head."""
        return decay[j + 1:t + 1].prod(0)

    def score(x, t, y, j):
        return (per_head(x)[t] * per_head(y)[j]).sum(-1) * left(j, t)

    eps = 1e-6
    y = torch.stack([
        sum(score(turned_q, t, turned_k, j)[:, None] * v[j] for j in range(t + 1))
        / (sum(score(q, t, k, j) for j in range(t + 1)) + eps)[:, None] for t in range(tokens)])
    end = tokens - 1
    state = sum(left(j, end)[:, None, None] * per_head(turned_k)[j][:, :, None] * v[j][:, None] for j in range(tokens))
    total = sum(left(j, end)[:, None] * per_head(k)[j] for j in range(tokens))
    operands = [datum(t.contiguous()) for t in (turned_q, turned_k, q, k, v, dt, a_log, dt_bias,
                                                torch.zeros_like(state), torch.zeros_like(total))]
    return case("normalised_rotary_" + name, "normalised_rotary", operands, [datum(y), datum(state), datum(total)],
                f"eps = {eps:.1e} : f64")


def dynamic_mask_linear(name, seed, heads, groups, keys, values, tokens):
    generator = torch.Generator().manual_seed(seed)
    q, k = numbers(generator, tokens, groups, keys), numbers(generator, tokens, groups, keys)
    v, delta = numbers(generator, tokens, heads, values), numbers(generator, tokens, heads).exp()
    scores = torch.einsum("tgk,sgk->gts", q, k).repeat_interleave(heads // groups, dim=0)
    y = torch.einsum("hts,sh,shv->thv", scores.tril(), delta, v)
    state = torch.einsum("sh,shk,shv->hkv", delta, k.repeat_interleave(heads // groups, dim=1), v)
    operands = [datum(t) for t in (q, k, v, delta, torch.zeros_like(state))]
    return case("dynamic_mask_linear_" + name, "dynamic_mask_linear", operands, [datum(y), datum(state)])


def structured_recurrence(name, seed, heads, width, tokens, *, source=False, target=False, bias=False, diagonal=False,
                          root=0):
    generator = torch.Generator().manual_seed(seed)
    x = numbers(generator, tokens, heads, width)
    ones = torch.ones(tokens, heads, dtype=torch.float64)
    weights = {key: numbers(generator, tokens, heads) for key, present in
               (("source", source), ("target", target), ("bias", bias), ("diagonal", diagonal)) if present}
    stored = 0.9 + numbers(generator, heads).abs() / 10  # some above 1
    decay = stored.clip(0.9, 1) ** (1 / root) if root else torch.ones(heads, dtype=torch.float64)
    distance = torch.arange(tokens)[None, :] - torch.arange(tokens)[:, None]
    left = torch.where(distance >= 0, decay[:, None, None] ** distance.clip(min=0), 0)
    written = weights.get("source", ones).T[:, :, None] * left
    matrix = written * weights.get("target", ones).T[:, None, :]
    if diagonal:
        matrix = (matrix - torch.diag_embed(torch.diagonal(matrix, dim1=1, dim2=2))
                  + torch.diag_embed(weights["diagonal"].T))
    y = torch.einsum("hij,ihe->jhe", matrix, x)
    if bias:
        y = y + weights["bias"][:, :, None]
    state = torch.einsum("hi,ihe->he", written[:, :, -1], x)[:, None]
    operands = [x, *weights.values(), *([stored] if root else []), torch.zeros_like(state)]
    sizes = ", ".join(str(int(present)) for present in (True, source, target, bias, diagonal, root > 0, True))
    attributes = f"operandSegmentSizes = array<i32: {sizes}>" + (f", root = {root} : i64" if root else "")
    return case("structured_recurrence_" + name, "structured_recurrence", [datum(t) for t in operands],
                [datum(y.contiguous()), datum(state)], attributes)


def causal_mix(name, seed, limit, width, tokens):
    generator = torch.Generator().manual_seed(seed)
    x, weight = numbers(generator, tokens, width), numbers(generator, limit, limit)
    bias = numbers(generator, limit)
    y = weight.tril()[:tokens, :tokens] @ x + bias[:tokens, None]
    inputs = torch.zeros(limit, width, dtype=torch.float64)
    after = inputs.clone()
    after[:tokens] = x
    places = torch.arange(tokens, dtype=torch.int32)
    return case("causal_mix_" + name, "causal_mix", [datum(t) for t in (x, places, weight, bias, inputs)],
                [datum(y), datum(after)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "recurrence" / "cases.json")
    output = parser.parse_args().output
    cases = [
        rg_lru("from_the_start", 1, 3, 5, list(range(7))),
        rg_lru("going_on", 2, 2, 7, list(range(4, 15))),
        rg_lru("two_documents", 3, 4, 3, [5, 6, 7, 0, 1, 2, 3, 4]),
        rg_lru("one_token", 4, 2, 3, [9]),
        s4d("short", 5, 3, 5, 7),
        s4d("long", 6, 2, 3, 40),
        normalised_rotary("shared", 7, 6, 2, 4, 3, 9),
        normalised_rotary("own", 8, 2, 2, 6, 5, 11),
        dynamic_mask_linear("shared", 9, 6, 3, 4, 5, 7),
        structured_recurrence("row", 10, 3, 5, 9, source=True, bias=True, root=2),
        structured_recurrence("column", 11, 2, 5, 9, target=True, bias=True, root=1),
        structured_recurrence("headless", 12, 1, 7, 8, source=True),
        structured_recurrence("diagonal", 13, 3, 4, 9, source=True, target=True, bias=True, diagonal=True, root=1),
        causal_mix("part", 14, 9, 5, 6),
        causal_mix("full", 15, 7, 3, 7),
    ]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
