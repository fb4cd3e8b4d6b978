#include "frontend/quantised/QuantisedMatrix.h"

#include "dialects/storage/Bytes.h"
#include "dialects/storage/Formats.h"
#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/Refusal.h"
#include "runtime/abi/NarrowFloats.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace effc::frontend;
using effc::storage::FieldKind;
using effc::storage::GroupedCodes;

uint64_t effc::frontend::blockElements(uint64_t group, uint64_t columns) {
  uint64_t common = std::gcd(group, columns);
  // Panels have blocks of 32 (dialects/storage/Panels.h), planes of codes 8.
  for (uint64_t step : {32, 8, 2, 1})
    for (uint64_t each = QuantisedMatrix::kMostElements / step * step; each > 0;
         each -= step)
      if (common % each == 0)
        return each;
  return 1;
}

float effc::frontend::numberOfE4M3(uint8_t bits) {
  // An f16 but for its bias, and for its one NaN.
  return (bits & 0x7f) == 0x7f
             ? std::nanf("")
             : 256 * rt::fromF16(
                         uint16_t((bits & 0x80) << 8 | (bits & 0x7f) << 7));
}

static bool isPower(ElementType type) {
  return type == ElementType::F8E8M0 || type == ElementType::U8;
}

/// What blocks store a scale of a type as; a power becomes the f32 that it is.
static FieldKind fieldOf(ElementType scale) {
  switch (scale) {
  case ElementType::F16:
    return FieldKind::Half;
  case ElementType::BF16:
    return FieldKind::Brain;
  case ElementType::F32:
  case ElementType::F8E8M0:
  case ElementType::U8:
    return FieldKind::Single;
  default:
    llvm::report_fatal_error("no scale has this type");
  }
}

static GroupedCodes groupedOf(const QuantisedMatrix::Description &is,
                              uint64_t elements) {
  return {is.codes, int64_t(is.packed.bits), int64_t(elements),
          fieldOf(is.scaleType)};
}

QuantisedMatrix::QuantisedMatrix(mlir::MLIRContext &context,
                                 Description description,
                                 std::vector<Part> ofParts)
    : is(std::move(description)) {
  parts = std::move(ofParts);
  name = is.storage.str();
  if (name.empty())
    name = groupedOf(is, blockElements(is.grid.columnsEach, is.packed.columns))
               .name();
  auto type = llvm::cast<storage::BlockType>(storage::formatOf(name, &context));
  elements = uint64_t(type.getElements());
  blockBytes = uint64_t(type.getBytes());
  assembler.emplace(type);
}

/// The bits of all scales as blocks have them.
llvm::Expected<std::vector<uint32_t>>
QuantisedMatrix::readScales(Bytes bytes) const {
  std::vector<uint32_t> scales(is.scaleCount);
  if (is.scales) {
    auto made = is.scales(bytes);
    if (!made)
      return made.takeError();
    scales = std::move(*made);
  } else {
    auto each = uint64_t(storage::wholeBytes(getBits(is.scaleType)));
    for (uint64_t i = 0; i < scales.size(); ++i)
      std::memcpy(&scales[i], bytes[1].data() + i * each, each);
    if (is.storage.empty() && isPower(is.scaleType))
      for (uint32_t &scale : scales)
        scale =
            scale == 255
                ? std::bit_cast<uint32_t>(std::nanf(""))
                : std::bit_cast<uint32_t>(std::ldexp(1.0f, int(scale) - 127));
  }
  // Kernels multiply them by a power of two (dialects/storage/StorageBase.td).
  constexpr float kTooLarge = 0x1p119f;
  if (is.codes == Codes::E4M3)
    for (auto [i, scale] : llvm::enumerate(scales))
      if (std::abs(numberOf(scale)) >= kTooLarge)
        return refuse("tensor " + quote(parts[1].entry.name) +
                      ": expects scales below 2^119 beside codes of e4m3, but "
                      "got " +
                      describeNumber(numberOf(scale)) + " as number " +
                      llvm::Twine(i));
  // What tables are multiples of.
  auto unit = is.storage.empty() ? int(storage::tableUnit(is.codes)) : 0;
  if (unit != 0)
    for (auto [i, scale] : llvm::enumerate(scales)) {
      auto number = std::bit_cast<float>(scale);
      float smaller = std::ldexp(number, -unit);
      if (std::isfinite(number) && std::ldexp(smaller, unit) != number)
        return refuse("tensor " + quote(parts[1].entry.name) +
                      ": expects scales of 2^" + llvm::Twine(unit - 126) +
                      " or more, or 0, but got " + describeNumber(number) +
                      " as number " + llvm::Twine(i));
      scale = std::bit_cast<uint32_t>(smaller);
    }
  return scales;
}

llvm::Error
QuantisedMatrix::readCodes(Bytes bytes, uint64_t row,
                           llvm::MutableArrayRef<uint8_t> codes) const {
  is.packed.readRow(bytes[0], row, codes);
  if (is.codes == Codes::E4M3)
    for (auto [column, code] : llvm::enumerate(codes))
      if ((code & 0x7f) == 0x7f)
        return refuse("tensor " + quote(parts[0].entry.name) +
                      ": expects numbers, but got NaN in row " +
                      llvm::Twine(row) + ", column " + llvm::Twine(column));
  if (!is.order.empty()) {
    std::vector<uint8_t> asPacked(codes.begin(), codes.end());
    for (auto [code, from] : llvm::zip_equal(codes, is.order))
      code = asPacked[from];
  }
  if (is.flipped)
    for (uint8_t &code : codes)
      code ^= is.flipped;
  return llvm::Error::success();
}

llvm::Error QuantisedMatrix::readZeros(Bytes bytes, uint64_t row,
                                       std::vector<uint8_t> &zeros) const {
  if (!is.zeros)
    return llvm::Error::success();
  is.zeros->readRow(bytes[2], row, zeros);
  for (auto [group, zero] : llvm::enumerate(zeros)) {
    unsigned meant = unsigned(zero ^ is.flippedZero) + is.zeroBias;
    // What is one more than all codes is no code: a writer may have meant 0.
    if (meant >> is.zeros->bits != 0)
      return refuse("tensor " + quote(parts[2].entry.name) +
                    ": expects zeros below " +
                    llvm::Twine(1 << is.zeros->bits) + ", but got " +
                    llvm::Twine(meant) + " in row " + llvm::Twine(row) +
                    " of the matrix, group " + llvm::Twine(group));
    if (is.zero && meant != *is.zero)
      return refuse("tensor " + quote(parts[2].entry.name) +
                    ": expects a zero of " + llvm::Twine(*is.zero) +
                    " ('sym'), but got " + llvm::Twine(meant) + " in row " +
                    llvm::Twine(row) + " of the matrix, group " +
                    llvm::Twine(group));
    zero = uint8_t(meant);
  }
  return llvm::Error::success();
}

TensorType QuantisedMatrix::type() const {
  if (!is.groups.empty())
    return ElementType::F32;
  return TensorType::ofBlocks(name, name);
}

float QuantisedMatrix::numberOf(uint32_t scale) const {
  switch (fieldOf(is.scaleType)) {
  case FieldKind::Half:
    return rt::fromF16(uint16_t(scale));
  case FieldKind::Brain:
    return rt::fromBF16(uint16_t(scale));
  case FieldKind::Single:
    return std::bit_cast<float>(scale);
  default:
    llvm_unreachable("fieldOf() gives no other");
  }
}

llvm::Expected<std::vector<uint8_t>>
QuantisedMatrix::makeWide(Bytes bytes) const {
  auto scales = readScales(bytes);
  if (!scales)
    return scales.takeError();
  uint64_t rows = is.packed.rows, columns = is.packed.columns;
  std::vector<uint8_t> codes(columns), zeros(is.zeros ? is.zeros->columns : 0),
      numbers(rows * columns * sizeof(float));
  int bias = is.zeros ? 0 : 1 << (is.packed.bits - 1);
  for (uint64_t row = 0; row < rows; ++row) {
    if (llvm::Error error = readCodes(bytes, row, codes))
      return std::move(error);
    if (llvm::Error error = readZeros(bytes, row, zeros))
      return std::move(error);
    for (uint64_t column = 0; column < columns; ++column) {
      uint64_t group = is.groups[column];
      int code = codes[column] - (is.zeros ? zeros[group] : bias);
      uint32_t scale =
          (*scales)[is.grid.indexOf(row, group * is.grid.columnsEach)];
      float number = numberOf(scale) * float(code);
      std::memcpy(&numbers[(row * columns + column) * sizeof number], &number,
                  sizeof number);
    }
  }
  return numbers;
}

llvm::Expected<std::vector<uint8_t>> QuantisedMatrix::make(Bytes bytes) const {
  if (!is.groups.empty())
    return makeWide(bytes);
  auto scales = readScales(bytes);
  if (!scales)
    return scales.takeError();
  uint64_t rows = is.packed.rows, columns = is.packed.columns;
  std::vector<uint8_t> blocks(rows * columns / elements * blockBytes),
      codes(columns), zeros(is.zeros ? is.zeros->columns : 0);
  auto at = llvm::MutableArrayRef<uint8_t>(blocks);
  for (uint64_t row = 0; row < rows; ++row) {
    if (llvm::Error error = readCodes(bytes, row, codes))
      return std::move(error);
    if (llvm::Error error = readZeros(bytes, row, zeros))
      return std::move(error);
    for (uint64_t column = 0; column < columns; column += elements) {
      assembler->write(llvm::ArrayRef(codes).slice(column, elements),
                       (*scales)[is.grid.indexOf(row, column)],
                       is.zeros ? zeros[column / is.grid.columnsEach] : 0,
                       at.take_front(blockBytes));
      at = at.drop_front(blockBytes);
    }
  }
  return blocks;
}
