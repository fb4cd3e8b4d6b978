// Packing is arithmetic on positions and lengths, so every expectation is a
// list of calls worked out by hand: "entry: feed[position..position+length)".

#include "runtime/src/Packing.h"

#include <gtest/gtest.h>
#include <random>

using namespace effc::rt;

static std::string runAll(const Packer &packer, std::vector<Feed> feeds) {
  std::string log;
  std::vector<Piece> pieces;
  while (true) {
    uint32_t entry = packer.nextCall(feeds, pieces);
    if (pieces.empty())
      return log;
    log += (log.empty() ? "" : " | ") + std::to_string(entry) + ":";
    for (const Piece &piece : pieces)
      log += " " + std::to_string(piece.feed) + "[" +
             std::to_string(piece.position) + ".." +
             std::to_string(piece.position + piece.length) + ")" +
             (piece.last ? "!" : "");
  }
}

// Entries 10 and 11 of 4 and 8 rows, chunk 4.
static Packer smallAndLarge() { return Packer({{11, 8, 4}, {10, 4, 4}}); }

TEST(Packing, TakesTheSmallestEntryThatHoldsAll) {
  EXPECT_EQ(runAll(smallAndLarge(), {{0, 3}}), "10: 0[0..3)!");
  EXPECT_EQ(runAll(smallAndLarge(), {{0, 4}}), "10: 0[0..4)!");
  EXPECT_EQ(runAll(smallAndLarge(), {{0, 5}}), "11: 0[0..5)!");
}

TEST(Packing, PutsSeveralSequencesInOneCall) {
  EXPECT_EQ(runAll(smallAndLarge(), {{0, 10}, {0, 3}, {0, 2}}),
            "11: 0[0..8) | 11: 0[8..10)! 1[0..3)! 2[0..2)!");
}

TEST(Packing, CutsOnTheGridOfPositionZero) {
  // From position 2, eight rows would end at 10: the last multiple of 4 is 8.
  EXPECT_EQ(runAll(smallAndLarge(), {{2, 20}}),
            "11: 0[2..8) | 11: 0[8..16) | 11: 0[16..22)!");
}

TEST(Packing, LetsASequenceWaitThatReachesNoCut) {
  // After six rows of the first, two rows are left: from 0 they reach no
  // multiple of 4, so the second waits and the third, which ends, goes ahead.
  EXPECT_EQ(runAll(smallAndLarge(), {{8, 6}, {0, 5}, {0, 2}}),
            "11: 0[8..14)! 2[0..2)! | 11: 1[0..5)!");
}

TEST(Packing, CutsAnywhereWhenTheChunkIsOne) {
  Packer packer({{0, 4, 1}});
  EXPECT_EQ(runAll(packer, {{3, 6}, {0, 1}}),
            "0: 0[3..7) | 0: 0[7..9)! 1[0..1)!");
}

TEST(Packing, DealsDecodeStepsOverTheEntries) {
  // Seven sequences on entries of 1, 2 and 4 rows: four, then three together in
  // the entry of four, which reads the weights once.
  Packer packer({{5, 1, 1}, {6, 2, 1}, {7, 4, 1}});
  EXPECT_EQ(runAll(packer, std::vector<Feed>(7, {9, 1})),
            "7: 0[9..10)! 1[9..10)! 2[9..10)! 3[9..10)!"
            " | 7: 4[9..10)! 5[9..10)! 6[9..10)!");
  EXPECT_EQ(runAll(packer, std::vector<Feed>(2, {9, 1})),
            "6: 0[9..10)! 1[9..10)!");
}

TEST(Packing, NothingToDoIsNoCall) {
  EXPECT_EQ(runAll(smallAndLarge(), {}), "");
  EXPECT_EQ(runAll(smallAndLarge(), {{5, 0}}), "");
}

// Whatever the lengths: every token is fed once and in order, no call exceeds
// its rows or names a sequence twice, and every cut lies on the grid.
TEST(Packing, KeepsItsPromisesOnRandomFeeds) {
  std::mt19937 random(7);
  auto below = [&](uint32_t n) { return random() % n; };
  const uint32_t rows[] = {3, 16, 40}, chunks[] = {8, 8, 8};
  Packer packer({{0, rows[0], chunks[0]},
                 {1, rows[1], chunks[1]},
                 {2, rows[2], chunks[2]}});
  for (int round = 0; round < 500; ++round) {
    std::vector<Feed> feeds(1 + below(6));
    for (Feed &feed : feeds)
      feed = {below(30), 1 + below(90)};
    std::vector<Feed> given = feeds, expected = feeds;
    std::vector<Piece> pieces;
    while (true) {
      uint32_t entry = packer.nextCall(feeds, pieces);
      if (pieces.empty())
        break;
      uint32_t used = 0;
      int64_t previous = -1;
      for (const Piece &piece : pieces) {
        used += piece.length;
        EXPECT_GT(int64_t(piece.feed), previous);
        previous = piece.feed;
        Feed &feed = expected[piece.feed];
        EXPECT_EQ(piece.position, feed.position);
        feed.position += piece.length;
        feed.remaining -= piece.length;
        EXPECT_EQ(piece.last, feed.remaining == 0);
        if (!piece.last) {
          EXPECT_EQ(feed.position % chunks[entry], 0u);
        }
      }
      EXPECT_LE(used, rows[entry]);
    }
    for (size_t i = 0; i < given.size(); ++i) {
      EXPECT_EQ(expected[i].remaining, 0u);
      EXPECT_EQ(feeds[i].position, given[i].position + given[i].remaining);
    }
  }
}
