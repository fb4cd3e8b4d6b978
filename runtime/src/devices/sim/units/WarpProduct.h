// mma.sync of the PTX ISA ("Matrix Fragments for mma.m16n8k8 / m16n8k16").
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_WARPPRODUCT_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_WARPPRODUCT_H

#include "runtime/abi/SimAbi.h"

#include <cstdint>

namespace effc::rt {

/// The fragments of a lane: A in four registers, B in two, C and D in four f32.
struct MmaLane {
  const uint32_t *a;
  const uint32_t *b;
  const float *c;
  float *d;
};

/// D = A B + C over the 32 lanes of a warp.
void multiply(SimMma type, const MmaLane *lanes);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_WARPPRODUCT_H
