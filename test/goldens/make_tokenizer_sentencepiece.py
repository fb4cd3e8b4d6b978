#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/sentencepiece.json`: how the public library reads files of SentencePiece.

Four small vocabularies are trained by the library `sentencepiece`; AutoTokenizer of transformers reads each from a folder
that holds nothing else but configurations. Where transformers means to give the ids of SentencePiece, they are compared
with those of `sentencepiece` itself. The file holds

    "texts": [text, ...]
    "models": {name: [first half, second half]}: the file's bytes in base 64; where the first half is not empty, the 256
              pieces <0x00> to <0xFF> stand between the halves (type 6, score 0), which are left out to keep it small
    "cases": [{"model", "file", "type": model_type of config.json, "config": the text of tokenizer_config.json or null,
               "ids": [[id, ...] per text], "decoded": [text, ...]}, ...]

The ids are those of a text with what the class puts around it; decoded keeps special tokens.
"""

import argparse
import base64
import json
import random
import tempfile
from pathlib import Path

import sentencepiece
import transformers
from sentencepiece import sentencepiece_model_pb2

WORDS = "the other foxes hover over hello hell world Größe don't x=y ﬁne ｆ".split()
TEXTS = ["", " ", "hello world", " hello", "  two  foxes\n\n\tx ", "a<s>b</s> c<unk>", "x<tool>y <tool>  z", "🙂",
         "\u2581the", "ﬁne ｆ", "<tool> he<pad><end>"]
# A normalizer of ours is small where the usual nmt_nfkc has 240 KB: two letters become others, a tab a space.
RULES = "FB01\t66 69\nFF46\t66\n9\t20\n"

BYTES = dict(byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False)
MODELS = {
    "llama": dict(model_type="bpe", vocab_size=305, user_defined_symbols=["<tool>"], **BYTES),
    "gemma": dict(model_type="bpe", vocab_size=309, user_defined_symbols=["<tool>", "\n", "▁▁", "<end>"], pad_id=0,
                  eos_id=1, bos_id=2, unk_id=3, pad_piece="<pad>", eos_piece="<eos>", bos_piece="<bos>",
                  add_dummy_prefix=False, **BYTES),
    "bpe": dict(model_type="bpe", vocab_size=52, user_defined_symbols=["<tool>", "ell", "llo"], control_symbols=["<end>"]),
    "unigram": dict(model_type="unigram", vocab_size=36, pad_id=0, eos_id=1, unk_id=2, bos_id=-1,
                    user_defined_symbols=["<tool>"]),
}
OWN = {"llama", "bpe", "unigram"}  # read as SentencePiece does where no class says otherwise


def train(folder, name, options):
    random.seed(5)
    lines = [" ".join(random.choice(WORDS) for _ in range(9)) for _ in range(300)]
    corpus, rules = Path(folder, "corpus"), Path(folder, "rules")
    corpus.write_text("\n".join(lines), "utf-8")
    rules.write_text(RULES, "utf-8")
    if "normalization_rule_name" not in options:
        options = options | {"normalization_rule_tsv": str(rules)}
    sentencepiece.SentencePieceTrainer.train(input=str(corpus), model_prefix=str(Path(folder, name)), minloglevel=2,
                                             num_threads=1, **options)
    model = sentencepiece_model_pb2.ModelProto.FromString(Path(folder, name + ".model").read_bytes())
    # What is about training, and names this machine's folders.
    for field in ("input", "model_prefix"):
        model.trainer_spec.ClearField(field)
    model.normalizer_spec.ClearField("normalization_rule_tsv")
    return model


def halves(model):
    """The bytes around the 256 pieces of bytes; of messages one after the other the fields add up."""
    first, second = sentencepiece_model_pb2.ModelProto(), sentencepiece_model_pb2.ModelProto()
    second.CopyFrom(model)
    begin = next((i for i, piece in enumerate(model.pieces) if piece.type == 6), 0)
    if begin:
        assert [(p.piece, p.type, p.score) for p in model.pieces[begin:begin + 256]] == [
            (f"<0x{byte:02X}>", 6, 0.0) for byte in range(256)]
        first.pieces.extend(model.pieces[:begin])
        del second.pieces[:begin + 256]
    return [base64.b64encode(part.SerializePartialToString()).decode() for part in (first, second)]


def entry(content, **flags):
    return {"content": content, "lstrip": False, "normalized": True, "rstrip": False, "single_word": False,
            "special": True} | flags


def cases():
    yield "llama", "llama", {"tokenizer_class": "LlamaTokenizer"}
    yield "llama", "mamba2", {"tokenizer_class": "LlamaTokenizerFast", "legacy": True, "add_bos_token": True,
                              "add_eos_token": True, "pad_token": "<pad>"}
    yield "llama", "llama", {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False,
                             "extra_special_tokens": ["<end>"]}
    yield "llama", "llama", None
    yield "llama", "phi3", {"tokenizer_class": "LlamaTokenizer", "legacy": False, "add_bos_token": True,
                            "added_tokens_decoder": {"10": entry("<pad>"), "305": entry("<end>", rstrip=True)}}
    yield "gemma", "gemma2", {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True}
    yield "bpe", "mistral", {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}
    yield "unigram", "llama", {"tokenizer_class": "PreTrainedTokenizerFast", "add_eos_token": True}
    yield "unigram", "t5", {"tokenizer_class": "T5Tokenizer", "extra_ids": 3}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "tokenizer" / "sentencepiece.json")
    options = parser.parse_args()
    models, results = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in MODELS.items():
            models[name] = train(folder, name, wanted)
    for name, kind, config in cases():
        file = "spiece.model" if kind == "t5" else "tokenizer.model"
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, file).write_bytes(models[name].SerializeToString())
            Path(folder, "config.json").write_text(json.dumps({"model_type": kind}), "utf-8")
            if config:
                Path(folder, "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
            library = transformers.AutoTokenizer.from_pretrained(folder)
            ids = [library.encode(text) for text in TEXTS]
            decoded = [library.decode(one, skip_special_tokens=False) for one in ids]
        if name in OWN and type(library).__name__ == "TokenizersBackend" and not (config and "legacy" in config):
            own = sentencepiece.SentencePieceProcessor(model_proto=models[name].SerializeToString())
            for text in TEXTS:
                if not any(token in text for token in ("<s>", "<pad>", "<end>")):
                    assert library.encode(text, add_special_tokens=False) == own.encode(text), (name, text)
        results.append({"model": name, "file": file, "type": kind, "config": config and json.dumps(config), "ids": ids,
                        "decoded": decoded})
    document = {"library": f"transformers {transformers.__version__}, sentencepiece {sentencepiece.__version__}",
                "texts": TEXTS, "models": {name: halves(model) for name, model in models.items()}, "cases": results}
    options.out.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
