//===- WarpProducts.h - What tensor cores compute -------------------------===//
//
// mma.sync of the PTX ISA ("Matrix Fragments for mma.m16n8k8 / m16n8k16") and
// wgmma.mma_async with A in registers ("Matrix Fragments for wgmma.mma_async").
// Sums are cut off as tensor cores do it, never rounded to the nearest (M.
// Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA
// tensor cores, PeerJ Computer Science 7:e330, 2021; of the chips since, F. A.
// Khattak, M. Mikaitis, arXiv 2512.07004): of warps as an A100 does, which
// loses most, of warp groups as an H100, which alone has them.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_WARPPRODUCTS_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_WARPPRODUCTS_H

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

/// D = A B + D of bf16 or f16 over the 128 threads of a warp group.
struct WarpGroupProduct {
  static constexpr uint32_t kThreads = 128, kRows = 64, kDepth = 16,
                            kMostColumns = 256;

  SimMma type = SimMma::M16N8K16Bf16;
  uint32_t columns = 0;             // of B and D, a multiple of 8
  uint16_t b[kMostColumns][kDepth]; // column by column
  const uint32_t *a[kThreads];      // four registers of each thread
  float *d[kThreads];               // columns / 2 f32 of each thread

  void run() const;
};

/// The lane that a shuffle of `kind` makes lane `self` read, as shfl.sync says:
/// `lane` is its operand b, `clamp` its operand c.
uint32_t shuffleSource(SimShuffle kind, uint32_t self, uint32_t lane,
                       uint32_t clamp);

/// Where element `i`, 0 or 1, of what matrixRegister gives lies.
const void *matrixElement(const void *const *rows, uint32_t lane,
                          bool transposed, uint32_t i);

/// What lane `lane` gets of an 8 x 8 matrix of 16-bit elements whose rows start
/// at `rows`.
uint32_t matrixRegister(const void *const *rows, uint32_t lane,
                        bool transposed);

// The hardware's approximations (PTX ISA: ex2.approx.ftz.f32,
// lg2.approx.ftz.f32, rcp.approx.ftz.f32, tanh.approx.f32): the first three are
// rounded once, closer than the hardware promises; tanh keeps eleven bits, as
// few as it does.
float approximateExp2(float x);
float approximateLog2(float x);
float approximateReciprocal(float x);
float approximateTanh(float x);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_WARPPRODUCTS_H
