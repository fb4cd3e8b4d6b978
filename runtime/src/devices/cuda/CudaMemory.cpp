#include "runtime/src/devices/cuda/CudaMemory.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

Result<std::shared_ptr<const CudaContext>>
CudaContext::open(std::shared_ptr<const CudaDriver> driver,
                  cuda::Device device) {
  std::shared_ptr<CudaContext> context(
      new CudaContext(std::move(driver), device));
  const CudaDriver &library = context->driver();
  if (Check error =
          library.check("making the GPU ready",
                        library.contextRetain(&context->context, device)))
    return *error;
  return std::shared_ptr<const CudaContext>(std::move(context));
}

CudaContext::~CudaContext() {
  if (context && process.isThis())
    library->contextRelease(device);
}

Result<DeviceMemory>
rt::allocateOnDevice(const std::shared_ptr<const CudaContext> &context,
                     uint64_t bytes, const char *what) {
  const CudaDriver &driver = context->driver();
  cuda::Pointer address = 0;
  cuda::Result result =
      driver.memoryAllocate(&address, std::max<uint64_t>(bytes, 1));
  if (result == cuda::kSuccess)
    return DeviceMemory(context, address, driver.memoryFree);
  if (result != cuda::kOutOfMemory)
    return driver.failure(std::string("allocating ") + what, result);
  size_t free = 0, total = 0;
  driver.memoryInfo(&free, &total);
  return fail(EFFC_OUT_OF_MEMORY, "cuda: ", what, " take ", bytes,
              " bytes, but the GPU has ", free, " free of ", total);
}

Result<PinnedMemory>
rt::allocatePinned(const std::shared_ptr<const CudaContext> &context,
                   uint64_t bytes, const char *what) {
  const CudaDriver &driver = context->driver();
  void *address = nullptr;
  cuda::Result result =
      driver.hostAllocate(&address, std::max<uint64_t>(bytes, 1));
  if (result == cuda::kSuccess)
    return PinnedMemory(context, address, driver.hostFree);
  if (result != cuda::kOutOfMemory)
    return driver.failure(std::string("pinning memory for ") + what, result);
  return fail(EFFC_OUT_OF_MEMORY, "cuda: ", what, " take ", bytes,
              " bytes of pinned memory, which the system does not have");
}
