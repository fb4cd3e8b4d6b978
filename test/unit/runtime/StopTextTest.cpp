// Texts that end a stream, whose pieces end anywhere.

#include "runtime/include/effc/effc.hpp"

#include <gtest/gtest.h>

using namespace effc;

/// What is shown when `text` comes in pieces of `size` bytes.
static std::string shown(const std::vector<std::string> &stops,
                         const std::string &text, size_t size) {
  StopText stop(stops);
  std::string all;
  for (size_t at = 0; at < text.size() && stop.found() < 0; at += size)
    all += stop.push(std::string_view(text).substr(at, size));
  return all + std::string(stop.finish());
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
  EXPECT_EQ(stop.found(), -1);
  EXPECT_EQ(stop.push("c\n\nd"), "c");
  EXPECT_EQ(stop.found(), 0);
  EXPECT_EQ(stop.push("e"), "");
}

// Both stand in what came: the one that begins first ends the text.
TEST(StopText, NamesTheOneThatCameFirst) {
  StopText stop({"late", "early"});
  EXPECT_EQ(stop.push("an early and a late one"), "an ");
  EXPECT_EQ(stop.found(), 1);
}

TEST(StopText, IsUsedAnewForTheNextText) {
  StopText stop({"ab"});
  EXPECT_EQ(stop.push("xaby"), "x");
  EXPECT_EQ(stop.finish(), "");
  EXPECT_EQ(stop.found(), -1);
  EXPECT_EQ(stop.push("ya"), "y");
  EXPECT_EQ(stop.finish(), "a");
}

TEST(StopText, RefusesATextThatWouldAlwaysCome) {
  effc_stop_t *stop = nullptr;
  const char *texts[] = {"a", ""};
  effc_status_t *status = effc_stop_create(texts, 2, &stop);
  EXPECT_STREQ(effc_status_message(status), "stop text 1 is empty");
  effc_status_free(status);
  texts[0] = nullptr;
  status = effc_stop_create(texts, 2, &stop);
  EXPECT_STREQ(effc_status_message(status), "stop text 0 is null");
  effc_status_free(status);
}
