#include "tools/effc/Split.h"
#include "tools/terminal/Failure.h"

#include <gtest/gtest.h>

using namespace effc::cli;

/// The lengths in which a sequence of `tokens` goes.
static std::vector<uint64_t> lengths(const char *text, uint64_t tokens) {
  Split split = Split::parse(text);
  std::vector<uint64_t> all;
  while (tokens > 0) {
    all.push_back(split.length(all.size(), tokens));
    tokens -= all.back();
  }
  return all;
}

TEST(Split, RepeatsTheLastLength) {
  EXPECT_EQ(lengths("all", 9), (std::vector<uint64_t>{9}));
  EXPECT_EQ(lengths("1", 3), (std::vector<uint64_t>{1, 1, 1}));
  EXPECT_EQ(lengths("5,1,1,64", 140),
            (std::vector<uint64_t>{5, 1, 1, 64, 64, 5}));
  EXPECT_EQ(lengths("5", 3), (std::vector<uint64_t>{3}));
}

TEST(Split, OnlyAllPrefillsASingleToken) {
  EXPECT_FALSE(Split::parse("all").stepsDecode());
  EXPECT_TRUE(Split::parse("1").stepsDecode());
}

TEST(Split, RefusesWhatIsNoSplit) {
  for (const char *text : {"", "0", "3,0", "a", "1,", ",1", "-1", "1 2", "1,,2",
                           "99999999999999999999"})
    EXPECT_THROW(Split::parse(text), UsageError) << text;
}
