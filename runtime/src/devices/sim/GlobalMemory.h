//===- GlobalMemory.h - What a launch may touch of global memory ----------===//
//
// A kernel may read what its launch names and write the arena, states and
// logits among it; each operand has a range of its own. One in the arena ends
// with its buffer where the artifact says where that is, else with the arena.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_GLOBALMEMORY_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_GLOBALMEMORY_H

#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/sim/SharedMemory.h"

#include <span>

namespace effc::rt {

/// The bytes of one operand: `count` runs of `bytes`, `stride` apart.
struct OperandRange {
  uintptr_t start = 0;
  uint64_t bytes = 0;
  uint64_t stride = 0;
  uint64_t count = 1;
  /// Where the number of elements is one of the call's: the schema's Count, and
  /// the bytes of each. `bytes` is set by forCall() then.
  int countedBy = -1;
  uint64_t each = 0;
  bool writable = false;
  std::string what; // "weight 'embeddings'"

  bool holds(uintptr_t address, uint64_t size) const;
};

/// The ranges of a launch's operands. `slots` is how many slots there are.
std::vector<OperandRange> rangesOf(const artifact::Program &program,
                                   const artifact::Entry &entry,
                                   const artifact::Launch &launch,
                                   const PlanAddresses &addresses,
                                   uint64_t slots);

/// Sets the sizes that depend on a call.
void setCounts(std::span<OperandRange> ranges, const int64_t *counts);

/// The one of `ranges` that an access lies in and, if it writes, may write;
/// null for none.
const OperandRange *findRange(std::span<const OperandRange> ranges,
                              const void *address, uint32_t bytes, bool write);

/// What is wrong with an access that has no range.
Fault explainAccess(std::span<const OperandRange> ranges, const void *address,
                    uint32_t bytes, bool write);

/// "reads 4 bytes at byte 12 of operand 0 (the arena)".
Fault describeAccess(std::span<const OperandRange> ranges,
                     const OperandRange &range, const void *address,
                     uint32_t bytes, bool write);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_GLOBALMEMORY_H
