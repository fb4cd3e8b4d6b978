//===- HostExecutor.h - A model with its memory, ready on the host --------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTEXECUTOR_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTEXECUTOR_H

#include "runtime/abi/HostIsas.h"
#include "runtime/abi/HostKernel.h"
#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/host/ThreadPool.h"

#include <vector>

namespace effc::rt {

class HostExecutor : public Executor {
public:
  /// `pool` outlives the executor: the engine holds the device. `only`: the level
  /// whose code runs; null: the best one.
  static Result<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Model> model, ThreadPool &pool,
         const HostIsa *only, uint32_t sessions);

  const Plan &plan() const override { return compiled; }
  const CallInputs &inputs() override { return memory.inputs(); }
  Check run(uint32_t entry, const CallCounts &counts) override;
  const float *results() override { return memory.results(); }
  void share(const HostWork &work, int64_t items) override;
  Check copySlot(uint32_t from, uint32_t to,
                 std::span<const SlotRange> ranges) override;
  Check readSlot(uint32_t slot, std::span<const SlotRead> pieces) override;
  Check writeSlot(uint32_t slot, std::span<const SlotWrite> pieces) override;
  void expectSlot(uint32_t slot, std::span<const SlotRange> ranges) override {
    memory.expectSlot(slot, ranges);
  }
  void releaseSlot(uint32_t slot, std::span<const SlotRange> ranges) override {
    memory.releaseSlot(slot, ranges);
  }
  uint64_t stateBudget() const override { return memory.stateBudget(); }
  std::string_view isa() const override { return level; }

private:
  class Call;

  HostExecutor(std::shared_ptr<const Model> model, ThreadPool &pool);
  void findKernels(uint32_t codeSegment);

  std::shared_ptr<const Model> model;
  Plan compiled;
  ThreadPool &pool;
  std::string_view level;  // of the code, as the model has it
  bool callerHelps = true; // the caller's stack is enough for every kernel

  Mapping code;
  PlanMemory memory;
  std::vector<HostKernel> kernels;
  ReadyPlan ready;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTEXECUTOR_H
