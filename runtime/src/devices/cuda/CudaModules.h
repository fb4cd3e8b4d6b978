//===- CudaModules.h - Kernels as the driver knows them -------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMODULES_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMODULES_H

#include "runtime/src/devices/cuda/CudaDevice.h"

namespace effc::rt {

struct CudaKernel {
  cuda::Function function;
  uint32_t threads;
  uint32_t dynamicSharedBytes; // what a launch asks for
};

/// The modules of a plan, one for each segment that it takes kernels from.
class CudaModules {
public:
  /// Inside a CudaScope of `context`.
  static Result<CudaModules>
  load(const Model &model, const CudaChoice &choice,
       const std::shared_ptr<const CudaContext> &context, const CudaChip &chip);

  const CudaKernel &kernel(uint32_t index) const { return kernels[index]; }

private:
  std::vector<CudaOwned<cuda::Module>> modules;
  std::vector<CudaKernel> kernels; // in the plan's order
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMODULES_H
