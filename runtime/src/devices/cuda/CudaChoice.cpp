#include "runtime/src/devices/cuda/CudaChoice.h"

#include "runtime/src/devices/Architecture.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

using namespace effc;
using namespace effc::rt;
using artifact::SegmentKind;

/// The oldest chips that code is made for.
static constexpr uint32_t kLeastMajor = 8;

/// The segment that `kernel` is best taken from among those of `kind` that run
/// on `chip`.
static std::optional<uint32_t> findCode(const artifact::Program &program,
                                        const artifact::Kernel &kernel,
                                        SegmentKind kind,
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
    if (segment->kind() == SegmentKind::Cubin ||
        segment->kind() == SegmentKind::Ptx)
      names += (names.empty() ? "" : ", ") + segment->isa()->str();
  return names;
}

/// Whether the environment asks for texts alone.
static Result<bool> wantsOnlyPtx() {
  const char *wanted = secure_getenv("EFFC_CUDA_CODE");
  if (!wanted || !*wanted)
    return false;
  if (std::string_view(wanted) == "ptx")
    return true;
  return fail(EFFC_INVALID_ARGUMENT, "cuda: EFFC_CUDA_CODE is '", wanted,
              "', but only 'ptx' is known");
}

/// Those of `kind`, new plans before old ones.
static std::vector<CudaChoice> choicesOf(const artifact::Program &program,
                                         SegmentKind kind,
                                         const CudaChip &chip) {
  std::vector<CudaChoice> found;
  for (const Plan &plan : plansOf(program)) {
    if (plan.isHost ||
        architectureOf(plan.name)->kind != Architecture::Kind::Module)
      continue;
    CudaChoice choice;
    choice.plan = plan;
    choice.isText = kind == SegmentKind::Ptx;
    for (const artifact::Kernel *kernel : *plan.kernels)
      if (auto segment = findCode(program, *kernel, kind, chip))
        choice.segments.push_back(*segment);
    if (choice.segments.size() != plan.kernels->size())
      continue;
    choice.code =
        choice.segments.empty()
            ? std::string(plan.name)
            : program.segments()->Get(choice.segments[0])->isa()->str();
    auto isNewer = [](const CudaChoice &one, const CudaChoice &other) {
      return architectureOf(one.plan.name)->number() >
             architectureOf(other.plan.name)->number();
    };
    auto at = std::upper_bound(found.begin(), found.end(), choice, isNewer);
    found.insert(at, std::move(choice));
  }
  return found;
}

/// What to compile for: "sm_86". Targets of the compiler, to which
/// test/unit/compiler/GpuTargetsTest.cpp holds them.
static std::string targetFor(const CudaChip &chip) {
  if (chip.major == 9 && chip.minor == 0)
    return "sm_90a";
  static constexpr uint32_t kTargets[] = {120, 100, 89, 86, 80};
  for (uint32_t number : kTargets)
    if (chip.major * 10 + chip.minor >= number)
      return "sm_" + std::to_string(number);
  return "sm_80";
}

/// What is said where nothing runs on `chip`.
static Error nothingFor(const artifact::Program &program, const CudaChip &chip,
                        bool onlyPtx) {
  std::string names = codeFor(program);
  if (names.empty() && chip.major < kLeastMajor)
    return fail(EFFC_UNSUPPORTED,
                "cuda: the file has no code for a GPU, and none can be made "
                "for this one (",
                chip.name, "): it has compute capability ", chip.major, ".",
                chip.minor, ", but ", kLeastMajor, ".0 or newer is needed");
  if (names.empty())
    return fail(EFFC_UNSUPPORTED,
                "cuda: the file has no code for a GPU: compile it with "
                "--target ",
                targetFor(chip));
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

/// Why no block of `chip` can run the kernels of `choice`, or "".
static std::string misfitOf(const CudaChoice &choice, const CudaChip &chip) {
  const artifact::Kernel *largest = nullptr;
  for (const artifact::Kernel *kernel : *choice.plan.kernels)
    if (!largest || kernel->shared_bytes() > largest->shared_bytes())
      largest = kernel;
  if (!largest || largest->shared_bytes() <= chip.mostSharedBytes)
    return "";
  return "kernel '" + largest->name()->str() + "' for " + choice.code +
         " needs " + std::to_string(largest->shared_bytes()) +
         " bytes of shared memory, but this GPU (" + chip.name + ") grants " +
         std::to_string(chip.mostSharedBytes);
}

Result<std::vector<CudaChoice>>
rt::cudaChoices(const artifact::Program &program, const CudaChip &chip) {
  Result<bool> onlyPtx = wantsOnlyPtx();
  if (!onlyPtx)
    return onlyPtx.error();
  std::vector<CudaChoice> fitting;
  std::string misfits;
  for (SegmentKind kind : {SegmentKind::Cubin, SegmentKind::Ptx}) {
    if (kind == SegmentKind::Cubin && *onlyPtx)
      continue;
    for (CudaChoice &choice : choicesOf(program, kind, chip)) {
      std::string misfit = misfitOf(choice, chip);
      if (misfit.empty()) {
        choice.worse = misfits;
        fitting.push_back(std::move(choice));
      } else if (misfits.empty()) {
        misfits = std::move(misfit); // of the best: the others need no words
      }
    }
  }
  if (!fitting.empty())
    return fitting;
  if (!misfits.empty())
    return fail(EFFC_UNSUPPORTED, "cuda: ", misfits);
  return nothingFor(program, chip, *onlyPtx);
}
