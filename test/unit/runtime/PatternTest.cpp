#include "runtime/src/tokenizer/pattern/Pattern.h"

#include <gtest/gtest.h>

using namespace effc::rt;

/// The matches of `pattern` in `text`, joined by '|'.
static std::string matches(std::string_view pattern, std::string_view text) {
  Budget loading = Budget::ofLoad(pattern.size());
  Result<Pattern> compiled = Pattern::compile(pattern, loading);
  if (!compiled)
    return "error: " + compiled.error().message;
  Budget budget = Budget::ofEncoding(text.size());
  Result<std::vector<Pattern::Match>> found = compiled->findAll(text, budget);
  if (!found)
    return "error: " + found.error().message;
  std::string joined;
  for (const Pattern::Match &match : *found) {
    joined += joined.empty() ? "" : "|";
    joined += text.substr(match.begin, match.end - match.begin);
  }
  return joined;
}

TEST(Pattern, KnowsUnicodeClassesAndLookahead) {
  EXPECT_EQ(matches(R"(\p{L}+)", "a\xC3\xA9 1 \xCE\xBB"), "a\xC3\xA9|\xCE\xBB");
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   b"), "  | ");
  EXPECT_EQ(matches(R"(\s)", "a\xC2\xA0z"), "\xC2\xA0");
}

TEST(Pattern, GoesOnAfterAnEmptyMatch) {
  // One empty match before each character and at the end, none inside one or
  // right behind a match.
  Budget budget = Budget::ofEncoding(0);
  Result<Pattern> pattern = Pattern::compile("x*", budget);
  Result<std::vector<Pattern::Match>> found =
      pattern->findAll("\xC3\xA9xxz", budget);
  ASSERT_TRUE(bool(found));
  std::vector<std::pair<size_t, size_t>> places;
  for (const Pattern::Match &match : *found)
    places.push_back({match.begin, match.end});
  EXPECT_EQ(places,
            (std::vector<std::pair<size_t, size_t>>{{0, 0}, {2, 4}, {5, 5}}));
}

TEST(Pattern, RefusesWhatIsNoPattern) {
  EXPECT_EQ(matches("(a", "a"),
            "error: pattern \"(a\" is wrong at byte 2: a group does not end");
  for (const char *wrong :
       {"a)", "*", "a{2", "a{3,2}", "[a", "[z-a]", "\\", "\\C", "\\p{No",
        "\\p{Nonsense}", "\\x{110000}", "\\x{d800}", "(?<name>a)", "(?<=a+)b",
        "((ab){999}){999}", "\xFF"})
    EXPECT_EQ(matches(wrong, "a").substr(0, 6), "error:") << wrong;
  EXPECT_NE(matches(std::string(70000, 'a'), "a").find("longer than"),
            std::string::npos);
  std::string nested(1000, '(');
  EXPECT_NE(matches(nested, "a").find("nested too deeply"), std::string::npos);
}

// What Perl's semantics say of each.
TEST(Pattern, RepeatsAndChoosesAsPerlDoes) {
  EXPECT_EQ(matches("a|ab|abc", "abc"), "a");
  EXPECT_EQ(matches("(?:a|ab)(?:c|bcd)", "abcd"), "abcd");
  EXPECT_EQ(matches("a*?b", "aab"), "aab");
  EXPECT_EQ(matches("a{2,3}", "aaaaa"), "aaa|aa");
  EXPECT_EQ(matches("a{2,3}?", "aaaaa"), "aa|aa");
  EXPECT_EQ(matches("a++a|b", "aaab"), "b");
  EXPECT_EQ(matches("(?>a|ab)c", "abc ac"), "ac");
  EXPECT_EQ(matches("(?:ab){2}c?", "ababcab"), "ababc");
  EXPECT_EQ(matches("(?:a*)*b", "aab"), "aab");
  EXPECT_EQ(matches("(?:(?:a?)(?:b?))*c", "ababc"), "ababc");
  EXPECT_EQ(matches("(?:a|b)*?c", "abac"), "abac");
  EXPECT_EQ(matches("(?:ab|a)?+b", "abb ab"), "abb|b");
}

TEST(Pattern, LooksBothWays) {
  EXPECT_EQ(matches("(?<=a)b|(?<!a)c", "ab ac bc"), "b|c");
  EXPECT_EQ(matches("(?<=\xC3\xA9|xy)z", "\xC3\xA9z xyz yz"), "z|z");
  EXPECT_EQ(matches("(?<![^\\n])a", "a\na ba"), "a|a");
  EXPECT_EQ(matches("a(?=b(?!c))", "abc abd"), "a");
}

TEST(Pattern, IgnoresCaseOfAscii) {
  EXPECT_EQ(matches("(?i)[r-t]he|k", "THE she K k\xE2\x84\xAA \xC5\xBFhe"),
            "THE|she|K|k|\xE2\x84\xAA|\xC5\xBFhe");
  EXPECT_EQ(matches("(?i:'S)x|(?-i:'s)y", "'sx 'Sx 'Sy 'sy"), "'sx|'Sx|'sy");
  EXPECT_EQ(matches("(?i)[^a]", "aAb"), "b");
}

TEST(Pattern, KnowsClassesAndProperties) {
  EXPECT_EQ(matches("[\\p{Lu}\\-x-z]+", "Ax-a"), "Ax-");
  EXPECT_EQ(matches("[^\\P{L}a]+", "ab1"), "b");
  EXPECT_EQ(matches("\\p{sc:Han}+", "a\xE4\xB8\x96\xE3\x81\x82"),
            "\xE4\xB8\x96");
  // U+31350 is a letter since Unicode 15, U+16D40 since 16.
  EXPECT_EQ(matches("\\p{L}+", "\xF0\xB1\x8D\x90\xF0\x96\xB5\x80"),
            "\xF0\xB1\x8D\x90\xF0\x96\xB5\x80");
  EXPECT_EQ(matches("\\x{e9}\\x41\\n", "\xC3\xA9"
                                       "A\n"),
            "\xC3\xA9"
            "A\n");
}

TEST(Pattern, GivesUpOnCatastrophicBacktracking) {
  std::string text(40, 'a');
  EXPECT_EQ(matches("(?:a+)+c|(?:a+)+b", text + "!"),
            "error: the list of added tokens takes more than the 67129856 "
            "steps that a "
            "text of 41 bytes may: 67108864, and 512 for each byte");
  // Quadratic over a long text.
  EXPECT_EQ(matches(R"(\s+x)", std::string(1 << 16, ' ')).substr(0, 6),
            "error:");
}

TEST(Pattern, TakesAMegabyteOfSpaces) {
  std::string text(1 << 20, ' ');
  EXPECT_EQ(matches(R"(\s*[\r\n]+|\s+(?!\S)|\s+)", text + "x").size(),
            text.size() + 1);
}

TEST(Pattern, CountsRepeatsAsDepth) {
  EXPECT_EQ(matches("a{1}{2}{1}{2}", "aaaaa"), "aaaa");
  for (const char *count : {"?", "*", "{1}", "?+", "+?"}) {
    std::string pattern = "a";
    for (int i = 0; i < 20000; ++i)
      pattern += count;
    EXPECT_NE(matches(pattern, "a").find("nested too deeply"),
              std::string::npos)
        << count;
  }
}

TEST(Pattern, CountsRoundsAndCopies) {
  EXPECT_EQ(matches("(){9}a", "a"), "a");
  for (const char *wrong :
       {"(){65535}{65535}{65535}", "((((a){99}){99}){99}){99}",
        "((a{2}?){60000}){60000}", "((?=a){60000}){60000}b",
        "((?:){65535}|b){65535}"})
    EXPECT_NE(matches(wrong, "a").find("counts multiply to too much"),
              std::string::npos)
        << wrong;
}

// What is below one group after another was copied for each: a gigabyte.
TEST(Pattern, CopiesNothingForLooksAndPossessiveCounts) {
  std::string inside(50000, 'a');
  std::string looks, ends, possessive;
  for (int i = 0; i < 200; ++i) {
    looks += "(?<=";
    ends += ")";
    possessive += ")?+";
  }
  std::string opened;
  for (int i = 0; i < 200; ++i)
    opened += "(?:";
  EXPECT_EQ(matches(looks + inside + ends + "b", inside + "ab"), "b");
  EXPECT_EQ(matches(opened + inside + "b" + possessive + "c", "ac"), "c");
}

// Characters past ASCII were compared with each range: 7e9 for a megabyte.
TEST(Pattern, FindsRangesOfALargeClass) {
  std::string pattern = "[";
  for (char32_t first = 0x4E00; first < 0x4E00 + 2 * 7000; first += 2)
    for (int shift : {12, 6, 0})
      pattern += static_cast<char>(
          shift == 12 ? 0xE0 | first >> 12 : 0x80 | (first >> shift & 0x3F));
  pattern += "]";
  EXPECT_EQ(matches(pattern, "\xE4\xB8\x80\xE4\xB8\x81\xE4\xB8\x82"),
            "\xE4\xB8\x80|\xE4\xB8\x82");
}
