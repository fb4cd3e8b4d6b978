#include "passes/kernel_facts/Cost.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

/// Cycles that a GPU's core waits for memory and at a barrier, and for a product
/// of tensor cores whose sums the next one adds to; assumed, not measured.
static constexpr double kMemoryCycles = 500, kBarrierCycles = 50,
                        kProductCycles = 33;

/// Products of tensor cores that a product of 16 terms is.
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
  if (target.getDevice() != tile::Device::Nvptx)
    return 0;
  return kMemoryCycles + double(barriers) * kBarrierCycles +
         terms / 16 * partsOf(target.getRoundedTo()) * kProductCycles;
}

int64_t effc::itemsOfCore(int64_t items, int64_t cores) {
  return llvm::divideCeil(items, cores);
}

int64_t effc::tileCycles(const tile::DotTile &tile, int64_t items,
                         int64_t cores) {
  return itemsOfCore(items, cores) * tile.stepCycles;
}
