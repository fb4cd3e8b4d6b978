#!/usr/bin/env python3
"""What a model with a tokenizer recalls of a long text: `effc eval --requests` on texts that are made here.

  test/goldens/recall_requests.py needle MODEL.effc --lengths 512,2048,8192 --out needle.json
  test/goldens/recall_requests.py copy MODEL.effc --lengths 128,512

needle  A needle in a haystack, of several keys (RULER, arXiv:2404.06654): within a text of plain sentences four say
        "The number of the <word> is <six digits>.", each another word. The text ends in "The number of the <word> is".
        The choices are the four numbers, all of which the text has: chance is 1 in 4. The asked needle lies at each of
        --depths percent of the text, the others anywhere.
copy    Repeat after me (Jelassi et al., arXiv:2402.01032): random words, "Again:", and the same words from the
        beginning up to a place at --depths percent. The choices are what follows there, and what follows at three
        other places: chance is 1 in 4.

Lengths are in tokens: texts have as many parts as fit for two of them, less 3 %. For each length and depth the table has the part of
--count texts whose right choice is the likeliest (acc), and the part of which each token of the right choice is the
likeliest one, which greedy sampling would write (greedy). A folder in place of MODEL.effc is compiled first. The status
is 1 where acc of some cell is below --least. Standard library alone; `train_recall.py` trains models of their own to
recall, which need no tokenizer.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHOICES, NEXT = 4, 4
WORDS = """river garden window kitchen mountain village morning winter summer letter paper table basket market bridge
castle forest island harbour engine ladder mirror needle orange pepper pocket saddle shadow silver spoon thunder tunnel
velvet wagon whistle anchor apple barrel blanket bottle button candle carpet cherry copper cotton cradle curtain feather
flower hammer honey jacket kettle lantern leather lemon meadow melon oven pigeon pillow""".split()
PLAIN = """The grass is green and the sky is blue.|It rained for some time, and then it was dry again.|Somebody walked
along the road without any hurry.|The shop on the corner was open as usual.|A dog slept in the shade until it was
evening.|They talked about the weather and about the harvest.|The train came late, but nobody minded.|Leaves fell, and
the wind took them away.""".replace("\n", " ").split("|")


def run(effc, *arguments):
    done = subprocess.run([str(effc), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"effc {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def needle(draw, depth, size):
    """`size` sentences; returns the request."""
    words = draw.sample(WORDS, CHOICES)
    numbers = draw.sample(range(100000, 1000000), CHOICES)
    text = [draw.choice(PLAIN) for _ in range(size)]
    others = sorted((draw.randrange(size + 1) for _ in range(CHOICES - 1)), reverse=True)
    facts = [f"The number of the {word} is {number}." for word, number in zip(words, numbers)]
    # The asked one last, so that nothing moves it but what lies before it.
    for place, fact in zip(others, facts[1:]):
        text.insert(place, fact)
    text.insert(round(depth * len(text) / 100), facts[0])
    order = draw.sample(range(CHOICES), CHOICES)
    return {"context": " ".join(text) + f"\nThe number of the {words[0]} is",
            "continuations": [f" {numbers[i]}" for i in order], "right": order.index(0)}


def copy(draw, depth, size):
    """`size` words that are said twice, the second time up to a place; returns the request."""
    size = max(size, CHOICES * (NEXT + 1))
    text = [draw.choice(WORDS) for _ in range(size)]
    place = min(max(1, round(depth * size / 100)), size - NEXT)
    following = {}  # by its words, so that no choice is there twice
    for at in [place] + draw.sample(range(size - NEXT), size - NEXT):
        following.setdefault(" ".join(text[at:at + NEXT]), at)
        if len(following) == CHOICES:
            break
    choices = list(following)
    order = draw.sample(range(len(choices)), len(choices))
    return {"context": " ".join(text) + "\nAgain: " + " ".join(text[:place]),
            "continuations": [" " + choices[i] for i in order], "right": order.index(0)}


def tokens_in(effc, model, text):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        return len(json.loads(run(effc, "tokenize", model, "-f", file.name, "--json")))


def whole(request):
    return request["context"] + max(request["continuations"], key=len)


def sized(effc, model, make, length, seed):
    """How many parts a text may have to be of some `length` tokens at most."""
    def most(size):
        return max(tokens_in(effc, model, whole(make(random.Random(seed + i), 100, size))) for i in range(2))

    small, large = 1, 2
    while most(large) <= length:
        small, large = large, 2 * large
    while large - small > max(1, small // 32):
        middle = (small + large) // 2
        small, large = (middle, large) if most(middle) <= length else (small, middle)
    if most(small) > length:
        sys.exit(f"{length} tokens are too few: the shortest text has {most(small)}")
    return max(1, small - small * 3 // 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("task", choices=["needle", "copy"])
    parser.add_argument("model", type=pathlib.Path, help="a compiled model, or a checkpoint's folder")
    parser.add_argument("--effc", default=ROOT / "build/release/bin/effc", type=pathlib.Path)
    parser.add_argument("--lengths", type=numbers, default=[256, 512, 1024], help="in tokens")
    parser.add_argument("--depths", type=numbers, default=[0, 25, 50, 75, 100], help="in percent of the text")
    parser.add_argument("--count", type=int, default=20, help="texts for each length and depth")
    parser.add_argument("--batch", type=int, default=8, help="texts that are fed together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0, help="acc that each cell has to have")
    parser.add_argument("--requests", type=pathlib.Path, help="write the requests into this file, too")
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the numbers")
    options = parser.parse_args()
    make = {"needle": needle, "copy": copy}[options.task]
    with tempfile.TemporaryDirectory() as name:
        model = options.model
        if model.is_dir():
            model = pathlib.Path(name, "model.effc")
            run(options.effc, "compile", options.model, "-o", model)
        requests, cells = [], []
        for length in options.lengths:
            size = sized(options.effc, model, make, length, options.seed)
            for depth in options.depths:
                draw = random.Random(f"{options.seed} {length} {depth}")
                cells.append((length, depth))
                requests += [make(draw, depth, size) for _ in range(options.count)]
        path = options.requests or pathlib.Path(name, "requests.jsonl")
        path.write_text("".join(json.dumps(request) + "\n" for request in requests))
        told = json.loads(run(options.effc, "eval", model, "--requests", path, "--batch", options.batch, "--json"))["requests"]
    results = []
    print("| length | depth | tokens, at most | acc | greedy |\n|---|---|---|---|---|")
    for i, (length, depth) in enumerate(cells):
        rows = slice(i * options.count, (i + 1) * options.count)
        pairs = list(zip(requests[rows], told[rows]))
        most = max(one["context_tokens"] + max(each["tokens"] for each in one["continuations"]) for _, one in pairs)
        acc = sum(one["choice"] == asked["right"] for asked, one in pairs) / len(pairs)
        greedy = sum(one["continuations"][asked["right"]]["greedy"] for asked, one in pairs) / len(pairs)
        results.append({"length": length, "depth": depth, "tokens": most, "acc": acc, "greedy": greedy})
        print(f"| {length} | {depth} % | {most} | {acc:.2f} | {greedy:.2f} |", flush=True)
    if options.out:
        options.out.write_text(json.dumps({"task": options.task, "count": options.count, "seed": options.seed,
                                           "results": results}, indent=1) + "\n")
    return 1 if any(one["acc"] < options.least for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
