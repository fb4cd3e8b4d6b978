#!/usr/bin/env python3
"""Writes `test/goldens/tokenizer/`: strings, their ids and their decodings by the public library.

Two tokenizers are recorded, both byte-level BPE with the split of GPT-2:

    cases.json         by sample/tokenizer.json. Its merges are English, so a character outside
                       ASCII is always single bytes and hides how the splitter classed it.
    mixed_cases.json   by mixed_tokenizer.json, trained here on the strings themselves: merges
                       cross letters, digits, marks and spaces of many scripts, so that a wrong
                       character class changes the ids.

Each file holds

    "encode": [{"text", "ids", "decoded", "decoded_without_special", "pieces"}, ...]
    "decode": [{"ids", "decoded", "decoded_without_special"}, ...]

"decoded" keeps the special tokens, "decoded_without_special" leaves them out. "pieces" are the
sizes in UTF-8 bytes of the splitter's pieces; it is null where the text holds a special token,
which is cut out before the splitter runs. The decode cases are arbitrary ids, whose bytes are
often no valid UTF-8; the library puts U+FFFD there. The JSON is ASCII, everything else escaped.
"""

import argparse
import json
import random
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = "<|endoftext|>"

PLAIN = [
    "", " ", "a", "A", "0", ".", "\n", "\t", "In the beginning God created the heaven and the earth.",
    "And God said, Let there be light: and there was light.", "the LORD thy God", "LORD",
    "Blessed are the meek: for they shall inherit the earth.", "Jesus wept.", "Nebuchadnezzar",
    "Mahershalalhashbaz", "thou shalt not", "Thou shalt not kill.", "verily, verily, I say unto you",
    "hello world", "Hello, World!", "HELLO WORLD", "hELLO wORLD", "a b c d e f g", "abcdefghijklmnopqrstuvwxyz",
    "The quick brown fox jumps over the lazy dog.", "x" * 100, "ab" * 40, "the" * 20, "the " * 20,
    "antidisestablishmentarianism", "supercalifragilisticexpialidocious", "café", "naïve façade",
    "end of line", "two  spaces", "trailing space ", " leading space", "  two leading spaces",
    "one\ntwo", "one\n\ntwo", "one\r\ntwo", "one \n two", "one\n two", "one \ntwo", "tab\tbetween",
    "\ttab first", "tab last\t", "And it came to pass,\nthat",
]

CONTRACTIONS = [
    "I'm", "you're", "he's", "we've", "they'll", "I'd", "don't", "won't've", "I'M", "YOU'RE", "HE'S",
    "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "''s", "'sand", " 's", "s's's", "rock'n'roll",
    "Solomon's", "\u2019s", "it\u2019s", "o'clock", "'tis", "'twas", "O'Neill", "'r", "'v", "'l", "'re's",
    "é's", "1's", "1'll", "!'s", "\n's", "\u65e5's", "a'\u00e9", "'llama", "'very", "'reed", "'medium", "'dog",
]

NUMBERS = [
    "0", "1", "12", "123", "1234567890", "3.14159", "1,000,000", "-1", "+1", "1e-5", "0x1F", "1st 2nd 3rd",
    "a1b2c3", "1a2b3c", "v1.2.3", "2024-06-07", "12:34:56", "100%", "$5.00", "\u00bd", "x\u00b2", "10\u00b2\u00b3",
    "\u2167", "\u0661\u0662\u0663", "\u0967\u0968\u0969", "\uff11\uff12\uff13", "\u2460\u2461", "\U0001d7d8\U0001d7d9",
    "1\u00bd2", "\u4e00\u4e8c\u4e09", "\u3007", "7\u0301", "1 2 3", " 1", "  1", "1  ", "007", "Psalm 119:105",
]

PUNCTUATION = [
    "!", "!!", "?!", "...", "\u2026", "---", "--", "\u2014", "\u2013", "(a)", "[b]", "{c}", "<d>", "\"quoted\"", "'quoted'",
    "\u201cquoted\u201d", "\u00abquoted\u00bb", "a,b;c:d.e!f?g", " ,", " , ", ",,,", "a.b.c", "a...b", "wait... what?!",
    "@user #tag", "user@example.com", "https://example.com/a?b=c&d=e#f", "C:\\path\\to\\file", "/usr/lib/x.so.1",
    "\\n", "\\", "/", "|", "~", "^", "`code`", "***bold***", "___", "a_b_c", "__init__", "==", "!=", "->", "=>",
    "\u00a9\u00ae\u2122", "\u00a7 5", "\u20ac100", "\u00a3\u00a5\u20b9", "\u2190\u2191\u2192\u2193", "\u2200x\u2203y", "\u00b1\u00d7\u00f7", "\u00b0C", "\u00bfqu\u00e9?", "\u00a1hola!",
    "\u3001\u3002\uff01\uff1f", "\u060c \u061b \u061f", "%d %s", "$HOME ${x}", "#!/bin/sh", "&amp; &lt;", ":-) ;-)",
]

CODE = [
    "def f(x):\n    return x + 1\n", "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n",
    "if __name__ == \"__main__\":\n    main()", "#include <stdio.h>\nint main(void) { return 0; }",
    "SELECT * FROM t WHERE id = 1;", "let x = |a: i32| -> i32 { a * 2 };", "x = [i**2 for i in range(10)]",
    "{\"key\": [1, 2.5, null, true]}", "<html><body class=\"a\">&nbsp;</body></html>", "const f = async () => await g();",
    "\tif (x)\n\t\treturn;\n", "        deep indent", "a  =  1", "print('hi')\r\nprint(\"there\")\r\n",
    "std::vector<std::pair<int, int>> v;", "%0 = arith.constant dense<1.0> : tensor<2x3xf32>", "ls -la | grep x > y 2>&1",
    "E = mc^2", "f(x) = \\frac{1}{2} x^2", "0b1010 & 0xFF << 3", "/* comment */ // another", "snake_case camelCase PascalCase",
    "git commit -m 'x'", "a&&b||!c", "i++;--j;", "\\u00e9 \\x41 \\0", "TODO(x): y", "x?y:z", "3<4", "<|", "|>", "<||>",
]

LANGUAGES = [
    "Fran\u00e7ais: \u00e7a va \u00eatre \u00e9t\u00e9", "Deutsch: \u00fcber \u00c4pfel, Stra\u00dfe", "Espa\u00f1ol: ma\u00f1ana se\u00f1or", "Portugu\u00eas: cora\u00e7\u00e3o, n\u00e3o",
    "\u010ce\u0161tina: p\u0159\u00edli\u0161 \u017elu\u0165ou\u010dk\u00fd k\u016f\u0148", "Polski: za\u017c\u00f3\u0142\u0107 g\u0119\u015bl\u0105 ja\u017a\u0144", "T\u00fcrk\u00e7e: \u0130stanbul \u0131\u015f\u0131k", "Ti\u1ebfng Vi\u1ec7t: \u0111\u1eb9p",
    "Ti\u00ea\u0301ng Vi\u00ea\u0323t", "Svenska: \u00e5\u00e4\u00f6", "\u00cdslenska: \u00fe\u00e6\u00f0", "\u0420\u0443\u0441\u0441\u043a\u0438\u0439: \u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440", "\u0423\u043a\u0440\u0430\u0457\u043d\u0441\u044c\u043a\u0430: \u0457\u0436\u0430\u043a",
    "\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac: \u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1", "\u1f10\u03bd \u1f00\u03c1\u03c7\u1fc7 \u1f26\u03bd \u1f41 \u03bb\u03cc\u03b3\u03bf\u03c2", "\u05e2\u05d1\u05e8\u05d9\u05ea: \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u05d9\u05ea \u05d1\u05bc\u05b8\u05e8\u05b8\u05d0",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629: \u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u0628\u0650\u0633\u0652\u0645\u0650", "\u0641\u0627\u0631\u0633\u06cc: \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0627\u0631\u062f\u0648", "\u0939\u093f\u0928\u094d\u0926\u0940: \u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e", "\u09ac\u09be\u0982\u09b2\u09be", "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd",
    "\u0c24\u0c46\u0c32\u0c41\u0c17\u0c41", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8", "\u0540\u0561\u0575\u0565\u0580\u0565\u0576", "\u12a0\u121b\u122d\u129b", "\u1780\u17b6\u179f\u17b6\u1781\u17d2\u1798\u17c2\u179a", "\u0f56\u0f7c\u0f51\u0f0b\u0f66\u0f90\u0f51",
    "\u4e2d\u6587\uff1a\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u7e41\u9ad4\u4e2d\u6587", "\u65e5\u672c\u8a9e\uff1a\u3053\u3093\u306b\u3061\u306f\u4e16\u754c", "\u30ab\u30bf\u30ab\u30ca \u3072\u3089\u304c\u306a", "\uff76\uff80\uff76\uff85", "\ud55c\uad6d\uc5b4: \uc548\ub155\ud558\uc138\uc694", "\u1112\u1161\u11ab", "\U00020000\U0002a6d6",
    "\u4e00a\u4e8cb", "\u4e2d\u6587English\u6df7\u5408", "\u592a\u521d\u6709\u9053", "\u521d\u3081\u306b\u8a00\u304c\u3042\u3063\u305f", "\u0985\u0995\u09cd\u09b7", "\u13e3\u13b3\u13a9", "\u16a0\u16a2\u16a6", "\U00012000\U00012001", "\U00010330\U00010331",
]

EMOJI = [
    "\U0001f600", "\U0001f600\U0001f601", "hi \U0001f44b there", "\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f1eb\U0001f1f7\U0001f1ef\U0001f1f5", "\u2764\ufe0f", "\u2764",
    "1\ufe0f\u20e3", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\u263a\ufe0e", "a\U0001f600b", " \U0001f600", "\U0001f600 ", "\U0001f9d1\u200d\U0001f4bb codes", "\u2705 done", "\U0001fae8",
]

SPACES = [
    "  ", "   ", "    ", " " * 17, "\n\n", "\n\n\n", "\r\n", "\r", "\r\r", "\n\r", "\t\t", " \t", "\t ", " \n", "\n ", " \n ", "\n \n",
    "\x0b", "\x0c", "a\x0bb", "a\x0cb", "\u0085", "a\u0085b", "\u00a0", "a\u00a0b", "a\u00a0 b", "a \u00a0b", "a  \u00a0b", "\u1680a", "\u2000\u2001a",
    "a\u2003b", "a\u2028b", "a\u2029b", "a\u202fb", "a\u205fb", "\u3000", "\u3000\u4e2d", "a\u3000 b", "\u200b", "a\u200bb", "a \u200b b", "\u180ea", "\u2060a",
    "\ufeffa", "a \ufeff", "a  b   c    d", "a   ", "   a", "  \n  a", "a\n\n  b", "a \t b", "   \n\n   ", "1   2", "!   !", "  !", "  1",
    "  's", "   's", "a  's", "\n\na", "\n\n a", " \n\n a", "\t\ta", "\t a", "  \u00e9", "   \u00e9", "  \u0301", "a \n", "x \u3000y", "x\u3000\u3000y",
    "x \u0085 y", "x\u2009\u2009y", "\u00a0\u00a0x",
]

CONTROLS = [
    "\x00", "a\x00b", "\x01\x02\x03", "\x07", "\x08", "\x0e\x0f", "\x1b[31mred\x1b[0m", "\x1c", "a\x1cb", "\x1d\x1e\x1f", "a \x1f b", "\x7f", "a\x7fb",
    "\u0080\u0081", "\u009f", "\u00ad", "so\u00adft", "\u200e\u200f", "\u202ababc\u202c", "\u2066x\u2069", "\ufff9\ufffa\ufffb", "\ufffc", "\ufffd", "a\ufffdb",
    "\ufffe", "\uffff", "\U0001ffff", "\U0010ffff", "\ue000", "\U000f0000", "\ufdd0", "\x00\x00\x00\x00",
]

MARKS = [
    "e\u0301", "\u00e9", "a\u0300\u0301\u0302", "\u0301", " \u0301", "\u0301a", "Z\u0351\u036b\u0343\u036aA\u0300L\u0310", "\u212b", "\u00c5", "A\u030a", "\ufb01", "fi", "\u00df", "\u1e9e", "\u0130", "i\u0307",
    "\u01c5", "\u02b0", "\u00aa\u00ba", "\u2170", "\u24d0", "\uff21\uff22", "\U0001d400\U0001d401", "\u093f", "\u0e31", "\u064b", "\u20dd", "\ufe0f", "\u0903", "k\u02bcx",
    "\u02bb", "\u02c8", "\u05f3", "\u2019", "\u00b5", "\u03bc", "\u2126", "\u03a9", "\u3099", "\u309b", "\u30fc", "\u3005", "\ua78c", "\u2e2f",
]

SPECIALS = [
    SPECIAL, SPECIAL * 2, "a" + SPECIAL, SPECIAL + "a", "a" + SPECIAL + "b", " " + SPECIAL, SPECIAL + " ", "a " + SPECIAL + " b",
    "\n" + SPECIAL + "\n", "<" + SPECIAL + ">", "<|" + SPECIAL + "|>", "<|endoftext", "|endoftext|>", "endoftext", "<|ENDOFTEXT|>",
    "<|endoftext |>", "<|endof" + SPECIAL + "text|>", "<|end" + "oftext|", "<<|endoftext|>>", "x  " + SPECIAL + "  y", SPECIAL + "'s",
    "\u00e9" + SPECIAL + "\u00e9", "<\u200b|endoftext|>", "<|endoftext|\u3009", "The end." + SPECIAL + "The beginning", "<|startoftext|>", "<s></s><pad>",
    "\uff1c|endoftext|>", SPECIAL[:-1] + SPECIAL, SPECIAL + SPECIAL[1:],
]


def random_strings(count, seed):
    """Strings put together from fragments of every kind, so that kinds meet in every order."""
    source = random.Random(seed)
    kinds = [
        lambda: source.choice(["the", "And", "of", "LORD", "unto", "heaven", "xyz", "Q"]),
        lambda: source.choice(SPACES + [" "] * 40),
        lambda: str(source.randrange(10 ** source.randint(1, 5))),
        lambda: source.choice("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"),
        lambda: source.choice(["'s", "'t", "'re", "'ll", "'", "\u2019"]),
        lambda: chr(source.randrange(0xC0, 0x250)),
        lambda: chr(source.choice([source.randrange(0x370, 0x7FF), source.randrange(0x900, 0xD80)])),
        lambda: chr(source.randrange(0x4E00, 0x9FA5)) * source.randint(1, 2),
        lambda: chr(source.randrange(0x1F300, 0x1F5FF)),
        lambda: chr(source.randrange(0x2000, 0x2BFF)),
    ]
    return ["".join(source.choice(kinds)() for _ in range(source.randint(2, 14))) for _ in range(count)]


def encode_case(tokenizer, text):
    ids = tokenizer.encode(text).ids
    pieces = None
    if SPECIAL not in text:
        pieces, at = [], 0
        for _, (begin, end) in tokenizer.pre_tokenizer.pre_tokenize_str(text):
            assert begin == at, "the splitter left something out"
            pieces.append(len(text[begin:end].encode()))
            at = end
        assert at == len(text)
    decoded = tokenizer.decode(ids, skip_special_tokens=False)
    assert decoded == text
    return {
        "text": text,
        "ids": ids,
        "decoded": decoded,
        "decoded_without_special": tokenizer.decode(ids, skip_special_tokens=True),
        "pieces": pieces,
    }


def decode_case(tokenizer, ids):
    return {
        "ids": ids,
        "decoded": tokenizer.decode(ids, skip_special_tokens=False),
        "decoded_without_special": tokenizer.decode(ids, skip_special_tokens=True),
    }


def decode_ids(tokenizer, strings, seed):
    """Random ids, encodings cut in the middle of a character, and broken UTF-8 by the byte."""
    source = random.Random(seed)
    size = tokenizer.get_vocab_size()
    lists = [[], [0], [0, 0], [size - 1], [1, 0, 2]]
    lists += [[source.randrange(size) for _ in range(source.randint(1, 12))] for _ in range(40)]
    for text in source.sample([s for s in strings if not s.isascii()], 40):
        ids = tokenizer.encode(text).ids
        begin = source.randrange(len(ids))
        lists.append(ids[begin : source.randint(begin + 1, len(ids))])
    # The tokens of single bytes, by the byte-to-character table of the pre-tokenizer: the
    # bytes that print stand for themselves, the others follow from U+0100 on.
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in printing]
    names = {byte: chr(byte) for byte in printing}
    names |= {byte: chr(0x100 + i) for i, byte in enumerate(hidden)}
    broken = [
        "80", "bf", "c3", "c3 28", "c0 80", "c1 bf", "e2 82", "e2 82 41", "e2 28 a1", "e0 80 80", "ed a0 80",
        "ed bf bf", "f0 9f 98", "f0 9f 98 80", "f0 80 80 80", "f4 90 80 80", "f5 80 80 80", "ff", "fe ff",
        "f0 9f 41", "c3 a9", "c3 c3 a9", "e2 82 ac e2 82", "41 80 42", "f0 28 8c bc", "ef bf bd", "ef bb bf 41",
        "e2 82 c3 a9", "f0 9f e2 82 ac", "80 80 80", "00", "0a", "7f",
    ]
    for hexadecimal in broken:
        lists.append([tokenizer.token_to_id(names[b]) for b in bytes.fromhex(hexadecimal)])
    return lists


def train_mixed(strings, path):
    """A tokenizer of the sample's make whose merges come from the strings themselves."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    # What the splitter of GPT-2 would never give to one word is trained in as well, by a
    # splitter that cuts nothing: only then does a missing cut show in the ids.
    splitter, tokenizer.pre_tokenizer = tokenizer.pre_tokenizer, pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    short = [text for text in strings if 0 < len(text) <= 24]
    tokenizer.train_from_iterator(
        short * 2,
        trainers.BpeTrainer(
            vocab_size=1500,
            min_frequency=2,
            special_tokens=[AddedToken(SPECIAL, special=True, normalized=False)],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    tokenizer.pre_tokenizer = splitter
    tokenizer.save(str(path))


def write_cases(tokenizer_path, strings, seed, path):
    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    encode = [encode_case(tokenizer, text) for text in strings]
    decode = [decode_case(tokenizer, ids) for ids in decode_ids(tokenizer, strings, seed)]
    lines = [
        "{",
        f' "library": {json.dumps("tokenizers " + tokenizers.__version__)},',
        ' "encode": [',
        ",\n".join("  " + json.dumps(case) for case in encode),
        " ],",
        ' "decode": [',
        ",\n".join("  " + json.dumps(case) for case in decode),
        " ]",
        "}",
    ]
    path.write_text("\n".join(lines) + "\n")
    assert json.loads(path.read_text())["encode"] == encode
    print(f"{path.name}: {len(encode)} encode cases, {len(decode)} decode cases", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).resolve().parent
    parser.add_argument("--sample", type=Path, default=here / "sample" / "tokenizer.json")
    parser.add_argument("--out", type=Path, default=here / "tokenizer", help="folder of the cases")
    parser.add_argument("--random", type=int, default=120, help="strings put together at random")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    groups = [
        PLAIN, CONTRACTIONS, NUMBERS, PUNCTUATION, CODE, LANGUAGES, EMOJI, SPACES, CONTROLS, MARKS,
        SPECIALS, random_strings(args.random, args.seed),
    ]
    strings = list(dict.fromkeys(text for group in groups for text in group))
    mixed = args.out / "mixed_tokenizer.json"
    train_mixed(strings, mixed)
    write_cases(args.sample, strings, args.seed, args.out / "cases.json")
    write_cases(mixed, strings, args.seed, args.out / "mixed_cases.json")


if __name__ == "__main__":
    main()
