#include "tools/effc/StopText.h"

#include <gtest/gtest.h>

using namespace effc::cli;

/// What is shown when `text` comes in pieces of `size` bytes.
static std::string shown(std::vector<std::string> stops,
                         const std::string &text, size_t size) {
  StopText stop(std::move(stops));
  std::string all;
  for (size_t at = 0; at < text.size() && !stop.stoppedBy(); at += size)
    all += stop.push(std::string_view(text).substr(at, size));
  return all + stop.finish();
}

TEST(StopText, EndsBeforeTheFirstHoweverItComes) {
  for (size_t size : {1, 2, 3, 7, 100}) {
    EXPECT_EQ(shown({"END", "STOP"}, "one STOP two END", size), "one ");
    EXPECT_EQ(shown({"END", "STOP"}, "one two EN", size), "one two EN");
    EXPECT_EQ(shown({}, "one", size), "one");
    EXPECT_EQ(shown({"ab"}, "aab", size), "a");
    EXPECT_EQ(shown({"aab"}, "aaab", size), "a");
  }
}

TEST(StopText, HoldsBackNoMoreThanNeeded) {
  StopText stop({"\n\n"});
  EXPECT_EQ(stop.push("a\n"), "a");
  EXPECT_EQ(stop.push("b"), "\nb");
  EXPECT_EQ(stop.stoppedBy(), nullptr);
  EXPECT_EQ(stop.push("c\n\nd"), "c");
  ASSERT_NE(stop.stoppedBy(), nullptr);
  EXPECT_EQ(*stop.stoppedBy(), "\n\n");
  EXPECT_EQ(stop.push("e"), "");
}

// Both stand in what came: the one that begins first ends the text.
TEST(StopText, NamesTheOneThatCameFirst) {
  StopText stop({"late", "early"});
  EXPECT_EQ(stop.push("an early and a late one"), "an ");
  ASSERT_NE(stop.stoppedBy(), nullptr);
  EXPECT_EQ(*stop.stoppedBy(), "early");
}
