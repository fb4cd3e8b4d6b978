#include "passes/tile/Progress.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

/// The passes by what they decide, in the order of `Decided`.
static constexpr StringLiteral kPasses[] = {
    "tile-choose-threads", "tile-assign-layouts", "tile-place-shared",
    "tile-insert-barriers"};

/// Steps of a schedule that are done; none of a kernel without one.
static size_t stepsDone(KernelOp kernel) {
  std::optional<ScheduleAttr> schedule = kernel.getSchedule();
  return schedule ? static_cast<size_t>(schedule->getDecided()) + 1 : 0;
}

FailureOr<bool> effc::isDue(KernelOp kernel, StringRef pass, Decided decides) {
  size_t done = stepsDone(kernel), before = static_cast<size_t>(decides);
  if (done >= before)
    return done == before;
  kernel.emitError("'")
      << pass << "' expects a kernel whose "
      << stringifyDecided(static_cast<Decided>(before - 1))
      << " are decided, but got '" << kernel.getSymName() << "' with "
      << (done ? stringifyDecided(static_cast<Decided>(done - 1)) : "nothing")
      << " decided; run '" << kPasses[done] << "' before";
  return failure();
}
