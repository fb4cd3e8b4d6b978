#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/files/`: vocabularies that come without a tokenizer.json, with ids.

    world/rwkv_vocab_v20230424.txt    RWKV's World vocabulary: ids, Python literals, sizes in bytes
    tiktoken/small.tiktoken           tiktoken's ranks, learned here on the texts
    kimi/tiktoken.model               the same by the pattern of Kimi's own code, with ids that it holds back
    */tokenizer_config.json           the tokens that stand for no text, and tiktoken's pattern
    */ids.json                        {"texts": [text, ...], "ids": [[id, ...] per text],
                                       "decoded": {"<index>": text, ...}  where it is not the text}

tiktoken's ids are by the public library tiktoken; World's by a matcher of its own, which takes the longest
token at each place. World's tokens are words, halves of characters and white space, so that every kind of
literal occurs.
"""

import argparse
import base64
import collections
import json
from pathlib import Path

import tiktoken

ROOT = Path(__file__).resolve().parent / "tokenizer" / "files"
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
           r"|\s+(?!\S)|\s+")
# From tokenization_kimi.py of Kimi-Linear-48B-A3B-Instruct.
KIMI_WORD = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]%s"
             r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]%s(?i:'s|'t|'re|'ve|'m|'ll|'d)?")
KIMI_PATTERN = "|".join([r"[\p{Han}]+", KIMI_WORD % ("*", "+"), KIMI_WORD % ("+", "*"), r"\p{N}{1,3}",
                         r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
KIMI_TEXTS = [
    "\u4e2d\u6587abcDEF\u6c49\u5b57xyz", "\u3005\u3007\u3006\u4ebb\u3021", "HTTPServer's camelCaseHTTP DON'T don't",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3068\u6f22\u5b57\u3001\u30ab\u30bf\u30ab\u30ca\u30fc",
    "\ud55c\uad6d\uc5b4\u4e0e\u6f22\u5b57", "\u01c5ungla \u01c8\u01cb", "e\u0301E\u0301\u4e2d\u0301", "\u02b0\u02b1A\u02b2",
    "<|reserved_token_1210|>", "[BOS]a[EOS]<|im_end|>", "12345\u4e2d6789", "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd"]
WORLD_END = "<|rwkv_tokenizer_end_of_text|>"


def texts_of():
    found = [case["text"] for case in json.loads(
        (Path(__file__).resolve().parent / "tokenizer" / "cases.json").read_text())["encode"]]
    more = ["", "a" * 700, "the the the" * 90, f"one{WORLD_END}two", "<|end|>x<|end|>", " \n\n \t\t\r\n  "]
    return [text for text in found if "<|endoftext|>" not in text] + more


def write(folder, name, lines, settings, texts, ids, decoded):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes("".join(line + "\n" for line in lines).encode())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n")
    other = {str(i): text for i, (text, origin) in enumerate(zip(decoded, texts)) if text != origin}
    (folder / "ids.json").write_text(json.dumps(
        {"texts": texts, "ids": ids, "decoded": other}, separators=(",", ":")) + "\n")
    print(f"{folder.name}: {len(lines)} tokens, {len(texts)} texts, {sum(map(len, ids))} ids, "
          f"{sum(path.stat().st_size for path in folder.iterdir())} bytes")


def added(tokens):
    return {str(id): {"content": content, "lstrip": False, "normalized": False, "rstrip": False,
                      "single_word": False, "special": True} for content, id in tokens.items()}


# World.

def world_tokens(texts):
    """Bytes; parts of two and three bytes; words with and without a space; white space."""
    counts = collections.Counter()
    for text in texts:
        raw = text.encode()
        for size in (2, 3, 5):
            counts.update(raw[i:i + size] for i in range(len(raw) - size + 1))
        for word in text.split(" "):
            counts.update([word.encode(), (" " + word).encode()])
    frequent = [token for token, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
                if 1 < len(token) < 40][:1500]
    quoted = [b"'", b'"', b"\\", b"'\"", b"it's", b"\n\n", b"\r\n", b"\t\t", b"\x00\x00", "\u00e9\u2028".encode()]
    tokens = {bytes([byte]) for byte in range(256)} | set(frequent) | set(quoted)
    return sorted(tokens, key=lambda token: (len(token), token))


def literal(token):
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)


def longest_matches(raw, ids, longest):
    found, place = [], 0
    while place < len(raw):
        size = next(size for size in range(min(longest, len(raw) - place), 0, -1)
                    if raw[place:place + size] in ids)
        found.append(ids[raw[place:place + size]])
        place += size
    return found


def world(texts):
    tokens = world_tokens(texts)
    ids = {token: place + 1 for place, token in enumerate(tokens)}
    longest = max(map(len, tokens))
    encoded = []
    for text in texts:
        parts = [longest_matches(part.encode(), ids, longest) for part in text.split(WORLD_END)]
        encoded.append([id for place, part in enumerate(parts) for id in ([0] if place else []) + part])
    write(ROOT / "world", "rwkv_vocab_v20230424.txt",
          [f"{ids[token]} {literal(token)} {len(token)}" for token in tokens], {}, texts, encoded, texts)


# tiktoken.

def learned_ranks(texts, size, pattern=PATTERN):
    """The most frequent pairs in turn, each piece of text by itself."""
    import regex

    ranks = {bytes([byte]): place for place, byte in enumerate(
        sorted(range(256), key=lambda byte: (not 33 <= byte < 127, byte)))}
    pieces = collections.Counter(piece for text in texts for piece in regex.findall(pattern, text))
    words = [([bytes([byte]) for byte in piece.encode()], count) for piece, count in sorted(pieces.items())]
    while len(ranks) < size:
        pairs = collections.Counter()
        for parts, count in words:
            for pair in zip(parts, parts[1:]):
                pairs[pair] += count
        (left, right), _ = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        ranks.setdefault(left + right, len(ranks))
        for parts, _ in words:
            place = 0
            while place + 1 < len(parts):
                if parts[place] == left and parts[place + 1] == right:
                    parts[place:place + 2] = [left + right]
                place += 1
    return ranks


def small_tiktoken(texts):
    ranks = learned_ranks(texts, 1200)
    # Two ids between are nobody's, as in cl100k_base.
    special = {"<|end|>": 1202, WORLD_END: 1203}
    encoding = tiktoken.Encoding("small", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=special)
    encoded = [encoding.encode(text, allowed_special="all") for text in texts]
    write(ROOT / "tiktoken", "small.tiktoken",
          [f"{base64.b64encode(token).decode()} {rank}" for token, rank in ranks.items()],
          {"added_tokens_decoder": added(special), "pat_str": PATTERN, "model_max_length": 4096},
          texts, encoded, [encoding.decode(ids) for ids in encoded])


def kimi(texts):
    # In version 1 of the library's patterns && is an intersection.
    ranks = learned_ranks(texts, 1200, "(?V1)" + KIMI_PATTERN)
    named = {"[BOS]": 1200, "[EOS]": 1201, "<|im_end|>": 1202, "[PAD]": 1455}
    special = {f"<|reserved_token_{id}|>": id for id in range(1200, 1456) if id not in named.values()} | named
    encoding = tiktoken.Encoding("kimi", pat_str=KIMI_PATTERN, mergeable_ranks=ranks, special_tokens=special)
    encoded = [encoding.encode(text, allowed_special="all") for text in texts]
    write(ROOT / "kimi", "tiktoken.model",
          [f"{base64.b64encode(token).decode()} {rank}" for token, rank in ranks.items()],
          {"added_tokens_decoder": added(named), "tokenizer_class": "TikTokenTokenizer",
           "auto_map": {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]}},
          texts, encoded, [encoding.decode(ids) for ids in encoded])


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    texts = texts_of()
    world(texts)
    small_tiktoken(texts)
    kimi(texts + KIMI_TEXTS)


if __name__ == "__main__":
    main()
