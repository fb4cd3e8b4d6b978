#!/usr/bin/env python3
"""Writes UnicodeData.inc: what the public library takes each character for.

The library (`tokenizers`, the version in test/goldens/requirements.txt) is built from several
packages, each with Unicode tables of its own version: its regular expressions are of Unicode 16, its
normalization forms of Unicode 11. Ids agree only with the same tables, so every character is shown to the
library and the answer is written down. Python's own tables serve only to name what to ask: a
combining class is taken from them where the library orders the mark by it.

    python make_unicode_data.py            # two minutes; the same bytes for the same release
"""

import argparse
import unicodedata
from pathlib import Path

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

# The order is that of enum Category in Unicode.h.
CATEGORIES = ("Cc Cf Cn Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So "
              "Zl Zp Zs").split()
# The order is that of kScriptNames in Unicode.cpp.
SCRIPTS = ("Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi "
           "Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Oriya "
           "Sinhala Tamil Telugu Thaana Thai Tibetan").split()
# The order is that of the flags in Unicode.h.
FLAGS = "white numeric punctuation word nonspacing combining control lowers canonical compatible second".split()
# The order is that of enum Grapheme in Unicode.h.
GRAPHEMES = "Other Control CR LF Extend ZWJ Prepend Regional L V T LV LVT Pictograph".split()

HANGUL = range(0xAC00, 0xD7A4)
ALL = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
EVERYTHING = "".join(map(chr, ALL))


def matched_by(pattern):
    """The characters that a pattern of one character matches."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return {ord(piece) for piece, _ in split.pre_tokenize_str(EVERYTHING)}


def pieces(splitter, text):
    return [piece for piece, _ in splitter.pre_tokenize_str(text)]


def read_flags():
    """Flag -> the characters that have it."""
    whites = set(ALL) - {ord(c) for piece in pieces(pre_tokenizers.WhitespaceSplit(), EVERYTHING) for c in piece}
    digits = pre_tokenizers.Digits(individual_digits=True)
    punctuation = pre_tokenizers.Punctuation()
    words = pre_tokenizers.Whitespace()
    clean = normalizers.BertNormalizer(True, False, False, False)
    marks = normalizers.BertNormalizer(False, False, True, False)
    accents, lowercase = normalizers.StripAccents(), normalizers.Lowercase()
    nfd, nfkd = normalizers.NFD(), normalizers.NFKD()
    return {
        "white": whites,
        "numeric": {c for c in ALL if len(pieces(digits, "a" + chr(c))) == 2},
        "punctuation": {c for c in ALL if len(pieces(punctuation, "a" + chr(c))) == 2},
        "word": {c for c in ALL if pieces(words, "a" + chr(c)) == ["a" + chr(c)]},
        "nonspacing": {c for c in ALL if marks.normalize_str(chr(c)) == ""},
        "combining": {c for c in ALL if accents.normalize_str(chr(c)) == ""},
        "control": {c for c in ALL if clean.normalize_str(chr(c)) == ""},
        "lowers": {c for c in ALL if lowercase.normalize_str(chr(c)) != chr(c)},
        "canonical": {c for c in ALL if c not in HANGUL and nfd.normalize_str(chr(c)) != chr(c)},
        "compatible": {c for c in ALL if c not in HANGUL and nfkd.normalize_str(chr(c)) != chr(c)},
    }


def read_combining_classes():
    """Character -> its combining class, where the library orders by it."""
    nfd = normalizers.NFD()
    classes = {}
    for c in ALL:
        ccc = unicodedata.combining(chr(c))
        # U+0334 has class 1 and comes before all others, U+0345 has 240.
        other = "\u0345" if ccc == 1 else "\u0334"
        before, after = (other, chr(c)) if ccc == 1 else (chr(c), other)
        if ccc and nfd.normalize_str("a" + before + after) == "a" + after + before:
            classes[c] = ccc
    return classes


def read_compositions(canonical):
    """(first, second) -> the character that they compose to."""
    nfd, nfc = normalizers.NFD(), normalizers.NFC()
    pairs = {}
    for c in sorted(canonical):
        if nfc.normalize_str(chr(c)) != chr(c):
            continue
        parts = nfd.normalize_str(chr(c))
        first = nfc.normalize_str(parts[:-1])
        assert len(parts) >= 2 and len(first) == 1, hex(c)
        assert nfc.normalize_str(first + parts[-1]) == chr(c)
        pairs[ord(first), ord(parts[-1])] = c
    return pairs


def read_graphemes():
    """Character -> how it joins its neighbours in a grapheme cluster."""
    clusters = pre_tokenizers.Split(Regex(r"\X"), "isolated")

    def joins(*parts):
        return len(pieces(clusters, "".join(parts))) == 1

    found = {}
    for c in ALL:
        character = chr(c)
        if 0xAC00 <= c < 0xD7A4:
            found[c] = "LV" if (c - 0xAC00) % 28 == 0 else "LVT"
        elif c in (0x0D, 0x0A):
            found[c] = "CR" if c == 0x0D else "LF"
        elif c == 0x200D:
            found[c] = "ZWJ"
        elif not joins(character, "\u0301"):
            found[c] = "Control"
        elif joins("a", character):
            found[c] = "Extend"
        elif joins(character, "a"):
            found[c] = "Prepend"
        elif 0x1F1E6 <= c <= 0x1F1FF:
            found[c] = "Regional"
        elif joins(character, "\u1100"):
            found[c] = "L"
        elif joins("\u1100", character):
            found[c] = "V"
        elif joins("\u1161", character):
            found[c] = "T"
        elif joins("\U0001f468\u200d", character):
            found[c] = "Pictograph"
    return found


def runs_of(values):
    """(start, value) wherever the value changes; surrogates go with what is before them."""
    runs, last = [], None
    for c in ALL:
        if values[c] != last:
            last = values[c]
            runs.append((c, last))
    return runs


def numbers(name, kind, values, columns=100):
    lines, line = [], ""
    for value in values:
        if len(line) + len(value) + 1 > columns:
            lines.append(line)
            line = ""
        line += value + ","
    return f"constexpr {kind} {name}[] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


def mapping(name, characters, image):
    """Two arrays: {character, offset, length} by character, and the pool the images lie in."""
    entries, pool = [], []
    for c in sorted(characters):
        target = [ord(x) for x in image(c)]
        entries.append(f"{{{c},{len(pool)},{len(target)}}}")
        pool += target
    assert len(pool) < 65536
    return numbers(f"k{name}", "Mapping", entries) + numbers(f"k{name}Pool", "char32_t", map(str, pool))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "UnicodeData.inc")
    arguments = parser.parse_args()

    category = {}
    for index, name in enumerate(CATEGORIES):
        for c in matched_by(rf"\p{{{name}}}") if name != "Cs" else ():
            assert c not in category
            category[c] = index
    script = dict.fromkeys(ALL, 0)
    for index, name in enumerate(SCRIPTS):
        for c in matched_by(rf"\p{{{name}}}"):
            script[c] = index + 1
    flags = read_flags()
    pairs = read_compositions(flags["canonical"])
    flags["second"] = {second for _, second in pairs} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    combining = read_combining_classes()
    grapheme = read_graphemes()

    records = {}

    def record(c):
        bits = sum(1 << i for i, name in enumerate(FLAGS) if c in flags[name])
        key = (bits, category[c], combining.get(c, 0), GRAPHEMES.index(grapheme.get(c, "Other")), script[c])
        return records.setdefault(key, len(records))

    runs = runs_of({c: record(c) for c in ALL})
    assert len(records) < 2048

    nfd, nfkd, lowercase = normalizers.NFD(), normalizers.NFKD(), normalizers.Lowercase()
    differ = {c for c in flags["compatible"] if nfkd.normalize_str(chr(c)) != nfd.normalize_str(chr(c))}
    text = [f"// Written by make_unicode_data.py from tokenizers {tokenizers.__version__}; not edited by hand.\n",
            "// {flags, category, combining class, grapheme, script}\n",
            numbers("kRecords", "Record", ("{" + ",".join(map(str, key)) + "}" for key in records)),
            "// First character of a run << 11 | record.\n",
            numbers("kRuns", "uint32_t", (str(c << 11 | index) for c, index in runs)),
            mapping("Canonical", flags["canonical"], lambda c: nfd.normalize_str(chr(c))),
            mapping("Compatible", differ, lambda c: nfkd.normalize_str(chr(c))),
            mapping("Lowercase", flags["lowers"], lambda c: lowercase.normalize_str(chr(c))),
            "// {first, second, composed}\n",
            numbers("kCompositions", "Composition",
                    (f"{{{a},{b},{c}}}" for (a, b), c in sorted(pairs.items())))]
    arguments.out.write_text("".join(text))
    print(f"{len(records)} records, {len(runs)} runs, {len(pairs)} compositions, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
