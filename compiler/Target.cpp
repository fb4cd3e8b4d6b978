// The rows of all targets, those of the host made from the table of its levels.
#include "compiler/Target.h"

#include "runtime/abi/HostIsas.h"

#include <vector>

using namespace effc;

// What a plan is chosen by is the host's, whatever the level: a file has one
// plan for all of them.
static Target hostOf(llvm::StringRef name, const rt::HostIsa &isa) {
  return {.name = name,
          .cpu = isa.cpu,
          .features = isa.features,
          .device = tile::Device::Host,
          .vectorLanes = isa.lanes,
          .registers = isa.registers,
          .stepRate = 22,
          .dotRate = 18,
          .stateBytes = 32768};
}

/// The same chip, simulated by the host.
static Target simulationOf(Target chip, llvm::StringRef name) {
  chip.name = name;
  chip.simulated = true;
  return chip;
}

llvm::ArrayRef<Target> effc::targets() {
  static const std::vector<Target> all = {
      hostOf("host", rt::baselineIsa()), kSm80, kSm90a,
      simulationOf(kSm80, "sim_80"), simulationOf(kSm90a, "sim_90a")};
  return all;
}

const Target *effc::findTarget(llvm::StringRef name) {
  const Target *found = llvm::find_if(
      targets(), [&](const Target &target) { return target.name == name; });
  return found == targets().end() ? nullptr : found;
}
