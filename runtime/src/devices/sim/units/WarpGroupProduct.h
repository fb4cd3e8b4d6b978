// wgmma.mma_async of the PTX ISA with A in registers ("Matrix Fragments for
// wgmma.mma_async").
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_WARPGROUPPRODUCT_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_WARPGROUPPRODUCT_H

#include "runtime/abi/SimAbi.h"

#include <cstdint>

namespace effc::rt {

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

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_WARPGROUPPRODUCT_H
