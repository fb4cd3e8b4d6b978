#include "passes/kernel_facts/Cores.h"

#include "passes/kernel_facts/HostSizes.h"

#include <algorithm>

using namespace effc;

bool effc::isGpu(tile::TargetAttr target) {
  return target && target.getDevice() == tile::Device::Nvptx;
}

int64_t effc::coresOf(tile::TargetAttr target) {
  return target && target.getCores() > 0 ? target.getCores() : kUsualCores;
}

int64_t effc::itemsThatFill(tile::TargetAttr target) {
  return coresOf(target) * (isGpu(target) ? 2 : 1);
}

int64_t effc::residentBlocks(tile::TargetAttr target, int64_t threads,
                             int64_t registers) {
  return std::max<int64_t>(
      target.getCore().getRegisters() / (threads * registers), 1);
}

// Only texts have no record; SizesTest holds the number to the hosts' rows.
static constexpr int64_t kTextStateBytes = 32768;

int64_t effc::closeElements(tile::TargetAttr target) {
  return (target ? target.getStateBytes() : kTextStateBytes) / 4;
}

int64_t effc::hostScores(tile::TargetAttr target) {
  return closeElements(target) / 4;
}
