#include "runtime/src/devices/cuda/CudaModules.h"

#include <cstring>
#include <map>
#include <string_view>

using namespace effc;
using namespace effc::rt;

/// What a launch gets without asking.
static constexpr uint32_t kGrantedSharedBytes = 48 * 1024;

/// "sm_90a (segment 4)".
static std::string nameOf(const artifact::Segment &segment, uint32_t index) {
  return segment.isa()->str() + " (segment " + std::to_string(index) + ")";
}

/// What keeps a driver from loading a module: one that a newer assembler made.
static std::string reasonOf(const artifact::Segment &segment,
                            std::span<const uint8_t> bytes,
                            const CudaDriver &driver) {
  // EI_ABIVERSION of ELF: 8 since CUDA 13, whose modules need its drivers.
  constexpr std::string_view kMagic = "\x7f"
                                      "ELF";
  constexpr size_t kAbiAt = 8;
  constexpr uint8_t kAbi = 8;
  constexpr int kVersion = 13000;
  if (segment.kind() != artifact::SegmentKind::Cubin ||
      bytes.size() <= kAbiAt ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0 ||
      bytes[kAbiAt] < kAbi || driver.version() >= kVersion)
    return "";
  return "; ptxas of CUDA 13 made it, for drivers of CUDA 13.0 and newer, but "
         "this one is for CUDA " +
         driver.versionText() +
         ": update the driver, or compile with an older ptxas";
}

/// Whether a driver that gives this may still take other code.
static bool isRefusal(cuda::Result result) {
  return result == cuda::kInvalidImage || result == cuda::kNoBinaryForGpu ||
         result == cuda::kInvalidPtx || result == cuda::kUnsupportedPtxVersion;
}

static Result<cuda::Module> loadModule(const Model &model, uint32_t index,
                                       const CudaDriver &driver,
                                       bool &refused) {
  const artifact::Segment &segment = *model.program().segments()->Get(index);
  std::span<const uint8_t> bytes = model.segmentBytes(segment);
  // A text ends in a zero; a module is read as far as it says itself, of which
  // its checksum has been compared.
  std::vector<char> image(bytes.begin(), bytes.end());
  image.push_back('\0');
  char log[2048] = {};
  int options[] = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  cuda::Module module = nullptr;
  cuda::Result result =
      driver.moduleLoad(&module, image.data(), 2, options, values);
  if (result == cuda::kSuccess)
    return module;
  refused = isRefusal(result);
  Error error =
      driver.failure("loading the code for " + nameOf(segment, index), result);
  if (result != cuda::kOutOfMemory)
    error.code = EFFC_BAD_DATA;
  if (size_t length = strnlen(log, sizeof log))
    error.message += "; " + onOneLine(std::string(log, length));
  if (result == cuda::kInvalidImage || result == cuda::kNoBinaryForGpu)
    error.message += reasonOf(segment, bytes, driver);
  return error;
}

/// Finds a kernel in its module and asks for its shared memory.
static Result<CudaKernel> prepareKernel(const artifact::Kernel &kernel,
                                        cuda::Module module,
                                        const CudaDriver &driver,
                                        const CudaChip &chip) {
  std::string name = kernel.name()->str();
  // All of it is asked for: kernels address it from where that begins, which is
  // behind what a module sets aside by itself.
  CudaKernel ready = {nullptr, kernel.threads(), kernel.shared_bytes()};
  cuda::Result result =
      driver.moduleGetFunction(&ready.function, module, name.c_str());
  if (result != cuda::kSuccess) {
    Error error = driver.failure("finding kernel '" + name + "'", result);
    error.code = EFFC_BAD_DATA;
    return error;
  }
  int own = 0;
  if (Check error =
          driver.check("asking about kernel '" + name + "'",
                       driver.functionGetAttribute(
                           &own, cuda::kStaticSharedBytes, ready.function)))
    return *error;
  uint64_t needed =
      uint64_t(kernel.shared_bytes()) + static_cast<uint32_t>(own);
  if (needed > chip.mostSharedBytes)
    return fail(EFFC_UNSUPPORTED, "cuda: kernel '", name, "' needs ", needed,
                " bytes of shared memory, but this GPU (", chip.name,
                ") grants ", chip.mostSharedBytes);
  if (needed > kGrantedSharedBytes)
    if (Check error = driver.check(
            "granting kernel '" + name + "' its shared memory of " +
                std::to_string(kernel.shared_bytes()) + " bytes",
            driver.functionSetAttribute(
                ready.function, cuda::kMostDynamicSharedBytes,
                static_cast<int>(ready.dynamicSharedBytes))))
      return *error;
  return ready;
}

Result<CudaModules>
CudaModules::loadChoice(const Model &model, const CudaChoice &choice,
                        const std::shared_ptr<const CudaContext> &context,
                        const CudaChip &chip, bool &refused) {
  const CudaDriver &driver = context->driver();
  CudaModules loaded;
  std::map<uint32_t, cuda::Module> bySegment;
  for (uint32_t i = 0; i < choice.segments.size(); ++i) {
    uint32_t segment = choice.segments[i];
    if (!bySegment.count(segment)) {
      Result<cuda::Module> module = loadModule(model, segment, driver, refused);
      if (!module)
        return module.error();
      loaded.modules.emplace_back(context, *module, driver.moduleUnload);
      bySegment[segment] = *module;
    }
    Result<CudaKernel> kernel = prepareKernel(*choice.plan.kernels->Get(i),
                                              bySegment[segment], driver, chip);
    if (!kernel)
      return kernel.error();
    loaded.kernels.push_back(*kernel);
  }
  return loaded;
}

Result<CudaModules::Loaded>
CudaModules::load(const Model &model, std::vector<CudaChoice> choices,
                  const std::shared_ptr<const CudaContext> &context,
                  const CudaChip &chip) {
  std::optional<Error> first;
  std::string reasons; // of all, without the device's name before each
  bool hasText = false, refused = false;
  for (CudaChoice &choice : choices) {
    hasText |= choice.isText;
    refused = false;
    Result<CudaModules> modules =
        loadChoice(model, choice, context, chip, refused);
    if (modules) {
      if (!reasons.empty())
        choice.worse += (choice.worse.empty() ? "" : "; ") + reasons;
      return Loaded{std::move(choice), std::move(*modules)};
    }
    const Error &error = modules.error();
    if (!first)
      first = error;
    std::string_view said = error.message;
    constexpr std::string_view kDevice = "cuda: ";
    if (said.starts_with(kDevice))
      said.remove_prefix(kDevice.size());
    reasons += (reasons.empty() ? "" : "; ") + std::string(said);
    if (!refused)
      break;
  }
  first->message = "cuda: " + reasons;
  if (refused && !hasText)
    first->message += "; the file has no PTX for this GPU in its place";
  return *first;
}
