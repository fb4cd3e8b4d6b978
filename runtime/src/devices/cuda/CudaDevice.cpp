#include "runtime/src/devices/cuda/CudaDevice.h"

#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/cuda/CudaExecutor.h"

using namespace effc;
using namespace effc::rt;

CudaDevice::CudaDevice(std::shared_ptr<const CudaContext> given,
                       CudaChip properties)
    : context(std::move(given)), chip(std::move(properties)) {
  text = "cuda (" + chip.name + ", compute capability " +
         std::to_string(chip.major) + "." + std::to_string(chip.minor) +
         ", driver for CUDA " + context->driver().versionText() + ")";
}

/// Asks the driver what the GPU is.
static Result<CudaChip> readChip(const CudaDriver &driver,
                                 cuda::Device device) {
  CudaChip chip;
  char name[256] = {};
  int major = 0, minor = 0, sharedBytes = 0;
  const std::string what = "asking what the GPU is";
  for (cuda::Result result :
       {driver.deviceGetName(name, sizeof name - 1, device),
        driver.deviceGetAttribute(&major, cuda::kCapabilityMajor, device),
        driver.deviceGetAttribute(&minor, cuda::kCapabilityMinor, device),
        driver.deviceGetAttribute(&sharedBytes, cuda::kSharedBytesPerBlockOptIn,
                                  device)})
    if (Check error = driver.check(what, result))
      return *error;
  chip.name = name;
  chip.major = static_cast<uint32_t>(major);
  chip.minor = static_cast<uint32_t>(minor);
  chip.mostSharedBytes = static_cast<uint32_t>(sharedBytes);
  return chip;
}

Result<std::shared_ptr<Device>> CudaDevice::create(uint32_t ordinal) {
  Result<std::shared_ptr<const CudaDriver>> opened = CudaDriver::open();
  if (!opened)
    return opened.error();
  const CudaDriver &driver = **opened;
  int count = 0;
  if (Check error =
          driver.check("counting the GPUs", driver.deviceGetCount(&count)))
    return *error;
  if (count == 0)
    return fail(EFFC_UNSUPPORTED, "cuda: the driver finds no GPU");
  if (ordinal >= static_cast<uint32_t>(count))
    return invalidArgument("cuda: GPU ", ordinal, " is asked for, but there ",
                           count == 1 ? "is " : "are ", count);
  cuda::Device device = 0;
  if (Check error =
          driver.check("choosing the GPU",
                       driver.deviceGet(&device, static_cast<int>(ordinal))))
    return *error;
  Result<CudaChip> chip = readChip(driver, device);
  if (!chip)
    return chip.error();
  auto context = CudaContext::open(*opened, device);
  if (!context)
    return context.error();
  return std::shared_ptr<Device>(
      new CudaDevice(std::move(*context), std::move(*chip)));
}

Check CudaDevice::accepts(const Model &model) const {
  if (Check error = requireWeights(model))
    return error;
  Result<std::vector<CudaChoice>> choices = cudaChoices(model.program(), chip);
  if (!choices)
    return choices.error();
  Result<CudaProducts> products =
      CudaProducts::open(choices->front().plan, libraries);
  if (!products)
    return products.error();
  return {};
}

Result<std::unique_ptr<Executor>>
CudaDevice::prepare(std::shared_ptr<const Model> model, uint32_t sessions,
                    const UploadProgress &progress) {
  if (Check error = requireWeights(*model))
    return *error;
  Result<std::vector<CudaChoice>> choices = cudaChoices(model->program(), chip);
  if (!choices)
    return choices.error();
  return CudaExecutor::create(std::move(model), std::move(*choices), context,
                              chip, libraries, sessions, progress);
}
