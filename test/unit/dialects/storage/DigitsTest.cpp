// Numbers as digits: nearest integers of the scale that the header promises, digits
// that fit a byte, and sums.
#include "dialects/storage/Digits.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace effc;
using storage::DigitsLayout;

namespace {

template <typename T> T wordAt(const std::vector<uint8_t> &block, int64_t at) {
  T word;
  std::memcpy(&word, block.data() + at, sizeof word);
  return word;
}

std::vector<uint8_t> encode(int64_t count, const std::vector<float> &numbers) {
  std::vector<uint8_t> block(size_t(DigitsLayout{count}.bytes()), 0xee);
  storage::encodeDigits(count, numbers, block);
  return block;
}

class DigitsTest : public testing::TestWithParam<int> {};

TEST_P(DigitsTest, AreTheNearestIntegers) {
  int64_t count = GetParam();
  DigitsLayout layout{count};
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal(0, 1);
  for (int power : {-90, -20, 0, 3, 100}) {
    std::vector<float> numbers(32);
    for (float &number : numbers)
      number = std::ldexp(normal(random), power);
    auto block = encode(count, numbers);
    auto scale = wordAt<float>(block, layout.scale());
    float largest = 0;
    for (float number : numbers)
      largest = std::max(largest, std::fabs(number));
    if (count == 3) {
      // The least power of two for which 24 bits suffice, or the least allowed.
      EXPECT_EQ(std::ilogb(scale), std::log2(double(scale)));
      EXPECT_LE(largest / double(scale), 8355711);
      EXPECT_TRUE(largest / (double(scale) / 2) > 8355711 ||
                  scale == 0x1p-102f);
    } else {
      EXPECT_EQ(scale, largest / (count == 2 ? 32639.0f : 127.0f));
    }
    int64_t sums[3] = {};
    for (int64_t i = 0; i < 32; ++i) {
      double whole = 0;
      for (int64_t digit = 0; digit < count; ++digit)
        whole = whole * 256 + int8_t(block[layout.digit(digit) + i]);
      // The product by the inverse may fall on the other side of a half.
      EXPECT_NEAR(whole, numbers[i] / double(scale), count == 3 ? 0.5 : 0.502);
      EXPECT_EQ(storage::numberOfDigits(count, block, i), float(whole) * scale);
      sums[i / 16] += int64_t(whole);
      sums[2] += int64_t(whole);
    }
    for (int64_t half = 0; half < 3; ++half) {
      int64_t high = wordAt<int32_t>(block, layout.sumHigh(half));
      int64_t low =
          count == 3 ? wordAt<int32_t>(block, layout.sumLow(half)) : 0;
      EXPECT_EQ(count == 3 ? high * 256 + low : high, sums[half]);
      EXPECT_NEAR(wordAt<float>(block, layout.sum(half)),
                  double(sums[half]) * scale,
                  std::fabs(double(sums[half]) * scale) * 0x1p-23);
    }
  }
}

// 2^23 - 1 would need a first digit of 128.
TEST_P(DigitsTest, FitBytesAtTheEnds) {
  int64_t count = GetParam();
  for (float most : {8355711.0f, 8355712.0f, 8388607.0f, 8388608.0f})
    for (float sign : {1.0f, -1.0f}) {
      std::vector<float> numbers(32, 1.0f);
      numbers[5] = sign * most;
      auto block = encode(count, numbers);
      EXPECT_NEAR(storage::numberOfDigits(count, block, 5), numbers[5],
                  most * 0x1p-22);
    }
}

TEST_P(DigitsTest, OfZerosAreZeros) {
  auto block = encode(GetParam(), std::vector<float>(32, 0.0f));
  for (int64_t i = 0; i < 32; ++i)
    EXPECT_EQ(storage::numberOfDigits(GetParam(), block, i), 0.0f);
}

TEST_P(DigitsTest, OfWhatIsNotFiniteHaveANanAsScale) {
  for (float wrong : {INFINITY, -INFINITY, NAN}) {
    std::vector<float> numbers(32, 0.5f);
    numbers[31] = wrong;
    DigitsLayout layout{GetParam()};
    auto block = encode(GetParam(), numbers);
    EXPECT_TRUE(std::isnan(wordAt<float>(block, layout.scale())));
    EXPECT_TRUE(std::isnan(wordAt<float>(block, layout.sum(2))));
    EXPECT_EQ(wordAt<int32_t>(block, layout.sumHigh(2)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, DigitsTest, testing::Values(1, 2, 3));

} // namespace
