// What patterns of schemas mean within a text of JSON, and which are refused.
#include "runtime/src/grammar/PatternReader.h"
#include "test/unit/runtime/grammar/PlainReader.h"

#include <gtest/gtest.h>

using namespace effc::rt;
using namespace effc::rt::grammar;
using namespace effc::test;

TEST(PatternReader, ReadsWhatLanguagesAgreeOn) {
  struct {
    const char *pattern;
    std::vector<std::string> fit, not_;
  } meanings[] = {
      {"^[a-z]{2,3}$", {"ab", "abc"}, {"a", "abcd", "Ab"}},
      {"^\\d+-\\w*$", {"1-", "12-a_9"}, {"-a", "1-\xC3\xA9"}},
      {"^(?:a|bc)?d$", {"d", "ad", "bcd"}, {"bd", "abcd"}},
      {"^a|b$", {"a", "ax", "b", "xb"}, {"xa", "bx"}},
      {"b", {"b", "abc"}, {"ac"}},
      {"^.$", {"a", "\xC3\xA9", "\\\"", "\\\\", "\\t"}, {"ab", "\\n", "\""}},
      {"^[^a\"]$", {"b", "\\\\"}, {"a", "\\\"", "\""}},
      {"^\\u00e9\\x41\\.\\/\\-$",
       {"\xC3\xA9"
        "A./-"},
       {"eA./-"}},
      {"^\"\\\\$", {"\\\"\\\\"}, {"\"\\"}},
      {"^a*?b+?$", {"b", "aabb"}, {"a"}},
      {"^[\\d.-]$", {"5", ".", "-"}, {"a"}},
      {"^\\W\\S$", {".a"}, {"aa", ". "}},
      {"", {"", "anything"}, {"\""}}};
  for (const auto &[pattern, fit, others] : meanings) {
    Rules rules;
    JsonRules json(rules);
    auto read = readPattern(pattern, json);
    ASSERT_TRUE(read) << read.error().message;
    rules.root = rules.add("root", std::move(*read));
    for (const std::string &text : fit)
      EXPECT_TRUE(plainFit(rules, text).isWhole) << pattern << ": " << text;
    for (const std::string &text : others)
      EXPECT_FALSE(plainFit(rules, text).isWhole) << pattern << ": " << text;
  }
}

TEST(PatternReader, RefusesTheRest) {
  const std::pair<const char *, effc_status_code_t> refusals[] = {
      {"(?=a)", EFFC_UNSUPPORTED},     {"(a)\\1", EFFC_UNSUPPORTED},
      {"\\bword", EFFC_UNSUPPORTED},   {"a^b", EFFC_UNSUPPORTED},
      {"(^a)", EFFC_UNSUPPORTED},      {"a$b", EFFC_UNSUPPORTED},
      {"\\p{L}", EFFC_UNSUPPORTED},    {"a**", EFFC_UNSUPPORTED},
      {"[[a]", EFFC_UNSUPPORTED},      {"a}", EFFC_UNSUPPORTED},
      {"(a", EFFC_INVALID_ARGUMENT},   {"a)", EFFC_INVALID_ARGUMENT},
      {"[a", EFFC_INVALID_ARGUMENT},   {"[z-a]", EFFC_INVALID_ARGUMENT},
      {"*", EFFC_INVALID_ARGUMENT},    {"a{2,1}", EFFC_INVALID_ARGUMENT},
      {"a{x}", EFFC_INVALID_ARGUMENT}, {"\\xg1", EFFC_INVALID_ARGUMENT},
      {"\\", EFFC_UNSUPPORTED},        {"a{99999}", EFFC_UNSUPPORTED}};
  for (auto [pattern, code] : refusals) {
    Rules rules;
    JsonRules json(rules);
    auto read = readPattern(pattern, json);
    ASSERT_FALSE(read) << pattern;
    EXPECT_EQ(read.error().code, code) << pattern << read.error().message;
    EXPECT_NE(read.error().message.find("at byte"), std::string::npos);
  }
}

TEST(PatternReader, WholeTextsAreWrittenAsTheyAre) {
  struct {
    const char *pattern;
    std::vector<std::string> fit, others;
  } meanings[] = {{"a+", {"a", "aa"}, {"", "ab", "ba"}},
                  {"^a$", {"a"}, {"aa"}},
                  {"^a|b$", {"a", "b"}, {"ab", "ac", "cb"}},
                  {"\"[^\"\\\\]\"\\n", {"\"x\"\n"}, {"\"\\\"\n", "\"x\"\\n"}},
                  {"(yes|no)\\.", {"yes.", "no."}, {"yes", "maybe."}},
                  {"", {""}, {"a"}}};
  for (const auto &[pattern, fit, others] : meanings) {
    auto rules = rulesOfPattern(pattern);
    ASSERT_TRUE(rules) << rules.error().message;
    for (const std::string &text : fit)
      EXPECT_TRUE(plainFit(*rules, text).isWhole) << pattern << ": " << text;
    for (const std::string &text : others)
      EXPECT_FALSE(plainFit(*rules, text).isWhole) << pattern << ": " << text;
  }
  EXPECT_EQ(rulesOfPattern("(?!a)b").error().code, EFFC_UNSUPPORTED);
  EXPECT_EQ(rulesOfPattern("a\xFF").error().code, EFFC_INVALID_ARGUMENT);
  EXPECT_EQ(rulesOfPattern("a[]").error().code, EFFC_INVALID_ARGUMENT);
  std::string large((1 << 20) + 1, 'a');
  EXPECT_EQ(rulesOfPattern(large).error().code, EFFC_UNSUPPORTED);
}
