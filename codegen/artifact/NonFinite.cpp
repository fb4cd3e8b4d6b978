#include "codegen/artifact/NonFinite.h"

#include <cmath>
#include <cstring>

using namespace llvm;
using namespace effc::codegen;

namespace {
/// Where an element's bits have its exponent, its mantissa and its sign.
template <typename Bits> struct Format {
  Bits exponent, mantissa, sign;
};
} // namespace

// The first element whose exponent is all ones, and whose mantissa is not 0
// where a NaN is looked for. Blocks without such an exponent are passed in a
// loop that compilers vectorise.
template <typename Bits>
static std::optional<uint64_t> find(ArrayRef<uint8_t> bytes,
                                    Format<Bits> format, bool onlyNaN) {
  constexpr uint64_t kBlock = 4096;
  uint64_t count = bytes.size() / sizeof(Bits);
  Bits block[kBlock];
  for (uint64_t first = 0; first < count; first += kBlock) {
    uint64_t size = std::min(kBlock, count - first);
    std::memcpy(block, bytes.data() + first * sizeof(Bits),
                size * sizeof(Bits));
    bool any = false;
    for (uint64_t i = 0; i < size; ++i)
      any |= (block[i] & format.exponent) == format.exponent;
    for (uint64_t i = 0; any && i < size; ++i)
      if ((block[i] & format.exponent) == format.exponent &&
          (!onlyNaN || (block[i] & format.mantissa)))
        return first + i;
  }
  return std::nullopt;
}

static std::string placeOf(uint64_t index, ArrayRef<uint64_t> shape) {
  SmallVector<uint64_t> place;
  for (uint64_t extent : reverse(shape)) {
    place.insert(place.begin(), index % extent);
    index /= extent;
  }
  std::string text;
  for (uint64_t coordinate : place)
    text += (text.empty() ? "" : ", ") + std::to_string(coordinate);
  return "[" + text + "]";
}

template <typename Bits>
static std::optional<NonFinite> findIn(const SourceTensor &tensor,
                                       Format<Bits> format) {
  std::optional<uint64_t> at = find(tensor.bytes, format, /*onlyNaN=*/false);
  if (!at)
    return std::nullopt;
  if (auto nan = find(tensor.bytes, format, /*onlyNaN=*/true))
    return NonFinite{placeOf(*nan, tensor.shape), true, "NaN"};
  Bits bits;
  std::memcpy(&bits, tensor.bytes.data() + *at * sizeof(Bits), sizeof(Bits));
  return NonFinite{placeOf(*at, tensor.shape), false,
                   bits & format.sign ? "-inf" : "inf"};
}

// A block has few numbers that are none: its scales. Each element is looked at,
// so that whatever the blocks are nothing is missed.
static std::optional<NonFinite> findInBlocks(const SourceTensor &tensor) {
  uint64_t count = tensor.bytes.size() / tensor.storage.blockBytes() *
                   tensor.storage.blockElements();
  std::optional<NonFinite> infinite;
  for (uint64_t i = 0; i < count; ++i) {
    float number = tensor.storage.number(tensor.bytes, i);
    if (std::isnan(number))
      return NonFinite{placeOf(i, tensor.shape), true, "NaN"};
    if (std::isinf(number) && !infinite)
      infinite = NonFinite{placeOf(i, tensor.shape), false,
                           number < 0 ? "-inf" : "inf"};
  }
  return infinite;
}

std::optional<NonFinite>
effc::codegen::findNonFinite(const SourceTensor &tensor) {
  mlir::Type element = tensor.storage.type();
  if (element.isF32())
    return findIn<uint32_t>(tensor, {0x7f800000, 0x007fffff, 0x80000000});
  if (element.isBF16())
    return findIn<uint16_t>(tensor, {0x7f80, 0x007f, 0x8000});
  if (element.isF16())
    return findIn<uint16_t>(tensor, {0x7c00, 0x03ff, 0x8000});
  return findInBlocks(tensor);
}
