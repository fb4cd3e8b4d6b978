#include "passes/kernel_facts/Cores.h"

#include <algorithm>

using namespace effc;

// Of a host's usual first cache.
static constexpr int64_t kStateBytes = 32768;

bool effc::isGpu(tile::TargetAttr target) {
  return target && target.getDevice() == tile::Device::Nvptx;
}

int64_t effc::coresOf(tile::TargetAttr target) {
  constexpr int64_t kOfHost = 8;
  return target && target.getCores() > 0 ? target.getCores() : kOfHost;
}

int64_t effc::itemsThatFill(tile::TargetAttr target) {
  return coresOf(target) * (isGpu(target) ? 2 : 1);
}

int64_t effc::residentBlocks(tile::TargetAttr target, int64_t threads,
                             int64_t registers) {
  return std::max<int64_t>(
      target.getCore().getRegisters() / (threads * registers), 1);
}

int64_t effc::closeElements(tile::TargetAttr target) {
  return (target ? target.getStateBytes() : kStateBytes) / 4;
}
