//===- CudaMemory.h - Memory of a GPU, given back when its owner goes -----===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMEMORY_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMEMORY_H

#include "runtime/src/OwnProcess.h"
#include "runtime/src/devices/cuda/CudaDriver.h"

#include <utility>

namespace effc::rt {

/// A GPU's context, shared by all engines on it.
class CudaContext {
public:
  static Result<std::shared_ptr<const CudaContext>>
  open(std::shared_ptr<const CudaDriver> driver, cuda::Device device);
  ~CudaContext();

  const CudaDriver &driver() const { return *library; }
  cuda::Context get() const { return context; }
  /// Whether this process opened it: a forked child has no context.
  bool isOfThisProcess() const { return process.isThis(); }

private:
  CudaContext(std::shared_ptr<const CudaDriver> driver, cuda::Device device)
      : library(std::move(driver)), device(device) {}

  OwnProcess process;
  std::shared_ptr<const CudaDriver> library;
  cuda::Device device;
  cuda::Context context = nullptr;
};

/// While it lives, the thread's calls go to the context; another program's,
/// that was there before, comes back afterwards.
class CudaScope {
public:
  explicit CudaScope(const CudaContext &context)
      : context(context), pushed(context.driver().contextPush(context.get())) {}
  ~CudaScope() {
    cuda::Context popped;
    if (pushed == cuda::kSuccess)
      context.driver().contextPop(&popped);
  }
  /// Why calls do not go there. Nothing but destroying may be tried then.
  Check entered() const {
    return context.driver().check("entering the GPU's context", pushed);
  }
  CudaScope(const CudaScope &) = delete;
  CudaScope &operator=(const CudaScope &) = delete;

private:
  const CudaContext &context;
  cuda::Result pushed;
};

/// Something of the driver's, destroyed with the function that fits. Made and
/// destroyed inside a CudaScope of its context, or of none: it enters one.
template <typename T> class CudaOwned {
public:
  using Destroy = cuda::Result (*)(T);

  CudaOwned() = default;
  CudaOwned(std::shared_ptr<const CudaContext> context, T object,
            Destroy destroy)
      : context(std::move(context)), object(object), destroy(destroy) {}
  CudaOwned(CudaOwned &&other) noexcept { *this = std::move(other); }
  CudaOwned &operator=(CudaOwned &&other) noexcept {
    std::swap(context, other.context);
    std::swap(object, other.object);
    std::swap(destroy, other.destroy);
    return *this;
  }
  ~CudaOwned() {
    if (!context || !context->isOfThisProcess())
      return;
    CudaScope scope(*context);
    destroy(object);
  }
  T get() const { return object; }

private:
  std::shared_ptr<const CudaContext> context;
  T object = {};
  Destroy destroy = nullptr;
};

using DeviceMemory = CudaOwned<cuda::Pointer>;
using PinnedMemory = CudaOwned<void *>;

/// Memory of the GPU; of no bytes there is some, too. `what` names it in the
/// error, which says what is free.
Result<DeviceMemory>
allocateOnDevice(const std::shared_ptr<const CudaContext> &context,
                 uint64_t bytes, const char *what);

/// Memory of the host that the GPU reads and writes by itself.
Result<PinnedMemory>
allocatePinned(const std::shared_ptr<const CudaContext> &context,
               uint64_t bytes, const char *what);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAMEMORY_H
