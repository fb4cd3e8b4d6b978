//===- SystemMemory.h - What memory this process could have ---------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_SYSTEMMEMORY_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_SYSTEMMEMORY_H

#include <cstdint>

namespace effc::rt {

/// Bytes of memory and swap space of the machine, or what the control groups
/// grant of them (ControlGroups.h) where that is less: more can never be
/// committed.
uint64_t systemMemory();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_SYSTEMMEMORY_H
