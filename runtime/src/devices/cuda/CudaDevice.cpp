#include "runtime/src/devices/cuda/CudaDevice.h"

#include "runtime/src/devices/Architecture.h"
#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/cuda/CudaExecutor.h"

#include <cstdlib>
#include <set>
#include <string_view>

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

/// The segment that `kernel` is best taken from among those of `kind` that run
/// on `chip`.
static std::optional<uint32_t> findCode(const artifact::Program &program,
                                        const artifact::Kernel &kernel,
                                        artifact::SegmentKind kind,
                                        const CudaChip &chip) {
  std::optional<uint32_t> best;
  uint32_t bestNumber = 0;
  for (const artifact::KernelCode *code : *kernel.code()) {
    const artifact::Segment &segment =
        *program.segments()->Get(code->segment());
    if (segment.kind() != kind)
      continue;
    Architecture found = *architectureOf(segment.isa()->string_view());
    if (found.runsOn(chip.major, chip.minor) &&
        (!best || found.number() > bestNumber))
      best = code->segment(), bestNumber = found.number();
  }
  return best;
}

/// What GPUs the program has code for: "sm_80, compute_80".
static std::string codeFor(const artifact::Program &program) {
  std::string names;
  for (const artifact::Segment *segment : *program.segments())
    if (segment->kind() == artifact::SegmentKind::Cubin ||
        segment->kind() == artifact::SegmentKind::Ptx)
      names += (names.empty() ? "" : ", ") + segment->isa()->str();
  return names;
}

Result<CudaChoice> rt::chooseCudaPlan(const artifact::Program &program,
                                      const CudaChip &chip) {
  using artifact::SegmentKind;
  const char *wanted = std::getenv("EFFC_CUDA_CODE");
  bool onlyPtx = wanted && std::string_view(wanted) == "ptx";
  if (wanted && *wanted && !onlyPtx)
    return fail(EFFC_INVALID_ARGUMENT, "cuda: EFFC_CUDA_CODE is '", wanted,
                "', but only 'ptx' is known");
  for (SegmentKind kind : {SegmentKind::Cubin, SegmentKind::Ptx}) {
    if (kind == SegmentKind::Cubin && onlyPtx)
      continue;
    std::optional<CudaChoice> best;
    uint32_t bestNumber = 0;
    for (const Plan &plan : plansOf(program)) {
      if (plan.isHost ||
          architectureOf(plan.name)->kind != Architecture::Kind::Module)
        continue;
      CudaChoice choice = {plan, {}};
      for (const artifact::Kernel *kernel : *plan.kernels)
        if (auto segment = findCode(program, *kernel, kind, chip))
          choice.segments.push_back(*segment);
      uint32_t number = architectureOf(plan.name)->number();
      if (choice.segments.size() == plan.kernels->size() &&
          (!best || number > bestNumber))
        best = std::move(choice), bestNumber = number;
    }
    if (best)
      return std::move(*best);
  }
  std::string names = codeFor(program);
  if (names.empty())
    return fail(EFFC_UNSUPPORTED,
                "cuda: the file has no code for a GPU: compile it with "
                "--target ",
                chip.major == 9 && chip.minor == 0 ? "sm_90a" : "sm_80");
  if (onlyPtx)
    return fail(EFFC_UNSUPPORTED,
                "cuda: EFFC_CUDA_CODE=ptx asks for PTX that "
                "runs on this GPU (",
                chip.name, ", compute capability ", chip.major, ".", chip.minor,
                "), but the file has code for ", names);
  return fail(EFFC_UNSUPPORTED, "cuda: the file has code for ", names,
              ", but this GPU (", chip.name, ") has compute capability ",
              chip.major, ".", chip.minor);
}

Check CudaDevice::accepts(const Model &model) const {
  if (Check error = requireWeights(model))
    return error;
  if (Check error = requireKnownGpuCode(model))
    return error;
  Result<CudaChoice> choice = chooseCudaPlan(model.program(), chip);
  if (!choice)
    return choice.error();
  Result<CudaProducts> products = CudaProducts::open(choice->plan);
  if (!products)
    return products.error();
  return {};
}

Result<std::unique_ptr<Executor>>
CudaDevice::prepare(std::shared_ptr<const Model> model, uint32_t sessions,
                    const UploadProgress &progress) {
  if (Check error = requireWeights(*model))
    return *error;
  if (Check error = requireKnownGpuCode(*model))
    return *error;
  Result<CudaChoice> choice = chooseCudaPlan(model->program(), chip);
  if (!choice)
    return choice.error();
  return CudaExecutor::create(std::move(model), std::move(*choice), context,
                              chip, sessions, progress);
}
