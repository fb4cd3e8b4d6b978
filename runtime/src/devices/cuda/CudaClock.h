//===- CudaClock.h - Time by a GPU's own clock ----------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACLOCK_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACLOCK_H

#include "runtime/src/devices/cuda/CudaMemory.h"

#include <utility>
#include <vector>

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

/// Marks in a stream, as many as are needed.
class CudaMarks {
public:
  CudaMarks() = default;
  CudaMarks(std::shared_ptr<const CudaContext> context, cuda::Stream stream)
      : context(std::move(context)), stream(stream) {}

  /// Before the first mark of a call.
  void clear() { passed.clear(); }
  /// Inside a CudaScope. `what` is what lies between this mark and the one before.
  Check mark(uint32_t what);
  /// After all marks have been passed: of each but the first what it was set behind,
  /// and when, in seconds from the first.
  Result<std::vector<std::pair<uint32_t, double>>> times() const;

private:
  std::shared_ptr<const CudaContext> context;
  cuda::Stream stream = nullptr;
  std::vector<CudaOwned<cuda::Event>> events; // the first of them are in use
  std::vector<uint32_t> passed;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDACLOCK_H
