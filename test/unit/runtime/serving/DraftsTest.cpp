// Drafts are what followed the longest earlier run that is like the text's end.

#include "runtime/src/serving/Drafts.h"

#include <gtest/gtest.h>
#include <random>

using namespace effc::rt;
using Tokens = std::vector<int32_t>;

static Drafts of(const Tokens &text, uint32_t most = 16) {
  Drafts drafts(most);
  for (int32_t token : text)
    drafts.add(token);
  return drafts;
}

TEST(Drafts, AreWhatFollowedBefore) {
  EXPECT_EQ(of({1, 2, 3, 4, 5, 6, 1, 2, 3}).next(99), (Tokens{4, 5, 6, 1}));
  EXPECT_EQ(of({1, 2, 3, 4, 5, 6, 1, 2, 3}).next(2), (Tokens{4, 5}));
  EXPECT_EQ(of({1, 2, 3, 4, 5, 6, 1, 2, 3}, 3).next(99), (Tokens{4, 5, 6}));
  EXPECT_EQ(of({1, 2, 4, 3, 1, 2, 3}).next(99), Tokens()); // two are not enough
  EXPECT_EQ(of({7}).next(99), Tokens());
  // The longer likeness, though another place is later.
  EXPECT_EQ(of({9, 1, 2, 3, 4, 8, 1, 2, 3, 5, 9, 1, 2, 3}).next(1), Tokens{4});
  EXPECT_EQ(of({5, 5, 5, 5}).next(99), Tokens{5});
}

TEST(Drafts, GrowWhereTheyAreRight) {
  Tokens text;
  for (int round = 0; round < 4; ++round)
    for (int32_t i = 0; i < 40; ++i)
      text.push_back(i);
  Drafts drafts = of(text);
  for (uint64_t length : {4, 8, 16, 16}) {
    EXPECT_EQ(drafts.next(99).size(), length);
    drafts.learn(length, length);
  }
  drafts.learn(16, 3);
  EXPECT_EQ(drafts.next(99).size(), 4u);
}

// Of texts of chance hardly any step has one in the end.
TEST(Drafts, PauseWhereTheyAreWrong) {
  std::mt19937 random(1);
  Drafts drafts(16);
  int made = 0;
  for (int i = 0; i < 4000; ++i) {
    drafts.add(static_cast<int32_t>(random() % 4));
    if (uint64_t count = drafts.next(99).size()) {
      ++made;
      drafts.learn(count, 0);
    }
  }
  EXPECT_GT(made, 20);
  EXPECT_LT(made, 100);
}
