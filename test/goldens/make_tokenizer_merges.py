#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/merges.json`: how the public library reads vocab.json and merges.txt.

A small byte-level vocabulary is trained on the texts themselves; the classes GPT2Tokenizer and Qwen2Tokenizer of
transformers read the two files. The file holds

    "vocab": the text of vocab.json
    "merges": the text of merges.txt
    "texts": [text, ...]
    "cases": [{"class", "config": the text of tokenizer_config.json, "ids": [[id, ...] per text]}, ...]

The ids are those of a text alone, with what the class puts around it.
"""

import argparse
import json
import tempfile
from pathlib import Path

import tokenizers
import transformers

TEXTS = ["", " ", "Hello hello, world's end.", "  two  spaces\n\nand lines ", "1234567 12 3", "Größe, Straße; é e\u0301",
         "漢字かな交じり文", "Кириллица и emoji 🙂🙂", "a<|endoftext|>b <|endoftext|>", "don't DON'T we'll", "x = y[0]{1}\t\r\n"]


def train():
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(TEXTS * 3, vocab_size=340, min_frequency=2, special_tokens=["<|endoftext|>"],
                                  show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_model(folder)
        return Path(folder, "vocab.json").read_text("utf-8"), Path(folder, "merges.txt").read_text("utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "tokenizer" / "merges.json")
    options = parser.parse_args()
    vocab, merges = train()
    cases = []
    for name, more in [("GPT2Tokenizer", {}), ("GPT2Tokenizer", {"add_prefix_space": True}),
                       ("GPT2Tokenizer", {"add_bos_token": True, "bos_token": "<|endoftext|>"}), ("Qwen2Tokenizer", {})]:
        config = {"tokenizer_class": name} | more
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "vocab.json").write_text(vocab, "utf-8")
            Path(folder, "merges.txt").write_text(merges, "utf-8")
            Path(folder, "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
            library = getattr(transformers, name).from_pretrained(folder)
            ids = [library.encode(text) for text in TEXTS]
        cases.append({"class": name, "config": json.dumps(config), "ids": ids})
    document = {"library": f"transformers {transformers.__version__}", "vocab": vocab, "merges": merges, "texts": TEXTS,
                "cases": cases}
    options.out.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
