// Texts that MLIR's parser would take too long over, by counts.
#include "frontend/TextBounds.h"

#include "gtest/gtest.h"

using namespace effc::frontend;

namespace {

std::string repeat(llvm::StringRef text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += text;
  return result;
}

/// Where a text goes beyond `most` levels.
std::optional<size_t> levelsBeyond(llvm::StringRef text, unsigned most) {
  TextBounds bounds;
  bounds.levels = most;
  auto excess = findTextExcess(text, bounds);
  return excess ? std::optional(excess->at) : std::nullopt;
}

/// Why a text is refused; empty: it is not.
std::string reasonFor(llvm::StringRef text, const TextBounds &bounds) {
  auto excess = findTextExcess(text, bounds);
  return excess ? excess->reason + " at " + std::to_string(excess->at) : "";
}

TEST(TextBounds, LevelsAreCounted) {
  auto nested = [](size_t levels) {
    return repeat("[", levels) + repeat("]", levels);
  };
  EXPECT_EQ(levelsBeyond(nested(5), 5), std::nullopt);
  EXPECT_EQ(levelsBeyond(nested(6), 5), 5);
  EXPECT_EQ(levelsBeyond(repeat(nested(5), 9), 5), std::nullopt);
  EXPECT_EQ(levelsBeyond("({[<((", 5), 5);
  EXPECT_EQ(levelsBeyond("(- - -\n--a)", 5), 8);
  EXPECT_EQ(levelsBeyond("-a, -a, -a, -a, -a, -a", 5), std::nullopt);
  EXPECT_EQ(levelsBeyond("(a + b mod 2 - c * 3)", 5), std::nullopt);
  EXPECT_EQ(levelsBeyond("(a + b mod 2 - c * 3 + d)", 5), 21);
  // What closes nothing does not make room.
  EXPECT_EQ(levelsBeyond("((((( -> >= (", 5), 12);
  EXPECT_EQ(levelsBeyond(")))))((((((", 5), 10);
}

// An alias has the levels of what it stands for.
TEST(TextBounds, LevelsOfAliasesAreCounted) {
  llvm::StringRef text = "#a = [1]\n#b = [#a]\n!c = t<#b>\n#d = [[#a], #a]\n";
  EXPECT_EQ(levelsBeyond(text, 5), std::nullopt);
  EXPECT_EQ(levelsBeyond(text, 4), text.find("#b>"));
  EXPECT_EQ(levelsBeyond("#a = [1]\nf(#a, #a, #a, #a)", 3), std::nullopt);
}

TEST(TextBounds, StringsAndCommentsAreNotCounted) {
  EXPECT_EQ(levelsBeyond("\"((((((\" // ((((((\n(((((", 5), std::nullopt);
  EXPECT_EQ(levelsBeyond(R"("(\"((((((" ((((()", 5), std::nullopt);
  EXPECT_EQ(levelsBeyond("\"((((((", 5), std::nullopt);
  EXPECT_EQ(levelsBeyond("\"a\\", 5), std::nullopt);
  EXPECT_EQ(levelsBeyond("// ((((((", 5), std::nullopt);
  EXPECT_EQ(levelsBeyond("/((((((", 5), 6);
}

// "#a = [1]" has 8 characters, "#b = [#a, #a]" 13 and those of two "#a", 29;
// three "#b" and two "#a" stand for 3 * 29 + 2 * 8 = 103.
TEST(TextBounds, AliasesAreWrittenOut) {
  TextBounds bounds;
  llvm::StringRef text = "#a = [1]\n#b = [#a, #a]\nx [#b, #b, #b]\n";
  bounds.aliased = 1000;
  EXPECT_EQ(reasonFor(text, bounds), "");
  bounds.aliased = 103;
  EXPECT_EQ(reasonFor(text, bounds), "");
  bounds.aliased = 102;
  EXPECT_EQ(reasonFor(text, bounds),
            "expects aliases that stand for at most 102 characters in all, but "
            "with this one they stand for 103 at " +
                std::to_string(text.rfind("#b")));
}

// Each definition uses the one before ten times: 10^n characters. Arrays,
// types, locations, dictionaries, and names as MLIR's lexer has them.
TEST(TextBounds, AliasesThatMultiplyAreRefused) {
  struct {
    std::string prefix, first, open, close;
  } cases[] = {{"#a", "[0]", "[", "]"},
               {"#a-", "[0]", "[", "]"},
               {"#a$_", "[0]", "[", "]"},
               {"!t", "i32", "tuple<", ">"},
               {"#l", "loc(\"x\")", "loc(fused[", "])"},
               {"#m", "[0]", "loc(fused<[", "]>[\"x\"])"}};
  for (const auto &[prefix, first, open, close] : cases) {
    std::string text = prefix + "0 = " + first + "\n";
    for (int i = 1; i <= 9; ++i) {
      std::string before = prefix + std::to_string(i - 1);
      text += prefix + std::to_string(i) + " = " + open + before +
              repeat(", " + before, 9) + close + "\n";
    }
    EXPECT_NE(reasonFor(text, TextBounds()).find("expects aliases"),
              std::string::npos)
        << text;
  }
  // Doubled 64 times, which 64 bits do not count.
  std::string text = "#a0 = [0]\n";
  for (int i = 1; i <= 70; ++i)
    text += "#a" + std::to_string(i) + " = [#a" + std::to_string(i - 1) +
            ", #a" + std::to_string(i - 1) + "]\n";
  EXPECT_NE(reasonFor(text, TextBounds()), "");
}

TEST(TextBounds, WordsAreCounted) {
  TextBounds bounds;
  bounds.word = 7;
  EXPECT_EQ(
      reasonFor("abc_d.7 1x1x1x1 \"a longer string\" // and comments", bounds),
      "");
  std::string said =
      "expects a name or number of at most 7 characters, but this one is "
      "longer at 6";
  EXPECT_EQ(reasonFor("tensor<1x1x1x1xf32>", bounds).substr(0, 20),
            said.substr(0, 20));
  EXPECT_EQ(reasonFor("a = : 12345678", bounds), said);
  EXPECT_EQ(reasonFor("a bc %ffffffff", bounds), said);
}

// Types alone, whatever stands before their digits.
TEST(TextBounds, IntegersOfManyBitsAreRefused) {
  TextBounds bounds;
  bounds.integerBits = 64;
  EXPECT_EQ(
      reasonFor("1 : i64, tensor<2x3xi64>, %i65 @i65 xi i si i64x7", bounds),
      "");
  auto said = [](const std::string &type, size_t at) {
    return "expects integers of at most 64 bits, but got '" + type + "' at " +
           std::to_string(at);
  };
  EXPECT_EQ(reasonFor("1 : i65", bounds), said("i65", 4));
  EXPECT_EQ(reasonFor("tensor<2xui65>", bounds), said("i65", 10));
  EXPECT_EQ(reasonFor("tensor<2xsi65>", bounds), said("i65", 10));
  EXPECT_EQ(reasonFor("i99999999999999999999", bounds),
            said("i99999999999999999999", 0));
}

TEST(TextBounds, LongTextsAreRefused) {
  TextBounds bounds;
  bounds.text = 5;
  EXPECT_EQ(reasonFor("a b c", bounds), "");
  EXPECT_EQ(reasonFor("a b c\n", bounds),
            "expects a text of at most 5 characters, but got 6 at 0");
}

} // namespace
