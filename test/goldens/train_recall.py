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

With --tokens the task has a paper's size, which is trained elsewhere and not kept here: PAIRS keys with their values,
and then random tokens, among which each key comes once more, at every second place with a chance that falls with the
distance (Arora et al., zoology's power law of 0.01). The value is expected after it.

    train_recall.py --tokens 128 --pairs 8 --keys 4096 --width 128 --batch 32 --steps 20000 --out /tmp/recall-128
    train_recall.py --tokens 256 --pairs 64 --keys 4096 --width 128 --batch 32 --steps 20000 --out /tmp/recall-256
    effc compile /tmp/recall-256/ssd -o ssd.effc
    effc eval ssd.effc --tokens /tmp/recall-256/ssd/tokens.json --targets /tmp/recall-256/ssd/targets.json
"""

import argparse
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from family_goldens.explicit import BASE, DRAW, ROTARY, ExplicitCase, ExplicitModel, expand, rodimus
from family_goldens.weights import randomise
from torch.nn import functional

ROOT = Path(__file__).resolve().parent / "recall"
POWER = 0.01  # of the distance to a key that is asked


@dataclass
class Task:
    """Which sequences; the defaults are those of the folders here."""
    pairs: int = 4
    keys: int = 16
    tokens: int = 0  # 0: the keys come again at once
    width: int = 64
    held_out: int = 48
    batch: int = 128

    @property
    def length(self):
        return self.tokens or 3 * self.pairs

    def draw(self, count, generator):
        """Sequences; for each the places of the keys that are asked, and their values."""
        order = torch.rand(count, self.keys, generator=generator).argsort(-1)[:, :self.pairs]
        values = self.keys + torch.randint(self.keys, (count, self.pairs), generator=generator)
        known = torch.stack([order, values], -1).flatten(1)
        if not self.tokens:
            asked = torch.rand(count, self.pairs, generator=generator).argsort(-1)
            places = torch.arange(2 * self.pairs, 3 * self.pairs).expand(count, -1)
            return torch.cat([known, order.gather(1, asked)], 1), places, values.gather(1, asked)
        rest = torch.randint(2 * self.keys, (count, self.tokens - 2 * self.pairs), generator=generator)
        chance = torch.arange(1, rest.shape[1] // 2 + 1, dtype=torch.float64) ** (POWER - 1)
        gaps = torch.multinomial(chance.expand(count, -1), self.pairs, generator=generator)
        rest.scatter_(1, 2 * gaps, order)
        return torch.cat([known, rest], 1), 2 * self.pairs + 2 * gaps, values


def mixers(width):
    """Parts of a layer, by the mixer that it has."""
    glu = {"part": "glu", "hidden": width}
    convolved = {"convolution": 4, "activation": "silu"}
    attention = {"part": "attention", "heads": 2, "keys": width // 2, "positions": ROTARY}
    own = rodimus()
    wide = {**own, "keys": 32, "values": 2 * width, "inner": {**own["inner"], "width": 2 * width}}
    return {
        "attention": [attention, glu],
        "dma": [{**attention, "mask": {"kind": "bias"}}, glu],
        "ssd": [{"part": "ssd", "heads": 4, "groups": 1, "keys": 32, "values": width // 2,
                 "x": convolved, "b": convolved, "c": convolved}],
        "rodimus": [wide],
        "srm": [{"part": "mlp", "hidden": 2 * width, "bias": True}, {"part": "srm", "heads": 4}],
    }


def chosen(logits, places):
    """[sequences, pairs, vocabulary], of logits of all tokens."""
    return logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1]))


def logits_of(model, tokens, places):
    return chosen(torch.vmap(lambda ids: model(ids[None])[0], randomness="error")(tokens), places)


def train(model, task, steps, generator):
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    seen = 0.0
    for step in range(steps):
        tokens, places, values = task.draw(task.batch, generator)
        logits = logits_of(model, tokens, places)
        loss = functional.cross_entropy(logits.flatten(0, 1), values.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        seen = 0.95 * seen + 0.05 * (logits.argmax(-1) == values).float().mean().item()
        if seen > 0.97:
            break
        if task.tokens and (step + 1) % 100 == 0:
            print(f"  step {step + 1}: loss {loss.item():.3f}, {seen:.3f} right", flush=True)
    return step + 1, seen


def evaluate(model, tokens, places, values):
    with torch.no_grad():
        logits = torch.cat([chosen(model(ids[None]), place[None]) for ids, place in zip(tokens, places)])
    best = logits.topk(2, -1).values
    return (logits.argmax(-1) == values).sum().item(), (best[..., 0] - best[..., 1]).min().item()


def write(name, task, steps, root):
    parts = [{"parts": mixers(task.width)[name]}] * 2
    config = {**BASE, "hidden_size": task.width, "vocab_size": 2 * task.keys, "blocks": parts,
              "max_position_embeddings": max(16, task.length)}
    config["num_hidden_layers"] = len(expand(parts, {"residual": "plain", "norm": None}))
    if name == "srm":
        config.update(norm={"kind": "layer"}, final_norm=None)
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    case = ExplicitCase("recall", name, lambda: ExplicitModel(config), 2 * task.keys, dtype="bf16", draw=DRAW,
                        embedding=0.5)
    model = case.build()
    randomise(model, case, generator)
    start = time.time()
    taken, seen = train(model, task, steps, generator)
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.copy_(tensor.bfloat16())
    tokens, places, values = task.draw(task.held_out, generator)
    right, gap = evaluate(model, tokens, places, values)
    exact = case.build().double()
    exact.load_state_dict({key: value.double() for key, value in model.state_dict().items()})
    in_double = evaluate(exact, tokens, places, values)[0]
    # Among thousands of targets some are nearly ties.
    assert task.tokens or (in_double == right and gap > 1e-4), (name, gap)
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case.save(model, folder)
    (folder / "tokens.json").write_text(json.dumps(tokens.tolist()) + "\n")
    (folder / "targets.json").write_text(json.dumps(
        [{"positions": place, "ids": row} for place, row in zip(places.tolist(), values.tolist())]) + "\n")
    (folder / "expected.json").write_text(json.dumps(
        {"targets": values.numel(), "right": right, "smallest_gap": gap, "steps": taken} |
        ({"right_in_double": in_double} if task.tokens else {})) + "\n")
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{name:10} {taken:5} steps, {time.time() - start:4.0f} s, training {seen:.3f}, "
          f"held out {right / values.numel():.3f}, gap {gap:.1e}, {size} bytes", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=mixers(Task.width))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=0, help="of a sequence, in which asked keys are scattered")
    for name, meaning in (("pairs", "keys with values"), ("keys", "that there are, and as many values"),
                          ("width", "channels of the model"), ("held_out", "sequences to judge by"),
                          ("batch", "sequences of a step")):
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=getattr(Task, name), help=meaning)
    parser.add_argument("--out", type=Path, default=ROOT, help="the folder to write to")
    arguments = parser.parse_args()
    task = Task(**{name: getattr(arguments, name) for name in Task.__dataclass_fields__})
    if task.tokens and task.tokens < 4 * task.pairs:
        parser.error(f"{task.pairs} pairs need {4 * task.pairs} tokens at least")
    if task.pairs > task.keys:
        parser.error("there are more pairs than keys")
    if task != Task() and arguments.out == ROOT:
        parser.error("other sizes are not recorded here: give --out")
    for name in [arguments.only] if arguments.only else mixers(task.width):
        write(name, task, arguments.steps, arguments.out)


if __name__ == "__main__":
    main()
