#!/usr/bin/env python3
"""Texts that go on from the cache are those of a cold start, of many families: tokens and log-probabilities.

    python3 cached_families.py --effc EFFC --goldens test/goldens/families jamba/experts rwkv7/plain

Compiles the recorded checkpoints; alone, the first one of each family. Of each model several texts grow over some
turns: a turn is the last one's prompt and answer and some new tokens. One server holds all models and takes turns of
all at once, in random order, so that they share steps. Another without a cache then takes the same requests. Half of
them take the likeliest tokens, half draw by a seed. Every answer has to have the same tokens and the same
log-probabilities to the last bit, and of each model at least half of the tokens of later turns have to come from the
cache.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

from served import Served

CONTEXT, TURNS, TEXTS, DRAWN = 400, 5, 4, 8
TOKENIZED = "return_tokens_as_token_ids"


def first_cases(goldens):
    """The first case of each family."""
    cases = sorted(str(path.parent.relative_to(goldens)) for path in goldens.glob("*/*/config.json"))
    families = {}
    for case in cases:
        families.setdefault(case.split("/")[0], case)
    return list(families.values())


def compiled(effc, goldens, case, folder):
    """The file; none of a model with weights for each of its positions, which are too few for a text that grows."""
    out = folder / (case.replace("/", "-") + ".effc")
    done = subprocess.run([effc, "compile", str(goldens / case), "-o", str(out), "--no-optimise", "--prefill-rows", "16",
                           "--max-batch", "4", "--max-context", str(CONTEXT)], capture_output=True, text=True)
    if "positions of the longest context" in done.stderr:
        print(f"{case}: left out: {done.stderr.strip()}")
        return None
    if done.returncode != 0:
        sys.exit(f"{case}: {done.stderr}")
    return out


def grown(server, draw):
    """Requests and answers of all texts of all models, turn by turn."""
    texts = {}
    for model in server.ask("/v1/models")["data"]:
        for number in range(TEXTS):
            vocabulary = model["meta"]["vocabulary"]
            texts[model["id"], number] = vocabulary, [draw.randrange(vocabulary) for _ in range(draw.randrange(20, 150))]
    log = []
    for turn in range(TURNS):
        bodies = [{"model": model, "prompt": prompt, "max_tokens": DRAWN, "temperature": number % 2, "seed": number,
                   "logprobs": 2, "ignore_eos": True, TOKENIZED: True} for (model, number), (_, prompt) in texts.items()]
        order = draw.sample(range(len(bodies)), len(bodies))
        answers = dict(zip(order, server.ask_all("/v1/completions", [bodies[i] for i in order])))
        for i, (key, (vocabulary, prompt)) in enumerate(texts.items()):
            answer = answers[i]
            if "choices" not in answer:
                sys.exit(f"{key[0]}: {answer}")
            log.append((key[0], turn, bodies[i], answer))
            told = [int(token.removeprefix("token_id:")) for token in answer["choices"][0]["logprobs"]["tokens"]]
            more = [draw.randrange(vocabulary) for _ in range(draw.randrange(3, 20))]
            texts[key] = vocabulary, prompt + told + more
    return log


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effc", required=True, help="the program effc")
    parser.add_argument("--goldens", required=True, type=pathlib.Path, help="the folder of recorded checkpoints")
    parser.add_argument("--seed", type=int, default=5, help="of texts and order")
    parser.add_argument("cases", nargs="*", help="family/case; none: the first of every family")
    arguments = parser.parse_args()
    cases = arguments.cases or first_cases(arguments.goldens)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [compiled(arguments.effc, arguments.goldens, case, folder) for case in cases]
        files = list(filter(None, files))
        with Served(arguments.effc, files, "--slots", "8", "--queue", "1024", "--cache-ram", "64M") as server:
            log = grown(server, random.Random(arguments.seed))
        with Served(arguments.effc, files, "--slots", "8", "--queue", "1024", "--cache-ram", "0") as server:
            cold = server.ask_all("/v1/completions", [body for _, _, body, _ in log])
    wrong = []
    for file in files:
        rows = [(turn, answer, again) for (model, turn, _, answer), again in zip(log, cold) if model == file.stem]
        differ = sum(answer["choices"] != again.get("choices") for _, answer, again in rows)
        later = [answer["usage"] for turn, answer, _ in rows if turn > 0]
        hit = sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in later)
        all_tokens = sum(usage["prompt_tokens"] for usage in later)
        print(f"{file.stem}: {len(rows)} requests, {differ} differ; {hit} of {all_tokens} tokens from the cache")
        if differ or hit * 2 < all_tokens:
            wrong.append(file.stem)
    if wrong or not files:
        print("wrong:", ", ".join(wrong) or "no model was tried")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
