#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/plamo.json`: a vocabulary as PLaMo-2 and PLaMo-3 have them, with ids of texts.

    {"tokens": [[text, score, type], ...],       rows of the model's tokenizer.jsonl; places are ids
     "texts":  [text, ...]                       those of corpus/texts.json, and some for this model
     "ids":    [[id, ...] per text],             with <|plamo:bos|> in front
     "decode": [[ids, text], ...]}               ids in any order

PLaMo's own code (tokenization_plamo.py of the checkpoints) searches with an automaton of all suffixes of tokens. What
that finds, as the code says of itself and llama.cpp's port says again, is written down here without it:

    costs are integers, -round(10,000 score), half to even; a piece whose cost is 20,000,000 or more is none
    from the last character to the first: the cheapest way from it to the end, by a piece that begins there, or by the
    tokens of the bytes of its one character for 10,000,000; of equally cheap ways that of the longest piece
    tokens of type BYTE are no pieces; added tokens are cut out of a text first, the leftmost longest

So of "aaa" with tokens "a" and "aa" the ids are those of "aa", "a": an Unigram model of the public library, which
searches from the first character on, has "a", "aa". Standard library alone.
"""
import argparse
import collections
import json
import math
import random
import re
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parent / "tokenizer"
MARKS = [("<|plamo:unk|>", "UNKNOWN"), ("<|plamo:bos|>", "CONTROL"), ("<|plamo:eos|>", "CONTROL"),
         ("<|plamo:pad|>", "CONTROL"), ("<|plamo:op|>", "CONTROL")]
NONE, UNKNOWN = 20_000_000, 10_000_000
# Of equal sums; rounded to even (30312.5 ten-thousandths); worse than bytes; none; better than nothing.
MORE = {"qqq": -3.0, "qq": -2.0, "q": -1.0, "xy": -3.03125, "x": -1.5, "y": -1.5312, "yx": -3.0312, "#z": -1500.0,
        "zz#": -2999.0, "z#z": -2500.0, "\u2603\u2603": -1999.0, "!!?": 2.5, "\u00e9\u00e9\u00e9": -999.9999,
        "<0x4": -7.0, "1>": -7.0, "<|plamo": -6.0}
TEXTS = ["", "q", "qq", "qqq", "qqqq", "qqqqq" * 7, "xyx", "yxy", "xyxyxyx", "#z#zz#z", "zz#z#", "\u2603",
         "\u2603\u2603\u2603", "!!?!!?!", "\u00e9\u00e9\u00e9\u00e9", "<0x41><0x4",
         "<|plamo:op|>dataset\ntranslation\n<|plamo:op|>", "<|plamo:o", "\ufeffa\ufeff", "a<|plamo:eos|><|plamo:bos|>",
         "\U0001f9d1\u200d\U0001f4bb q", "  \n\n   \t", "z" * 300]


def single(number):
    """A score as a GGUF file has it, so that both have the same."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def make_tokens(texts):
    counts = collections.Counter()
    for text in texts:
        for size in range(1, 9):
            counts.update(text[at:at + size] for at in range(len(text) - size + 1))
    singles = [piece for piece, count in counts.items() if len(piece) == 1 and count > 5]
    longer = sorted((piece for piece, count in counts.items() if len(piece) > 1 and count > 3),
                    key=lambda piece: (-counts[piece] * (len(piece) - 1), piece))[:1600]
    total = sum(counts[piece] for piece in singles + longer)
    scores = {piece: round(math.log(counts[piece] / total), 4) for piece in sorted(singles) + longer
              if not any(mark.startswith(piece) and len(piece) > 2 for mark, _ in MARKS)
              and not re.fullmatch("<0x..>", piece)}
    scores.update(MORE)
    return ([[mark, 0.0, kind] for mark, kind in MARKS] + [[f"<0x{byte:02X}>", 0.0, "BYTE"] for byte in range(256)]
            + [[piece, single(score), "NORMAL"] for piece, score in scores.items()])


class Plamo:
    def __init__(self, tokens):
        self.texts = [text for text, _, _ in tokens]
        self.bytes = {int(text[3:5], 16): at for at, (text, _, kind) in enumerate(tokens) if kind == "BYTE"}
        self.pieces = {text: (-round(score * 1e4), at) for at, (text, score, kind) in enumerate(tokens)
                       if kind == "NORMAL" and -round(score * 1e4) < NONE}
        self.longest = max(map(len, self.pieces))
        self.marks = {mark: self.texts.index(mark) for mark, _ in MARKS}

    def cut(self, text):
        best = [None] * len(text) + [(0, 0, None)]
        for at in reversed(range(len(text))):
            ways = [(cost + best[at + size][0], size, token) for size in range(min(self.longest, len(text) - at), 0, -1)
                    for cost, token in [self.pieces.get(text[at:at + size], (None, None))] if token is not None]
            best[at] = min(ways + [(UNKNOWN + best[at + 1][0], 1, None)], key=lambda way: way[0])  # the first of equals
        ids, at = [], 0
        while at < len(text):
            _, size, token = best[at]
            ids += [token] if token is not None else [self.bytes[byte] for byte in text[at].encode()]
            at += size
        return ids

    def encode(self, text):
        ids = [self.marks["<|plamo:bos|>"]]
        for part in re.split("(" + "|".join(map(re.escape, sorted(self.marks, key=len, reverse=True))) + ")", text):
            ids += [self.marks[part]] if part in self.marks else self.cut(part)
        return ids

    def decode(self, ids):
        bytes_of = {token: bytes([byte]) for byte, token in self.bytes.items()}
        return b"".join(bytes_of.get(token, self.texts[token].encode()) for token in ids).decode(errors="replace")


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    given = json.loads((ROOT / "corpus" / "texts.json").read_text())
    texts = [text for text in given if isinstance(text, str)]
    tokens = make_tokens(texts)
    plamo = Plamo(tokens)
    texts += TEXTS
    ids = [plamo.encode(text) for text in texts]
    rng = random.Random(3)
    lists = [[rng.randrange(len(MARKS), len(MARKS) + 256 if i % 2 else len(tokens)) for _ in range(rng.randint(1, 9))]
             for i in range(200)]
    (ROOT / "plamo.json").write_text(json.dumps(
        {"tokens": tokens, "texts": texts, "ids": ids, "decode": [[one, plamo.decode(one)] for one in lists]},
        separators=(",", ":")) + "\n")
    print(f"{len(tokens)} tokens, {len(texts)} texts, {sum(map(len, ids))} ids")


if __name__ == "__main__":
    main()
