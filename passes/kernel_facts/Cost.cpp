#include "passes/kernel_facts/Cost.h"

#include "dialects/tile/Distribution.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

/// Products of tensor cores that a product of a piece's terms is: of three bf16 by
/// three those that count, of two tf32, or one.
static double partsOf(Type roundedTo) {
  if (!roundedTo)
    return 6;
  return roundedTo.isTF32() ? 2 : 1;
}

double CoreCycles::ofSteps(double flops) const {
  return flops / double(target.getStepRate());
}

double CoreCycles::ofProducts(double flops) const {
  return flops / double(target.getDotRate());
}

double CoreCycles::ofExactProducts(double flops) const {
  int64_t rate = target.getExactDotRate();
  return rate ? flops / double(rate) : ofProducts(flops);
}

double CoreCycles::ofWaits(int64_t barriers, double terms) const {
  tile::CoreAttr core = target.getCore();
  if (!core)
    return 0;
  return double(core.getMemory() + barriers * core.getBarrier()) +
         terms / tile::kPieceDepth * partsOf(target.getRoundedTo()) *
             double(core.getProduct());
}

double CoreCycles::ofLaunch() const {
  return double(target.getCore().getLaunch());
}

double CoreCycles::ofHandingOn(double bytes) const {
  return 2 * bytes / double(target.getBandwidth());
}

int64_t effc::itemsOfCore(int64_t items, int64_t cores) {
  return llvm::divideCeil(items, cores);
}

int64_t effc::tileCycles(const tile::DotTile &tile, int64_t items,
                         int64_t cores) {
  return itemsOfCore(items, cores) * tile.stepCycles;
}
