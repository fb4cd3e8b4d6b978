#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/components.json`: each part of a tokenizer on its own, by the public library.

A small vocabulary of characters and a byte-pair encoder with an unknown token; around it one normalizer, pre-tokenizer,
decoder, option of the model or set of added tokens at a time, each on the same texts:

    "texts": [text, ...]
    "pipelines": [{"name", "file": tokenizer.json as text, "ids": [[id, ...] per text], "decoded": [text per text]}, ...]

The texts are those of the corpus that concern normalization and cutting, and random ones of the same make.
"""

import argparse
import json
import random
from pathlib import Path

import make_tokenizer_cases as cases
import make_tokenizer_corpus as corpus
import make_tokenizer_pipelines as pipelines
import tokenizers
from tokenizers import Tokenizer

MERGES = ["t h", "th e", "i n", "a b", "ab a", "_ a", "\u2581 t", "\u2581t h", "\u2581th e", "1 2", "e \u0301", "\u00c3 \u00a9",
          "\u0120 a", "x x"]
SPLITS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def make_texts(rng):
    texts = [*cases.SPACES[::3], *cases.MARKS[::3], *cases.CONTROLS[::3], *cases.NUMBERS[::4], *pipelines.TEXTS,
             "the aba", " the  aba ", "in\u00a0the", "a--b-c--", "--", "-a", "x12y3", "A.B,C!", "\u0120a", "\u00e9\u0301", "abaabab",
             "\u4e16\u754c the \u0e01", "\u2581the the", "<m> x<n>y  <m>", "THE <N> the", "xABa xaba_xABa", "\ufb01 \u2460 \u212b \u0130", "xx-xx", "\u0301x"]
    texts += corpus.cluster_strings(rng, 60)
    texts += ["".join(rng.choice("ab the-12.\u00e9\u0301\u4e16\t\u2581_xA") for _ in range(rng.randint(1, 14))) for _ in range(60)]
    return list(dict.fromkeys(texts))


def base_model(texts, **options):
    parts = [merge.split(" ") for merge in MERGES]
    tokens = ["<unk>", *sorted({c for text in texts for c in text if ord(c) < 0x3000}), *[a + b for a, b in parts]]
    missing = [token for pair in parts for token in pair if token not in tokens]
    vocab = {token: i for i, token in enumerate(dict.fromkeys([*tokens, *missing, "_", "\u2581"]))}
    return corpus.bpe(vocab, MERGES, **{"unk_token": "<unk>", **options})


def strip(left, right):
    return {"type": "Strip", "strip_left": left, "strip_right": right}


def replace(kind, pattern, content):
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def bert(clean, ideographs, accents, lowercase):
    return {"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": ideographs, "strip_accents": accents,
            "lowercase": lowercase}


def metaspace(scheme, splits, mark="\u2581"):
    return {"type": "Metaspace", "replacement": mark, "prepend_scheme": scheme, "split": splits}


def split(pattern, behavior, invert):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(key, *steps):
    return {"type": "Sequence", key: list(steps)}


def make_pipelines(texts):
    """Name -> tokenizer.json."""
    model = base_model(texts)
    made = {}

    def add(name, changed=None, added=(), **parts):
        made[name] = corpus.tokenizer_json(changed or model, list(added), **parts)

    for plain in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"):
        add(plain, normalizer={"type": plain})
    for left, right in ((True, True), (True, False), (False, True)):
        add(f"strip_{left}_{right}", normalizer=strip(left, right))
    add("prepend", normalizer={"type": "Prepend", "prepend": "_"})
    add("replace_string", normalizer=replace("String", "ab", "x"))
    add("replace_regex", normalizer=replace("Regex", r"\s+|\d{2}", " "))
    add("replace_by_nothing", normalizer=replace("Regex", "^a|t", ""))
    for options in ((True, True, None, True), (True, False, False, True), (False, True, True, False), (False, False, None, False)):
        add("bert_" + "_".join(map(str, options)), normalizer=bert(*options))
    add("sequence", normalizer=sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}))

    for plain in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit"):
        add(plain, pre_tokenizer={"type": plain})
    for individual in (True, False):
        add(f"digits_{individual}", pre_tokenizer={"type": "Digits", "individual_digits": individual})
    for behavior in SPLITS:
        add(f"punctuation_{behavior}", pre_tokenizer={"type": "Punctuation", "behavior": behavior})
        for invert in (True, False):
            add(f"split_{behavior}_{invert}", pre_tokenizer=split({"Regex": "-|ab"}, behavior, invert))
            add(f"empty_{behavior}_{invert}", pre_tokenizer=split({"Regex": "a*"}, behavior, invert))
    add("string", pre_tokenizer=split({"String": "a."}, "Isolated", False))
    add("delimiter", pre_tokenizer={"type": "CharDelimiterSplit", "delimiter": "-"})
    for scheme in ("always", "first", "never"):
        for splits in (True, False):
            add(f"metaspace_{scheme}_{splits}", pre_tokenizer=metaspace(scheme, splits), decoder=metaspace(scheme, splits))
        marks = [corpus.added(0, "<unk>"), corpus.added(len(model["vocab"]), "<m>")]
        add(f"metaspace_added_{scheme}", added=marks, pre_tokenizer=metaspace(scheme, True), decoder=metaspace(scheme, True))
        add(f"metaspace_stripped_{scheme}", normalizer=strip(True, True), pre_tokenizer=metaspace(scheme, True))
        add(f"metaspace_after_split_{scheme}",
            pre_tokenizer=sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace(scheme, False)))
    add("old_metaspace", pre_tokenizer={"type": "Metaspace", "replacement": "_", "add_prefix_space": True})
    for space in (True, False):
        for words in (True, False):
            add(f"bytes_{space}_{words}", pre_tokenizer=pipelines.byte_level(space, words), decoder=pipelines.byte_level())
    add("bytes_then_split", pre_tokenizer=sequence("pretokenizers", pipelines.byte_level(False, False),
                                                   split({"String": "\u0120"}, "MergedWithNext", False)),
        decoder=pipelines.byte_level())

    for options in ({"fuse_unk": True}, {"ignore_merges": True}, {"byte_fallback": True}, {"unk_token": None}):
        add("model_" + "_".join(options), base_model(texts, **options))
    affixed = base_model(texts, end_of_word_suffix="</w>", continuing_subword_prefix="##")
    for token in [*"abthe12", "##a", "##b", "##h", "##e", "a</w>", "##a</w>", "##e</w>", "the", "ab", "th"]:
        affixed["vocab"].setdefault(token, len(affixed["vocab"]))
    affixed["merges"] = ["a ##b", "t ##h"]
    add("affixes", affixed, pre_tokenizer={"type": "WhitespaceSplit"}, decoder={"type": "BPEDecoder", "suffix": "</w>"})
    fallback = base_model(texts, byte_fallback=True)
    for token in corpus.BYTES[0x40:]:  # not for all bytes: those are unknown
        fallback["vocab"].setdefault(token, len(fallback["vocab"]))
    add("some_bytes", fallback, decoder=sequence("decoders", {"type": "ByteFallback"}, {"type": "Fuse"}))
    words = {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0, "the": 1, "aba": 2, "a": 3, "12": 4, "-": 5}}
    add("words", words, pre_tokenizer={"type": "Whitespace"})
    pieces = {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 6,
              "vocab": {t: i for i, t in enumerate(["<unk>", "the", "a", "##b", "##a", "ab", "##aba", "x", "##x", ".", "'", "s"])}}
    for cleanup in (True, False):
        add(f"word_pieces_{cleanup}", pieces, pre_tokenizer={"type": "BertPreTokenizer"},
            decoder={"type": "WordPiece", "prefix": "##", "cleanup": cleanup})
    unigram = [["<unk>", 0.0], ["a", -2.0], ["b", -2.5], ["ab", -4.5], ["aba", -6.5], ["\u00e9", -3.0], ["the", -1.0], ["t", -4.0],
               ["h", -4.0], ["e", -4.0], [" ", -1.0], ["ab", -4.25]]
    add("unigram", {"type": "Unigram", "unk_id": 0, "vocab": unigram, "byte_fallback": False})
    unigram = unigram + [[token, 0.0] for token in corpus.BYTES]
    add("unigram_bytes", {"type": "Unigram", "unk_id": 0, "vocab": unigram, "byte_fallback": True},
        decoder=sequence("decoders", {"type": "ByteFallback"}))

    n = len(model["vocab"])
    flags = [corpus.added(n, "<m>", lstrip=True), corpus.added(n + 1, "<n>", rstrip=True, normalized=True),
             corpus.added(n + 2, "the", special=False, single_word=True), corpus.added(n + 2, "xABa", special=False, normalized=True)]
    flags[2]["id"] = model["vocab"]["the"]
    for name, normalizer in (("none", None), ("lower", {"type": "Lowercase"}), ("prepend", {"type": "Prepend", "prepend": "_"})):
        add(f"added_{name}", added=flags, normalizer=normalizer, decoder={"type": "Fuse"})
    for name, processor in (("BertProcessing", {}), ("RobertaProcessing", {"trim_offsets": True, "add_prefix_space": False})):
        add(name, post_processor={"type": name, "sep": ["the", 5], "cls": ["a", 6], **processor})

    for name, steps in {
        "strip": [{"type": "Strip", "content": "a", "start": 2, "stop": 0}],
        "fused_strip": [{"type": "Fuse"}, {"type": "Strip", "content": "a", "start": 0, "stop": 1}],
        "replace": [replace("String", "ab", "<>"), replace("String", "t", "")],
        "fused_replace": [{"type": "Fuse"}, replace("String", "aba", "<>"), replace("String", "the", " ")],
        "fused_metaspace": [{"type": "Fuse"}, metaspace("always", True)],
        "fused_suffix": [{"type": "Fuse"}, {"type": "BPEDecoder", "suffix": "ab"}],
        "none": [],
    }.items():
        add(f"decoder_{name}", decoder=sequence("decoders", *steps))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "tokenizer")
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    texts = make_texts(random.Random(arguments.seed))
    recorded = []
    for name, parts in make_pipelines(texts).items():
        file = json.dumps(parts, separators=(",", ":"))
        tokenizer = Tokenizer.from_str(file)
        ids = [tokenizer.encode(text).ids for text in texts]
        # The library cannot decode nothing with this one.
        decoded = [tokenizer.decode(one, skip_special_tokens=False) if one else "" for one in ids]
        recorded.append({"name": name, "file": file, "ids": ids, "decoded": decoded})
    value = {"library": f"tokenizers {tokenizers.__version__}", "texts": texts, "pipelines": recorded}
    (arguments.out / "components.json").write_text(json.dumps(value, separators=(",", ":")) + "\n")
    print(f"{len(recorded)} pipelines, {len(texts)} texts")


if __name__ == "__main__":
    main()
