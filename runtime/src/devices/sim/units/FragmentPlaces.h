//===- FragmentPlaces.h - Whether fragments hold what a product expects ---===//
//
// A fragment has an element of A's row r and depth k in one register of one
// lane. Nobody can see whether it is the right one, but the places in shared
// memory from which elements have come are evidence: along the depth, every row
// of A takes the same steps, every column of B does, and the two in the same
// order. That is what it checks; rows and columns may lie anywhere.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_FRAGMENTPLACES_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_FRAGMENTPLACES_H

#include "runtime/abi/SimAbi.h"
#include "runtime/src/devices/sim/Fault.h"

#include <cstdint>
#include <span>

namespace effc::rt {

/// Of what a lane's registers hold, two elements each (of tf32 one, which is
/// the first), the places in shared memory; null: not known.
struct FragmentPlaces {
  const uint8_t *a[8];
  const uint8_t *b[4];
};

/// What is wrong with the places of a product of a warp; "": nothing that is
/// known. `places`: of the 32 lanes. `isDense`: B is not in fragments, but lies
/// in depth as it is counted, as that of a warp group does.
Fault checkPlaces(SimMma type, std::span<const FragmentPlaces *const> places,
                  bool isDense);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_FRAGMENTPLACES_H
