// The bits of fields as places, for those who move them from one order to another.
#ifndef EFFC_DIALECTS_STORAGE_FIELDBITS_H
#define EFFC_DIALECTS_STORAGE_FIELDBITS_H

#include "dialects/storage/StorageDialect.h"

#include <vector>

namespace effc::storage {

/// Neighbours from the first on that share a field of a block, whose elements are
/// counted by `digits`; 0: all of the block.
int64_t columnsOf(FieldAttr field, llvm::ArrayRef<int64_t> digits);

/// Where an element's field has its bits, counted from the start of the block, lowest
/// first.
std::vector<int64_t> bitsOf(FieldAttr field, llvm::ArrayRef<int64_t> digits,
                            int64_t element);

/// Bits that follow one another in both orders, inside a byte of each.
struct BitRun {
  int64_t from, to, width;
};

/// The bits of two fields of the same width as runs, lowest first.
std::vector<BitRun> runsOf(llvm::ArrayRef<int64_t> from,
                           llvm::ArrayRef<int64_t> to);

/// Moves a run from where its bits are into zeros.
inline void moveBits(const uint8_t *from, int64_t fromBit, uint8_t *to,
                     int64_t toBit, int64_t width) {
  auto bits = uint8_t(from[fromBit / 8] >> fromBit % 8 & ((1 << width) - 1));
  to[toBit / 8] = uint8_t(to[toBit / 8] | bits << toBit % 8);
}

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_FIELDBITS_H
