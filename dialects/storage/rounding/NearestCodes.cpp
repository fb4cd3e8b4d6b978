// Rules whose scale follows from the extreme numbers of the block alone.
#include "dialects/storage/rounding/RoundingRules.h"

#include "runtime/abi/NarrowFloats.h"

#include <bit>
#include <cmath>

using namespace effc;
using namespace effc::storage;

// Adding 1.5 * 2^23 leaves no bits behind the point; the processor rounds.
int storage::nearestInteger(float number) {
  constexpr float kShift = 12582912.0f;
  return std::bit_cast<int>(number + kShift) - std::bit_cast<int>(kShift);
}

float storage::largestOf(llvm::ArrayRef<float> numbers) {
  float largest = 0;
  for (float number : numbers)
    if (std::fabs(largest) < std::fabs(number))
      largest = number;
  return largest;
}

// 1 / scale, or 0 where that is no number: such a scale is so small that a block
// of zeros is as near. The public library's result is undefined there.
static float inverseOf(float &scale) {
  float inverse = scale != 0 ? 1 / scale : 0;
  if (std::isfinite(inverse))
    return inverse;
  return scale = 0;
}

void storage::roundSigned(llvm::ArrayRef<float> numbers, uint32_t half,
                          RoundedBlock &block) {
  float scale = largestOf(numbers) / -float(half);
  float inverse = inverseOf(scale);
  block.scale = rt::toF16(scale);
  for (float number : numbers)
    block.codes.push_back(std::min(
        2 * half - 1, uint32_t(number * inverse + (float(half) + 0.5f))));
}

void storage::roundRange(llvm::ArrayRef<float> numbers, uint32_t most,
                         RoundedBlock &block) {
  float least = numbers[0], largest = numbers[0];
  for (float number : numbers) {
    least = number < least ? number : least;
    largest = number > largest ? number : largest;
  }
  float scale = (largest - least) / float(most);
  float inverse = inverseOf(scale);
  block.scale = rt::toF16(scale);
  block.offset = rt::toF16(least);
  if (!std::isfinite(scale)) {
    block.codes.assign(numbers.size(), 0);
    return;
  }
  for (float number : numbers)
    block.codes.push_back(
        std::min(most, uint32_t((number - least) * inverse + 0.5f)));
}
