// What lanes exchange, and the hardware's approximations.
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_WARPOPS_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_WARPOPS_H

#include "runtime/abi/SimAbi.h"

#include <cstdint>

namespace effc::rt {

/// The lane that a shuffle of `kind` makes lane `self` read, as shfl.sync says:
/// `lane` is its operand b, `clamp` its operand c.
uint32_t shuffleSource(SimShuffle kind, uint32_t self, uint32_t lane,
                       uint32_t clamp);

// The hardware's approximations (PTX ISA: ex2.approx.ftz.f32,
// lg2.approx.ftz.f32, rcp.approx.ftz.f32, tanh.approx.f32): the first three are
// rounded once, closer than the hardware promises; tanh keeps eleven bits, as
// few as it does.
float approximateExp2(float x);
float approximateLog2(float x);
float approximateReciprocal(float x);
float approximateTanh(float x);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_WARPOPS_H
