//===- Isa.h - Which host code this machine can run -----------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_ISA_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_ISA_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

/// One thing that an ISA level asks of the machine.
struct Feature {
  const char *name; // "avx2"
  bool present;
};

/// What level `isa` ("x86-64-v3") asks for, or nothing when this build of the
/// runtime knows no such level: it was built for another architecture.
std::optional<std::vector<Feature>> featuresOf(std::string_view isa);

/// The names of what is missing for `isa`, "avx2, fma"; empty when it runs
/// here.
std::string missingFor(const std::vector<Feature> &features);

/// How good a level is among those that run here; 0 for an unknown one.
unsigned rankOf(std::string_view isa);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_ISA_H
