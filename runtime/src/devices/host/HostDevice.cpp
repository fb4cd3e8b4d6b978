#include "runtime/src/devices/host/HostDevice.h"

#include "runtime/src/Limits.h"
#include "runtime/src/devices/host/HostExecutor.h"
#include "runtime/src/devices/host/Isa.h"

using namespace effc;
using namespace effc::rt;

HostDevice::HostDevice(std::unique_ptr<ThreadPool> threads)
    : pool(std::move(threads)) {
  const HostIsa *best = bestIsaHere(),
                *lowest = findIsaHere(baselineIsa().name);
  std::string isa = best     ? best->name
                    : lowest ? "below " + std::string(lowest->name)
                             : "no known ISA";
  unsigned count = pool->threads();
  text = "host (" + isa + ", " + std::to_string(count) +
         (count == 1 ? " thread)" : " threads)");
}

Result<std::shared_ptr<Device>> HostDevice::create(uint32_t threads) {
  if (threads > kMaxThreads)
    return invalidArgument("'threads' is ", threads, ", but at most ",
                           kMaxThreads, " are possible");
  Result<std::unique_ptr<ThreadPool>> pool =
      ThreadPool::create(threads ? threads : usableCores());
  if (!pool)
    return pool.error();
  return std::shared_ptr<Device>(new HostDevice(std::move(*pool)));
}

Check HostDevice::accepts(const Model &model) const {
  if (Check error = requireWeights(model))
    return error;
  Result<uint32_t> segment = chooseHostCode(model.program());
  if (!segment)
    return segment.error();
  return {};
}

Result<std::unique_ptr<Executor>>
HostDevice::prepare(std::shared_ptr<const Model> model, uint32_t sessions,
                    const UploadProgress &) {
  return HostExecutor::create(std::move(model), *pool, sessions);
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

Result<uint32_t> rt::chooseHostCode(const artifact::Program &program) {
  if (!hasHostPlan(program))
    return fail(EFFC_UNSUPPORTED, "the file has no code for the host");
  std::optional<uint32_t> best;
  unsigned bestRank = 0;
  std::string reasons; // why each other segment does not do
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
    else if (!coversAllKernels(program, i))
      refuse(isa, "some kernels have no code for it");
    else if (!best || level->rank > bestRank)
      best = i, bestRank = level->rank;
  }
  if (best)
    return *best;
  if (reasons.empty())
    return fail(EFFC_UNSUPPORTED, "the file has no code for the host");
  return fail(EFFC_UNSUPPORTED, "the file's code does not run here (", reasons,
              ")");
}
