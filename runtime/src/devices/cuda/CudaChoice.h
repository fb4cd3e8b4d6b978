//===- CudaChoice.h - Which of a program's code a GPU runs ----------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACHOICE_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACHOICE_H

#include "runtime/src/Error.h"
#include "runtime/src/Plan.h"

#include <string>
#include <vector>

namespace effc::rt {

/// What a GPU is, as far as code for it is concerned.
struct CudaChip {
  std::string name; // "NVIDIA H200"
  uint32_t major = 0, minor = 0;
  uint32_t mostSharedBytes = 0; // of a block
};

/// A plan, and which segment each of its kernels is taken from.
struct CudaChoice {
  Plan plan;
  std::vector<uint32_t> segments;
  std::string code;    // "sm_90a", "compute_80"
  bool isText = false; // which the driver compiles
  std::string worse;   // why no better choice was taken; "" for the best

  /// What a user should know of it, or "".
  std::string note() const {
    return worse.empty() ? ""
                         : "its code for " + code +
                               " runs, since better code does not: " + worse;
  }
};

/// What of a program runs on `chip`, the best first: modules made for it rather
/// than texts that the driver compiles, new ones rather than old ones. Fails
/// where there is nothing, with what there is; and where no block of `chip` has
/// the shared memory that kernels need, with both numbers.
Result<std::vector<CudaChoice>> cudaChoices(const artifact::Program &program,
                                            const CudaChip &chip);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACHOICE_H
