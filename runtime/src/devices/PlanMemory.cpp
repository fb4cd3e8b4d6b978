#include "runtime/src/devices/PlanMemory.h"

#include "runtime/src/Limits.h"
#include "runtime/src/ModelChecks.h"
#include "runtime/src/system/SystemMemory.h"

#include <algorithm>
#include <cstring>

using namespace effc;
using namespace effc::rt;

/// Rows past the end of a call that kernels may still read: the widest tile.
static constexpr uint64_t kPaddingRows = 64;

uint64_t InputLayout::bytes() const {
  return rows * (sizeof(int64_t) + sizeof(artifact::SegmentRecord) +
                 sizeof(artifact::DrawRecord) + 3 * sizeof(int32_t));
}

CallInputs InputLayout::at(uint8_t *base) const {
  CallInputs inputs;
  auto take = [&](auto *&array) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(base);
    base += rows * sizeof(*array);
  };
  take(inputs.rowPositions);
  take(inputs.segments);
  take(inputs.draws);
  take(inputs.tokens);
  take(inputs.rowSlots);
  take(inputs.outputRows);
  return inputs;
}

Result<PlanSizes> rt::sizesOf(const artifact::Program &program,
                              const Plan &plan, uint32_t sessions) {
  Memory memory = memoryOf(program, plan);
  std::optional<uint64_t> slots =
      product(memory.perSession, slotsFor(plan, sessions));
  if (!slots)
    return fail(EFFC_OUT_OF_MEMORY, "the states of ", sessions,
                " sessions do not fit in 64 bits",
                roomAdvice(program, UINT64_MAX));
  return PlanSizes{memory.arena, *slots, memory.logits,
                   InputLayout(mostRows(plan) + kPaddingRows)};
}

const void *PlanAddresses::of(const artifact::Program &program,
                              const artifact::Operand &operand) const {
  switch (operand.kind()) {
  case artifact::OperandKind::Arena:
    return arena + operand.offset();
  case artifact::OperandKind::Weight:
    return weights[operand.index()] + operand.offset();
  case artifact::OperandKind::State:
    return slots + program.states()->Get(operand.index())->slot_offset() +
           operand.offset();
  case artifact::OperandKind::Tokens:
    return inputs.tokens;
  case artifact::OperandKind::RowSlots:
    return inputs.rowSlots;
  case artifact::OperandKind::RowPositions:
    return inputs.rowPositions;
  case artifact::OperandKind::Segments:
    return inputs.segments;
  case artifact::OperandKind::OutputRows:
    return inputs.outputRows;
  case artifact::OperandKind::Draws:
    return inputs.draws;
  case artifact::OperandKind::Logits:
  case artifact::OperandKind::Choices:
    return logits;
  }
  return nullptr; // the loader has refused such an operand
}

ReadyPlan rt::resolve(const artifact::Program &program, const Plan &plan,
                      const PlanAddresses &addresses) {
  ReadyPlan ready;
  for (const artifact::Entry *entry : *plan.entries) {
    size_t first = ready.launches.size();
    for (const artifact::Launch *launch : *entry->launches()) {
      const artifact::Items &items = *launch->items();
      ready.launches.push_back({launch->kernel(),
                                static_cast<uint32_t>(items.count()),
                                ready.operands.size(), items.tile(),
                                items.times(), launch->only_for()});
      for (const artifact::Operand *operand : *launch->operands())
        ready.operands.push_back(addresses.of(program, *operand));
    }
    ready.entries.push_back({first, ready.launches.size()});
  }
  return ready;
}

Check rt::requireWeights(const Model &model) {
  if (!model.hasWeights())
    return fail(EFFC_UNSUPPORTED,
                "the file has no weights: it was compiled from shapes alone; "
                "compile it without --weights none, or time it with bench "
                "--draw-weights");
  return {};
}

std::string rt::roomAdvice(const artifact::Program &program, uint64_t bytes) {
  if (uint64_t sessions = bytes / std::max<uint64_t>(program.slot_bytes(), 1);
      sessions > 0)
    return "; there is room for " +
           std::to_string(std::min<uint64_t>(sessions, kMaxSessions)) +
           (sessions == 1 ? " session" : " sessions") +
           ", or for more of a file that was compiled with a smaller "
           "--max-context";
  uint64_t perToken = 0; // of what the context decides
  for (const artifact::State *state : *program.states())
    if (state->growth() == artifact::Growth::MaxContext)
      perToken += state->size() / state->shape()->Get(0);
  // Contexts are made longer by what states are aligned to, at most.
  uint64_t rest = program.slot_bytes() - perToken * program.max_context();
  uint64_t context =
      perToken == 0 || bytes < rest ? 0 : (bytes - rest) / perToken;
  if (context == 0)
    return "";
  return "; compiled with --max-context " + std::to_string(context) +
         " or less, one session fits";
}

/// What states may take of what the machine has left, once the rest has what
/// it needs. Reserving more than that succeeds, and using it kills the process.
static Result<uint64_t> budgetOf(const artifact::Program &program,
                                 const PlanSizes &sizes, uint32_t sessions) {
  uint64_t have = memoryLeft();
  auto take = [&](uint64_t bytes, const std::string &what) -> Check {
    if (bytes > have)
      return fail(EFFC_OUT_OF_MEMORY, what, " take ", bytes,
                  " bytes, but the system has ", have,
                  " left for this process");
    have -= bytes;
    return {};
  };
  if (Check error = take(sizes.arena, "the arena"))
    return *error;
  if (Check error = take(sizes.inputs.bytes(), "the inputs of a call"))
    return *error;
  uint64_t budget = have, each = HeldStates(program).bytes(1);
  if (each > 0 && sessions > have / each)
    return fail(EFFC_OUT_OF_MEMORY, "the states of ", sessions,
                " sessions take ", each,
                " bytes each from the first token on, "
                "but the system has ",
                have, " left for this process: enough for ", have / each);
  return budget;
}

Result<PlanMemory> PlanMemory::reserve(const Model &model, const Plan &plan,
                                       uint32_t sessions) {
  Result<PlanSizes> sizes = sizesOf(model.program(), plan, sessions);
  if (!sizes)
    return sizes.error();
  PlanMemory memory;
  struct Part {
    Mapping &mapping;
    uint64_t size;
    const char *what;
  } parts[] = {
      {memory.arena, sizes->arena, "the arena"},
      {memory.slots, sizes->slots, "the states of all sessions"},
      {memory.logitRows, sizes->logits, "logits"},
      {memory.inputBytes, sizes->inputs.bytes(), "the inputs of a call"}};
  Result<uint64_t> budget = budgetOf(model.program(), *sizes, sessions);
  if (!budget)
    return budget.error();
  memory.budget = *budget;
  for (Part &part : parts) {
    Result<Mapping> mapping = Mapping::anonymous(part.size, part.what);
    if (!mapping && &part.mapping == &memory.slots)
      return fail(EFFC_OUT_OF_MEMORY, mapping.error().message, ", ",
                  model.program().slot_bytes(),
                  " each: fewer sessions, or a file that was compiled with a "
                  "smaller --max-context, need less");
    if (!mapping)
      return mapping.error();
    part.mapping = std::move(*mapping);
  }
  // Huge ones would commit 2 MiB for the first row of each growing state.
  if (HeldStates(model.program()).bytesPerToken() > 0)
    memory.slots.commitSmallPages();
  // A draw reads rows of logits from end to end, most of whose time went to find
  // small pages. A call of one row is not to commit much more than its row.
  constexpr uint64_t kManyLogits = uint64_t(8) << 20;
  if (sizes->logits >= kManyLogits)
    memory.logitRows.commitHugePages();
  memory.slotStride = model.program().slot_bytes();
  memory.places.arena = memory.arena.data();
  memory.places.slots = memory.slots.data();
  memory.places.logits = memory.logitRows.data();
  memory.places.inputs = sizes->inputs.at(memory.inputBytes.data());
  for (uint32_t i = 0; i < model.program().weights()->size(); ++i)
    memory.places.weights.push_back(model.weight(i));
  return memory;
}

void PlanMemory::copySlot(uint32_t from, uint32_t to,
                          std::span<const SlotRange> ranges) {
  const uint8_t *in = slots.data() + from * slotStride;
  uint8_t *out = slots.data() + to * slotStride;
  for (const SlotRange &range : ranges)
    std::memcpy(out + range.offset, in + range.offset, range.size);
}

void PlanMemory::readSlot(uint32_t slot,
                          std::span<const SlotRead> pieces) const {
  const uint8_t *start = slots.data() + slot * slotStride;
  for (const SlotRead &piece : pieces)
    std::memcpy(piece.memory, start + piece.offset, piece.size);
}

void PlanMemory::writeSlot(uint32_t slot, std::span<const SlotWrite> pieces) {
  uint8_t *start = slots.data() + slot * slotStride;
  for (const SlotWrite &piece : pieces)
    std::memcpy(start + piece.offset, piece.memory, piece.size);
}

void PlanMemory::expectSlot(uint32_t slot, std::span<const SlotRange> ranges) {
  constexpr uint64_t kLeast = uint64_t(1) << 16; // below, a call costs more
  for (const SlotRange &range : ranges)
    if (range.size >= kLeast)
      slots.populate(slot * slotStride + range.offset, range.size);
}

void PlanMemory::releaseSlot(uint32_t slot, std::span<const SlotRange> ranges) {
  for (const SlotRange &range : ranges)
    slots.release(slot * slotStride + range.offset, range.size);
}
