//===- PlanMemory.h - Where what a plan works on lies ---------------------===//
//
// What the devices share: how the inputs of a call lie together, where the
// operands of launches are, and, for devices that work in the host's memory,
// that memory.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_PLANMEMORY_H
#define EFFC_RUNTIME_SRC_DEVICES_PLANMEMORY_H

#include "runtime/src/Device.h"

#include <vector>

namespace effc::rt {

/// The arrays of CallInputs one after another, those aligned to 8 bytes first.
class InputLayout {
public:
  explicit InputLayout(uint64_t rows) : rows(rows) {}
  uint64_t bytes() const;
  /// The arrays of a layout that starts at `base`.
  CallInputs at(uint8_t *base) const;

private:
  uint64_t rows;
};

/// Bytes of everything that an engine for a plan has besides weights.
struct PlanSizes {
  uint64_t arena;
  uint64_t slots; // room for the states of all sessions
  uint64_t logits;
  InputLayout inputs;
};
Result<PlanSizes> sizesOf(const artifact::Program &program, const Plan &plan,
                          uint32_t sessions);

/// What to do where `bytes` are too few for the room that sequences are given
/// whatever their length: how many would fit, or with what context one would.
/// Begins with "; ", or "" where nothing helps.
std::string roomAdvice(const artifact::Program &program, uint64_t bytes);

/// Where everything starts that an operand can name, in the memory of whatever
/// device.
struct PlanAddresses {
  uint8_t *arena = nullptr;
  uint8_t *slots = nullptr;
  uint8_t *logits =
      nullptr; // and choices, of which calls have one or the other
  CallInputs inputs = {};
  std::vector<const uint8_t *> weights;

  /// The operand's offset is added.
  const void *of(const artifact::Program &program,
                 const artifact::Operand &operand) const;
};

/// The launches of a plan with all addresses known; they never change.
struct ReadyPlan {
  struct Launch {
    uint32_t kernel;
    uint32_t count;      // into the counts of a call
    size_t firstOperand; // into `operands`
    int64_t tile;
    int64_t times;
    artifact::CallResult onlyFor;
    /// At most 2^16 * 2^32; none in a call that gives something else.
    int64_t items(const int64_t *counts, artifact::CallResult result) const {
      bool runs = onlyFor == artifact::CallResult::Any || onlyFor == result;
      return runs ? (counts[count] + tile - 1) / tile * times : 0;
    }
  };
  struct Entry {
    size_t firstLaunch;
    size_t endLaunch;
  };
  std::vector<Entry> entries;
  std::vector<Launch> launches;
  std::vector<const void *> operands;
};
ReadyPlan resolve(const artifact::Program &program, const Plan &plan,
                  const PlanAddresses &addresses);

/// The numbers that a kernel's `counts` are: those of a call, and 1; indexed by
/// the schema's Count.
constexpr size_t kCounts = 4;
static_assert(size_t(artifact::Count::MAX) == kCounts - 1);

/// Memory of the host for a plan, committed as it is touched.
class PlanMemory {
public:
  PlanMemory() = default;
  static Result<PlanMemory> reserve(const Model &model, const Plan &plan,
                                    uint32_t sessions);

  const PlanAddresses &addresses() const { return places; }
  const CallInputs &inputs() const { return places.inputs; }
  const float *results() const {
    return reinterpret_cast<const float *>(places.logits);
  }
  uint64_t slotBytes() const { return slots.size(); } // of all slots

  // As those of an Executor.
  void copySlot(uint32_t from, uint32_t to, std::span<const SlotRange> ranges);
  void readSlot(uint32_t slot, std::span<const SlotRead> pieces) const;
  void writeSlot(uint32_t slot, std::span<const SlotWrite> pieces);
  void releaseSlot(uint32_t slot, std::span<const SlotRange> ranges);
  void expectSlot(uint32_t slot, std::span<const SlotRange> ranges);
  uint64_t stateBudget() const { return budget; }

private:
  Mapping arena, slots, logitRows, inputBytes;
  uint64_t slotStride = 0;
  uint64_t budget = 0;
  PlanAddresses places;
};

/// Fails with what every device says of a file that was compiled from shapes.
Check requireWeights(const Model &model);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_PLANMEMORY_H
