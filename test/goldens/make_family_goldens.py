#!/usr/bin/env python3
"""Writes `test/goldens/families/<family>/<case>/`: tiny random checkpoints of public models.

Each folder holds

    config.json, generation_config.json, model.safetensors    as the library writes them
    options.json               options of the compilation, where the case has any
    tokens.json                an array of arrays of token ids, of unequal lengths
    golden.safetensors         logits_f32.<i>  [T, vocabulary]  the library, f32, no cache (but `stepwise`)
                               logits_f64.<i>  [T, vocabulary]  the same, everything in double

The cases are the tables in `family_goldens/`, one module for each library. Weights are drawn so
that none is neutral, from a seed that follows from the case's name. In double, what a library
computes in f32 whatever its weights' type (norms, softmax, angles) is in double too:
`family_goldens/double.py`. A bf16 checkpoint is evaluated with its rounded weights.

Printed per case: bytes, the scale of the logits, the relative L2 error of the f32 logits. Fails
where a folder outgrows its limit or where the error is above 1e-4, which would be a defect of the
library or of this script.
"""

import argparse
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import torch
from family_goldens import (bailing, cached, decoders, deepseek, explicit, flash, hybrids, kimi, later_decoders, later_hybrids, mamba3, mamba_ssm, minimax, papers, plamo,
                            public, qwen_rwkv, rotary, routed, streaming, xmixers, zyphra)
from family_goldens.double import everything_in_double
from family_goldens.weights import drawn_buffers, randomise, seed_of
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parent / "families"
MOST_BYTES = 150_000
MOST_ERROR = 1e-4


def draw_tokens(case, generator):
    if case.distinct:
        return [torch.randperm(case.vocabulary, generator=generator)[:length].tolist()
                for length in case.lengths]
    return [torch.randint(case.vocabulary, (length,), generator=generator).tolist()
            for length in case.lengths]


def logits_of(case, model, tokens):
    if case.forward:
        return [torch.from_numpy(case.forward(model, ids)) for ids in tokens]
    with torch.no_grad():
        return [stepped_logits(model, ids) if case.stepwise else whole_logits(model, ids) for ids in tokens]


def stepped_logits(model, ids):
    rows, cache = [], None
    for token in ids:
        out = model(torch.tensor([[token]]), past_key_values=cache, use_cache=True)
        rows.append(out.logits[0])
        cache = out.past_key_values
    return torch.cat(rows)


def whole_logits(model, ids):
    out = model(torch.tensor([ids]), use_cache=False)
    return (out.logits if hasattr(out, "logits") else out)[0]


def write_case(case, folder):
    torch.manual_seed(seed_of(case.path))
    generator = torch.Generator().manual_seed(seed_of(case.path))
    model = case.build().eval()
    randomise(model, case, generator)
    if case.settle:
        case.settle(model)
    if case.dtype == "bf16":
        with torch.no_grad():
            for tensor in model.parameters():
                tensor.copy_(tensor.bfloat16())
    tokens = draw_tokens(case, generator)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case.save(model, folder)
    (folder / "tokens.json").write_text(json.dumps(tokens) + "\n")
    # Without buffers that follow from the configuration; RWKV4 rescales its weights where they
    # are, so they are copied.
    weights = {name: value.detach().clone()
               for name, value in [*model.named_parameters(), *drawn_buffers(model, case).items()]}
    single = logits_of(case, model, tokens)
    with everything_in_double():
        exact_model = case.build().eval().double()
        exact_model.load_state_dict({name: value.double() for name, value in weights.items()},
                                    strict=False)
        exact = logits_of(case, exact_model, tokens)
    golden = {}
    for index, (a, b) in enumerate(zip(single, exact)):
        assert a.dtype == torch.float32 and b.dtype == torch.float64, (a.dtype, b.dtype)
        golden[f"logits_f32.{index}"] = np.ascontiguousarray(a.numpy())
        golden[f"logits_f64.{index}"] = np.ascontiguousarray(b.numpy())
    save_file(golden, folder / "golden.safetensors")
    error = max(((a.double() - b).norm() / b.norm()).item() for a, b in zip(single, exact))
    size = sum(path.stat().st_size for path in folder.iterdir())
    deviation = torch.cat(exact).std().item()
    print(f"{case.path:40} {size:7} bytes, logits {deviation:6.2f}, f32 error {error:.1e}", flush=True)
    if size > MOST_BYTES:
        raise SystemExit(f"{case.path}: {size} bytes, more than {MOST_BYTES}")
    if not error <= MOST_ERROR:
        raise SystemExit(f"{case.path}: the f32 logits are off by {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="the cases whose FAMILY/NAME begins so")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    every = (public.CASES + flash.CASES + decoders.CASES + routed.CASES + rotary.CASES
             + streaming.CASES + cached.CASES + explicit.CASES + papers.CASES + minimax.CASES + mamba_ssm.CASES
             + kimi.CASES + hybrids.CASES + later_decoders.CASES + later_hybrids.CASES + bailing.CASES
             + zyphra.CASES + mamba3.CASES + deepseek.CASES + plamo.CASES + qwen_rwkv.CASES
             + xmixers.CASES)
    cases = [case for case in every if case.path.startswith(arguments.only)]
    if not cases:
        parser.error(f"no case begins with {arguments.only!r}")
    for case in cases:
        write_case(case, ROOT / case.path)


if __name__ == "__main__":
    main()
