// Whole numbers between bounds, each tried; constants and texts of JSON.
#include "runtime/src/grammar/JsonRules.h"
#include "test/unit/runtime/grammar/PlainReader.h"

#include <gtest/gtest.h>

using namespace effc::rt;
using namespace effc::rt::grammar;
using namespace effc::test;

static bool fits(const Rules &rules, const std::string &text) {
  return plainFit(rules, text).isWhole;
}

TEST(JsonRules, HaveTheIntegersBetweenTwo) {
  const std::pair<int64_t, int64_t> bounds[] = {
      {0, 0}, {-3, 1204}, {7, 93}, {100, 999}, {-1200, -95}, {5, 5}, {-9, -9}};
  for (auto [least, most] : bounds) {
    Rules rules;
    rules.add("root", integersBetween(least, most));
    for (int64_t number = -1500; number <= 1500; ++number)
      ASSERT_EQ(fits(rules, std::to_string(number)),
                least <= number && number <= most)
          << number << " of " << least << " to " << most;
    for (const char *text : {"", "-", "-0", "00", "007", "+1", "1 "})
      EXPECT_FALSE(fits(rules, text)) << text;
  }
}

TEST(JsonRules, HaveIntegersOfAnyBounds) {
  Rules rules;
  rules.add("root", integersBetween(INT64_MIN, INT64_MAX));
  for (const char *text : {"-9223372036854775808", "9223372036854775807", "0"})
    EXPECT_TRUE(fits(rules, text)) << text;
  for (const char *text : {"-9223372036854775809", "9223372036854775808"})
    EXPECT_FALSE(fits(rules, text)) << text;
}

TEST(JsonRules, HaveTextsWithTheirEscapes) {
  Rules rules;
  Expression text = JsonRules(rules).text();
  rules.root = rules.add("root", std::move(text));
  for (const char *each : {R"("")", R"("a\n\"\\\/\u00e9")", "\"\xC3\xA9\"",
                           R"("\ud83d\ude00")", R"("\uFFFF")"})
    EXPECT_TRUE(fits(rules, each)) << each;
  for (const char *each : {"\"a", "\"\n\"", R"("\x")", R"("\ud83d")",
                           R"("\ude00")", R"("\u12g4")", R"("a"b")"})
    EXPECT_FALSE(fits(rules, each)) << each;
}

TEST(JsonRules, WriteConstants) {
  auto value = jinja::readJson(
      "constant", R"({"a": [1, -2.5, 1e30, true, null], "b\n": "\"\u0001"})");
  ASSERT_TRUE(value);
  Rules rules;
  Expression constant = JsonRules(rules).constant(*value);
  rules.root = rules.add("root", std::move(constant));
  EXPECT_TRUE(
      fits(rules, R"({"a":[1,-2.5,1e+30,true,null],"b\n":"\"\u0001"})"));
  EXPECT_TRUE(fits(
      rules, R"({ "a": [1, -2.5, 1e+30, true, null], "b\n": "\"\u0001" })"));
  EXPECT_FALSE(fits(rules, R"({"a":[1,-2.5,1e+30,true],"b\n":"\"\u0001"})"));
}
