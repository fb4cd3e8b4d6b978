//===- Architecture.h - The names of GPU targets --------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_ARCHITECTURE_H
#define EFFC_RUNTIME_SRC_DEVICES_ARCHITECTURE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace effc::rt {

/// Code for a GPU: "sm_90a" is a module for one, "compute_80" the text of one,
/// "sim_80" what the simulator runs.
struct Architecture {
  enum class Kind { Module, Text, Simulated } kind;
  uint32_t major;   // 9 of "sm_90a"
  uint32_t minor;   // 0
  bool onlyThisOne; // the suffix a: no other chip runs it

  uint32_t number() const { return major * 10 + minor; }
  /// Whether a chip of compute capability `chipMajor`.`chipMinor` takes it: a
  /// module on chips of its generation from its own on, a text on all later
  /// ones.
  bool runsOn(uint32_t chipMajor, uint32_t chipMinor) const;
};

/// What `name` says, or nothing when it names no such code.
std::optional<Architecture> architectureOf(std::string_view name);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_ARCHITECTURE_H
