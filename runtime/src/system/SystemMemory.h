//===- SystemMemory.h - What memory this process could have ---------------===//
#ifndef EFFC_RUNTIME_SRC_SYSTEM_SYSTEMMEMORY_H
#define EFFC_RUNTIME_SRC_SYSTEM_SYSTEMMEMORY_H

#include <cstdint>
#include <string>

namespace effc::rt {

/// Bytes of memory and swap space of the machine, or what the control groups
/// grant of them (ControlGroups.h) where that is less: more can never be
/// committed. `root` stands before the paths of the groups, for tests.
uint64_t systemMemory(const std::string &root = "");

/// What is left of it beside the memory that this process has of its own now,
/// resident or swapped out: a process that writes more than that is ended.
/// Mapped files are not counted, since their pages can be given back.
uint64_t memoryLeft();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SYSTEM_SYSTEMMEMORY_H
