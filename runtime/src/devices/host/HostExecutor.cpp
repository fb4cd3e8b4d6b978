#include "runtime/src/devices/host/HostExecutor.h"

#include "runtime/src/devices/host/HostDevice.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

HostExecutor::HostExecutor(std::shared_ptr<const Model> given, ThreadPool &pool)
    : model(std::move(given)), compiled(hostPlan(model->program())),
      pool(pool) {}

Result<std::unique_ptr<Executor>>
HostExecutor::create(std::shared_ptr<const Model> model, ThreadPool &pool,
                     const HostIsa *only, uint32_t sessions) {
  const artifact::Program &program = model->program();
  if (Check error = requireWeights(*model))
    return *error;
  Result<uint32_t> segment = chooseHostCode(program, only);
  if (!segment)
    return segment.error();
  std::unique_ptr<HostExecutor> executor(new HostExecutor(model, pool));
  const artifact::Segment &chosen = *program.segments()->Get(*segment);
  Result<Mapping> code = model->mapCode(chosen);
  if (!code)
    return code.error();
  executor->code = std::move(*code);
  executor->level = chosen.isa()->string_view();
  Result<PlanMemory> memory =
      PlanMemory::reserve(*model, executor->compiled, sessions);
  if (!memory)
    return memory.error();
  executor->memory = std::move(*memory);
  executor->findKernels(*segment);
  executor->ready =
      resolve(program, executor->compiled, executor->memory.addresses());

  uint64_t stack = 0;
  for (const artifact::Kernel *kernel : *program.kernels())
    stack = std::max(stack, kernel->stack_bytes());
  executor->callerHelps = stack <= ThreadPool::kCallerStackBytes;
  if (!executor->callerHelps)
    if (Check error = pool.startSpareWorker())
      return *error;
  return std::unique_ptr<Executor>(std::move(executor));
}

void HostExecutor::findKernels(uint32_t codeSegment) {
  for (const artifact::Kernel *kernel : *compiled.kernels)
    for (const artifact::KernelCode *where : *kernel->code())
      if (where->segment() == codeSegment)
        kernels.push_back(reinterpret_cast<HostKernel>(
            reinterpret_cast<uintptr_t>(code.data() + where->offset())));
}

/// One call of an entry: its launches are the phases.
class HostExecutor::Call : public ThreadPool::Job {
public:
  Call(const HostExecutor &executor, const ReadyPlan::Entry &entry,
       const CallCounts &given)
      : executor(executor), first(entry.firstLaunch),
        launches(static_cast<uint32_t>(entry.endLaunch - entry.firstLaunch)),
        counts{given.rows, given.segments, given.outputs, 1},
        result(given.result) {}

  uint32_t phases() const override { return launches; }
  int64_t items(uint32_t phase) const override {
    return executor.ready.launches[first + phase].items(counts, result);
  }
  // A kernel is no C++ function: what the sanitizer of function types reads in
  // front of its entry may lie before the mapped code.
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  void run(uint32_t phase, int64_t begin, int64_t end) const override {
    const ReadyPlan::Launch &launch = executor.ready.launches[first + phase];
    int64_t start = executor.profile ? Profile::now() : 0;
    executor.kernels[launch.kernel](executor.ready.operands.data() +
                                        launch.firstOperand,
                                    counts, begin, end);
    if (executor.profile)
      executor.profile->addPart(phase, begin, end, start, Profile::now());
  }

private:
  const HostExecutor &executor;
  size_t first;
  uint32_t launches;
  int64_t counts[kCounts];
  artifact::CallResult result;
};

Check HostExecutor::run(uint32_t entry, const CallCounts &counts) {
  pool.run(Call(*this, ready.entries[entry], counts), callerHelps);
  return {};
}

namespace {
/// HostWork as a job of one phase.
class SharedWork : public ThreadPool::Job {
public:
  SharedWork(const HostWork &work, int64_t count) : work(work), count(count) {}
  uint32_t phases() const override { return 1; }
  int64_t items(uint32_t) const override { return count; }
  void run(uint32_t, int64_t begin, int64_t end) const override {
    for (int64_t item = begin; item < end; ++item)
      work.run(item);
  }

private:
  const HostWork &work;
  int64_t count;
};
} // namespace

void HostExecutor::share(const HostWork &work, int64_t items) {
  pool.run(SharedWork(work, items), callerHelps);
}

Check HostExecutor::copySlot(uint32_t from, uint32_t to,
                             std::span<const SlotRange> ranges) {
  memory.copySlot(from, to, ranges);
  return {};
}

Check HostExecutor::readSlot(uint32_t slot, std::span<const SlotRead> pieces) {
  memory.readSlot(slot, pieces);
  return {};
}

Check HostExecutor::writeSlot(uint32_t slot,
                              std::span<const SlotWrite> pieces) {
  memory.writeSlot(slot, pieces);
  return {};
}
