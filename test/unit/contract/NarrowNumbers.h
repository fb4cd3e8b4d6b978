// Numbers as tables and states of fewer bits hold them.
#ifndef EFFC_TEST_UNIT_CONTRACT_NARROWNUMBERS_H
#define EFFC_TEST_UNIT_CONTRACT_NARROWNUMBERS_H

#include "llvm/ADT/bit.h"

#include <cstdint>

namespace effc::test {

/// A value rounded to bf16, to the nearest, ties to even.
inline double roundToBf16(double value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(float(value));
  bits += 0x7fff + ((bits >> 16) & 1);
  return llvm::bit_cast<float>(bits & 0xffff0000);
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_NARROWNUMBERS_H
