// Rules that try several scales for each group and keep the best: K-quants.
#include "dialects/storage/rounding/RoundingRules.h"

#include "runtime/abi/NarrowFloats.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace effc;
using namespace effc::storage;
using Numbers = llvm::ArrayRef<float>;

namespace {

/// A scale and an offset that is taken away, for one group, and its codes.
struct FittedRange {
  float scale = 0, offset = 0;
  llvm::SmallVector<int, 32> codes;
};

int clampedCode(float number, int least, int most) {
  return std::max(least, std::min(most, nearestInteger(number)));
}

/// Fits codes of 0 to `most` to the numbers of a group, each of which counts by
/// its weight: make_qkx2_quants.
class RangeFit {
public:
  RangeFit(Numbers numbers, Numbers weights, const GroupedRanges &rule)
      : numbers(numbers), weights(weights), rule(rule) {}

  FittedRange fit();

private:
  void codesBy(float inverse, float offset,
               llvm::SmallVectorImpl<int> &codes) const {
    codes.clear();
    for (float number : numbers)
      codes.push_back(clampedCode(inverse * (number - offset), 0, rule.most));
  }
  float errorOf(llvm::ArrayRef<int> codes, float scale, float offset) const {
    float error = 0;
    for (auto [i, code] : llvm::enumerate(codes)) {
      float difference = scale * float(code) + offset - numbers[i];
      difference =
          rule.byMagnitude ? std::fabs(difference) : difference * difference;
      error += weights[i] * difference;
    }
    return error;
  }

  Numbers numbers, weights;
  const GroupedRanges &rule;
};

FittedRange RangeFit::fit() {
  float least = numbers[0], largest = numbers[0];
  float sumW = weights[0], sumX = sumW * numbers[0];
  for (size_t i = 1; i < numbers.size(); ++i) {
    least = numbers[i] < least ? numbers[i] : least;
    largest = numbers[i] > largest ? numbers[i] : largest;
    sumW += weights[i];
    sumX += weights[i] * numbers[i];
  }
  if (least > 0)
    least = 0;
  FittedRange best;
  if (largest == least) {
    best.offset = -least;
    best.codes.assign(numbers.size(), 0);
    return best;
  }
  float inverse = float(rule.most) / (largest - least);
  float scale = 1 / inverse, offset = least;
  codesBy(inverse, offset, best.codes);
  float bestError = errorOf(best.codes, scale, offset);
  llvm::SmallVector<int, 32> codes;
  for (int i = 0; i <= rule.tries; ++i) {
    // What is tried begins at the best offset so far.
    float levels = rule.first + rule.step * float(i) + float(rule.most);
    codesBy(levels / (largest - offset), offset, codes);
    float sumL = 0, sumL2 = 0, sumXL = 0;
    for (auto [k, code] : llvm::enumerate(codes)) {
      float weighted = weights[k] * float(code);
      sumL += weighted;
      sumL2 += weighted * float(code);
      sumXL += weighted * numbers[k];
    }
    float determinant = sumW * sumL2 - sumL * sumL;
    if (!(determinant > 0))
      continue;
    float newScale = (sumW * sumXL - sumX * sumL) / determinant;
    float newOffset = (sumL2 * sumX - sumL * sumXL) / determinant;
    if (newOffset > 0) {
      newOffset = 0;
      newScale = sumXL / sumL2;
    }
    float error = errorOf(codes, newScale, newOffset);
    if (error < bestError) {
      best.codes = codes;
      bestError = error;
      scale = newScale;
      offset = newOffset;
    }
  }
  best.scale = scale;
  best.offset = -offset;
  return best;
}

/// Bits of the second factors for `exact` ones, and of the first as f16.
uint32_t shareFactor(Numbers exact, int most,
                     llvm::SmallVectorImpl<uint32_t> &bits) {
  float largest = 0;
  for (float factor : exact)
    largest = factor > largest ? factor : largest;
  float inverse = largest > 0 ? float(most) / largest : 0;
  for (float factor : exact)
    bits.push_back(std::min<uint32_t>(
        uint32_t(most), uint8_t(nearestInteger(inverse * factor))));
  return rt::toF16(largest / float(most));
}

/// A scale for codes of -half to half - 1: make_qx_quants with weights of x^2.
float searchScale(Numbers numbers, int half,
                  llvm::SmallVectorImpl<uint32_t> &codes) {
  float largest = largestOf(numbers);
  if (std::fabs(largest) < kLeastMagnitude) {
    codes.assign(numbers.size(), 0);
    return 0;
  }
  float product = 0, square = 0;
  auto sum = [&](float inverse) {
    product = square = 0;
    for (float number : numbers) {
      auto code = float(clampedCode(inverse * number, -half, half - 1));
      float weight = number * number;
      product += weight * number * code;
      square += weight * code * code;
    }
  };
  float chosen = float(-half) / largest;
  sum(chosen);
  float scale = square != 0 ? product / square : 0, best = scale * product;
  for (int i = -9; i <= 9; ++i) {
    if (i == 0)
      continue;
    float inverse = -(float(half) + 0.1f * float(i)) / largest;
    sum(inverse);
    if (square > 0 && product * product > best * square) {
      chosen = inverse;
      scale = product / square;
      best = scale * product;
    }
  }
  codes.clear();
  for (float number : numbers)
    codes.push_back(
        uint32_t(half + clampedCode(chosen * number, -half, half - 1)));
  return scale;
}

/// Codes of -4 to 3 that are exchanged while that lowers the error, five times at
/// most: make_q3_quants.
float exchangeCodes(Numbers numbers, llvm::SmallVectorImpl<uint32_t> &bits) {
  constexpr int kHalf = 4;
  float largest = largestOf(numbers);
  if (std::fabs(largest) < kLeastMagnitude) {
    bits.assign(numbers.size(), 0);
    return 0;
  }
  float inverse = -float(kHalf) / largest, product = 0, square = 0;
  llvm::SmallVector<int, 16> codes;
  for (float number : numbers) {
    int code = clampedCode(inverse * number, -kHalf, kHalf - 1);
    codes.push_back(code);
    float weight = number * number;
    product += weight * number * float(code);
    square += weight * float(code) * float(code);
  }
  bool changed = true;
  for (int round = 0; round < 5 && changed; ++round) {
    changed = false;
    for (auto [number, code] : llvm::zip_equal(numbers, codes)) {
      float weight = number * number;
      float otherProduct = product - weight * number * float(code);
      if (!(otherProduct > 0))
        continue;
      float otherSquare = square - weight * float(code) * float(code);
      int next =
          clampedCode(number * otherSquare / otherProduct, -kHalf, kHalf - 1);
      if (next == code)
        continue;
      otherProduct += weight * number * float(next);
      otherSquare += weight * float(next) * float(next);
      if (otherSquare > 0 && otherProduct * otherProduct * square >
                                 product * product * otherSquare) {
        code = next;
        product = otherProduct;
        square = otherSquare;
        changed = true;
      }
    }
  }
  bits.clear();
  for (int code : codes)
    bits.push_back(uint32_t(code + kHalf));
  return square > 0 ? product / square : 0;
}

} // namespace

void storage::roundGroupedRanges(Numbers numbers, const GroupedRanges &rule,
                                 RoundedBlock &block) {
  llvm::SmallVector<float, 16> scales, offsets;
  for (size_t at = 0; at < numbers.size(); at += rule.group) {
    Numbers group = numbers.slice(at, rule.group);
    float mean = 0;
    if (!rule.byMagnitude) {
      for (float number : group)
        mean += number * number;
      mean = std::sqrt(mean / float(rule.group));
    }
    llvm::SmallVector<float, 32> weights;
    for (float number : group)
      weights.push_back(rule.byMagnitude ? std::fabs(number)
                                         : mean + std::fabs(number));
    FittedRange fitted = RangeFit(group, weights, rule).fit();
    scales.push_back(fitted.scale);
    offsets.push_back(fitted.offset);
    llvm::append_range(block.codes, fitted.codes);
  }
  block.scale = shareFactor(scales, rule.mostScale, block.groupScales);
  block.offset = shareFactor(offsets, rule.mostScale, block.groupOffsets);
  // The codes again, for the factors as they are stored.
  float scale = rt::fromF16(uint16_t(block.scale)),
        offset = rt::fromF16(uint16_t(block.offset));
  for (auto [i, number] : llvm::enumerate(numbers)) {
    float own = scale * float(block.groupScales[i / rule.group]);
    if (own == 0)
      continue;
    float below = offset * float(block.groupOffsets[i / rule.group]);
    block.codes[i] =
        uint32_t(clampedCode((number + below) / own, 0, rule.most));
  }
}

void storage::roundByExchange(Numbers numbers, RoundedBlock &block) {
  constexpr size_t kGroup = 16;
  llvm::SmallVector<float, 16> scales;
  llvm::SmallVector<uint32_t, 16> codes;
  for (size_t at = 0; at < numbers.size(); at += kGroup) {
    scales.push_back(exchangeCodes(numbers.slice(at, kGroup), codes));
    llvm::append_range(block.codes, codes);
  }
  float largest = largestOf(scales);
  if (largest == 0) {
    block.groupScales.assign(scales.size(), 0);
    return;
  }
  float inverse = -32.0f / largest;
  block.scale = rt::toF16(1 / inverse);
  float shared = rt::fromF16(uint16_t(block.scale));
  for (auto [g, scale] : llvm::enumerate(scales)) {
    int factor = clampedCode(inverse * scale, -32, 31);
    block.groupScales.push_back(uint32_t(factor + 32));
    float own = shared * float(factor);
    if (own == 0)
      continue;
    for (size_t i = g * kGroup; i < (g + 1) * kGroup; ++i)
      block.codes[i] = uint32_t(clampedCode(numbers[i] / own, -4, 3) + 4);
  }
}

void storage::roundBySearch(Numbers numbers, RoundedBlock &block) {
  constexpr size_t kGroup = 16;
  llvm::SmallVector<float, 16> scales;
  llvm::SmallVector<uint32_t, 16> codes;
  for (size_t at = 0; at < numbers.size(); at += kGroup) {
    scales.push_back(searchScale(numbers.slice(at, kGroup), 32, codes));
    llvm::append_range(block.codes, codes);
  }
  float largest = largestOf(scales);
  if (std::fabs(largest) < kLeastMagnitude) {
    block.codes.assign(numbers.size(), 0);
    block.groupScales.assign(scales.size(), 0);
    return;
  }
  float inverse = -128.0f / largest;
  block.scale = rt::toF16(1 / inverse);
  float shared = rt::fromF16(uint16_t(block.scale));
  for (auto [g, scale] : llvm::enumerate(scales)) {
    int factor = clampedCode(inverse * scale, -128, 127);
    block.groupScales.push_back(uint8_t(factor));
    float own = shared * float(factor);
    if (own == 0)
      continue;
    for (size_t i = g * kGroup; i < (g + 1) * kGroup; ++i)
      block.codes[i] = uint32_t(clampedCode(numbers[i] / own, -32, 31) + 32);
  }
}
