//===- HostExecutor.h - A model with its memory, ready on the host --------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTEXECUTOR_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTEXECUTOR_H

#include "runtime/src/Device.h"
#include "runtime/src/devices/host/HostKernel.h"
#include "runtime/src/devices/host/ThreadPool.h"

#include <vector>

namespace effc::rt {

class HostExecutor : public Executor {
public:
  /// `pool` outlives the executor: the engine holds the device.
  static Result<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Model> model, ThreadPool &pool,
         uint32_t sessions);

  const CallInputs &inputs() override { return callInputs; }
  void run(uint32_t entry, const CallCounts &counts) override;
  const float *logits() override {
    return reinterpret_cast<const float *>(logitRows.data());
  }
  void copySlot(uint32_t from, uint32_t to) override;
  void readSlot(uint32_t slot, uint8_t *out) override;
  void writeSlot(uint32_t slot, const uint8_t *in) override;

private:
  /// A launch with all addresses known; they never change.
  struct ReadyLaunch {
    HostKernel kernel;
    size_t firstOperand; // into `addresses`
    int64_t tile;
    int64_t times;
    uint32_t count; // into the counts of a call
  };
  struct ReadyEntry {
    size_t firstLaunch;
    size_t endLaunch;
  };
  class Call;

  HostExecutor(std::shared_ptr<const Model> model, ThreadPool &pool)
      : model(std::move(model)), pool(pool) {}
  Check reserve(uint32_t sessions);
  void placeInputs(uint32_t rows);
  void resolveEntries(uint32_t codeSegment);
  const void *addressOf(const artifact::Operand &operand) const;

  std::shared_ptr<const Model> model;
  ThreadPool &pool;
  bool callerHelps = true; // the caller's stack is enough for every kernel

  Mapping code;
  Mapping arena;
  Mapping slots;
  Mapping logitRows;
  Mapping inputBytes;
  CallInputs callInputs = {};

  std::vector<ReadyEntry> entries;
  std::vector<ReadyLaunch> launches;
  std::vector<const void *> addresses;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTEXECUTOR_H
