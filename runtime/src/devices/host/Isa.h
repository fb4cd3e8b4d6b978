//===- Isa.h - Which host code this machine can run -----------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_ISA_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_ISA_H

#include "runtime/abi/HostIsas.h"

#include <string>
#include <vector>

namespace effc::rt {

/// One thing that an ISA level asks of the machine.
struct Feature {
  const char *name; // "avx2"
  bool present;
};

/// The level of that name; null where this build of the runtime knows none: it
/// was built for another architecture.
const HostIsa *findIsaHere(std::string_view name);

/// The levels of the architecture that this build of the runtime is for, lowest first.
std::vector<const HostIsa *> isasHere();

/// What `isa` asks for, the levels below included; lowest first.
std::vector<Feature> featuresOf(const HostIsa &isa);

/// The names of what is missing, "avx2, fma"; empty when all is there.
std::string missingFor(const std::vector<Feature> &features);

/// Whether this machine runs the code of a level.
bool runsHere(const HostIsa &isa);

/// The highest level that runs here; null where none does.
const HostIsa *bestIsaHere();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_ISA_H
