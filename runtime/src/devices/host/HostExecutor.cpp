#include "runtime/src/devices/host/HostExecutor.h"

#include "runtime/src/ModelChecks.h"
#include "runtime/src/devices/host/HostDevice.h"
#include "runtime/src/devices/host/SystemMemory.h"

#include <algorithm>
#include <cstring>

using namespace effc;
using namespace effc::rt;

/// Rows past the end of a call that kernels may still read: the widest tile.
static constexpr uint64_t kPaddingRows = 64;

/// The four numbers a kernel's `counts` points at, and the schema's Count.
static constexpr size_t kCounts = 4;
static_assert(size_t(artifact::Count::MAX) == kCounts - 1);

Result<std::unique_ptr<Executor>>
HostExecutor::create(std::shared_ptr<const Model> model, ThreadPool &pool,
                     uint32_t sessions) {
  const artifact::Program &program = model->program();
  if (!model->hasWeights())
    return fail(EFFC_UNSUPPORTED,
                "the file has no weights: it was compiled from shapes alone");
  Result<uint32_t> segment = chooseHostCode(program);
  if (!segment)
    return segment.error();
  std::unique_ptr<HostExecutor> executor(new HostExecutor(model, pool));
  Result<Mapping> code = model->mapCode(*program.segments()->Get(*segment));
  if (!code)
    return code.error();
  executor->code = std::move(*code);
  if (Check error = executor->reserve(sessions))
    return *error;
  executor->resolveEntries(*segment);

  uint64_t stack = 0;
  for (const artifact::Kernel *kernel : *program.kernels())
    stack = std::max(stack, kernel->stack_bytes());
  executor->callerHelps = stack <= ThreadPool::kCallerStackBytes;
  if (!executor->callerHelps)
    if (Check error = pool.startSpareWorker())
      return *error;
  return std::unique_ptr<Executor>(std::move(executor));
}

Check HostExecutor::reserve(uint32_t sessions) {
  const artifact::Program &program = model->program();
  Memory memory = memoryOf(program, hostPlan(program));
  std::optional<uint64_t> slotBytes =
      product(memory.perSession, uint64_t(sessions) + 1);
  if (!slotBytes)
    return fail(EFFC_OUT_OF_MEMORY, "the states of ", sessions,
                " sessions do not fit in 64 bits");
  uint64_t rows = mostRows(hostPlan(program)) + kPaddingRows;
  uint64_t inputSize =
      rows * (2 * sizeof(int64_t) + sizeof(artifact::SegmentRecord) +
              3 * sizeof(int32_t));
  struct Part {
    Mapping &mapping;
    uint64_t size;
    const char *what;
  } parts[] = {{arena, memory.arena, "the arena"},
               {slots, *slotBytes, "the states of all sessions"},
               {logitRows, memory.logits, "logits"},
               {inputBytes, inputSize, "the inputs of a call"}};
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
  placeInputs(static_cast<uint32_t>(rows));
  return {};
}

/// Lays the arrays out one after another, those of 8-byte elements first.
void HostExecutor::placeInputs(uint32_t rows) {
  uint8_t *at = inputBytes.data();
  auto take = [&](auto *&array) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(at);
    at += rows * sizeof(*array);
  };
  take(callInputs.rowPositions);
  take(callInputs.segments);
  take(callInputs.tokens);
  take(callInputs.rowSlots);
  take(callInputs.outputRows);
}

const void *HostExecutor::addressOf(const artifact::Operand &operand) const {
  const artifact::Program &program = model->program();
  switch (operand.kind()) {
  case artifact::OperandKind::Arena:
    return arena.data() + operand.offset();
  case artifact::OperandKind::Weight:
    return model->weight(operand.index()) + operand.offset();
  case artifact::OperandKind::State:
    return slots.data() +
           program.states()->Get(operand.index())->slot_offset() +
           operand.offset();
  case artifact::OperandKind::Tokens:
    return callInputs.tokens;
  case artifact::OperandKind::RowSlots:
    return callInputs.rowSlots;
  case artifact::OperandKind::RowPositions:
    return callInputs.rowPositions;
  case artifact::OperandKind::Segments:
    return callInputs.segments;
  case artifact::OperandKind::OutputRows:
    return callInputs.outputRows;
  case artifact::OperandKind::Logits:
    return logitRows.data();
  }
  return nullptr; // the loader has refused such an operand
}

void HostExecutor::resolveEntries(uint32_t codeSegment) {
  const artifact::Program &program = model->program();
  std::vector<HostKernel> kernels;
  for (const artifact::Kernel *kernel : *program.kernels())
    for (const artifact::KernelCode *where : *kernel->code())
      if (where->segment() == codeSegment)
        kernels.push_back(reinterpret_cast<HostKernel>(
            reinterpret_cast<uintptr_t>(code.data() + where->offset())));
  for (const artifact::Entry *entry : *program.entries()) {
    ReadyEntry ready = {launches.size(), 0};
    for (const artifact::Launch *launch : *entry->launches()) {
      const artifact::Items &items = *launch->items();
      launches.push_back({kernels[launch->kernel()], addresses.size(),
                          items.tile(), items.times(),
                          static_cast<uint32_t>(items.count())});
      for (const artifact::Operand *operand : *launch->operands())
        addresses.push_back(addressOf(*operand));
    }
    ready.endLaunch = launches.size();
    entries.push_back(ready);
  }
}

/// One call of an entry: its launches are the phases.
class HostExecutor::Call : public ThreadPool::Job {
public:
  Call(const HostExecutor &executor, const ReadyEntry &entry,
       const CallCounts &given)
      : executor(executor), first(entry.firstLaunch),
        launches(static_cast<uint32_t>(entry.endLaunch - entry.firstLaunch)),
        counts{given.rows, given.segments, given.outputs, 1} {}

  uint32_t phases() const override { return launches; }
  int64_t items(uint32_t phase) const override {
    const ReadyLaunch &launch = executor.launches[first + phase];
    int64_t tiles = (counts[launch.count] + launch.tile - 1) / launch.tile;
    return tiles * launch.times; // at most 2^16 * 2^32
  }
  // A kernel is no C++ function: what the sanitizer of function types reads in
  // front of its entry may lie before the mapped code.
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  void run(uint32_t phase, int64_t begin, int64_t end) const override {
    const ReadyLaunch &launch = executor.launches[first + phase];
    launch.kernel(executor.addresses.data() + launch.firstOperand, counts,
                  begin, end);
  }

private:
  const HostExecutor &executor;
  size_t first;
  uint32_t launches;
  int64_t counts[kCounts];
};

void HostExecutor::run(uint32_t entry, const CallCounts &counts) {
  pool.run(Call(*this, entries[entry], counts), callerHelps);
}

void HostExecutor::copySlot(uint32_t from, uint32_t to) {
  uint64_t bytes = model->program().slot_bytes();
  std::memcpy(slots.data() + to * bytes, slots.data() + from * bytes, bytes);
}

void HostExecutor::readSlot(uint32_t slot, uint8_t *out) {
  uint64_t bytes = model->program().slot_bytes();
  std::memcpy(out, slots.data() + slot * bytes, bytes);
}

void HostExecutor::writeSlot(uint32_t slot, const uint8_t *in) {
  uint64_t bytes = model->program().slot_bytes();
  std::memcpy(slots.data() + slot * bytes, in, bytes);
}
