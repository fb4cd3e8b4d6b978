#include "dialects/storage/Digits.h"

#include <cmath>
#include <cstring>

using namespace effc;
using namespace effc::storage;

int64_t storage::mostOfDigits(int64_t count) {
  int64_t most = 0;
  for (int64_t i = 0; i < count; ++i)
    most = most * 256 + 127;
  return most;
}

// The scale of numbers of which the largest has this magnitude.
static float scaleOf(int64_t count, float largest) {
  if (count < 3)
    return largest / float(mostOfDigits(count));
  constexpr int kLeastExponent = -79, kFraction = 23;
  int exponent = kLeastExponent;
  if (largest > 0) {
    int found;
    std::frexp(largest, &found);
    if (std::ldexp(double(largest), kFraction - found) >
        double(mostOfDigits(count)))
      ++found;
    exponent = std::max(exponent, found);
  }
  return std::ldexp(1.0f, exponent - kFraction);
}

void storage::encodeDigits(int64_t count, llvm::ArrayRef<float> numbers,
                           llvm::MutableArrayRef<uint8_t> block) {
  DigitsLayout layout{count};
  std::memset(block.data(), 0, size_t(layout.bytes()));
  auto put = [&](int64_t at, auto word) {
    std::memcpy(block.data() + at, &word, sizeof word);
  };
  float largest = 0;
  bool finite = true;
  for (float number : numbers) {
    finite &= std::isfinite(number);
    largest = std::max(largest, std::fabs(number));
  }
  if (!finite) {
    for (int64_t half = 0; half < 3; ++half)
      put(layout.sum(half), std::nanf(""));
    return put(layout.scale(), std::nanf(""));
  }
  float scale = scaleOf(count, largest);
  float inverse = scale != 0 ? 1 / scale : 0;
  if (!std::isfinite(inverse)) // so small that zeros are as near
    scale = inverse = 0;
  put(layout.scale(), scale);
  int32_t high[3] = {}, low[3] = {};
  for (int64_t i = 0; i < DigitsLayout::kNumbers; ++i) {
    auto whole = int32_t(std::nearbyint(numbers[i] * inverse));
    int32_t rest = whole;
    for (int64_t digit = count; digit-- > 0;) {
      auto byte = int8_t(uint8_t(rest));
      block[layout.digit(digit) + i] = uint8_t(byte);
      rest = (rest - byte) / 256;
    }
    int32_t l = count == 3 ? int8_t(uint8_t(whole)) : 0;
    int32_t h = count == 3 ? (whole - l) / 256 : whole;
    for (int64_t half : {i / 16, int64_t(2)}) {
      high[half] += h;
      low[half] += l;
    }
  }
  for (int64_t half = 0; half < 3; ++half) {
    put(layout.sumHigh(half), high[half]);
    float sum = float(high[half]);
    if (count == 3) {
      put(layout.sumLow(half), low[half]);
      sum = std::fma(256.0f, sum, float(low[half]));
    }
    put(layout.sum(half), sum * scale);
  }
}

float storage::numberOfDigits(int64_t count, llvm::ArrayRef<uint8_t> block,
                              int64_t index) {
  DigitsLayout layout{count};
  int32_t whole = 0;
  for (int64_t digit = 0; digit < count; ++digit)
    whole = whole * 256 + int8_t(block[layout.digit(digit) + index]);
  float scale;
  std::memcpy(&scale, block.data() + layout.scale(), sizeof scale);
  return float(whole) * scale;
}
