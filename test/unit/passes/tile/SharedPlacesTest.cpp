// Places of bytes: each the lowest that is free, and none where another is in
// use.
#include "passes/tile/SharedPlaces.h"

#include "gtest/gtest.h"

#include <random>

using namespace effc;

namespace {

TEST(SharedPlaces, BeginEmptyAndAtZero) {
  SharedPlaces places;
  EXPECT_EQ(places.getBytes(), 0);
  EXPECT_EQ(places.place({3, 5, 48}), 0);
  EXPECT_EQ(places.getBytes(), 48);
}

TEST(SharedPlaces, ShareWhatIsNoLongerInUse) {
  SharedPlaces places;
  EXPECT_EQ(places.place({0, 3, 64}), 0);
  EXPECT_EQ(places.place({3, 6, 32}), 64); // the last moment counts
  EXPECT_EQ(places.place({4, 5, 80}), 96); // 64 bytes are free, not 80
  EXPECT_EQ(places.place({7, 9, 160}), 0);
  EXPECT_EQ(places.getBytes(), 176);
}

TEST(SharedPlaces, FillGapsThatAreLargeEnough) {
  SharedPlaces places;
  EXPECT_EQ(places.place({0, 1, 48}), 0);
  EXPECT_EQ(places.place({0, 9, 32}), 48);
  EXPECT_EQ(places.place({2, 9, 16}), 0); // in the 48 that the first left
  EXPECT_EQ(places.place({2, 9, 32}), 16);
  EXPECT_EQ(places.place({2, 9, 16}), 80);
}

TEST(SharedPlaces, BeginAtMultiplesOfTheirOwn) {
  SharedPlaces places;
  EXPECT_EQ(places.place({0, 9, 20}), 0);
  EXPECT_EQ(places.place({0, 9, 2048, /*alignment=*/1024}), 1024);
  EXPECT_EQ(places.place({0, 9, 24}), 32); // behind 20, at a multiple of 16
}

// Against a search over every multiple.
TEST(SharedPlaces, AreTheLowestThatAreFree) {
  std::mt19937 random(7);
  auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 200; ++round) {
    SharedPlaces places;
    struct Placed {
      Lifetime life;
      int64_t offset;
    };
    std::vector<Placed> placed;
    int64_t end = 0;
    for (int count = 0; count < 12; ++count) {
      Lifetime life{draw(0, 20), 0, draw(1, 40) * 8,
                    int64_t(16) << 3 * draw(0, 1)};
      life.last = life.first + draw(0, 8);
      auto isFree = [&](int64_t offset) {
        for (const Placed &other : placed) {
          bool sameTime =
              other.life.first <= life.last && life.first <= other.life.last;
          bool sameBytes = other.offset < offset + life.bytes &&
                           offset < other.offset + other.life.bytes;
          if (sameTime && sameBytes)
            return false;
        }
        return true;
      };
      int64_t expected = 0;
      while (!isFree(expected))
        expected += life.alignment;
      int64_t offset = places.place(life);
      ASSERT_EQ(offset, expected);
      placed.push_back({life, offset});
      end = std::max(end, offset + life.bytes);
      ASSERT_EQ(places.getBytes(), end);
    }
  }
}

} // namespace
