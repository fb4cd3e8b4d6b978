#include "runtime/src/devices/host/HostDevice.h"

#include "runtime/src/Limits.h"
#include "runtime/src/devices/host/HostExecutor.h"
#include "runtime/src/devices/host/Isa.h"

using namespace effc;
using namespace effc::rt;

HostDevice::HostDevice(std::unique_ptr<ThreadPool> threads, const HostIsa *only)
    : pool(std::move(threads)), only(only) {
  const HostIsa *isa = only ? only : bestIsaHere();
  std::vector<const HostIsa *> known = isasHere();
  std::string name = isa ? isa->name
                     : known.empty()
                         ? "no known ISA"
                         : "below " + std::string(known.front()->name);
  unsigned count = pool->threads();
  text = "host (" + name + ", " + std::to_string(count) +
         (count == 1 ? " thread)" : " threads)");
}

/// The level that `isa`, or else the environment, asks for; null for none.
static Result<const HostIsa *> askedLevel(std::string_view isa) {
  std::string who = "'isa'";
  if (isa.empty()) {
    const char *value = secure_getenv("EFFC_HOST_ISA");
    isa = value ? value : "";
    who = "EFFC_HOST_ISA";
  }
  if (isa.empty())
    return static_cast<const HostIsa *>(nullptr);
  const HostIsa *level = findIsaHere(isa);
  if (!level) {
    std::string known;
    for (const HostIsa *each : isasHere())
      known += (known.empty() ? "" : ", ") + std::string(each->name);
    return invalidArgument(who, " is '", isa, "', but this library knows ",
                           known);
  }
  if (std::string missing = missingFor(featuresOf(*level)); !missing.empty())
    return fail(EFFC_UNSUPPORTED, who, " is ", isa, ", but this machine lacks ",
                missing);
  return level;
}

Result<std::shared_ptr<Device>> HostDevice::create(uint32_t threads,
                                                   std::string_view isa) {
  if (threads > kMaxThreads)
    return invalidArgument("'threads' is ", threads, ", but at most ",
                           kMaxThreads, " are possible");
  Result<const HostIsa *> only = askedLevel(isa);
  if (!only)
    return only.error();
  Result<std::unique_ptr<ThreadPool>> pool =
      ThreadPool::create(threads ? threads : usableCores());
  if (!pool)
    return pool.error();
  return std::shared_ptr<Device>(new HostDevice(std::move(*pool), *only));
}

Check HostDevice::accepts(const Model &model) const {
  if (Check error = requireWeights(model))
    return error;
  Result<uint32_t> segment = chooseHostCode(model.program(), only);
  if (!segment)
    return segment.error();
  return {};
}

Result<std::unique_ptr<Executor>>
HostDevice::prepare(std::shared_ptr<const Model> model, uint32_t sessions,
                    const UploadProgress &) {
  return HostExecutor::create(std::move(model), *pool, only, sessions);
}

/// Whether every kernel has code in segment `index`.
static bool coversAllKernels(const artifact::Program &program, uint32_t index) {
  for (const artifact::Kernel *kernel : *program.kernels()) {
    bool found = false;
    for (const artifact::KernelCode *code : *kernel->code())
      found |= code->segment() == index;
    if (!found)
      return false;
  }
  return true;
}

/// What a user can do where no code of a file runs.
static std::string wayOut(const HostIsa *only) {
  const HostIsa *best = only ? only : bestIsaHere();
  if (!best)
    return "";
  return std::string("; ") +
         (only ? "what was asked for is " : "this machine runs ") + best->name +
         ": effc compile --target " + best->name + " makes code for it";
}

Result<uint32_t> rt::chooseHostCode(const artifact::Program &program,
                                    const HostIsa *only) {
  if (!hasHostPlan(program))
    return fail(EFFC_UNSUPPORTED, "the file has no code for the host");
  std::optional<uint32_t> best;
  unsigned bestRank = 0;
  std::string reasons; // why each other segment does not do
  bool hasAllKernels = true;
  auto refuse = [&](const flatbuffers::String &isa, const std::string &why) {
    reasons += (reasons.empty() ? "" : "; ") + isa.str() + ": " + why;
  };
  for (uint32_t i = 0; i < program.segments()->size(); ++i) {
    const artifact::Segment &segment = *program.segments()->Get(i);
    if (segment.kind() != artifact::SegmentKind::HostCode)
      continue;
    const flatbuffers::String &isa = *segment.isa();
    const HostIsa *level = findIsaHere(isa.string_view());
    std::string missing = level ? missingFor(featuresOf(*level)) : "";
    if (!level)
      refuse(isa, "not an ISA of this machine");
    else if (!missing.empty())
      refuse(isa, "this machine lacks " + missing);
    else if (only && level != only)
      refuse(isa, "is not what was asked for");
    else if (!coversAllKernels(program, i)) {
      hasAllKernels = false;
      refuse(isa, "some kernels have no code for it");
    } else if (!best || level->rank > bestRank)
      best = i, bestRank = level->rank;
  }
  if (best)
    return *best;
  if (reasons.empty())
    return fail(EFFC_UNSUPPORTED, "the file has no code for the host");
  return fail(EFFC_UNSUPPORTED, "the file's code does not run here (", reasons,
              ")", hasAllKernels ? wayOut(only) : "");
}
