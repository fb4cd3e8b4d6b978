//===- ControlGroups.h - What the system grants this process --------------===//
//
// A container or a service runs in a control group, and what it and every group
// above it grant holds together. Which group that is stands in
// /proc/self/cgroup, where its folder is in /proc/self/mountinfo (cgroups(7),
// proc_pid_mountinfo(5)). Version 2 has one tree for everything, version 1 one
// for each controller; a system may have both.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SYSTEM_CONTROLGROUPS_H
#define EFFC_RUNTIME_SRC_SYSTEM_CONTROLGROUPS_H

#include <cstdint>
#include <string>

namespace effc::rt {

/// The least of what the groups grant; the largest number where none says.
struct GroupLimits {
  uint64_t memory = UINT64_MAX;        // bytes
  uint64_t swap = UINT64_MAX;          // bytes of swap space besides
  uint64_t memoryAndSwap = UINT64_MAX; // bytes of both together
  /// Whole cores' worth of time, at least 1. Rounded down: with one thread more
  /// than that, all are stopped for a part of each period.
  uint64_t cores = UINT64_MAX;
};

/// Reads them. `root` stands before every path, for tests. What is missing or
/// cannot be understood is no limit.
GroupLimits readGroupLimits(const std::string &root = "");

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SYSTEM_CONTROLGROUPS_H
