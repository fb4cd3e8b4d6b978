#include "tools/effc/StopText.h"

#include <gtest/gtest.h>

using namespace effc::cli;

/// What is shown when `text` comes in pieces of `size` bytes.
static std::string shown(std::vector<std::string> stops,
                         const std::string &text, size_t size) {
  StopText stop(std::move(stops));
  std::string all;
  for (size_t at = 0; at < text.size() && !stop.stopped(); at += size)
    all += stop.push(std::string_view(text).substr(at, size));
  return all + stop.finish();
}

TEST(StopText, EndsBeforeTheFirstHoweverItComes) {
  for (size_t size : {1, 2, 3, 7, 100}) {
    EXPECT_EQ(shown({"END", "STOP"}, "one STOP two END", size), "one ");
    EXPECT_EQ(shown({"END", "STOP"}, "one two EN", size), "one two EN");
    EXPECT_EQ(shown({}, "one", size), "one");
    EXPECT_EQ(shown({"", "ab"}, "aab", size), "a");
    EXPECT_EQ(shown({"aab"}, "aaab", size), "a");
  }
}

TEST(StopText, HoldsBackNoMoreThanNeeded) {
  StopText stop({"\n\n"});
  EXPECT_EQ(stop.push("a\n"), "a");
  EXPECT_EQ(stop.push("b"), "\nb");
  EXPECT_FALSE(stop.stopped());
  EXPECT_EQ(stop.push("c\n\nd"), "c");
  EXPECT_TRUE(stop.stopped());
  EXPECT_EQ(stop.push("e"), "");
}
