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
/// its weight: make_qkx2_quants, and make_qkx3_quants, which does the same.
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

/// A scale for codes of -half to half - 1: make_qx_quants. Numbers without weights
/// count by their squares.
float searchScale(Numbers numbers, int half, Numbers weights,
                  llvm::SmallVectorImpl<uint32_t> &codes) {
  float largest = largestOf(numbers);
  if (std::fabs(largest) < kLeastMagnitude) {
    codes.assign(numbers.size(), 0);
    return 0;
  }
  float product = 0, square = 0;
  auto sum = [&](float inverse) {
    product = square = 0;
    for (auto [i, number] : llvm::enumerate(numbers)) {
      auto code = float(clampedCode(inverse * number, -half, half - 1));
      float weight = weights.empty() ? number * number : weights[i];
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

/// Factors of 0 to `most` for exact ones, by the weights of their groups, and what
/// they are multiplied by: make_qp_quants, whose factors are bytes on the way.
float searchFactors(Numbers exact, int most, Numbers weights,
                    llvm::SmallVectorImpl<uint32_t> &bits) {
  float largest = 0;
  for (float factor : exact)
    largest = largest > factor ? largest : factor;
  if (largest < kLeastMagnitude) {
    bits.assign(exact.size(), 0);
    return 0;
  }
  float inverse = float(most) / largest, scale = 1 / inverse;
  auto errorOf = [&](float scale, llvm::function_ref<int(float)> codeOf) {
    float error = 0;
    for (auto [factor, weight] : llvm::zip_equal(exact, weights)) {
      float difference = factor - scale * float(codeOf(factor));
      error += weight * difference * difference;
    }
    return error;
  };
  float best = errorOf(scale, [&](float factor) {
    return int(uint8_t(nearestInteger(inverse * factor)));
  });
  for (int i = -4; i <= 4; ++i) {
    if (i == 0)
      continue;
    float tried = (0.1f * float(i) + float(most)) / largest;
    float error = errorOf(1 / tried, [&](float factor) {
      return std::min(most, nearestInteger(tried * factor));
    });
    if (error < best) {
      best = error;
      inverse = tried;
    }
  }
  llvm::SmallVector<uint8_t, 16> codes;
  float product = 0, square = 0;
  for (auto [factor, weight] : llvm::zip_equal(exact, weights)) {
    int code = std::min(most, nearestInteger(inverse * factor));
    codes.push_back(uint8_t(code));
    product += weight * factor * float(code);
    square += weight * float(code) * float(code);
  }
  bool changed = true;
  for (int round = 0; round < 5 && changed; ++round) {
    changed = false;
    for (auto [factor, weight, code] : llvm::zip_equal(exact, weights, codes)) {
      float otherProduct = product - weight * factor * float(code);
      float otherSquare = square - weight * float(code) * float(code);
      if (!(otherProduct > 0 && otherSquare > 0))
        continue;
      int next =
          std::min(most, nearestInteger(factor * otherSquare / otherProduct));
      if (next == code)
        continue;
      otherProduct += weight * factor * float(next);
      otherSquare += weight * float(next) * float(next);
      if (otherProduct * otherProduct * square >
          product * product * otherSquare) {
        code = uint8_t(next);
        product = otherProduct;
        square = otherSquare;
        changed = true;
      }
    }
  }
  llvm::append_range(bits, codes);
  return square > 0 ? product / square : 0;
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

/// Codes of ranges again, for the factors as they are stored.
void recodeRanges(Numbers numbers, const GroupedRanges &rule,
                  RoundedBlock &block) {
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

/// How qkx3 differs between the kinds: the codes alone.
GroupedRanges importantRule(size_t group, int most, int mostScale) {
  return {group, most, mostScale, -0.9f, 0.05f, 36, false};
}

float sumOf(Numbers numbers) {
  float sum = 0;
  for (float number : numbers)
    sum += number;
  return sum;
}

} // namespace

float storage::meanSquareOf(Numbers numbers) {
  float sum = 0;
  for (float number : numbers)
    sum += number * number;
  return sum / float(numbers.size());
}

llvm::SmallVector<float, 32> storage::weigh(Numbers numbers, Numbers importance,
                                            float square) {
  llvm::SmallVector<float, 32> weights;
  for (auto [number, column] : llvm::zip_equal(numbers, importance))
    weights.push_back(column * std::sqrt(square + number * number));
  return weights;
}

void storage::roundImportantSigned(Numbers numbers, int half,
                                   const Importance &importance,
                                   RoundedBlock &block) {
  llvm::SmallVector<uint32_t, 32> codes;
  block.scale = rt::toF16(searchScale(
      numbers, half, weigh(numbers, importance.columns, importance.rowSquare),
      codes));
  llvm::append_range(block.codes, codes);
}

void storage::roundImportantRange(Numbers numbers, int most,
                                  const Importance &importance,
                                  RoundedBlock &block) {
  GroupedRanges rule = importantRule(numbers.size(), most, 0);
  FittedRange fitted =
      RangeFit(numbers,
               weigh(numbers, importance.columns, importance.rowSquare), rule)
          .fit();
  block.scale = rt::toF16(fitted.scale);
  block.offset = rt::toF16(-fitted.offset);
  llvm::append_range(block.codes, fitted.codes);
}

void storage::roundImportantRanges(Numbers numbers, const GroupedRanges &kind,
                                   const Importance &importance,
                                   RoundedBlock &block) {
  GroupedRanges rule = importantRule(kind.group, kind.most, kind.mostScale);
  // Of two bits it is the mean, of others twice that.
  float square = (kind.byMagnitude ? 1 : 2) * meanSquareOf(numbers);
  llvm::SmallVector<float, 16> scales, offsets, groupWeights;
  for (size_t at = 0; at < numbers.size(); at += rule.group) {
    Numbers group = numbers.slice(at, rule.group);
    llvm::SmallVector<float, 32> weights =
        weigh(group, importance.columns.slice(at, rule.group), square);
    groupWeights.push_back(sumOf(weights));
    FittedRange fitted = RangeFit(group, weights, rule).fit();
    scales.push_back(fitted.scale);
    offsets.push_back(fitted.offset);
    llvm::append_range(block.codes, fitted.codes);
  }
  block.scale = rt::toF16(
      searchFactors(scales, rule.mostScale, groupWeights, block.groupScales));
  block.offset = rt::toF16(
      searchFactors(offsets, rule.mostScale, groupWeights, block.groupOffsets));
  recodeRanges(numbers, rule, block);
}

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
  recodeRanges(numbers, rule, block);
}

static void roundImportantGroups(Numbers numbers, const Importance &importance,
                                 RoundedBlock &block) {
  constexpr size_t kGroup = 16;
  float square = 2 * meanSquareOf(numbers);
  llvm::SmallVector<float, 16> scales, groupWeights;
  llvm::SmallVector<uint32_t, 16> codes;
  for (size_t at = 0; at < numbers.size(); at += kGroup) {
    Numbers group = numbers.slice(at, kGroup);
    auto weights = weigh(group, importance.columns.slice(at, kGroup), square);
    groupWeights.push_back(sumOf(weights));
    scales.push_back(searchScale(group, 4, weights, codes));
    llvm::append_range(block.codes, codes);
  }
  block.scale =
      rt::toF16(searchScale(scales, 32, groupWeights, block.groupScales));
  float shared = rt::fromF16(uint16_t(block.scale));
  for (auto [i, number] : llvm::enumerate(numbers)) {
    float own = shared * float(int(block.groupScales[i / kGroup]) - 32);
    if (own != 0)
      block.codes[i] = uint32_t(clampedCode(number / own, -4, 3) + 4);
  }
}

void storage::roundByExchange(Numbers numbers, const Importance &importance,
                              RoundedBlock &block) {
  if (!importance.columns.empty())
    return roundImportantGroups(numbers, importance, block);
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

void storage::roundBySearch(Numbers numbers, const Importance &importance,
                            RoundedBlock &block) {
  constexpr size_t kGroup = 16;
  llvm::SmallVector<float, 16> scales;
  llvm::SmallVector<uint32_t, 16> codes;
  for (size_t at = 0; at < numbers.size(); at += kGroup) {
    scales.push_back(searchScale(numbers.slice(at, kGroup), 32,
                                 importance.columns.empty()
                                     ? Numbers()
                                     : importance.columns.slice(at, kGroup),
                                 codes));
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
