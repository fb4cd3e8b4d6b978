#include "frontend/quantised/PackedIntegers.h"

#include "dialects/storage/Bytes.h"

#include <cstring>

using namespace effc::frontend;

PackedIntegers PackedIntegers::alongColumns(uint64_t rows, uint64_t columns,
                                            unsigned bits, unsigned wordBits) {
  PackedIntegers packed{.rows = rows,
                        .columns = columns,
                        .bits = bits,
                        .packed = Axis::Columns,
                        .wordBits = wordBits,
                        .packedStride = 1,
                        .otherStride = 0};
  packed.otherStride = packed.wordsFor(columns);
  return packed;
}

uint64_t PackedIntegers::size() const {
  uint64_t along = packed == Axis::Rows ? rows : columns;
  uint64_t others = packed == Axis::Rows ? columns : rows;
  return wordsFor(along) * others * uint64_t(storage::wholeBytes(wordBits));
}

template <typename Word>
void PackedIntegers::readRowOf(llvm::ArrayRef<uint8_t> words, uint64_t row,
                               llvm::MutableArrayRef<uint8_t> into) const {
  constexpr unsigned kWordBits = 8 * sizeof(Word);
  const auto mask = uint8_t((1u << bits) - 1);
  auto wordAt = [&](uint64_t word) {
    Word value;
    std::memcpy(&value, words.data() + word * sizeof(Word), sizeof(Word));
    return value;
  };
  const bool byRows = packed == Axis::Rows;
  const uint64_t places = this->places.size();
  for (uint64_t column = 0; column < columns; ++column) {
    uint64_t along = byRows ? row : column, other = byRows ? column : row;
    if (places != 0) {
      uint64_t within = along & (places - 1);
      along = along - within + this->places[within];
    }
    uint64_t bit = along * bits;
    auto shift = unsigned(bit % kWordBits);
    uint64_t at = bit / kWordBits * packedStride + other * otherStride;
    uint64_t value = wordAt(at) >> shift;
    if (shift + bits > kWordBits)
      value |= uint64_t(wordAt(at + packedStride)) << (kWordBits - shift);
    into[column] = uint8_t(value) & mask;
  }
}

void PackedIntegers::readRow(llvm::ArrayRef<uint8_t> words, uint64_t row,
                             llvm::MutableArrayRef<uint8_t> into) const {
  if (wordBits == 32)
    return readRowOf<uint32_t>(words, row, into);
  if (bits == 8 && packedStride == 1 && packed == Axis::Columns) {
    std::memcpy(into.data(), words.data() + row * otherStride, columns);
    return;
  }
  readRowOf<uint8_t>(words, row, into);
}
