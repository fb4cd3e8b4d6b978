#include "runtime/src/tokenizer/TextSearch.h"

#include <gtest/gtest.h>
#include <random>

using namespace effc::rt;

/// A text of letters of which there are few, so that it overlaps itself.
static std::string drawn(std::mt19937 &random, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i)
    text += "aab"[random() % 3];
  return text;
}

TEST(TextSearch, FindsWhatTheLibraryFinds) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    // Longer than 16 bytes it goes by its table.
    std::string wanted = drawn(random, 1 + random() % 24);
    if (random() % 2)
      wanted = wanted.substr(0, 5) + std::string(18, 'a');
    std::string in = drawn(random, random() % 60) +
                     wanted.substr(random() % wanted.size()) + wanted +
                     drawn(random, random() % 30);
    TextSearch search(wanted);
    for (size_t from : {size_t(0), size_t(random() % 40), in.size()})
      EXPECT_EQ(search.find(in, from), in.find(wanted, from)) << wanted << in;
  }
}

TEST(TextSearch, ReplacesFromTheLeft) {
  EXPECT_EQ(replaceText(TextSearch("aa"), "b", "aaaaa"), "bba");
  EXPECT_EQ(replaceText(TextSearch("ab"), "", "aabb"), "ab");
  std::string twenty(20, 'a');
  EXPECT_EQ(replaceText(TextSearch(twenty), "x", twenty + twenty + "a"), "xxa");
}

TEST(TextSearch, CountsWhatMayStillBecomeTheText) {
  TextSearch search("aabaaa");
  size_t matched = 0;
  std::string counts;
  for (char c : std::string("aabaabaaaxaa")) {
    matched = search.next(matched, c);
    counts += std::to_string(matched);
    if (matched == 6)
      matched = 0;
  }
  EXPECT_EQ(counts, "123453456012");
}
