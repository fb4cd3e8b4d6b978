//===- CudaBoxMaps.h - Tensor maps of a plan's launches -------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDABOXMAPS_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDABOXMAPS_H

#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/cuda/CudaDriver.h"

#include <span>

namespace effc::rt {

/// What the driver makes of the box maps of each launch's kernel, once the
/// operands have their places.
class CudaBoxMaps {
public:
  /// Inside a CudaScope.
  static Result<CudaBoxMaps> encode(const Plan &plan, const ReadyPlan &ready,
                                    const CudaDriver &driver);

  /// Those of launch `number` of all launches, in the order of its kernel's.
  std::span<const cuda::TensorMap> of(size_t number) const {
    return std::span(maps).subspan(first[number],
                                   first[number + 1] - first[number]);
  }

private:
  std::vector<cuda::TensorMap> maps;
  std::vector<size_t> first; // of each launch, and the end
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDABOXMAPS_H
