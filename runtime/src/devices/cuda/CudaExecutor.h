//===- CudaExecutor.h - A model on a GPU ----------------------------------===//
//
// Everything has its place when the executor is made: weights, states, arena,
// inputs and logits on the GPU, inputs and the logits of decoding in pinned
// memory of the host. A call copies its inputs, launches its kernels and copies
// its logits back, all in the order of one stream. A decode call does the same
// every time, so it is recorded as a graph when it is first made and replayed
// from then on.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAEXECUTOR_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAEXECUTOR_H

#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/cuda/CudaBoxMaps.h"
#include "runtime/src/devices/cuda/CudaClock.h"
#include "runtime/src/devices/cuda/CudaGraphs.h"
#include "runtime/src/devices/cuda/CudaModules.h"
#include "runtime/src/devices/cuda/CudaProducts.h"
#include "runtime/src/devices/cuda/CudaSwitches.h"

#include <functional>

namespace effc::rt {

class CudaExecutor : public Executor {
public:
  static Result<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Model> model, std::vector<CudaChoice> choices,
         std::shared_ptr<const CudaContext> context, const CudaChip &chip,
         CublasLtOnDemand &libraries, uint32_t sessions,
         const UploadProgress &progress);

  const Plan &plan() const override { return compiled; }
  const CallInputs &inputs() override { return callInputs; }
  Check run(uint32_t entry, const CallCounts &counts) override;
  const float *results() override { return lastResults; }
  Check copySlot(uint32_t from, uint32_t to,
                 std::span<const SlotRange> ranges) override;
  Check readSlot(uint32_t slot, std::span<const SlotRead> pieces) override;
  Check writeSlot(uint32_t slot, std::span<const SlotWrite> pieces) override;
  Check time(uint32_t entry, const CallCounts &counts,
             const TimingOptions &options, CallTimes &out) override;
  Check keepTime() override;
  std::optional<double> keptSeconds() const override { return kept; }
  std::string_view isa() const override { return code; }
  const std::string &note() const override { return text; }

private:
  CudaExecutor(std::shared_ptr<const Model> model, const Plan &plan,
               std::shared_ptr<const CudaContext> context)
      : model(std::move(model)), compiled(plan), context(std::move(context)) {}
  const CudaDriver &driver() const { return context->driver(); }

  Check reserve(uint32_t sessions);
  Check requireFree(uint64_t weights, const PlanSizes &sizes) const;
  Check uploadWeights(const UploadProgress &progress);
  Check enqueue(uint32_t entry, const CallCounts &counts, float *resultsTo);
  Check uploadInputs();
  Check launchAll(uint32_t entry, int64_t (&counts)[kCounts],
                  artifact::CallResult result);
  /// `behindLaunch`: what is in the stream before it is a launch of the call.
  Check launch(uint32_t entry, uint32_t index, bool behindLaunch,
               int64_t (&counts)[kCounts]);
  /// Puts a launch that is the library's into the stream.
  Check multiply(uint32_t entry, uint32_t index, const int64_t *counts);
  Check finish(const std::string &what);
  /// What `error` says, once the stream has nothing left to do: what was put
  /// into it before a failure reads and writes memory of the host.
  Check abandon(Check error);
  Check runCall(uint32_t entry, const CallCounts &counts);
  Check timeCall(uint32_t entry, const CallCounts &counts,
                 const TimingOptions &options, CallTimes &out);
  Check reportLaunches(uint32_t entry, const CallCounts &counts);
  Check replay(uint32_t entry, const CallCounts &counts);
  Check warmUp(uint32_t entry, const CallCounts &counts);
  Check record(uint32_t entry, const CallCounts &counts,
               CudaOwned<cuda::GraphExec> &graph);
  std::string nameOf(uint32_t entry, uint32_t launch) const;
  const artifact::Launch &launchOf(uint32_t entry, uint32_t index) const;
  cuda::Pointer slot(uint32_t index) const;
  template <typename Stretch>
  Check moveAll(const char *what, std::span<const Stretch> stretches,
                const std::function<cuda::Result(const Stretch &)> &queue);

  std::shared_ptr<const Model> model;
  Plan compiled;
  std::shared_ptr<const CudaContext> context;
  std::string code; // "sm_90a", "compute_80"
  std::string text; // of note()
  CudaSwitches switches;

  CudaModules modules;
  CudaOwned<cuda::Stream> stream;
  DeviceMemory weights, arena, slots, deviceLogits, deviceInputs;
  PinnedMemory inputBytes, decodeLogits;
  Mapping prefillLogits;
  uint64_t inputSize = 0;
  CallInputs callInputs = {};
  float *lastResults = nullptr;
  ReadyPlan ready;
  CudaBoxMaps boxMaps;
  CudaProducts products;
  CudaStopwatch watch; // of calls, where their time is kept
  CudaMarks marks;     // of launches, where a profile is kept
  std::optional<double> kept;
  /// More than the shapes that decode entries and batches usually have.
  CudaGraphs graphs{512};
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAEXECUTOR_H
