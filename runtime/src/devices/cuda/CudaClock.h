//===- CudaClock.h - Time by a GPU's own clock ----------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACLOCK_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACLOCK_H

#include "runtime/src/devices/cuda/CudaMemory.h"

namespace effc::rt {

/// Two marks in a stream and the time between them.
class CudaStopwatch {
public:
  CudaStopwatch() = default;
  /// Inside a CudaScope of `context`.
  static Result<CudaStopwatch>
  create(const std::shared_ptr<const CudaContext> &context,
         cuda::Stream stream);

  Check start() const { return mark(begin.get()); }
  Check stop() const { return mark(end.get()); }
  /// After both marks have been passed.
  Result<double> seconds() const;

private:
  Check mark(cuda::Event event) const;

  std::shared_ptr<const CudaContext> context;
  cuda::Stream stream = nullptr;
  CudaOwned<cuda::Event> begin, end;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACLOCK_H
