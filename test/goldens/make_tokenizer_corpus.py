#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/corpus/`: 2,145 strings with their ids by the public library.

Eight tokenizers of the kinds that public models have, each with a small vocabulary made here:

    neox       GPT-NeoX, and with it the public Mamba models: NFC, byte-level BPE
    llama      Llama 2: SentencePiece's BPE as Prepend and Replace, byte fallback, decoder in four steps
    llama3     Llama 3: Split and ByteLevel, ignore_merges, a template
    qwen       Qwen 2: NFC, Split by single digits, ByteLevel
    deepseek   DeepSeek: a Sequence of four splitters, merges as strings
    t5         T5: Unigram, Precompiled, Metaspace
    gemma      Gemma: BPE over text with marked spaces, Split, byte fallback
    bert       BERT: BertNormalizer, BertPreTokenizer, WordPiece, a template

`texts.json` is an array of strings, {"hex": bytes that are no UTF-8} and {"repeat": [text, times]}. For each
kind there are `<kind>.json`, the tokenizer.json, and `<kind>_ids.json`:

    "ids":      [[id, ...] per text]
    "decoded":  {"<index>": text, ...}     where it is not the text itself
    "skipped":  {"<index>": text, ...}     without special tokens, where it is not "decoded"
    "random":   [[ids, decoded, skipped], ...]    ids in any order

Bytes that are no UTF-8 are given to the library as Python's errors="replace" reads them. Texts long enough to make
the files large are repetitions. The scripts' characters go up to Unicode 16.
"""

import argparse
import base64
import collections
import json
import math
import random
import struct
import unicodedata
from pathlib import Path

import make_tokenizer_cases as cases
import make_tokenizer_pipelines as pipelines
import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

SPECIALS = ["<|endoftext|>", "<s>", "</s>", "<unk>", "<pad>", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "<|begin_of_text|>",
            "<|eot_id|>", "<|im_start|>", "<|im_end|>", "<bos>", "<eos>", "<extra_id_0>", "<0x0A>", "<0xE2>", "\u2581"]
BLOCKS = [(0x20, 0x7F), (0xA0, 0x180), (0x180, 0x250), (0x300, 0x370), (0x370, 0x400), (0x400, 0x530), (0x530, 0x590),
          (0x590, 0x600), (0x600, 0x700), (0x700, 0x7C0), (0x900, 0x980), (0x980, 0xA00), (0xA00, 0xB00), (0xB80, 0xC00),
          (0xC00, 0xD00), (0xD80, 0xE00), (0xE00, 0xE80), (0xE80, 0xF00), (0xF00, 0x1000), (0x1000, 0x10A0), (0x10A0, 0x1200),
          (0x1200, 0x1380), (0x13A0, 0x1400), (0x1680, 0x1700), (0x1780, 0x1800), (0x1800, 0x18B0), (0x1C80, 0x1CC0),
          (0x1E00, 0x1F00), (0x1F00, 0x2000), (0x2000, 0x2070), (0x2070, 0x2150), (0x2150, 0x2190), (0x2190, 0x2300),
          (0x2460, 0x2500), (0x2500, 0x2600), (0x2E80, 0x2FE0), (0x3000, 0x3100), (0x3100, 0x3200), (0x3200, 0x3400),
          (0x4E00, 0x9FFF), (0xA640, 0xA800), (0xA960, 0xA980), (0xAC00, 0xD7A4), (0xF900, 0xFB00), (0xFB00, 0xFE00),
          (0xFE00, 0xFE70), (0xFE70, 0xFF00), (0xFF00, 0xFFF0), (0x10000, 0x10100), (0x10330, 0x10350), (0x10C80, 0x10D00),
          (0x10D40, 0x10D90), (0x11000, 0x11080), (0x11380, 0x113F0), (0x11900, 0x11960), (0x11F00, 0x11F60),
          (0x12000, 0x12400), (0x16D40, 0x16D80), (0x1D400, 0x1D800), (0x1DF00, 0x1E000), (0x1E030, 0x1E090),
          (0x1E4D0, 0x1E600), (0x1F100, 0x1F200), (0x1F300, 0x1F650), (0x1F900, 0x1FA00), (0x20000, 0x20100),
          (0x2F800, 0x2FA20), (0x31350, 0x32400), (0xE0000, 0xE01F0)]
EMOJI = ["\U0001f600", "\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
         "\U0001f1eb\U0001f1f7", "\u2764\ufe0f", "1\ufe0f\u20e3", "\U0001f9d1\u200d\U0001f4bb", "\U0001f3f4\u200d\u2620\ufe0f",
         "\U0001f469\U0001f3ff\u200d\u2764\ufe0f\u200d\U0001f468\U0001f3fb", "\U0001fae8", "\u00a9\ufe0f", "\U0001f1eb"]
WORDS = ("the of and to in he LORD unto Israel king people earth heaven light word water day night hand house son "
         "father don't it's we'll I'm they've naïve café Straße Ärger İstanbul ΣΊΣΥΦΟΣ Привет мир שלום مرحبا नमस्ते "
         "สวัสดี こんにちは 世界 안녕하세요 Tiếng Việt 1984 3.14 0xFF x² ½ Ⅷ ①").split()
CODE = ["def f(x):\n    return x + 1\n", "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n", "#include <vector>\n",
        "if (a && b || !c) { x->y = z; }", "SELECT * FROM t WHERE id = 'x';", "<div class=\"a\">&nbsp;</div>\r\n",
        "print(f\"{x:>10}\")", "\t\t\treturn None  # done\n\n\n", "a_b_c = {'k': [1, 2.5, None]}", "$ ls -la | grep x\n"]
SPACES = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n ", "\u00a0", "\u3000", "\u2003", "\u200b", "\u1680", "\x85"]


def cluster_strings(rng, count):
    """What matters to normalization and grapheme clusters: marks in any order, jamo, joiners, controls."""
    parts = (["e", "o", "a", "A", "\u00e9", "\u1ec7", "\u0915", "\u0930", "\u094d", "\u200d", "\u200c", "\u0301", "\u0323", "\u0302",
              "\u0307", "\u0334", "\u0345", "\u3099", "\u304b", "\uff76", "\uff9e", "\u1100", "\u1161", "\u11a8", "\uac00", "\ud7a3",
              "\u0f71", "\u0f72", "\u0f73", "\u05b0", "\u05bc", "\ufb1d", "\u0344", "\u2126", "\u212b", "\ufb01", "\ufdfa", "\u3392",
              "\u00bd", "\u1d15f", "\r", "\n", "\x00", "\x07", "\u00ad", "\u0600", "\u0605", "\U0001f468", "\U0001f1e6", "\ufe0f",
              "\u00a9", "\u0e33", "\u0d4e", "\u17d2", "\u1780", "\u11938", "\U00011938", "\u32ff", "\u0130", "\u03a3"])
    return ["".join(rng.choice(parts) for _ in range(rng.randint(1, 9))) for _ in range(count)]


def block_strings(rng):
    strings = []
    for begin, end in BLOCKS:
        for length in (3, 8, 20):
            strings.append("".join(chr(rng.randrange(begin, end)) for _ in range(length)))
        strings.append(" ".join("".join(chr(rng.randrange(begin, end)) for _ in range(rng.randint(1, 5))) for _ in range(4)))
    return strings


def mixed_strings(rng, count):
    kinds = [lambda: rng.choice(WORDS), lambda: rng.choice(WORDS), lambda: rng.choice(SPACES), lambda: rng.choice(EMOJI),
             lambda: rng.choice(CODE), lambda: rng.choice(SPECIALS), lambda: str(rng.randrange(10 ** rng.randint(1, 7))),
             lambda: rng.choice("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"), lambda: " "]
    return ["".join(rng.choice(kinds)() for _ in range(rng.randint(2, 12))) for _ in range(count)]


def special_strings(rng):
    strings = []
    for special in SPECIALS:
        strings += [special, special * 2, f" {special} ", f"a{special}b", f"a {special} b", f"  {special}\n", special[:-1],
                    special[1:], special.lower(), special.upper(), special + rng.choice(SPECIALS)]
    return strings


def invalid_bytes(rng, count):
    """Valid UTF-8 with bytes changed, cut and put in: as hexadecimal digits."""
    found = []
    for _ in range(count):
        data = bytearray(" ".join(rng.sample(WORDS, 3)).encode())
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(0x80, 0x100)
        data = data[rng.randint(0, 2):]
        try:
            data.decode()
        except UnicodeDecodeError:
            found.append({"hex": data.hex()})
    return found


def make_texts(seed):
    rng = random.Random(seed)
    groups = [cases.PLAIN, cases.CONTRACTIONS, cases.NUMBERS, cases.PUNCTUATION, cases.CODE, cases.LANGUAGES, cases.EMOJI,
              cases.SPACES, cases.CONTROLS, cases.MARKS, cases.SPECIALS, pipelines.TEXTS, CODE, EMOJI,
              block_strings(rng), cluster_strings(rng, 400), special_strings(rng), mixed_strings(rng, 700)]
    texts = list(dict.fromkeys(text for group in groups for text in group))
    texts += invalid_bytes(rng, 100)
    texts += [{"repeat": [unit, times]} for unit, times in
              [("a", 3000), (" ", 3000), ("\n", 1000), ("ab ", 1000), ("the LORD ", 500), ("\u4e16", 700), ("\U0001f600", 500),
               ("e\u0301", 700), ("1", 500), ("\u0301", 300), ("!?", 500), ("\x00", 200), ("<s>", 100), ("\u00a0", 300)]]
    return texts


def read_text(entry):
    if isinstance(entry, str):
        return entry
    if "hex" in entry:
        return bytes.fromhex(entry["hex"]).decode(errors="replace")
    return entry["repeat"][0] * entry["repeat"][1]


def training_texts(texts):
    """The shorter strings, and words in sentences for merges of usual kinds."""
    rng = random.Random(11)
    sentences = [" ".join(rng.choices(WORDS, k=8)) + rng.choice([".", "!", "?\n", ", "]) for _ in range(400)]
    return [text for text in texts if isinstance(text, str) and len(text) < 60
            and not any(special in text for special in SPECIALS if len(special) > 1)] + sentences + CODE * 5


def train_bpe(texts, pre_tokenizer, size, alphabet=(), limit=None):
    """Vocabulary and merges of a BPE without special tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    options = {"limit_alphabet": limit} if limit else {}
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, min_frequency=2, show_progress=False,
                                                             initial_alphabet=sorted(alphabet), **options))
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], model["merges"]


def renumber(first, vocab):
    """`first`, then the tokens of `vocab` that are not among them."""
    order = first + [token for token in sorted(vocab, key=vocab.get) if token not in set(first)]
    return {token: i for i, token in enumerate(order)}


def added(identifier, content, special=True, **flags):
    return {"id": identifier, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": special, **flags}


def bpe(vocab, merges, **options):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, **options,
            "vocab": vocab, "merges": merges}


def tokenizer_json(model, added_tokens, normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added_tokens, "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": decoder, "model": model}


def byte_level(add_prefix_space=False, use_regex=False):
    return pipelines.byte_level(add_prefix_space, use_regex)


def template(before, after=()):
    """before and after: [(token, id), ...]"""
    special = [{"SpecialToken": {"id": token, "type_id": 0}} for token, _ in before]
    end = [{"SpecialToken": {"id": token, "type_id": 0}} for token, _ in after]
    a, b = ({"Sequence": {"id": name, "type_id": i}} for i, name in enumerate("AB"))
    return {"type": "TemplateProcessing", "single": [*special, a, *end], "pair": [*special, a, b],
            "special_tokens": {token: {"id": token, "ids": [i], "tokens": [token]} for token, i in [*before, *after]}}


def byte_bpe(texts, size):
    """A byte-level vocabulary whose merges cross what any splitter would cut, so that a missing cut shows."""
    loose = pre_tokenizers.Sequence([pre_tokenizers.Split(" ", "merged_with_next"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    return train_bpe(texts, loose, size, pre_tokenizers.ByteLevel.alphabet())


def make_neox(texts):
    vocab, merges = byte_bpe(texts, 2500)
    vocab = renumber(["<|endoftext|>", "<|padding|>"], vocab)
    spaces = [added(len(vocab) + i, " " * n, special=False, normalized=True) for i, n in enumerate((8, 4, 3, 2))]
    return tokenizer_json(bpe(vocab, merges), [added(0, "<|endoftext|>"), added(1, "<|padding|>"), *spaces], {"type": "NFC"},
                          byte_level(use_regex=True), byte_level(), byte_level())


def make_llama3(texts):
    vocab, merges = byte_bpe(texts, 3000)
    specials = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
    first = len(vocab)
    return tokenizer_json(bpe(vocab, merges, ignore_merges=True), [added(first + i, token) for i, token in enumerate(specials)],
                          None, pipelines.sequence(pipelines.split(pipelines.CL100K)),
                          {"type": "Sequence", "processors": [byte_level(), template([(specials[0], first)])]}, byte_level())


def make_qwen(texts):
    vocab, merges = byte_bpe(texts, 3500)
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    pattern = pipelines.CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
    return tokenizer_json(bpe(vocab, merges, unk_token=None), [added(len(vocab) + i, token) for i, token in enumerate(specials)],
                          {"type": "NFC"}, pipelines.sequence(pipelines.split(pattern)), byte_level(), byte_level())


def make_deepseek(texts):
    vocab, merges = byte_bpe(texts, 2200)
    vocab = renumber(["<|begin_of_text|>", "<|endoftext|>"], vocab)
    steps = map(pipelines.split, pipelines.CJK_SPLITS)
    return tokenizer_json(bpe(vocab, [" ".join(merge) for merge in merges]),
                          [added(0, "<|begin_of_text|>", normalized=True), added(1, "<|endoftext|>", normalized=True),
                           added(len(vocab), "<extra_id_0>", special=False, single_word=True, lstrip=True, rstrip=True)],
                          {"type": "Sequence", "normalizers": []}, pipelines.sequence(*steps), template([("<|begin_of_text|>", 0)]),
                          byte_level())


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def make_llama(texts):
    marked = ["\u2581" + text.replace(" ", "\u2581") for text in texts]
    vocab, merges = train_bpe(marked, pre_tokenizers.Split("\u2581", "merged_with_next"), 2500, limit=400)
    vocab = renumber(["<unk>", "<s>", "</s>", *BYTES], vocab)
    steps = [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
             {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    return tokenizer_json(bpe(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
                          [added(i, token) for i, token in enumerate(["<unk>", "<s>", "</s>"])],
                          {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
                                                               {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
                          None, template([("<s>", 1)]), {"type": "Sequence", "decoders": steps})


def make_gemma(texts):
    marked = [text.replace(" ", "\u2581") for text in texts]
    vocab, merges = train_bpe(marked, pre_tokenizers.Split("\u2581", "merged_with_previous"), 2500, limit=350)
    vocab = renumber(["<pad>", "<eos>", "<bos>", "<unk>", *BYTES], vocab)
    steps = [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    return tokenizer_json(bpe(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
                          [added(i, token) for i, token in enumerate(["<pad>", "<eos>", "<bos>", "<unk>"])]
                          + [added(len(vocab), "  ", special=False)],
                          {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
                          {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
                          template([("<bos>", 2)]), {"type": "Sequence", "decoders": steps})


def double_array(replacements):
    """A charsmap in the format of SentencePiece: a Darts double array over UTF-8, then the replacements."""
    blob, offsets, starts = bytearray(), {}, {}
    for key, value in sorted(replacements.items()):
        if value not in starts:
            starts[value] = len(blob)
            blob += value.encode() + b"\0"
        offsets[key.encode()] = starts[value]
    units = [0] * 256  # grows by blocks; 0: unused
    used = {0}

    def place(node, keys, depth):
        """The children of all `keys`, which share `depth` bytes and hang on unit `node`."""
        groups = collections.OrderedDict()
        for key in keys:
            groups.setdefault(key[depth] if depth < len(key) else 0, []).append(key)
        base = next(base for base in range(1, 1 << 21)
                    if base not in used_bases and all((base ^ label) not in used for label in groups))
        used_bases.add(base)
        while len(units) <= (base | 0xFF):
            units.extend([0] * 256)
        used.update(base ^ label for label in groups)
        relative = node ^ base
        assert relative < 1 << 21
        units[node] |= relative << 10
        for label, members in groups.items():
            if label == 0:
                units[node] |= 1 << 8
                units[base] = offsets[members[0]] | 1 << 31
            else:
                units[base ^ label] |= label
        for label, members in groups.items():
            if label:
                place(base ^ label, members, depth + 1)

    used_bases = set()
    place(0, sorted(offsets), 0)
    return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + bytes(blob)


def make_charsmap():
    """Some of SentencePiece's nmt_nfkc: compositions, compatibility, spaces, controls; some map to nothing."""
    rules = {}
    for c in [*range(0xA0, 0x180), *range(0x1E00, 0x1F00), *range(0x2000, 0x2190), *range(0x3300, 0x3360), *range(0xFB00, 0xFB07),
              *range(0xFF01, 0xFF60), *range(0x2460, 0x2480)]:
        text = unicodedata.normalize("NFKC", chr(c))
        if text != chr(c) and "\0" not in text:
            rules[chr(c)] = text.replace("\u00a0", " ")
        decomposed = unicodedata.normalize("NFD", chr(c))
        if len(decomposed) > 1 and unicodedata.normalize("NFC", decomposed) == chr(c):
            rules[decomposed] = chr(c)
    for c in [*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0xAD, 0x200E, 0x200F, 0xFEFF]:
        rules[chr(c)] = ""
    for c in [0x09, 0x0A, 0x0D, 0xA0, 0x1680, 0x2028, 0x2029, 0x200B, 0x3000, *range(0x2000, 0x200B)]:
        rules[chr(c)] = " "
    rules["\r\n"] = " "
    return double_array(rules)


def make_t5(texts):
    normalizer = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(make_charsmap()).decode()}
    prepare = Tokenizer.from_str(json.dumps(tokenizer_json({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, [], normalizer)))
    counts, characters = collections.Counter(), collections.Counter()
    for text in texts:
        for word in ("\u2581" + prepare.normalizer.normalize_str(text).replace(" ", "\u2581")).replace("\u2581", " \u2581").split():
            characters.update(word)
            counts.update({word[i:j] for i in range(len(word)) for j in range(i + 2, min(len(word), i + 8) + 1)})
    pieces = [c for c, n in sorted(characters.items()) if n > 3 and c != "\x00"]
    pieces += [p for p, _ in sorted(counts.items(), key=lambda x: (-x[1] * len(x[0]), x[0]))[:2200]]
    total = sum(characters.values())
    vocab = [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]]
    vocab += [[p, round(math.log((counts[p] if len(p) > 1 else characters[p]) / total), 6)] for p in pieces]
    vocab += [["<extra_id_0>", 0.0], ["\u2581\u2581", -9.0]]
    return tokenizer_json({"type": "Unigram", "unk_id": 2, "vocab": vocab, "byte_fallback": False},
                          [added(0, "<pad>"), added(1, "</s>"), added(2, "<unk>"),
                           added(len(vocab) - 2, "<extra_id_0>", lstrip=True, rstrip=True)],
                          normalizer, {"type": "Sequence", "pretokenizers": [
                              {"type": "WhitespaceSplit"},
                              {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}]},
                          template([], [("</s>", 1)]),
                          {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True})


def make_bert(texts):
    clean = normalizers.BertNormalizer()
    split = pre_tokenizers.BertPreTokenizer()
    counts = collections.Counter()
    for text in texts:
        for word, _ in split.pre_tokenize_str(clean.normalize_str(text)):
            counts.update({("##" if i else "") + word[i:j] for i in range(len(word)) for j in range(i + 1, min(len(word), i + 7) + 1)})
    first = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    chosen = [piece for piece, _ in sorted(counts.items(), key=lambda x: (-x[1] * len(x[0]), x[0]))[:2500]]
    vocab = {token: i for i, token in enumerate(first + chosen)}
    return tokenizer_json({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                           "max_input_chars_per_word": 100, "vocab": vocab},
                          [added(i, token) for i, token in enumerate(first)],
                          {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                           "lowercase": True}, {"type": "BertPreTokenizer"}, template([("[CLS]", 2)], [("[SEP]", 3)]),
                          {"type": "WordPiece", "prefix": "##", "cleanup": True})


KINDS = {"neox": make_neox, "llama": make_llama, "llama3": make_llama3, "qwen": make_qwen, "deepseek": make_deepseek,
         "t5": make_t5, "gemma": make_gemma, "bert": make_bert}


def record(tokenizer, texts, seed):
    rng = random.Random(seed)
    ids, decoded, skipped = [], {}, {}
    for i, entry in enumerate(texts):
        text = read_text(entry)
        ids.append(tokenizer.encode(text).ids)
        with_specials = tokenizer.decode(ids[-1], skip_special_tokens=False)
        without = tokenizer.decode(ids[-1], skip_special_tokens=True)
        if with_specials != text:
            decoded[i] = with_specials
        if without != with_specials:
            skipped[i] = without
    lists = [[], [0], [0, 0]] + [[rng.randrange(tokenizer.get_vocab_size() + 3) for _ in range(rng.randint(1, 12))] for _ in range(150)]
    # Ids of single bytes and characters come first in these vocabularies.
    lists += [[rng.randrange(min(300, tokenizer.get_vocab_size())) for _ in range(rng.randint(1, 8))] for _ in range(150)]
    lists += [ids[i][rng.randint(0, 2) : -rng.randint(1, 2)] for i in rng.sample(range(len(ids)), 100) if len(ids[i]) < 60]
    lists = [one for one in lists if one or tokenizer.decoder is None or "BPEDecoder" not in str(tokenizer.decoder)]
    return {"library": f"tokenizers {tokenizers.__version__}", "ids": ids, "decoded": decoded, "skipped": skipped,
            "random": [[one, tokenizer.decode(one, skip_special_tokens=False), tokenizer.decode(one, skip_special_tokens=True)]
                       for one in lists]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "tokenizer" / "corpus")
    parser.add_argument("--seed", type=int, default=23)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    texts = make_texts(arguments.seed)

    def write(name, value):
        (arguments.out / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")

    write("texts.json", texts)
    print(f"{len(texts)} texts", flush=True)
    training = training_texts(texts)
    for kind, make in KINDS.items():
        parts = make(training)
        write(f"{kind}.json", parts)
        recorded = record(Tokenizer.from_str(json.dumps(parts)), texts, arguments.seed)
        write(f"{kind}_ids.json", recorded)
        print(f"{kind}: {sum(map(len, recorded['ids']))} ids", flush=True)


if __name__ == "__main__":
    main()
