// Formats of texts: every day of a year, every minute, and what is none.
#include "runtime/src/grammar/TextFormats.h"
#include "test/unit/runtime/grammar/PlainReader.h"

#include <cstdio>
#include <gtest/gtest.h>

using namespace effc::rt::grammar;
using namespace effc::test;

static Rules rulesOf(const char *format) {
  Rules rules;
  rules.add("root", *formatNamed(format));
  return rules;
}

static std::string twoDigits(int number) {
  return {static_cast<char>('0' + number / 10),
          static_cast<char>('0' + number % 10)};
}

TEST(TextFormats, HaveTheDaysOfEveryYear) {
  Rules rules = rulesOf("date");
  const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int month = 0; month <= 13; ++month)
    for (int day = 0; day <= 32; ++day) {
      std::string text = "2023-" + twoDigits(month) + "-" + twoDigits(day);
      bool isDay =
          month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
      EXPECT_EQ(plainFit(rules, text).isWhole, isDay) << text;
    }
  EXPECT_FALSE(plainFit(rules, "0999-01-01").isWhole);
}

TEST(TextFormats, HaveTimes) {
  Rules rules = rulesOf("time");
  for (const char *text : {"00:00:00Z", "23:59:59+14:00", "12:30:01.25-00:30"})
    EXPECT_TRUE(plainFit(rules, text).isWhole) << text;
  for (const char *text : {"24:00:00Z", "12:60:00Z", "12:30:00", "12:30Z",
                           "12:30:00.Z", "12:30:00+24:00"})
    EXPECT_FALSE(plainFit(rules, text).isWhole) << text;
  EXPECT_TRUE(plainFit(rulesOf("date-time"), "2026-03-09T14:05:07Z").isWhole);
  EXPECT_FALSE(plainFit(rulesOf("date-time"), "2026-03-09 14:05:07Z").isWhole);
}

TEST(TextFormats, HaveIdentifiers) {
  Rules rules = rulesOf("uuid");
  EXPECT_TRUE(plainFit(rules, "123e4567-e89b-12d3-a456-426614174000").isWhole);
  EXPECT_FALSE(plainFit(rules, "123e4567e89b12d3a456426614174000").isWhole);
  EXPECT_FALSE(formatNamed("email"));
}
