#include "runtime/src/devices/sim/GlobalMemory.h"

#include "runtime/src/devices/sim/Fault.h"

#include <optional>

using namespace effc;
using namespace effc::rt;

bool OperandRange::holds(uintptr_t address, uint64_t size) const {
  if (address < start)
    return false;
  uint64_t offset = address - start;
  if (count > 1) {
    if (offset / stride >= count)
      return false;
    offset %= stride;
  }
  return size <= bytes && offset <= bytes - size;
}

static OperandRange rangeOf(const artifact::Program &program,
                            const artifact::Entry &entry,
                            const artifact::Operand &operand,
                            std::optional<uint64_t> inBuffer, uint64_t slots) {
  OperandRange range;
  // Rows past the call's are padding, which the engine fills.
  auto rows = [&](const char *what, uint64_t each) {
    range.what = what;
    range.bytes = entry.rows() * each;
  };
  auto counted = [&](const char *what, artifact::Count count, uint64_t each) {
    range.what = what;
    range.countedBy = static_cast<int>(count);
    range.each = each;
  };
  switch (operand.kind()) {
  case artifact::OperandKind::Arena:
    range.what = inBuffer ? "a buffer of the arena" : "the arena";
    range.bytes = inBuffer.value_or(entry.arena_bytes() - operand.offset());
    range.writable = true;
    break;
  case artifact::OperandKind::Weight: {
    const artifact::Weight &weight = *program.weights()->Get(operand.index());
    range.what = "weight '" + weight.name()->str() + "'";
    range.bytes = weight.size() - operand.offset();
    break;
  }
  case artifact::OperandKind::State: {
    const artifact::State &state = *program.states()->Get(operand.index());
    range.what = "state '" + state.name()->str() + "'";
    range.bytes = state.size() - operand.offset();
    range.stride = program.slot_bytes();
    range.count = slots;
    range.writable = true;
    break;
  }
  case artifact::OperandKind::Tokens:
    rows("the tokens", sizeof(int32_t));
    break;
  case artifact::OperandKind::RowSlots:
    rows("the rows' slots", sizeof(int32_t));
    break;
  case artifact::OperandKind::RowPositions:
    rows("the rows' positions", sizeof(int64_t));
    break;
  case artifact::OperandKind::Segments:
    counted("the segments", artifact::Count::Segments,
            sizeof(artifact::SegmentRecord));
    break;
  case artifact::OperandKind::OutputRows:
    counted("the output rows", artifact::Count::Outputs, sizeof(int32_t));
    break;
  case artifact::OperandKind::Draws:
    counted("the draws", artifact::Count::Outputs,
            sizeof(artifact::DrawRecord));
    break;
  case artifact::OperandKind::Logits:
    counted("the logits", artifact::Count::Outputs,
            rowWidth(program) * sizeof(float));
    range.writable = true;
    break;
  case artifact::OperandKind::Choices:
    counted("the choices", artifact::Count::Outputs, sizeof(Choice));
    range.writable = true;
    break;
  }
  return range;
}

std::vector<OperandRange> rt::rangesOf(const artifact::Program &program,
                                       const artifact::Entry &entry,
                                       const artifact::Launch &launch,
                                       const PlanAddresses &addresses,
                                       uint64_t slots) {
  std::vector<OperandRange> ranges;
  for (uint32_t i = 0; i < launch.operands()->size(); ++i) {
    const artifact::Operand &operand = *launch.operands()->Get(i);
    std::optional<uint64_t> inBuffer;
    if (launch.operand_bytes())
      inBuffer = launch.operand_bytes()->Get(i);
    ranges.push_back(rangeOf(program, entry, operand, inBuffer, slots));
    ranges.back().start =
        reinterpret_cast<uintptr_t>(addresses.of(program, operand));
  }
  return ranges;
}

void rt::setCounts(std::span<OperandRange> ranges, const int64_t *counts) {
  for (OperandRange &range : ranges)
    if (range.countedBy >= 0)
      range.bytes = static_cast<uint64_t>(counts[range.countedBy]) * range.each;
}

/// The operand that an access outside of all was meant for, most likely: the
/// one with the nearest start before it.
static Fault explain(std::span<const OperandRange> ranges, uintptr_t address,
                     uint32_t bytes, bool write) {
  const OperandRange *nearest = nullptr;
  for (const OperandRange &range : ranges)
    if (range.start <= address && (!nearest || range.start > nearest->start))
      nearest = &range;
  const char *verb = write ? "writes " : "reads ";
  auto say = [](const auto &...parts) { return rt::say(parts...); };
  if (!nearest)
    return say(verb, bytes, " bytes at ",
               reinterpret_cast<const void *>(address),
               ", before all operands of the launch");
  uint64_t offset = address - nearest->start;
  auto index = nearest - ranges.data();
  if (nearest->count > 1 && offset / nearest->stride < nearest->count)
    return say(verb, bytes, " bytes at byte ", offset % nearest->stride,
               " of operand ", index, " (", nearest->what, " of slot ",
               offset / nearest->stride, "), which has ", nearest->bytes);
  return say(verb, bytes, " bytes at byte ", offset, " of operand ", index,
             " (", nearest->what, "), which has ", nearest->bytes);
}

const OperandRange *rt::findRange(std::span<const OperandRange> ranges,
                                  const void *address, uint32_t bytes,
                                  bool write) {
  auto at = reinterpret_cast<uintptr_t>(address);
  for (const OperandRange &range : ranges)
    if ((!write || range.writable) && range.holds(at, bytes))
      return &range;
  return nullptr;
}

Fault rt::describeAccess(std::span<const OperandRange> ranges,
                         const OperandRange &range, const void *address,
                         uint32_t bytes, bool write) {
  return fail(EFFC_DEVICE_ERROR, write ? "writes " : "reads ", bytes,
              " bytes at byte ",
              reinterpret_cast<uintptr_t>(address) - range.start,
              " of operand ", &range - ranges.data(), " (", range.what, ")")
      .message;
}

Fault rt::explainAccess(std::span<const OperandRange> ranges,
                        const void *address, uint32_t bytes, bool write) {
  if (const OperandRange *readOnly =
          write ? findRange(ranges, address, bytes, false) : nullptr)
    return describeAccess(ranges, *readOnly, address, bytes, write) +
           ", which is only read";
  return explain(ranges, reinterpret_cast<uintptr_t>(address), bytes, write);
}
