#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/files/`: vocabularies that come without a tokenizer.json, with ids.

    world/rwkv_vocab_v20230424.txt    RWKV's World vocabulary: ids, Python literals, sizes in bytes
    tiktoken/small.tiktoken           tiktoken's ranks, learned here on the texts
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

def learned_ranks(texts, size):
    """The most frequent pairs in turn, each piece of text by itself."""
    import regex

    ranks = {bytes([byte]): place for place, byte in enumerate(
        sorted(range(256), key=lambda byte: (not 33 <= byte < 127, byte)))}
    pieces = collections.Counter(piece for text in texts for piece in regex.findall(PATTERN, text))
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


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    texts = texts_of()
    world(texts)
    small_tiktoken(texts)


if __name__ == "__main__":
    main()
