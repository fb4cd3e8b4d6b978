#include "runtime/src/devices/PlanMemory.h"

#include "runtime/src/ModelChecks.h"
#include "runtime/src/devices/host/SystemMemory.h"

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
      product(memory.perSession, uint64_t(sessions) + 1);
  if (!slots)
    return fail(EFFC_OUT_OF_MEMORY, "the states of ", sessions,
                " sessions do not fit in 64 bits");
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

Check rt::requireKnownGpuCode(const Model &model) {
  const FileHeader &header = model.header();
  if (header.minor > FileHeader::kMinor)
    return fail(EFFC_UNSUPPORTED, "written in format ", header.major, ".",
                header.minor, ", but this runtime knows code of GPUs up to ",
                FileHeader::kMajor, ".", FileHeader::kMinor);
  return {};
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
  // Reserving more than that succeeds, and using it kills the process.
  uint64_t have = systemMemory();
  for (const Part &part : {parts[0], parts[1], parts[3]})
    if (part.size > have)
      return fail(EFFC_OUT_OF_MEMORY, part.what, " take ", part.size,
                  " bytes, but the system has ", have, " in all");
    else
      have -= part.size;
  for (Part &part : parts) {
    Result<Mapping> mapping = Mapping::anonymous(part.size, part.what);
    if (!mapping)
      return mapping.error();
    part.mapping = std::move(*mapping);
  }
  memory.slotStride = model.program().slot_bytes();
  memory.places.arena = memory.arena.data();
  memory.places.slots = memory.slots.data();
  memory.places.logits = memory.logitRows.data();
  memory.places.inputs = sizes->inputs.at(memory.inputBytes.data());
  for (uint32_t i = 0; i < model.program().weights()->size(); ++i)
    memory.places.weights.push_back(model.weight(i));
  return memory;
}

void PlanMemory::copySlot(uint32_t from, uint32_t to) {
  std::memcpy(slots.data() + to * slotStride, slots.data() + from * slotStride,
              slotStride);
}

void PlanMemory::readSlot(uint32_t slot, uint8_t *out) const {
  std::memcpy(out, slots.data() + slot * slotStride, slotStride);
}

void PlanMemory::writeSlot(uint32_t slot, const uint8_t *in) {
  std::memcpy(slots.data() + slot * slotStride, in, slotStride);
}
