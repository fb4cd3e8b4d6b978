//===- CudaUpload.h - The weights' way to a GPU ---------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAUPLOAD_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAUPLOAD_H

#include "runtime/src/Device.h"
#include "runtime/src/devices/cuda/CudaMemory.h"

#include <vector>

namespace effc::rt {

/// Where each weight starts in one stretch of memory, and how many bytes that
/// has.
struct WeightPlaces {
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
};
WeightPlaces placeWeights(const artifact::Program &program);

/// Copies all weights to `to`, through two pinned buffers by turns: while the
/// GPU reads one, the other is filled from the file. Inside a CudaScope.
Check uploadWeights(const Model &model, const WeightPlaces &places,
                    cuda::Pointer to,
                    const std::shared_ptr<const CudaContext> &context,
                    cuda::Stream stream, const UploadProgress &progress);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAUPLOAD_H
