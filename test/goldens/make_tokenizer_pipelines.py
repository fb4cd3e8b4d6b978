#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/pipelines.json`: what the public library does with other pipelines.

The vocabulary is always that of mixed_tokenizer.json, whose merges cross every kind of character, so
that a wrong cut changes ids. The parts around it vary: the patterns of well-known tokenizers, and
small ones for each construct in which the library's regular expressions (Oniguruma's) differ from
PCRE2's. The file holds

    "texts": [text, ...]
    "pipelines": [{"name", "parts", "ids": [[id, ...] per text]}, ...]

where "parts" is the text of the members that stand beside "model" in the tokenizer.json.
"""

import argparse
import json
import random
from pathlib import Path

import tokenizers
from tokenizers import Tokenizer

CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CJK_SPLITS = [r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+",
              r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
              r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]
CODE_SPLITS = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"[一-龥ࠀ-一가-퟿]+", r"\p{N}"]

TEXTS = [
    "", " ", "a", "I'LL say it's 1234567 o'clock.\r\n\n  Fine.", "a\u180eb \u180e c", "line1\nline2\r\nline3\n",
    "\n\n a \n", "\u00a0x\u3000y\u2028z\u0085w\x0b\x0c\x1c\x1f v", "aab aaab xx xxx {}] ^$.", "end. of. sentence. ",
    "١٢٣ ½ Ⅷ ²₃ 一二", "々〇〆ヶー・、。「」漢字かなカナ", "Кириллица ҂ ᲀ", "\u200b\u200c\u200d\ufeff a",
    "Straße STRASSE K k ſ s", "<|endoftext|>a <|endoftext|>", "qq qqa aqq qq.", "a 字 b字\u180e\u3000字c",
]
ALPHABET = "ab1 .\n\r\tßſKkéあ漢字Ж½٣\u00a0\u180e\u3000\u2028\u0085\x1c\x0b'sS{}^$]xq"


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def byte_level(add_prefix_space=False, use_regex=False):
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}


def sequence(*steps, use_regex=False):
    return {"type": "Sequence", "pretokenizers": [*steps, byte_level(use_regex=use_regex)]}


PRE_TOKENIZERS = {
    "cl100k": sequence(split(CL100K)),
    "cl100k_inverted": sequence(split(CL100K, "Removed", True)),
    "o200k": sequence(split(O200K)),
    "cjk": sequence(*map(split, CJK_SPLITS)),
    "code": sequence(*map(split, CODE_SPLITS)),
    "digits": sequence({"type": "Digits", "individual_digits": True}, use_regex=True),
    "numbers": sequence({"type": "Digits", "individual_digits": False}, use_regex=True),
    "prefix_space": byte_level(add_prefix_space=True, use_regex=True),
    "white_space_removed": sequence(split(r"\s+", "Removed")),
    "words": sequence(split(r"\S+|\s")),
    "scripts": sequence(split(r"\p{Han}+|\p{Hiragana}+|\p{Katakana}|\p{Cyrillic}+|\p{^Latin}")),
    "lines": sequence(split(r"^.*$", "Removed", True)),
    "line_ends": sequence(split(r"\s+$|^\s+")),
    "string": sequence({"type": "Split", "pattern": {"String": ". "}, "behavior": "Isolated", "invert": False}),
    "quantifiers": sequence(split(r"\p{L}++|\d{2,}?|\d|[^\s\d]?+.")),
    "braces": sequence(split(r"a{,2}b|x{2}|{|}|]|[]^$.]")),
    "word_ends": sequence(split(r"\b[\p{L}\d]+\b|[_\w]\B."), split(r"\W{2}")),
    "either_case": sequence(split(r"(?i)k|the|[r-t]")),
}


def added(identifier, content, **flags):
    token = dict(single_word=False, lstrip=False, rstrip=False, normalized=False, special=False)
    return {"id": identifier, "content": content, **token, **flags}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "tokenizer")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    texts = TEXTS + ["".join(rng.choice(ALPHABET) for _ in range(rng.randint(4, 24))) for _ in range(40)]

    base = json.loads((arguments.out / "mixed_tokenizer.json").read_text())
    end = base["added_tokens"][0]
    pipelines = []
    for name, pre_tokenizer in PRE_TOKENIZERS.items():
        parts = {key: value for key, value in base.items() if key != "model"}
        parts["pre_tokenizer"] = pre_tokenizer
        if name == "digits":
            first = len(base["model"]["vocab"])
            parts["added_tokens"] = [end, added(first, "qq", single_word=True, normalized=True),
                                     added(first + 1, "字", lstrip=True, rstrip=True), added(first + 2, "qqa")]
        if name == "cl100k":
            special = {"SpecialToken": {"id": end["content"], "type_id": 0}}
            template = {"type": "TemplateProcessing", "single": [special, {"Sequence": {"id": "A", "type_id": 0}}],
                        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                        "special_tokens": {end["content"]: {"id": end["content"], "ids": [end["id"]],
                                                            "tokens": [end["content"]]}}}
            parts["post_processor"] = {"type": "Sequence", "processors": [byte_level(), template]}
        tokenizer = Tokenizer.from_str(json.dumps({**parts, "model": base["model"]}))
        pipelines.append({"name": name, "parts": json.dumps(parts)[1:-1],
                          "ids": [tokenizer.encode(text).ids for text in texts]})

    lines = ["{" + f'"library": "tokenizers {tokenizers.__version__}",', f'"texts": {json.dumps(texts)},', '"pipelines": [']
    lines.append(",\n".join(json.dumps(pipeline) for pipeline in pipelines))
    (arguments.out / "pipelines.json").write_text("\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
