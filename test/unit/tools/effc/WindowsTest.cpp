#include "tools/effc/Windows.h"

#include <gtest/gtest.h>
#include <set>

using namespace effc::cli;

TEST(Windows, LeaveSequencesAsTheyAreWithoutALength) {
  Windows windows = cutIntoWindows({{1, 2, 3}, {}}, 0, 0);
  EXPECT_EQ(windows.sequences, (std::vector<Tokens>{{1, 2, 3}, {}}));
  EXPECT_EQ(windows.firsts, (std::vector<uint64_t>{1, 1}));
}

TEST(Windows, FollowEachOther) {
  Windows windows = cutIntoWindows({{1, 2, 3, 4, 5}, {6}}, 3, 3);
  EXPECT_EQ(windows.sequences, (std::vector<Tokens>{{1, 2, 3}, {4, 5}, {6}}));
  EXPECT_EQ(windows.firsts, (std::vector<uint64_t>{1, 1, 1}));
}

TEST(Windows, CountWhatTheyShareOnce) {
  Windows windows = cutIntoWindows({{1, 2, 3, 4, 5, 6}}, 4, 1);
  EXPECT_EQ(windows.sequences,
            (std::vector<Tokens>{{1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}));
  EXPECT_EQ(windows.firsts, (std::vector<uint64_t>{1, 3, 3}));
}

TEST(Windows, PredictEachTokenOnce) {
  for (uint64_t size : {1, 2, 9, 10, 11})
    for (uint64_t length : {1, 2, 5, 12})
      for (uint64_t stride = 1; stride <= length; ++stride) {
        Tokens tokens(size);
        for (size_t i = 0; i < size; ++i)
          tokens[i] = static_cast<int32_t>(i);
        Windows windows = cutIntoWindows({tokens}, length, stride);
        std::multiset<int32_t> predicted;
        for (size_t w = 0; w < windows.sequences.size(); ++w)
          for (size_t t = windows.firsts[w]; t < windows.sequences[w].size();
               ++t)
            predicted.insert(windows.sequences[w][t]);
        for (int32_t token : predicted)
          EXPECT_EQ(predicted.count(token), 1u);
        // Windows that overlap miss the first token alone.
        if (stride < length)
          EXPECT_EQ(predicted.size(), size - 1)
              << size << " " << length << " " << stride;
      }
}
