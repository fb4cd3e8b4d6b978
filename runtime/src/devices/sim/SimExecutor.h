//===- SimExecutor.h - A model on a simulated GPU -------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_SIMEXECUTOR_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_SIMEXECUTOR_H

#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/host/ThreadPool.h"
#include "runtime/src/devices/sim/SimBlock.h"

#include <mutex>

namespace effc::rt {

class SimExecutor : public Executor {
public:
  /// `pool` outlives the executor: the engine holds the device.
  static Result<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Model> model, const Plan &plan, ThreadPool &pool,
         uint32_t sessions);

  const Plan &plan() const override { return compiled; }
  const CallInputs &inputs() override { return memory.inputs(); }
  Check run(uint32_t entry, const CallCounts &counts) override;
  const float *results() override { return memory.results(); }
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

  /// How often a thread has been switched to, over all calls.
  uint64_t switches() const;

private:
  class Call;

  SimExecutor(std::shared_ptr<const Model> model, const Plan &plan,
              ThreadPool &pool)
      : model(std::move(model)), compiled(plan), pool(pool) {}
  Check mapKernels();
  Check makeBlocks();
  void findRanges(uint32_t sessions);
  void placeOperands();
  std::unique_ptr<SimBlock> takeBlock();
  void giveBlock(std::unique_ptr<SimBlock> block);

  std::shared_ptr<const Model> model;
  Plan compiled;
  ThreadPool &pool;

  std::vector<Mapping> code;
  PlanMemory memory;
  std::vector<SimKernel> kernels;
  ReadyPlan ready;
  std::vector<std::vector<OperandRange>> ranges; // of each launch
  std::vector<SimBoxMap> boxMaps;
  /// Of each launch: operands, then its box maps.
  std::vector<std::vector<const void *>> operands;
  LaunchWatch watch;

  std::mutex blocksGuard;
  std::vector<std::unique_ptr<SimBlock>> blocks; // that no thread uses now
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_SIMEXECUTOR_H
