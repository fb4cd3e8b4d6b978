#include "runtime/src/devices/sim/SimExecutor.h"

#include "runtime/src/ModelChecks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

using namespace effc;
using namespace effc::rt;

Result<std::unique_ptr<Executor>>
SimExecutor::create(std::shared_ptr<const Model> model, const Plan &plan,
                    ThreadPool &pool, uint32_t sessions) {
  if (Check error = requireWeights(*model))
    return *error;
  std::unique_ptr<SimExecutor> executor(new SimExecutor(model, plan, pool));
  if (Check error = executor->mapKernels())
    return *error;
  Result<PlanMemory> memory = PlanMemory::reserve(*model, plan, sessions);
  if (!memory)
    return memory.error();
  executor->memory = std::move(*memory);
  executor->ready =
      resolve(model->program(), plan, executor->memory.addresses());
  executor->findRanges(sessions);
  executor->placeOperands();
  if (Check error = executor->makeBlocks())
    return *error;
  return std::unique_ptr<Executor>(std::move(executor));
}

Check SimExecutor::mapKernels() {
  std::map<uint32_t, const uint8_t *> starts; // of segments
  for (const artifact::Kernel *kernel : *compiled.kernels) {
    if (kernel->code()->size() == 0)
      return fail(EFFC_UNSUPPORTED, "kernel '", kernel->name()->string_view(),
                  "' has no code for ", compiled.name);
    const artifact::KernelCode &where = *kernel->code()->Get(0);
    if (!starts.count(where.segment())) {
      Result<Mapping> mapped =
          model->mapCode(*model->program().segments()->Get(where.segment()));
      if (!mapped)
        return mapped.error();
      starts[where.segment()] = mapped->data();
      code.push_back(std::move(*mapped));
    }
    kernels.push_back(reinterpret_cast<SimKernel>(
        reinterpret_cast<uintptr_t>(starts[where.segment()] + where.offset())));
  }
  return {};
}

void SimExecutor::findRanges(uint32_t sessions) {
  for (const artifact::Entry *entry : *compiled.entries)
    for (const artifact::Launch *launch : *entry->launches())
      ranges.push_back(rangesOf(model->program(), *entry, *launch,
                                memory.addresses(),
                                slotsFor(compiled, sessions)));
}

void SimExecutor::placeOperands() {
  std::vector<size_t> firstMaps;
  auto kernelOf = [&](const ReadyPlan::Launch &launch) -> const auto & {
    return *compiled.kernels->Get(launch.kernel);
  };
  for (const ReadyPlan::Launch &launch : ready.launches) {
    firstMaps.push_back(boxMaps.size());
    if (const auto *maps = kernelOf(launch).box_maps())
      for (const artifact::BoxMap *map : *maps)
        boxMaps.push_back({ready.operands[launch.firstOperand + map->operand()],
                           map->rows(), map->columns(), map->pitch(),
                           map->box_rows(), map->box_columns(),
                           static_cast<uint32_t>(elementBytes(map->type()))});
  }
  firstMaps.push_back(boxMaps.size());
  for (size_t i = 0; i < ready.launches.size(); ++i) {
    auto first = ready.operands.begin() +
                 static_cast<ptrdiff_t>(ready.launches[i].firstOperand);
    std::vector<const void *> &passed = operands.emplace_back(
        first, first + kernelOf(ready.launches[i]).operands());
    for (size_t map = firstMaps[i]; map < firstMaps[i + 1]; ++map)
      passed.push_back(&boxMaps[map]);
  }
}

/// One for each thread that may run blocks.
Check SimExecutor::makeBlocks() {
  uint32_t threads = kWarpThreads, sharedBytes = 0;
  uint64_t stack = 0;
  for (const artifact::Kernel *kernel : *compiled.kernels) {
    threads = std::max(threads, kernel->threads());
    sharedBytes = std::max(sharedBytes, kernel->shared_bytes());
    stack = std::max(stack, kernel->stack_bytes());
  }
  for (unsigned i = 0; i < pool.threads(); ++i) {
    auto block = SimBlock::create(threads, sharedBytes, stack);
    if (!block)
      return block.error();
    blocks.push_back(std::move(*block));
  }
  return {};
}

std::unique_ptr<SimBlock> SimExecutor::takeBlock() {
  std::lock_guard<std::mutex> lock(blocksGuard);
  std::unique_ptr<SimBlock> block = std::move(blocks.back());
  blocks.pop_back();
  return block;
}

void SimExecutor::giveBlock(std::unique_ptr<SimBlock> block) {
  std::lock_guard<std::mutex> lock(blocksGuard);
  blocks.push_back(std::move(block));
}

uint64_t SimExecutor::switches() const {
  uint64_t sum = 0;
  for (const auto &block : blocks)
    sum += block->switches();
  return sum;
}

/// One call of an entry: its launches are the phases, their blocks the items.
/// Of the first launch that fails the first block reports, whichever thread it
/// runs on, or of two that meet the one that ends later; launches behind it do
/// not run.
class SimExecutor::Call : public ThreadPool::Job {
public:
  Call(SimExecutor &executor, uint32_t entry, const CallCounts &given)
      : executor(executor), entry(executor.ready.entries[entry]),
        counts{given.rows, given.segments, given.outputs, 1},
        result(given.result) {
    for (size_t i = this->entry.firstLaunch; i < this->entry.endLaunch; ++i)
      setCounts(executor.ranges[i], counts);
  }

  uint32_t phases() const override {
    return static_cast<uint32_t>(entry.endLaunch - entry.firstLaunch);
  }
  int64_t items(uint32_t phase) const override {
    return executor.ready.launches[entry.firstLaunch + phase].items(counts,
                                                                    result);
  }

  void run(uint32_t phase, int64_t begin, int64_t end) const override {
    if (failedPhase.load() < phase)
      return;
    size_t number = entry.firstLaunch + phase;
    const ReadyPlan::Launch &launch = executor.ready.launches[number];
    const artifact::Kernel &kernel =
        *executor.compiled.kernels->Get(launch.kernel);
    SimLaunch given = {executor.kernels[launch.kernel],
                       kernel.threads(),
                       kernel.shared_bytes(),
                       executor.operands[number].data(),
                       counts,
                       executor.ranges[number],
                       &executor.watch,
                       kernel.overlaps()};
    int64_t start = executor.profile ? Profile::now() : 0;
    executor.watch.enter(phase);
    std::unique_ptr<SimBlock> block = executor.takeBlock();
    for (int64_t i = begin; i < end && i < failedBlock.load(); ++i)
      if (auto report = block->run(given, static_cast<uint32_t>(i)))
        keep(phase, i, std::move(*report));
    executor.giveBlock(std::move(block));
    if (executor.profile)
      executor.profile->addPart(phase, begin, end, start, Profile::now());
  }

  bool failed() const { return failedPhase.load() != UINT32_MAX; }
  uint32_t phase() const { return failedPhase.load(); }
  int64_t block() const { return failedBlock.load(); }
  const SimReport &report() const { return first; }

private:
  void keep(uint32_t phase, int64_t block, SimReport report) const {
    std::lock_guard<std::mutex> lock(guard);
    if (block >= failedBlock.load())
      return;
    failedBlock = block;
    failedPhase = phase;
    first = std::move(report);
  }

  SimExecutor &executor;
  ReadyPlan::Entry entry;
  int64_t counts[kCounts];
  artifact::CallResult result;
  mutable std::mutex guard;
  mutable std::atomic<uint32_t> failedPhase{UINT32_MAX};
  mutable std::atomic<int64_t> failedBlock{INT64_MAX};
  mutable SimReport first;
};

Check SimExecutor::run(uint32_t entry, const CallCounts &counts) {
  // What a call has not written itself is nothing: NaN as floats.
  const artifact::Entry &started = *compiled.entries->Get(entry);
  std::memset(memory.addresses().arena, 0xFF, started.arena_bytes());
  watch.beginCall();
  Call call(*this, entry, counts);
  pool.run(call, /*onCaller=*/true);
  if (!call.failed())
    return {};
  const artifact::Launch &launch = *started.launches()->Get(call.phase());
  std::string_view note;
  if (launch.note())
    note = launch.note()->string_view();
  const SimReport &report = call.report();
  return fail(EFFC_DEVICE_ERROR, compiled.name, ": kernel '",
              compiled.kernels->Get(launch.kernel())->name()->string_view(),
              "' (launch ", call.phase(), " of entry '",
              started.name()->string_view(), "', '", note, "'), block ",
              call.block(), ", thread ", report.thread, ", at '", report.site,
              "': ", report.what);
}

Check SimExecutor::copySlot(uint32_t from, uint32_t to,
                            std::span<const SlotRange> ranges) {
  memory.copySlot(from, to, ranges);
  return {};
}

Check SimExecutor::readSlot(uint32_t slot, std::span<const SlotRead> pieces) {
  memory.readSlot(slot, pieces);
  return {};
}

Check SimExecutor::writeSlot(uint32_t slot, std::span<const SlotWrite> pieces) {
  memory.writeSlot(slot, pieces);
  return {};
}
