#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/gguf_splits.json`: what the public library does with splitters that GGUF files name.

The vocabulary and its merges are those of mixed_tokenizer.json, so that a wrong cut changes ids. A splitter is what
llama.cpp's src/llama-vocab.cpp (llama-cpp-python 0.3.36) calls the model's own, or the expression there. The digits of
`afmoe`, for which that program has no expression, are cut by a loop. The file holds

    "texts": [text, ...]
    "rows": [{"name", "ids": [[id, ...] per text]}, ...]
"""

import argparse
import json
import random
from pathlib import Path

import tokenizers
from make_tokenizer_pipelines import CJK_SPLITS, O200K, TEXTS
from tokenizers import Regex, Tokenizer, pre_tokenizers

FOLDED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
QWEN2 = FOLDED + (r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# fmt: off
SPLITS = {
    "tiny_aya": [r"\d{1,3}(?=(?:\d{3})*\b)", O200K],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    "youtu": ["[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
              O200K.replace(r"\p{N}{1,3}", r"\p{N}")],
    "spark2_5": [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                 CJK_SPLITS[2].replace(r"[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|", r"[\p{P}\p{S}]+|[\r\n]|"), r"\p{N}"],
    "afmoe": [None, "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+", CJK_SPLITS[2]],
    "exaone-moe": [FOLDED + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
                   r"|\s*[\r\n]|\s+(?!\S)|\s+"],
    "laguna": [r"[^\n]+|[\n]+", QWEN2],
    "jais-2": [FOLDED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)"
               r"|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)"
               r"|\s{1,2}(?!\S)|\s{1}"],
    "chameleon": ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )", r"\p{N}",
                  r"[\p{P}!-/:-@\[-`{-~]", GPT2],
}
# fmt: on
OWN_TEXTS = [
    "1234567 12345678 123456789", "abc1234567", "1234567abc x", "12 1 1234_ 1234Ⓐ 1234² 1234Ⅷ", "١٢٣٤٥٦٧ 1234½",
    "in 2026, 65536 of 1048576 (3.14159265)", "   12345   67", "한국어 ㄱㄴ 漢字かな 中文。「a」ㄅㄆ… — x",
    "HelloWorld's XMLHttpRequest'LL isn't", "<sentinel:12> IMGIMGABZ IMGIMGABCDEZ IMGIMGZ", "a" + " " * 15 + "b" + " " * 7,
    "tab\t\tb\n\n c    d  e", "নমস্কার বাংলা ไทยภาษา ລາວ ភាសា", "word word  wordé́ x\n/y//\n\n", "-a (b .c",
]


class DigitsFromTheRight:
    """Runs of digits in threes, of which the first may be shorter."""

    def cut(self, _, piece):
        text, cuts, at = str(piece), [0], 0
        while at < len(text):
            end = at
            while end < len(text) and text[end].isnumeric() and not "一" <= text[end] <= "鿿":
                end += 1
            if end > at:
                cuts += [at, *(c for c in range(at, end) if (end - c) % 3 == 0), end]
            at = max(end, at + 1)
        cuts = sorted({*cuts, len(text)})
        return [piece[a:b] for a, b in zip(cuts, cuts[1:]) if a < b]

    def pre_tokenize(self, text):
        text.split(self.cut)


def make_splitter(patterns):
    steps = [pre_tokenizers.Split(Regex(pattern), "isolated") if pattern else
             pre_tokenizers.PreTokenizer.custom(DigitsFromTheRight()) for pattern in patterns]
    return pre_tokenizers.Sequence([*steps, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "tokenizer")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    # U+017F is a letter s to the library where case does not matter, and to llama.cpp it is not.
    alphabet = "ab1234567 .\n\r\tßKkéあ漢字Ж½٣\u00a0'sS{}^$]xq"
    texts = [text for text in TEXTS + OWN_TEXTS if "ſ" not in text]
    texts += ["".join(rng.choice(alphabet) for _ in range(rng.randint(4, 24))) for _ in range(40)]
    rows = []
    for name, patterns in SPLITS.items():
        base = json.loads((arguments.out / "mixed_tokenizer.json").read_text())
        base["added_tokens"], base["normalizer"], base["post_processor"] = [], None, None
        base["model"]["ignore_merges"] = name == "youtu"
        tokenizer = Tokenizer.from_str(json.dumps(base))
        tokenizer.pre_tokenizer = make_splitter(patterns)
        rows.append({"name": name, "ids": [tokenizer.encode(text).ids for text in texts]})
    dump = lambda value: json.dumps(value, separators=(",", ":"))
    lines = ",\n".join(dump(row) for row in rows)
    (arguments.out / "gguf_splits.json").write_text(
        f'{{"library": "tokenizers {tokenizers.__version__}",\n"texts": {dump(texts)},\n"rows": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
