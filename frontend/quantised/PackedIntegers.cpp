#include "frontend/quantised/PackedIntegers.h"

#include <cstring>

using namespace effc::frontend;

PackedIntegers PackedIntegers::alongColumns(uint64_t rows, uint64_t columns,
                                            unsigned bits) {
  PackedIntegers packed{.rows = rows,
                        .columns = columns,
                        .bits = bits,
                        .packed = Axis::Columns,
                        .packedStride = 1,
                        .otherStride = 0};
  packed.otherStride = packed.wordsFor(columns);
  return packed;
}

PackedIntegers PackedIntegers::halves(uint64_t rows, uint64_t columns) {
  return {.rows = rows,
          .columns = columns,
          .bits = 4,
          .packed = Axis::Columns,
          .wordBits = 8,
          .packedStride = 1,
          .otherStride = columns / 2};
}

PackedIntegers PackedIntegers::bytes(uint64_t rows, uint64_t columns) {
  return {.rows = rows,
          .columns = columns,
          .bits = 8,
          .packed = Axis::Columns,
          .wordBits = 8,
          .packedStride = 1,
          .otherStride = columns};
}

uint64_t PackedIntegers::size() const {
  uint64_t along = packed == Axis::Rows ? rows : columns;
  uint64_t others = packed == Axis::Rows ? columns : rows;
  return wordsFor(along) * others * (wordBits / 8);
}

void PackedIntegers::readRow(llvm::ArrayRef<uint8_t> words, uint64_t row,
                             llvm::MutableArrayRef<uint8_t> into) const {
  const uint64_t wordBytes = wordBits / 8;
  const auto mask = uint8_t((1u << bits) - 1);
  auto wordAt = [&](uint64_t word) {
    uint32_t value = 0;
    std::memcpy(&value, words.data() + word * wordBytes, wordBytes);
    return value;
  };
  for (uint64_t column = 0; column < columns; ++column) {
    bool byRows = packed == Axis::Rows;
    uint64_t along = byRows ? row : column, other = byRows ? column : row;
    if (!places.empty()) {
      uint64_t within = along & (places.size() - 1);
      along = along - within + places[within];
    }
    uint64_t bit = along * bits, word = bit / wordBits;
    auto shift = unsigned(bit % wordBits);
    uint64_t at = word * packedStride + other * otherStride;
    uint64_t value = wordAt(at) >> shift;
    if (shift + bits > wordBits)
      value |= uint64_t(wordAt(at + packedStride)) << (wordBits - shift);
    into[column] = uint8_t(value) & mask;
  }
}
