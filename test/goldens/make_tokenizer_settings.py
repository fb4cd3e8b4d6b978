#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/settings.json`: how the public library reads what lies beside a tokenizer.json.

One small byte-level tokenizer.json; in each case other files stand beside it. The file holds

    "tokenizer": the text of the tokenizer.json
    "texts": [text, ...]
    "cases": [{"name", "files": {name: text}, "ids": [[id, ...] per text]}, ...]

Needs transformers (see requirements.txt); writes small files into a temporary folder.
"""

import argparse
import json
import tempfile
from pathlib import Path

import transformers

WORDS = ["<s>", "</s>"] + [chr(ord("a") + i) for i in range(26)] + ["Ġ", "<", ">", "|", "_", "he", "ll", "Ġhe"]
TEXTS = ["hello", "a<|im_end|>b", "a <|im_end|> b", "<|im_end|>hello", "<pad>x", "x<s>y</s>", "a<tool>b<extra>c"]


def added(index, content, special=True, **flags):
    return {"id": index, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": special} | flags


def tokenizer():
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(0, "<s>"), added(1, "</s>")], "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
            "post_processor": None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {word: i for i, word in enumerate(WORDS)},
                      "merges": [["h", "e"], ["l", "l"], ["Ġ", "he"]]}}


def decoder_entry(content, special=True, **flags):
    entry = added(0, content, special, **flags)
    del entry["id"]
    return entry


def cases():
    first = len(WORDS)
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    decoder = {str(first): decoder_entry("<|im_end|>"), str(first + 1): decoder_entry("<tool>", special=False)}
    yield "nothing beside it", {}
    yield "added_tokens_decoder", {"tokenizer_config.json": config | {"added_tokens_decoder": decoder}}
    stripping = {str(first): decoder_entry("<|im_end|>", lstrip=True, rstrip=True)}
    yield "tokens that strip", {"tokenizer_config.json": config | {"added_tokens_decoder": stripping}}
    yield "named in the configuration", {"tokenizer_config.json": config | {
        "eos_token": "<|im_end|>", "pad_token": "<pad>", "bos_token": "<s>"}}
    yield "named as objects", {"tokenizer_config.json": config | {
        "eos_token": {"__type": "AddedToken"} | decoder_entry("<|im_end|>", lstrip=True)}}
    yield "special_tokens_map.json", {
        "tokenizer_config.json": config,
        "special_tokens_map.json": {"eos_token": "<|im_end|>", "additional_special_tokens": ["<tool>", "<extra>"]}}
    yield "added_tokens.json", {
        "tokenizer_config.json": config,
        "special_tokens_map.json": {"eos_token": "<|im_end|>"},
        "added_tokens.json": {"<|im_end|>": first, "<tool>": first + 1}}
    yield "other properties", {"tokenizer_config.json": config | {
        "added_tokens_decoder": {"0": decoder_entry("<s>", rstrip=True), "1": decoder_entry("</s>")}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "tokenizer" / "settings.json")
    options = parser.parse_args()
    text = json.dumps(tokenizer(), ensure_ascii=False)
    results = []
    for name, files in cases():
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "tokenizer.json").write_text(text, encoding="utf-8")
            texts = {file: json.dumps(content) for file, content in files.items()}
            for file, content in texts.items():
                Path(folder, file).write_text(content, encoding="utf-8")
            library = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
            ids = [library.encode(one, add_special_tokens=False) for one in TEXTS]
        results.append({"name": name, "files": texts, "ids": ids})
    document = {"library": f"transformers {transformers.__version__}", "tokenizer": text, "texts": TEXTS,
                "cases": results}
    options.out.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
