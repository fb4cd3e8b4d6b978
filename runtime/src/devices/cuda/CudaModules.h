//===- CudaModules.h - Kernels as the driver knows them -------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMODULES_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMODULES_H

#include "runtime/src/Model.h"
#include "runtime/src/devices/cuda/CudaChoice.h"
#include "runtime/src/devices/cuda/CudaMemory.h"

namespace effc::rt {

struct CudaKernel {
  cuda::Function function;
  uint32_t threads;
  uint32_t dynamicSharedBytes; // what a launch asks for
};

/// The modules of a plan, one for each segment that it takes kernels from.
class CudaModules {
public:
  struct Loaded;
  /// Those of the first choice that the driver takes, which knows why it did
  /// not take those before; the error has the reasons of all. Inside a
  /// CudaScope of `context`.
  static Result<Loaded> load(const Model &model,
                             std::vector<CudaChoice> choices,
                             const std::shared_ptr<const CudaContext> &context,
                             const CudaChip &chip);

  const CudaKernel &kernel(uint32_t index) const { return kernels[index]; }

private:
  /// `refused`: the driver does not take the code as it is, but may take other.
  static Result<CudaModules>
  loadChoice(const Model &model, const CudaChoice &choice,
             const std::shared_ptr<const CudaContext> &context,
             const CudaChip &chip, bool &refused);

  std::vector<CudaOwned<cuda::Module>> modules;
  std::vector<CudaKernel> kernels; // in the plan's order
};

struct CudaModules::Loaded {
  CudaChoice choice;
  CudaModules modules;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMODULES_H
