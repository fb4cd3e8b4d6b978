#include "frontend/tokenizer/SplitPattern.h"

#include "frontend/tokenizer/ByteAlphabet.h"
#include "test/unit/frontend/Outcome.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace effc::frontend;
using effc::test::outcome;

static std::string translate(llvm::StringRef pattern) {
  auto translated = translatePattern(pattern);
  if (translated)
    return *translated;
  return outcome(translated.takeError());
}

/// All matches of an Oniguruma pattern in a text, by way of its translation.
static std::vector<std::string> matches(llvm::StringRef pattern,
                                        llvm::StringRef text) {
  std::string translated = llvm::cantFail(translatePattern(pattern));
  int error;
  PCRE2_SIZE at = 0;
  pcre2_code *code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
      PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
  pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, nullptr);
  std::vector<std::string> found;
  at = 0;
  while (pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                     text.size(), at, PCRE2_NOTEMPTY, data, nullptr) > 0) {
    PCRE2_SIZE *range = pcre2_get_ovector_pointer(data);
    found.push_back(text.slice(range[0], range[1]).str());
    at = range[1];
  }
  pcre2_match_data_free(data);
  pcre2_code_free(code);
  return found;
}

using Pieces = std::vector<std::string>;

TEST(SplitPattern, KeepsWhatBothMean) {
  for (llvm::StringRef pattern :
       {" ?\\p{L}+", "(?i:'s|'t|'ll)", "a(?=b)(?!c)(?<=a)(?<!x)(?>d)",
        "a*?b+?c??", "a*+b++c?+", "x{2,3}y{4}z{5,}", "[^\\r\\n\\p{L}\\p{N}]",
        "\\x{1F600}\\x41", "\\.\\-\\[\\]\\/\\ ", "(?i)abc", "[a-z\\-]", "(a|b)",
        "\xe4\xb8\x80-x", "\\t\\n\\f\\e"})
    EXPECT_EQ(translate(pattern), pattern.str());
}

TEST(SplitPattern, RewritesWhatDiffers) {
  EXPECT_EQ(translate("\\s+(?!\\S)"), "\\p{White_Space}+(?!\\P{White_Space})");
  EXPECT_EQ(translate("[^\\s\\d]\\D"), "[^\\p{White_Space}\\p{Nd}]\\P{Nd}");
  EXPECT_EQ(translate("a.b"), "a[^\\n]b");
  EXPECT_EQ(translate("^a$"), "(?<![^\\n])a(?![^\\n])");
  EXPECT_EQ(translate("[a^$.]"), "[a^$.]");
  EXPECT_EQ(translate("\\v\\u00e9"), "\\x{0b}\\x{00e9}");
  EXPECT_EQ(translate("a{,3}"), "a{0,3}");
  EXPECT_EQ(translate("a{b}]"), "a\\{b\\}\\]");
  EXPECT_EQ(translate("a{,}"), "a\\{,\\}");
  EXPECT_EQ(translate("\\p{Han}\\P{Latin}\\p{^Thai}\\p{^Lu}"),
            "\\p{sc:Han}\\P{sc:Latin}\\p{^sc:Thai}\\p{^Lu}");
  EXPECT_EQ(translate("[]a]"), "[\\]a]");
  EXPECT_EQ(translate("\\\xc3\xa9"), "\xc3\xa9");
}

TEST(SplitPattern, RefusesWhatCannotBeSaid) {
  auto refusal = [](llvm::StringRef pattern, llvm::StringRef what) {
    EXPECT_EQ(
        translate(pattern),
        ("pattern '" + pattern + "': " + what + " is not supported").str());
  };
  for (const char *escape :
       {"\\h", "\\H", "\\R", "\\X", "\\K", "\\A", "\\z", "\\Z", "\\G", "\\1",
        "\\k", "\\g", "\\Q", "\\0", "\\N"})
    refusal(escape, ("'" + llvm::Twine(escape) + "'").str());
  refusal("[\\b]", "'\\b'");
  refusal("[\\B]", "'\\B'");
  refusal("[\\W]", "'\\W' in a character class");
  refusal("[a[b]]", "'[' in a character class");
  refusal("[[:alpha:]]", "'[' in a character class");
  refusal("[a&&b]", "'&&' in a character class");
  refusal("a{2}?", "'{2}?'");
  refusal("a{1,3}+", "'{1,3}+'");
  refusal("a(?i)b", "group '(?i'");
  refusal("(?m:a)", "group '(?m'");
  refusal("(?<n>a)", "group '(?<'");
  refusal("(?#x)", "group '(?#'");
  refusal("(?~a)", "group '(?~'");
  refusal("(*UTF)", "'(*'");
  refusal("\\p{Alpha}", "property 'Alpha'");
  refusal("\\pL", "'\\p' without braces");
  refusal("\\p{L", "'\\p' without braces");
  refusal("\\xe9", "'\\xe9'");
  refusal("\\x4", "'\\x' without two digits");
  refusal("\\x{}", "'\\x{' without digits and '}'");
  refusal("\\u12", "'\\u' without four digits");
}

// There "ss" matches U+00DF regardless of case, and [\p{Lu}] small letters.
TEST(SplitPattern, RefusesWhatFoldsToSeveralCharacters) {
  auto refusal = [](llvm::StringRef pattern, llvm::StringRef what) {
    EXPECT_EQ(
        translate(pattern),
        ("pattern '" + pattern + "': " + what + " is not supported").str());
  };
  llvm::StringRef other = "a character that is not ASCII, regardless of case,";
  refusal("(?i)mi\xc3\x9f", other);
  refusal("(?i:[\xc3\x9f])", other);
  refusal("(?i:\\\xc3\x9f)", other);
  refusal("(?i:miSs)", "'Ss' regardless of case");
  refusal("(?i:(?:a|fi))", "'fi' regardless of case");
  refusal("(?i:[\\p{Lu}])", "property 'Lu' in a class regardless of case");
  refusal("(?i:\\u00df)", "'\\u' regardless of case");
  refusal("(?i:\\xdf)", "'\\x' regardless of case");
  for (llvm::StringRef pattern :
       {"(?i:a)ss\xc3\x9f\\p{Lu}", "(?i)a(?-i:ss)[st]", "(?i:s|s)",
        "(?i:\\p{Lu}[\\p{L}])"})
    EXPECT_EQ(translate(pattern), pattern.str());
}

TEST(SplitPattern, RefusesWhatDoesNotCompile) {
  EXPECT_EQ(translate("a)"), "pattern 'a)': a ')' without its '('");
  EXPECT_EQ(translate("(a"), "pattern '(a': missing closing parenthesis");
  EXPECT_EQ(translate("[a"), "pattern '[a': a character class does not end");
  EXPECT_EQ(translate("a\\"), "pattern 'a\\': ends in a backslash");
  EXPECT_EQ(translate("*a"),
            "pattern '*a': quantifier does not follow a repeatable item");
  EXPECT_EQ(translate(""), "expects a pattern of 1..65536 bytes, but got 0");
  EXPECT_EQ(translate(std::string(65537, 'a')),
            "expects a pattern of 1..65536 bytes, but got 65537");
  EXPECT_NE(translate(std::string(60'000, '(')), "success");
}

// Of numbers Oniguruma's \w has digits, U+2167 and the six others of Latin-1, but not
// U+2083; of signs U+24B6, a letter in a circle (all found by the library `tokenizers`).
TEST(SplitPattern, WordsAreOnigurumas) {
  EXPECT_EQ(matches("\\w+", "a\u0301_\u0663\u2167\u24B6\u00B2 \u2083b-"),
            (Pieces{"a\u0301_\u0663\u2167\u24B6\u00B2", "b"}));
  EXPECT_EQ(matches("[\\w-]\\W", "a-b \u2083"), (Pieces{"a-", "b "}));
  EXPECT_EQ(matches("\\bb|c\\b", "bbc cb \u24B6b \u2083b"),
            (Pieces{"b", "c", "b"}));
  EXPECT_EQ(matches("\\Bb|c\\B", "bbc cb"), (Pieces{"b", "c", "b"}));
  EXPECT_EQ(matches("\\b", "a b"), Pieces{}); // nothing but a place
}

// The no-break space and the ideographic space are white, the Mongolian vowel
// separator U+180E is not (PCRE2's own \s says it is).
TEST(SplitPattern, WhiteSpaceIsUnicodes) {
  EXPECT_EQ(matches("\\s", "a\xc2\xa0\xe3\x80\x80\xe1\xa0\x8e\x0b"),
            (Pieces{"\xc2\xa0", "\xe3\x80\x80", "\x0b"}));
  EXPECT_EQ(matches("[^\\s]+", "a\xe1\xa0\x8e b"),
            (Pieces{"a\xe1\xa0\x8e", "b"}));
}

TEST(SplitPattern, LineEndsAreEverywhere) {
  EXPECT_EQ(matches("^a|b$", "a\nab\nb"), (Pieces{"a", "a", "b", "b"}));
  EXPECT_EQ(matches(".+", "a\r\nb"), (Pieces{"a\r", "b"}));
}

// Patterns of well-known tokenizers, with what they do to one text.
TEST(SplitPattern, PublicPatterns) {
  const char *text = "It's 1234 \t\xe4\xbd\xa0\xe5\xa5\xbd!\n\nOK  ";
  EXPECT_EQ(matches("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| "
                    "?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
                    text),
            (Pieces{"It", "'s", " 1234", " ", "\t", "\xe4\xbd\xa0\xe5\xa5\xbd",
                    "!", "\n", "\n", "OK", "  "}));
  EXPECT_EQ(
      matches(
          "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{"
          "1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
          text),
      (Pieces{"It", "'s", " ", "123", "4", " ", "\t\xe4\xbd\xa0\xe5\xa5\xbd",
              "!\n\n", "OK", "  "}));
}

TEST(SplitPattern, EscapesText) {
  EXPECT_EQ(matches(escapePattern("a.b*[\\E]"), "a.b*[\\E] axb"),
            (Pieces{"a.b*[\\E]"}));
  EXPECT_EQ(escapePattern("a.\xc3\xa9"), "a\\.\xc3\xa9");
}

TEST(ByteAlphabet, GivesEachByteItsCharacter) {
  EXPECT_EQ(getByteCharacter('A'), "A");
  EXPECT_EQ(getByteCharacter(' '), "\xc4\xa0");  // U+0120
  EXPECT_EQ(getByteCharacter('\n'), "\xc4\x8a"); // U+010A
  EXPECT_EQ(getByteCharacter(0), "\xc4\x80");    // U+0100
  EXPECT_EQ(getByteCharacter(0xad), "\xc5\x83"); // U+0143, the last
  EXPECT_EQ(getByteCharacter(0xe9), "\xc3\xa9"); // U+00E9
  EXPECT_EQ(getByteCharacter(0xff), "\xc3\xbf"); // U+00FF
}

TEST(ByteAlphabet, ReadsThemBack) {
  std::string text;
  std::vector<uint8_t> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    text += getByteCharacter(byte);
    bytes.push_back(byte);
  }
  EXPECT_EQ(getBytesOfCharacters(text), bytes);
  EXPECT_EQ(getBytesOfCharacters(""), std::vector<uint8_t>());
}

TEST(ByteAlphabet, KnowsNoOtherCharacters) {
  for (const char *text : {" ", "\n", "\xc2\xa0", "\xc2\xad", "\xc5\x84",
                           "\xe4\xb8\x80", "a b", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(getBytesOfCharacters(text), std::nullopt) << text;
}
