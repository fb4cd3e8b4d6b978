// The rules of the Hugging Face library's AddedVocabulary: leftmost, longest,
// and what its flags take along.

#include "runtime/src/tokenizer/AddedTokens.h"

#include <gtest/gtest.h>
#include <random>

using namespace effc::rt;

/// Parts joined by '|', tokens as "<id:text>".
static std::string split(const std::vector<AddedToken> &tokens,
                         std::string_view text, const PlainSpans &plain = {}) {
  std::string joined;
  AddedTokens added(tokens);
  std::vector<TextPart> parts;
  Budget budget = Budget::ofEncoding(text.size());
  for (const TextPart &part : added.splitRaw(text, plain, budget))
    if (part.id >= 0)
      parts.push_back(part);
    else {
      auto begin = static_cast<size_t>(part.text.data() - text.data());
      for (const TextPart &inner : added.splitNormalized(
               part.text, plain.within(begin, begin + part.text.size()),
               budget))
        parts.push_back(inner);
    }
  for (const TextPart &part : parts) {
    joined += joined.empty() ? "" : "|";
    if (part.id >= 0)
      joined +=
          "<" + std::to_string(part.id) + ":" + std::string(part.text) + ">";
    else
      joined += part.text;
  }
  return joined;
}

static AddedToken token(int32_t id, std::string content) {
  return {id, std::move(content), false, false, false, false, false};
}

TEST(AddedTokens, TakesTheLongestThatStartsLeftmost) {
  std::vector<AddedToken> tokens = {token(1, "<a>"), token(2, "<a><b>"),
                                    token(3, "b>c")};
  EXPECT_EQ(split(tokens, "x<a>y<a><b>c"), "x|<1:<a>>|y|<2:<a><b>>|c");
  EXPECT_EQ(split(tokens, "<a><b"), "<1:<a>>|<b");
  EXPECT_EQ(split(tokens, ""), "");
}

TEST(AddedTokens, StripsWhiteSpace) {
  AddedToken left = token(1, "L"), right = token(2, "R");
  left.leftStrip = true;
  right.rightStrip = true;
  EXPECT_EQ(split({left, right}, "a  L  b"), "a|<1:  L>|  b");
  EXPECT_EQ(split({left, right}, "a  R \xC2\xA0 b"), "a  |<2:R \xC2\xA0 >|b");
  // What the first has taken is not there for the second.
  EXPECT_EQ(split({left, right}, "R L"), "<2:R >|<1:L>");
}

TEST(AddedTokens, KeepsSingleWordsApart) {
  AddedToken word = token(1, "the");
  word.singleWord = true;
  EXPECT_EQ(split({word}, "the other the."), "<1:the>| other |<1:the>|.");
  EXPECT_EQ(split({word}, "the\xC3\xA9"), "the\xC3\xA9");
}

TEST(AddedTokens, LooksForNormalizedOnesAfterTheOthers) {
  // In one round "bc" would win from the left; it only sees what "cd" left
  // over.
  AddedToken late = token(1, "bc");
  late.normalized = true;
  EXPECT_EQ(split({late, token(2, "cd")}, "abcd abc"), "ab|<2:cd>| a|<1:bc>");
}

TEST(AddedTokens, LeavesSpecialOnesAsTextOnDemand) {
  AddedToken special = token(1, "<s>");
  special.special = true;
  EXPECT_EQ(split({special, token(2, "x")}, "<s>x", PlainSpans::all(4)),
            "<s>|<2:x>");
  EXPECT_EQ(split({special, token(2, "x")}, "<s>x"), "<1:<s>>|<2:x>");
}

TEST(AddedTokens, LeavesSpecialOnesAsTextWhereSomebodyWroteThem) {
  AddedToken special = token(1, "<s>");
  special.special = true;
  std::vector<AddedToken> tokens = {special, token(2, "x")};
  auto splitWithin = [&](size_t begin, size_t end) {
    return split(tokens, "<s>x<s>x<s>", PlainSpans({{begin, end}}));
  };
  EXPECT_EQ(splitWithin(4, 7), "<1:<s>>|<2:x>|<s>|<2:x>|<1:<s>>");
  // A part of the token is enough, and a touch is not.
  EXPECT_EQ(splitWithin(6, 9), "<1:<s>>|<2:x>|<s>|<2:x>|<s>");
  EXPECT_EQ(splitWithin(3, 4), "<1:<s>>|<2:x>|<1:<s>>|<2:x>|<1:<s>>");
}

TEST(AddedTokens, HidesNoTokenBehindOneThatSomebodyBegan) {
  AddedToken whole = token(1, "<a<b>"), own = token(2, "<b>");
  whole.special = own.special = true;
  EXPECT_EQ(split({whole, own}, "<a<b>"), "<1:<a<b>>");
  EXPECT_EQ(split({whole, own}, "<a<b>", PlainSpans({{0, 2}})), "<a|<2:<b>>");
}

/// The rule itself: at each place the longest token there is, if any.
static std::string splitSlowly(const std::vector<AddedToken> &tokens,
                               const std::string &text) {
  std::string joined, between;
  auto add = [&](const std::string &part) {
    joined += (joined.empty() || part.empty() ? "" : "|") + part;
  };
  for (size_t at = 0; at < text.size();) {
    const AddedToken *longest = nullptr;
    for (const AddedToken &token : tokens)
      if (text.compare(at, token.content.size(), token.content) == 0 &&
          (!longest || token.content.size() > longest->content.size()))
        longest = &token;
    if (!longest) {
      between += text[at++];
      continue;
    }
    add(between);
    between.clear();
    add("<" + std::to_string(longest->id) + ":" + longest->content + ">");
    at += longest->content.size();
  }
  add(between);
  return joined;
}

TEST(AddedTokens, FindsWhatTheRuleFindsInTextsThatOverlap) {
  std::mt19937 random(7);
  auto drawn = [&](size_t size) {
    std::string text;
    for (size_t i = 0; i < size; ++i)
      text += "aabc"[random() % 4];
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    std::vector<AddedToken> tokens;
    for (int id = 0, count = 1 + random() % 6; id < count; ++id)
      tokens.push_back(token(id, drawn(1 + random() % 6)));
    std::string text = drawn(random() % 50);
    EXPECT_EQ(split(tokens, text), splitSlowly(tokens, text));
  }
}

// Looked through anew for each token, the white space would be 5e11 characters.
TEST(AddedTokens, LooksThroughSpaceOnce) {
  AddedToken space = token(1, "  ");
  space.rightStrip = true;
  std::string text(1 << 20, ' ');
  Budget budget = Budget::ofEncoding(text.size());
  EXPECT_EQ(AddedTokens({space}).splitRaw(text, {}, budget).size(),
            text.size() / 2);
}
