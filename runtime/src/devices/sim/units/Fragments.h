//===- Fragments.h - Where a lane's elements belong -----------------------===//
//
// PTX ISA, "Matrix Fragments for mma.m16n8k8" (tf32) and "for mma.m16n8k16
// with floating point type": a register has one element of 32 bits or two of
// 16, the first in its lower half.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_FRAGMENTS_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_FRAGMENTS_H

#include <cstdint>

namespace effc::rt {

/// Calls ofA(i, row, depth) for each of the lane's registers of A, and
/// ofB(i, depth, column) for those of B.
template <typename OfA, typename OfB>
void eachWhole(uint32_t lane, OfA ofA, OfB ofB) {
  uint32_t group = lane / 4, place = lane % 4;
  for (uint32_t i = 0; i < 4; ++i)
    ofA(i, group + i % 2 * 8, place + i / 2 * 4);
  for (uint32_t i = 0; i < 2; ++i)
    ofB(i, place + i * 4, group);
}

/// The same for the halves of registers: half i % 2 of register i / 2.
template <typename OfA, typename OfB>
void eachHalf(uint32_t lane, OfA ofA, OfB ofB) {
  uint32_t group = lane / 4, pair = lane % 4 * 2;
  for (uint32_t i = 0; i < 8; ++i)
    ofA(i, group + i / 2 % 2 * 8, pair + i % 2 + i / 4 * 8);
  for (uint32_t i = 0; i < 4; ++i)
    ofB(i, pair + i % 2 + i / 2 * 8, group);
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_FRAGMENTS_H
