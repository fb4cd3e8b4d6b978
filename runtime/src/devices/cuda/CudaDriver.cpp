#include "runtime/src/devices/cuda/CudaDriver.h"

#include <cstdlib>

using namespace effc;
using namespace effc::rt;

/// The first with everything above, and whose chips run sm_90a code.
static constexpr int kNeededVersion = 12000;
static constexpr const char *kLibrary = "libcuda.so.1";

static std::string versionName(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string CudaDriver::versionText() const { return versionName(found); }

std::string CudaDriver::textOf(cuda::Result result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string out = name ? name : "error " + std::to_string(result);
  if (text)
    out += std::string(" (") + text + ")";
  return out;
}

Error CudaDriver::failure(const std::string &what, cuda::Result result) const {
  return fail(result == cuda::kOutOfMemory ? EFFC_OUT_OF_MEMORY
                                           : EFFC_DEVICE_ERROR,
              "cuda: ", what, ": ", textOf(result));
}

Check CudaDriver::check(const std::string &what, cuda::Result result) const {
  if (result == cuda::kSuccess)
    return {};
  return failure(what, result);
}

Check CudaDriver::resolve(const std::string &path) {
#define EFFC_CUDA_FIND(name, symbol, parameters) library.find(name, symbol);
  EFFC_CUDA_FUNCTIONS(EFFC_CUDA_FIND)
#undef EFFC_CUDA_FIND
  // The version says more than the first of its functions that is missing.
  if (driverGetVersion && driverGetVersion(&found) == cuda::kSuccess &&
      found < kNeededVersion)
    return fail(EFFC_UNSUPPORTED, "cuda: the driver is for CUDA ",
                versionText(), ", but CUDA ", versionName(kNeededVersion),
                " or newer is needed");
  if (!library.firstMissing().empty())
    return fail(EFFC_UNSUPPORTED, "cuda: '", path, "' has no function '",
                library.firstMissing(), "': a driver for CUDA ",
                versionName(kNeededVersion), " or newer is needed");
  return {};
}

Result<std::shared_ptr<const CudaDriver>> CudaDriver::open() {
  const char *given = secure_getenv("EFFC_CUDA_DRIVER");
  std::string path = given && *given ? given : kLibrary;
  std::shared_ptr<CudaDriver> driver(new CudaDriver);
  if (std::string reason = driver->library.open(path); !reason.empty())
    return fail(EFFC_UNSUPPORTED, "cuda: there is no NVIDIA driver here (",
                reason, ")");
  if (Check error = driver->resolve(path))
    return *error;
  cuda::Result result = driver->init(0);
  if (result == cuda::kNoDevice)
    return fail(EFFC_UNSUPPORTED, "cuda: the driver finds no GPU");
  if (result != cuda::kSuccess)
    return fail(EFFC_UNSUPPORTED,
                "cuda: the driver cannot be used: ", driver->textOf(result));
  return std::shared_ptr<const CudaDriver>(std::move(driver));
}
