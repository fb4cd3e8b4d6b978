// Integers of a few bits in words: where formats keep codes and zeros of a matrix.
#ifndef EFFC_FRONTEND_QUANTISED_PACKEDINTEGERS_H
#define EFFC_FRONTEND_QUANTISED_PACKEDINTEGERS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace effc::frontend {

/// The integers of a matrix of `rows` x `columns`. Neighbours along one axis, "packed",
/// fill words without a gap, the first from bit 0 on; one may begin in a word and end in
/// the next.
struct PackedIntegers {
  enum class Axis { Rows, Columns };

  uint64_t rows, columns;
  unsigned bits;          ///< 1 to 8
  Axis packed;            ///< along which integers share words
  unsigned wordBits = 32; ///< or 8
  /// Words from an integer's to the next word along the packed axis, and from there to
  /// the next row or column along the other one.
  uint64_t packedStride, otherStride;
  /// The place in its run of each of as many neighbours as there are entries, a power of
  /// two; empty: in their order.
  llvm::ArrayRef<uint8_t> places = {};

  /// Of words that lie row by row, packed along rows: [rows, words].
  static PackedIntegers alongColumns(uint64_t rows, uint64_t columns,
                                     unsigned bits, unsigned wordBits = 32);
  /// Two of 4 bits in a byte; an even number of columns.
  static PackedIntegers halves(uint64_t rows, uint64_t columns) {
    return alongColumns(rows, columns, /*bits=*/4, /*wordBits=*/8);
  }
  static PackedIntegers bytes(uint64_t rows, uint64_t columns) {
    return alongColumns(rows, columns, /*bits=*/8, /*wordBits=*/8);
  }

  /// Words that as many integers along the packed axis take.
  uint64_t wordsFor(uint64_t integers) const {
    return (integers * bits + wordBits - 1) / wordBits;
  }
  /// All bytes of the matrix.
  uint64_t size() const;
  /// The bits of the integers of a row; `into` has one for each column.
  void readRow(llvm::ArrayRef<uint8_t> words, uint64_t row,
               llvm::MutableArrayRef<uint8_t> into) const;

private:
  template <typename Word>
  void readRowOf(llvm::ArrayRef<uint8_t> words, uint64_t row,
                 llvm::MutableArrayRef<uint8_t> into) const;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_QUANTISED_PACKEDINTEGERS_H
