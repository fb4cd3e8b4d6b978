#include "runtime/src/devices/sim/SimDevice.h"

#include "runtime/src/Limits.h"
#include "runtime/src/devices/Architecture.h"
#include "runtime/src/devices/host/Isa.h"
#include "runtime/src/devices/sim/SimExecutor.h"

using namespace effc;
using namespace effc::rt;

/// What a GPU of an architecture runs, by its number: "sm_90a".
static std::string codeOf(uint32_t architecture) {
  return "sm_" + std::to_string(architecture) +
         (architecture == 90 ? "a" : ""); // no other chip runs it
}

namespace {
class SimDevice : public Device {
public:
  SimDevice(uint32_t architecture, std::unique_ptr<ThreadPool> threads)
      : architecture(architecture), pool(std::move(threads)) {
    text = "sim (" + (architecture ? codeOf(architecture) : "a GPU");
    text += ", played by " + std::to_string(pool->threads()) +
            (pool->threads() == 1 ? " thread)" : " threads)");
  }

  const std::string &description() const override { return text; }
  uint32_t threads() const override { return pool->threads(); }
  Check accepts(const Model &model) const override;
  Result<std::unique_ptr<Executor>> prepare(std::shared_ptr<const Model> model,
                                            uint32_t sessions,
                                            const UploadProgress &) override;

private:
  uint32_t architecture;
  std::unique_ptr<ThreadPool> pool;
  std::string text;
};
} // namespace

/// What simulated targets the file has: "sim_80, sim_90a".
static std::string simulatedTargets(const artifact::Program &program) {
  std::string names;
  for (const Plan &plan : plansOf(program))
    if (!plan.isHost &&
        architectureOf(plan.name)->kind == Architecture::Kind::Simulated)
      names += (names.empty() ? "" : ", ") + std::string(plan.name);
  return names;
}

/// The newest simulated target, or that of `architecture`.
static Result<Plan> choosePlan(const artifact::Program &program,
                               uint32_t architecture) {
  std::optional<Plan> best;
  uint32_t bestNumber = 0;
  for (const Plan &plan : plansOf(program)) {
    if (plan.isHost)
      continue;
    Architecture found = *architectureOf(plan.name);
    if (found.kind != Architecture::Kind::Simulated ||
        (architecture && found.number() != architecture))
      continue;
    if (!best || found.number() > bestNumber)
      best = plan, bestNumber = found.number();
  }
  if (best)
    return *best;
  std::string names = simulatedTargets(program);
  if (names.empty())
    return fail(EFFC_UNSUPPORTED,
                "the file has no code for a simulated GPU: compile it with "
                "--target sim_80");
  return fail(EFFC_UNSUPPORTED,
              "the file has no code for a simulated GPU of architecture ",
              architecture, ", but for ", names);
}

Check SimDevice::accepts(const Model &model) const {
  if (Check error = requireWeights(model))
    return error;
  Result<Plan> plan = choosePlan(model.program(), architecture);
  if (!plan)
    return plan.error();
  return {};
}

Result<std::unique_ptr<Executor>>
SimDevice::prepare(std::shared_ptr<const Model> model, uint32_t sessions,
                   const UploadProgress &) {
  Result<Plan> plan = choosePlan(model->program(), architecture);
  if (!plan)
    return plan.error();
  return SimExecutor::create(std::move(model), *plan, *pool, sessions);
}

Result<std::shared_ptr<Device>> rt::createSimDevice(uint32_t architecture,
                                                    uint32_t threads) {
  // What stands for a GPU's code is code of the host.
  const HostIsa *isa = findIsaHere(baselineIsa().name);
  if (!isa)
    return fail(EFFC_UNSUPPORTED,
                "the simulated GPU runs on x86-64 machines only");
  if (std::string missing = missingFor(featuresOf(*isa)); !missing.empty())
    return fail(EFFC_UNSUPPORTED, "the simulated GPU needs ", isa->name,
                ", but this machine lacks ", missing);
  if (threads > kMaxThreads)
    return invalidArgument("'threads' is ", threads, ", but at most ",
                           kMaxThreads, " are possible");
  Result<std::unique_ptr<ThreadPool>> pool =
      ThreadPool::create(threads ? threads : usableCores());
  if (!pool)
    return pool.error();
  return std::shared_ptr<Device>(new SimDevice(architecture, std::move(*pool)));
}
