#include "runtime/src/tokenizer/Pattern.h"

#include <gtest/gtest.h>

using namespace effc::rt;

/// The matches of `pattern` in `text`, joined by '|'.
static std::string matches(std::string_view pattern, std::string_view text) {
  Result<Pattern> compiled = Pattern::compile(pattern);
  if (!compiled)
    return "error: " + compiled.error().message;
  Result<std::vector<Pattern::Match>> found = compiled->findAll(text);
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
  // One empty match before each character and at the end, none inside one.
  Result<Pattern> pattern = Pattern::compile("x*");
  Result<std::vector<Pattern::Match>> found = pattern->findAll("\xC3\xA9xxz");
  ASSERT_TRUE(bool(found));
  std::vector<std::pair<size_t, size_t>> places;
  for (const Pattern::Match &match : *found)
    places.push_back({match.begin, match.end});
  EXPECT_EQ(places, (std::vector<std::pair<size_t, size_t>>{
                        {0, 0}, {2, 4}, {4, 4}, {5, 5}}));
}

TEST(Pattern, RefusesWhatIsNoPattern) {
  EXPECT_NE(matches("(", "a").find("error: pattern \"(\" is wrong at byte 1"),
            std::string::npos);
  EXPECT_NE(matches("\\C", "a").find("error:"), std::string::npos);
  EXPECT_NE(matches(std::string(70000, 'a'), "a").find("longer than"),
            std::string::npos);
}

TEST(Pattern, GivesUpOnCatastrophicBacktracking) {
  std::string text(40, 'a');
  EXPECT_NE(matches("^(a+)+$", text + "!")
                .find("error: a pattern fails on this text"),
            std::string::npos);
}

TEST(Pattern, TakesAMegabyteOfSpaces) {
  std::string text(1 << 20, ' ');
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", text + "x").size(), text.size() + 1);
}

TEST(Pattern, KnowsTheEndsOfWords) {
  EXPECT_TRUE(startsWithWordCharacter("a b"));
  EXPECT_TRUE(startsWithWordCharacter("\xC3\xA9"));
  EXPECT_TRUE(startsWithWordCharacter("_"));
  EXPECT_FALSE(startsWithWordCharacter(" a"));
  EXPECT_FALSE(startsWithWordCharacter(""));
  EXPECT_TRUE(endsInWordCharacter("a\xC3\xA9"));
  EXPECT_TRUE(endsInWordCharacter("e\xCC\x81")); // a combining mark
  EXPECT_FALSE(endsInWordCharacter("a-"));
  EXPECT_EQ(leadingSpace(" \xC2\xA0\tx "), 4u);
  EXPECT_EQ(trailingSpace(" x\n\xE2\x80\x83"), 4u);
  EXPECT_EQ(trailingSpace("  "), 2u);
  EXPECT_EQ(leadingSpace(""), 0u);
}
