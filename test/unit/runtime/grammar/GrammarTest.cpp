// Masks against every token of a vocabulary, tried byte by byte by PlainReader.h,
// in states that random texts come to.
#include "runtime/src/grammar/Grammar.h"
#include "runtime/src/grammar/GbnfReader.h"
#include "runtime/src/grammar/SchemaReader.h"
#include "test/unit/runtime/grammar/PlainReader.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace effc::rt;
using namespace effc::rt::grammar;
using namespace effc::test;

namespace {
constexpr int32_t kEnd = 300;

/// All bytes, ids that have no text, pieces of JSON and of words, several of some.
std::vector<std::string> vocabulary() {
  std::vector<std::string> texts(301);
  for (int byte = 0; byte < 256; ++byte)
    texts[static_cast<size_t>(byte)] = std::string(1, static_cast<char>(byte));
  const char *more[] = {
      "{\"",      "\":",  "\": ",     ",\"",      "\"}",
      "\"",       "true", "tru",      "null",     "}}",
      "[]",       "[[",   "],",       "]]",       "12",
      "-3",       "0.5",  "e1",       " ",        "  ",
      "\n",       " a",   " b",       "ab",       "abc",
      "a\"",      "b\",", "\\n",      "\\u0",     "\\",
      "\xC3\xA9", "\xA9", "\xF0\x9F", "\x98\x80", "\xE2\x82\xAC\xE2\x82",
      "(a",       "a)",   "))",       "yes",      "no",
      "ab"};
  size_t at = 256;
  for (const char *text : more)
    texts[at++] = text;
  return texts;
}

std::shared_ptr<const Grammar>
make(const Rules &rules, const TokenTexts &tokens, uint32_t size = 301) {
  auto made = Grammar::create(rules, nullptr, tokens, size);
  EXPECT_TRUE(made);
  return *made;
}

bool has(std::span<const uint64_t> mask, int32_t token) {
  return mask[static_cast<size_t>(token) / 64] >> (token % 64) & 1;
}

/// Draws texts at random, and compares each mask. Returns how many were compared.
size_t compareAlongTexts(const Rules &rules, const TokenTexts &tokens,
                         uint32_t seed, size_t mostTokens) {
  std::shared_ptr<const Grammar> grammar = make(rules, tokens);
  std::mt19937 random(seed);
  size_t compared = 0;
  for (int texts = 0; texts < 6; ++texts) {
    Matcher matcher(grammar, {kEnd});
    std::string text;
    while (text.size() < 40 && compared < mostTokens) {
      auto mask = matcher.mask();
      if (!mask) {
        ADD_FAILURE() << text << ": " << mask.error().message;
        return compared;
      }
      ++compared;
      std::vector<int32_t> allowed;
      for (int32_t token = 0; token < 301; ++token) {
        bool isFirst = text.empty();
        std::string_view more =
            isFirst ? tokens.ofFirst(token) : tokens.of(token);
        PlainFit fit = plainFit(rules, text + std::string(more));
        bool expected = !more.empty() && (fit.isWhole || fit.isBeginning);
        if (token == kEnd)
          expected = plainFit(rules, text).isWhole;
        EXPECT_EQ(has(*mask, token), expected)
            << "'" << text << "' and token " << token << " '" << more << "'";
        if (has(*mask, token))
          allowed.push_back(token);
      }
      EXPECT_EQ(matcher.canEnd(), plainFit(rules, text).isWhole) << text;
      EXPECT_EQ(matcher.isComplete(),
                matcher.canEnd() && !plainFit(rules, text).isBeginning);
      // Tokens of several bytes are few; they come as often as single ones.
      std::vector<int32_t> longer;
      std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(longer),
                   [&](int32_t token) { return token >= 256; });
      const auto &from = longer.empty() || random() % 2 ? allowed : longer;
      int32_t token = from[random() % from.size()];
      bool wasFirst = text.empty();
      if (Check error = matcher.accept(token)) {
        ADD_FAILURE() << error->message;
        return compared;
      }
      if (token == kEnd) {
        EXPECT_TRUE(matcher.isComplete());
        EXPECT_FALSE(matcher.mask());
        break;
      }
      text += wasFirst ? tokens.ofFirst(token) : tokens.of(token);
      if (matcher.isComplete())
        break;
    }
  }
  return compared;
}
} // namespace

TEST(Grammar, HasTheMasksThatTryingEachTokenGives) {
  const char *grammars[] = {
      "root ::= (\"yes\" | \"no\") (\" \" root)?",
      "root ::= \"(\" root \")\" | [a-c]{1,3}",
      "root ::= [^\"\\n]* \"\\\"\"",
      "root ::= a b* | a [b-d]+ \"x\"\na ::= \"a\" | \"ab\"\nb ::= \"b\" | "
      "\"bc\"",
      "root ::= "
      "[\xC3\xA8-\xC3\xAA\xE2\x82\xAC\xF0\x9F\x98\x80-\xF0\x9F\x98\x81]{2,5}",
      "root ::= e\ne ::= t ([+-] t)*\nt ::= [0-9]+ | \"(\" e \")\"",
      "root ::= (\" \"? \"a\"){0,4} \"b\"",
      "root ::= x y\nx ::= \"a\"? \"b\"?\ny ::= x x | \"c\""};
  std::vector<std::string> texts = vocabulary();
  for (bool dropsSpace : {false, true}) {
    TokenTexts tokens(texts, dropsSpace);
    for (const char *text : grammars) {
      auto rules = readGbnf(text);
      ASSERT_TRUE(rules) << rules.error().message;
      EXPECT_GT(compareAlongTexts(*rules, tokens, 7, 30), 5u) << text;
    }
  }
}

TEST(Grammar, HasTheMasksOfSchemas) {
  const char *schemas[] = {
      R"({"type": "object", "properties": {"a": {"type": "integer"},
          "ab": {"type": ["string", "null"], "maxLength": 2}},
          "required": ["ab"], "additionalProperties": {"type": "boolean"}})",
      R"({"type": "array", "items": {"enum": ["a", "ab", 12]}, "maxItems": 3})",
      R"({})"};
  std::vector<std::string> texts = vocabulary();
  TokenTexts tokens(texts, false);
  for (const char *schema : schemas) {
    auto rules = readSchema(schema);
    ASSERT_TRUE(rules) << rules.error().message;
    EXPECT_GT(compareAlongTexts(*rules, tokens, 3, 12), 5u) << schema;
  }
}

TEST(Grammar, CopiesGoOnByThemselves) {
  auto rules = readGbnf("root ::= \"a\" [bc]+");
  std::vector<std::string> texts = vocabulary();
  TokenTexts tokens(texts, false);
  Matcher first(make(*rules, tokens), {kEnd});
  ASSERT_FALSE(first.accept('a'));
  Matcher second = first;
  ASSERT_FALSE(second.accept('b'));
  EXPECT_TRUE(second.canEnd());
  EXPECT_FALSE(first.canEnd());
  // A token that cannot come changes nothing.
  Check refused = first.accept('a');
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message, "token 97, 'a', does not fit the grammar here");
  EXPECT_FALSE(first.accept('c'));
  EXPECT_TRUE(first.accept(299)) << "a token without a text";
  EXPECT_FALSE(first.accept(kEnd));
  EXPECT_TRUE(first.accept('b')) << "behind the end";
}

TEST(Grammar, GoesOnWhenItsTableIsFull) {
  // Every character leads to a state of its own, so that tables fill up.
  auto rules = readGbnf("root ::= [a-z]{60000}");
  std::vector<std::string> texts = vocabulary();
  TokenTexts tokens(texts, false);
  // Masks of 16 million tokens take two MiB each.
  std::shared_ptr<const Grammar> grammar = make(*rules, tokens, 1u << 24);
  Matcher matcher(grammar, {kEnd}), early(grammar, {kEnd});
  ASSERT_FALSE(early.accept('a'));
  for (int i = 0; i < 40; ++i) {
    auto mask = matcher.mask();
    ASSERT_TRUE(mask) << mask.error().message;
    EXPECT_TRUE(has(*mask, 'z'));
    EXPECT_FALSE(has(*mask, '1'));
    ASSERT_FALSE(matcher.accept('z'));
  }
  auto mask = early.mask();
  ASSERT_TRUE(mask);
  EXPECT_TRUE(has(*mask, 'b'));
}

TEST(Grammar, RefusesWhatCannotBe) {
  std::vector<std::string> texts = vocabulary();
  TokenTexts tokens(texts, false);
  auto empty = readGbnf("root ::= \"\"");
  EXPECT_FALSE(Grammar::create(*empty, nullptr, tokens, 301));
  auto large =
      readGbnf("root ::= (([a-z] \"ab\"){60000} \"x\"){60000} a{60000}\n"
               "a ::= \"b\" (\"cde\" | \"fgh\"){60000}");
  auto refused = Grammar::create(*large, nullptr, tokens, 301);
  EXPECT_TRUE(refused) << "what is repeated is there once";
  auto larger = readGbnf("root ::= " + [] {
    std::string text;
    for (int i = 0; i < 10; ++i)
      text += "\"ab\"{60000} ";
    return text;
  }());
  refused = Grammar::create(*larger, nullptr, tokens, 301);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EFFC_UNSUPPORTED);
  // Each "a" may be of any of many choices, which differ in all that follows.
  std::string text = "root ::= ";
  for (int i = 0; i < 5000; ++i)
    text += (i ? " | " : "") + std::string("\"a\"{") +
            std::to_string(i % 40 + 1) + "} \"b" + std::to_string(i) + "\"";
  auto ways = readGbnf(text);
  ASSERT_TRUE(ways);
  refused = Grammar::create(*ways, nullptr, tokens, 301);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EFFC_EXHAUSTED);
}

TEST(Grammar, TakesManyTextsThatBeginAlike) {
  std::string schema = "{\"enum\": [\"\"";
  for (int i = 0; i < 20000; ++i)
    schema += ", \"name " + std::to_string(i) + "\"";
  auto rules = readSchema(schema + "]}");
  ASSERT_TRUE(rules) << rules.error().message;
  std::vector<std::string> texts = vocabulary();
  TokenTexts tokens(texts, false);
  Matcher matcher(make(*rules, tokens), {kEnd});
  for (char byte : std::string("\"name 1999")) {
    auto mask = matcher.mask();
    ASSERT_TRUE(mask) << mask.error().message;
    ASSERT_TRUE(has(*mask, byte)) << byte;
    ASSERT_FALSE(matcher.accept(byte));
  }
  auto mask = matcher.mask();
  ASSERT_TRUE(mask);
  for (char byte : std::string("0123456789\""))
    EXPECT_TRUE(has(*mask, byte));
  EXPECT_FALSE(has(*mask, 'x'));
  ASSERT_FALSE(matcher.accept('9'));
  EXPECT_FALSE(has(*matcher.mask(), '1'));
  ASSERT_FALSE(matcher.accept('"'));
  EXPECT_TRUE(matcher.isComplete());
}

TEST(Grammar, BoundsHowDeepTextsNest) {
  auto rules = readGbnf("root ::= \"(\" root \")\" | \"x\"");
  std::vector<std::string> texts = vocabulary();
  TokenTexts tokens(texts, false);
  Matcher matcher(make(*rules, tokens), {kEnd});
  size_t depth = 0;
  while (!matcher.accept('('))
    ASSERT_LT(++depth, 5000u);
  EXPECT_GE(depth, 4000u);
  // Out again.
  auto mask = matcher.mask();
  ASSERT_TRUE(mask);
  ASSERT_FALSE(matcher.accept('x'));
  for (size_t i = 0; i < depth; ++i)
    ASSERT_FALSE(matcher.accept(')')) << i;
  EXPECT_TRUE(matcher.isComplete());
}
