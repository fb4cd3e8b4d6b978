#!/usr/bin/env python3
"""Trains two-layer models to recall, one for each mixer, and writes `recall/<mixer>/`.

Multi-query associative recall (Arora et al., arXiv:2312.04927), small: a sequence is PAIRS keys, each
followed by its value, then the same keys in another order; after each of these the value is
expected. Models have width 64 and the explicit layout; each folder holds

    config.json, generation_config.json, model.safetensors    bf16
    tokens.json      held-out sequences
    targets.json     the positions of the asked keys, and the values
    expected.json    how many of them the forward of `family_goldens/explicit.py` gets right, in
                     double and f32 alike, and the smallest gap between the two largest logits there

Training is AdamW on the CPU for at most --steps steps and stops at an accuracy of 0.97, which all but the
structured mixer reach in some 250: its weights do not depend on tokens, and it gets a third. The weights
differ in their last digits from machine to machine, so what is expected goes with them.
"""

import argparse
import json
import shutil
import time
from pathlib import Path

import torch
from family_goldens.explicit import BASE, DRAW, ROTARY, ExplicitCase, ExplicitModel, expand, rodimus
from family_goldens.weights import randomise
from torch.nn import functional

ROOT = Path(__file__).resolve().parent / "recall"
WIDTH, PAIRS, KEYS, HELD_OUT = 64, 4, 16, 48
GLU = {"part": "glu", "hidden": 64}
CONVOLVED = {"convolution": 4, "activation": "silu"}
ATTENTION = {"part": "attention", "heads": 2, "keys": 32, "positions": ROTARY}


def wide(part):
    inner = {**part["inner"], "width": 2 * WIDTH}
    return {**part, "keys": 32, "values": 2 * WIDTH, "inner": inner}


MIXERS = {
    "attention": [ATTENTION, GLU],
    "dma": [{**ATTENTION, "mask": {"kind": "bias"}}, GLU],
    "ssd": [{"part": "ssd", "heads": 4, "groups": 1, "keys": 32, "values": 32,
             "x": CONVOLVED, "b": CONVOLVED, "c": CONVOLVED}],
    "rodimus": [wide(rodimus())],
    "srm": [{"part": "mlp", "hidden": 128, "bias": True}, {"part": "srm", "heads": 4}],
}


def draw(count, generator):
    """Sequences, and for each the values of the keys that are asked."""
    order = torch.rand(count, KEYS, generator=generator).argsort(-1)[:, :PAIRS]
    values = KEYS + torch.randint(KEYS, (count, PAIRS), generator=generator)
    asked = torch.rand(count, PAIRS, generator=generator).argsort(-1)
    pairs = torch.stack([order, values], -1).flatten(1)
    return torch.cat([pairs, order.gather(1, asked)], 1), values.gather(1, asked)


def logits_of(model, tokens):
    return torch.vmap(lambda ids: model(ids[None])[0], randomness="error")(tokens)[:, -PAIRS:]


def train(model, steps, generator):
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    seen = 0.0
    for step in range(steps):
        tokens, values = draw(128, generator)
        logits = logits_of(model, tokens)
        loss = functional.cross_entropy(logits.flatten(0, 1), values.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        seen = 0.95 * seen + 0.05 * (logits.argmax(-1) == values).float().mean().item()
        if seen > 0.97:
            break
    return step + 1, seen


def evaluate(model, tokens, values):
    with torch.no_grad():
        logits = torch.stack([model(ids[None])[0, -PAIRS:] for ids in tokens])
    best = logits.topk(2, -1).values
    return (logits.argmax(-1) == values).sum().item(), (best[..., 0] - best[..., 1]).min().item()


def write(name, steps):
    parts = [{"parts": MIXERS[name]}] * 2
    config = {**BASE, "hidden_size": WIDTH, "vocab_size": 2 * KEYS, "blocks": parts,
              "max_position_embeddings": 16}
    config["num_hidden_layers"] = len(expand(parts, {"residual": "plain", "norm": None}))
    if name == "srm":
        config.update(norm={"kind": "layer"}, final_norm=None)
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    case = ExplicitCase("recall", name, lambda: ExplicitModel(config), 2 * KEYS, dtype="bf16", draw=DRAW,
                        embedding=0.5)
    model = case.build()
    randomise(model, case, generator)
    start = time.time()
    taken, seen = train(model, steps, generator)
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.copy_(tensor.bfloat16())
    tokens, values = draw(HELD_OUT, generator)
    right, gap = evaluate(model, tokens, values)
    exact = case.build().double()
    exact.load_state_dict({key: value.double() for key, value in model.state_dict().items()})
    assert evaluate(exact, tokens, values)[0] == right and gap > 1e-4, (name, gap)
    folder = ROOT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case.save(model, folder)
    (folder / "tokens.json").write_text(json.dumps(tokens.tolist()) + "\n")
    positions = list(range(2 * PAIRS, 3 * PAIRS))
    (folder / "targets.json").write_text(json.dumps(
        [{"positions": positions, "ids": row} for row in values.tolist()]) + "\n")
    (folder / "expected.json").write_text(json.dumps(
        {"targets": values.numel(), "right": right, "smallest_gap": gap, "steps": taken}) + "\n")
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{name:10} {taken:5} steps, {time.time() - start:4.0f} s, training {seen:.3f}, "
          f"held out {right / values.numel():.3f}, gap {gap:.1e}, {size} bytes", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=MIXERS)
    parser.add_argument("--steps", type=int, default=1000)
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else MIXERS:
        write(name, arguments.steps)


if __name__ == "__main__":
    main()
