// Rules for codes that stand for entries of a table.
#include "dialects/storage/rounding/RoundingRules.h"

#include "runtime/abi/NarrowFloats.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace effc;
using namespace effc::storage;
using Numbers = llvm::ArrayRef<float>;
using Table = llvm::ArrayRef<int64_t>;

// The nearest entry of an ascending table; of two as near, the larger one.
static uint32_t nearestEntry(Table table, float number) {
  if (number <= float(table.front()))
    return 0;
  if (number >= float(table.back()))
    return uint32_t(table.size() - 1);
  size_t above = 1;
  while (above + 1 < table.size() && !(number < float(table[above])))
    ++above;
  bool isBelow =
      number - float(table[above - 1]) < float(table[above]) - number;
  return uint32_t(isBelow ? above - 1 : above);
}

// The scale of a group: quantize_row_iq4_nl_impl.
static float scaleFor(Table table, Numbers numbers, Numbers weights) {
  constexpr int kTries = 7;
  float largest = largestOf(numbers);
  if (std::fabs(largest) < kLeastMagnitude)
    return 0;
  float product = 0, square = 0;
  auto sum = [&](float inverse) {
    product = square = 0;
    for (auto [number, weight] : llvm::zip_equal(numbers, weights)) {
      auto entry = float(table[nearestEntry(table, inverse * number)]);
      product += weight * entry * number;
      square += weight * entry * entry;
    }
  };
  sum(1 / (-largest / float(table.front())));
  float scale = square > 0 ? product / square : 0, best = scale * product;
  for (int i = -kTries; i <= kTries; ++i) {
    sum(float(i + table.front()) / largest);
    if (square > 0 && product * product > best * square) {
      scale = product / square;
      best = scale * product;
    }
  }
  return scale;
}

static void encodeGroup(Table table, Numbers numbers, float scale,
                        RoundedBlock &block) {
  float inverse = scale != 0 ? 1 / scale : 0;
  for (float number : numbers)
    block.codes.push_back(nearestEntry(table, inverse * number));
}

void storage::roundToTable(BlockType type, Numbers numbers,
                           const Importance &importance, RoundedBlock &block) {
  constexpr size_t kGroup = 32;
  Table table = type.getCode().getTable();
  llvm::SmallVector<float, 8> scales;
  float square = 2 * meanSquareOf(numbers);
  for (size_t at = 0; at < numbers.size(); at += kGroup) {
    Numbers group = numbers.slice(at, kGroup);
    llvm::SmallVector<float, 32> weights;
    if (importance.columns.empty())
      for (float number : group)
        weights.push_back(number * number);
    else
      weights = weigh(group, importance.columns.slice(at, kGroup), square);
    scales.push_back(scaleFor(table, group, weights));
  }
  if (scales.size() == 1) {
    block.scale = rt::toF16(scales[0]);
    encodeGroup(table, numbers, scales[0], block);
    return;
  }
  float shared = -largestOf(scales) / 32;
  block.scale = rt::toF16(shared);
  float inverse = shared != 0 ? 1 / shared : 0;
  for (auto [g, scale] : llvm::enumerate(scales)) {
    int factor = std::max(-32, std::min(31, nearestInteger(inverse * scale)));
    block.groupScales.push_back(uint32_t(factor + 32));
    encodeGroup(table, numbers.slice(g * kGroup, kGroup),
                shared * float(factor), block);
  }
}

void storage::roundToTableByExponent(BlockType type, Numbers numbers,
                                     RoundedBlock &block) {
  Table table = type.getCode().getTable();
  float largest = std::fabs(largestOf(numbers));
  // The largest entry is 12 = 1.5 * 2^3, and the scale 2^(e - 128).
  if (largest > 0)
    block.scale =
        uint32_t(std::max(0.0f, std::floor(std::log2(largest)) - 2 + 127));
  float scale = std::ldexp(1.0f, int(block.scale) - 128);
  for (float number : numbers) {
    uint32_t nearest = 0;
    float least = std::fabs(float(table[0]) * scale - number);
    for (auto [code, entry] : llvm::enumerate(table)) {
      float error = std::fabs(float(entry) * scale - number);
      if (error < least) {
        least = error;
        nearest = uint32_t(code);
      }
    }
    block.codes.push_back(nearest);
  }
}
