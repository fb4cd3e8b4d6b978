// Examples of the Unicode standard: its chapter 3.11 and annexes 15 and 29.

#include "runtime/src/tokenizer/unicode/Unicode.h"
#include "runtime/src/tokenizer/unicode/Graphemes.h"
#include "runtime/src/tokenizer/unicode/NormalForm.h"

#include <gtest/gtest.h>

using namespace effc::rt::unicode;

static std::string utf8(std::u32string_view text) {
  std::string out;
  for (char32_t character : text)
    append(character, out);
  return out;
}

static std::string form(NormalForm form, std::u32string_view text) {
  return normalize(utf8(text), form);
}

TEST(Unicode, DecomposesAndComposes) {
  EXPECT_EQ(form(NormalForm::Nfd, U"\u1E69"), utf8(U"s\u0323\u0307"));
  EXPECT_EQ(form(NormalForm::Nfc, U"s\u0307\u0323"), utf8(U"\u1E69"));
  EXPECT_EQ(form(NormalForm::Nfc, U"\u1E0B\u0323"), utf8(U"\u1E0D\u0307"));
  EXPECT_EQ(form(NormalForm::Nfc, U"\u212B"), utf8(U"\u00C5"));
  // Excluded from composition.
  EXPECT_EQ(form(NormalForm::Nfc, U"\u0958"), utf8(U"\u0915\u093C"));
  // A mark of one class hides the next one of the same.
  EXPECT_EQ(form(NormalForm::Nfc, U"a\u0305\u0301"), utf8(U"a\u0305\u0301"));
  EXPECT_EQ(form(NormalForm::Nfkc, U"\uFB01\u00B2\uFF76\uFF9E"),
            utf8(U"fi2\u30AC"));
  EXPECT_EQ(form(NormalForm::Nfkd, U"\u1E9B\u0323"), utf8(U"s\u0323\u0307"));
  EXPECT_EQ(form(NormalForm::Nfd, U"x\u00A0y"), utf8(U"x\u00A0y"));
}

TEST(Unicode, NumbersHangul) {
  EXPECT_EQ(form(NormalForm::Nfd, U"\uD4DB"), utf8(U"\u1111\u1171\u11B6"));
  EXPECT_EQ(form(NormalForm::Nfc, U"\u1111\u1171\u11B6"), utf8(U"\uD4DB"));
  EXPECT_EQ(form(NormalForm::Nfc, U"\uAC00\u11A8"), utf8(U"\uAC01"));
  EXPECT_EQ(form(NormalForm::Nfc, U"\uAC01\u11A8"), utf8(U"\uAC01\u11A8"));
}

/// How many characters the first cluster has.
static size_t cluster(std::u32string_view text) {
  std::string bytes = utf8(text);
  size_t end = firstCluster(bytes), count = 0;
  for (size_t at = 0; at < end; ++count)
    at += decode(std::string_view(bytes).substr(at)).bytes;
  return count;
}

TEST(Unicode, JoinsGraphemeClusters) {
  EXPECT_EQ(cluster(U"ab"), 1u);
  EXPECT_EQ(cluster(U"\r\n\n"), 2u);
  EXPECT_EQ(cluster(U"\n\u0301"), 1u);
  EXPECT_EQ(cluster(U"e\u0301\u0323x"), 3u);
  EXPECT_EQ(cluster(U"\u1100\u1161\u11A8\u1100"), 3u);
  EXPECT_EQ(cluster(U"\U0001F1E6\U0001F1E7\U0001F1E8"), 2u);
  EXPECT_EQ(cluster(U"\U0001F468\u200D\U0001F469\u200D\U0001F467x"), 5u);
  EXPECT_EQ(cluster(U"a\u200D\U0001F469"), 2u);
  EXPECT_EQ(cluster(U"\u0600a"), 2u);
  EXPECT_EQ(cluster(U"\u0915\u093E\u0937"), 2u);
}

TEST(Unicode, KnowsCharacters) {
  EXPECT_EQ(lookUp(U'a').category, Category::Ll);
  EXPECT_TRUE(lookUp(0x3000).is(White));
  EXPECT_FALSE(lookUp(0x180E).is(White));
  EXPECT_TRUE(lookUp(0x00BD).is(Numeric));
  EXPECT_TRUE(lookUp(0x200D).is(Word));
  EXPECT_EQ(lookUp(0x0323).combiningClass, 220);
  EXPECT_EQ(lookUp(0x4E00).script, findScript("Han"));
  EXPECT_EQ(lookUp(0x10FFFF).category, Category::Cn);
  EXPECT_EQ(toLower(0x0130), U"i\u0307");
  EXPECT_EQ(findScript("Klingon"), 0);
  EXPECT_EQ(findCategories("X"), 0u);
}
