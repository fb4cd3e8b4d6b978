//===- Device.h - What the engine asks of a place to run on ---------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICE_H
#define EFFC_RUNTIME_SRC_DEVICE_H

#include "runtime/src/Error.h"
#include "runtime/src/HeldStates.h"
#include "runtime/src/HostWork.h"
#include "runtime/src/Model.h"
#include "runtime/src/Profile.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

/// The inputs of one packed call, in memory that the executor owns and the
/// engine fills. Every array has room for the rows of the largest entry.
struct CallInputs {
  int32_t *tokens;                   // [rows]
  int32_t *rowSlots;                 // [rows]
  int64_t *rowPositions;             // [rows]
  artifact::SegmentRecord *segments; // [segments]
  int32_t *outputRows;               // [outputs], ascending
  artifact::DrawRecord *draws;       // [outputs], of calls that give choices
};

struct CallCounts {
  int64_t rows;
  int64_t segments;
  int64_t outputs;
  /// What is wanted of the output rows: logits or, of an entry that gives them,
  /// choices.
  artifact::CallResult result = artifact::CallResult::Logits;
};

/// One output row's choice: two f32 in a row of their own.
struct Choice {
  float logit; // or a sum of one with noise; NaN where one of the row is
  float token; // a whole number

  /// The token, or -1 where the logits are no numbers or all minus infinity;
  /// none where the vocabulary has no such token.
  std::optional<int32_t> id(uint64_t vocabulary) const;
};

/// Told how many bytes of how many have been brought to a device.
struct UploadProgress {
  void (*report)(void *user, uint64_t done, uint64_t total) = nullptr;
  void *user = nullptr;
};

/// How the launches of a call are timed.
struct TimingOptions {
  uint32_t warmUps = 3;
  uint32_t runs = 30;
  /// Before each thing that is timed so many bytes are written elsewhere, so
  /// that no cache holds what it reads; 0: they are timed as they come.
  uint64_t flushBytes = 0;
};

/// Seconds by the clock of a device, of each run.
struct CallTimes {
  std::vector<std::vector<double>> launches; // one list for each launch
  std::vector<double> calls;                 // all launches, one behind another
  std::vector<double> nothing;               // what timing nothing takes
};

/// A model made ready on a device with memory for a number of sequences. Used
/// by one thread at a time.
class Executor {
public:
  virtual ~Executor() = default;

  /// What it runs: entries are counted in it.
  virtual const Plan &plan() const = 0;
  virtual const CallInputs &inputs() = 0;
  /// Runs entry `entry` over what inputs() holds; blocks until it is done.
  /// After a failure the states of the slots it names hold anything.
  virtual Check run(uint32_t entry, const CallCounts &counts) = 0;
  /// What the last call gave: logits, f32 [outputs, vocabulary], or choices,
  /// f32 [outputs, 2].
  virtual const float *results() = 0;
  /// Does items 0 to `items` - 1, by several threads where it has them.
  virtual void share(const HostWork &work, int64_t items) {
    for (int64_t item = 0; item < items; ++item)
      work.run(item);
  }
  /// Makes these stretches of slot `to` what they are in slot `from`.
  virtual Check copySlot(uint32_t from, uint32_t to,
                         std::span<const SlotRange> ranges) = 0;
  /// Stretches of a slot to and from the host's memory.
  virtual Check readSlot(uint32_t slot, std::span<const SlotRead> pieces) = 0;
  virtual Check writeSlot(uint32_t slot, std::span<const SlotWrite> pieces) = 0;
  /// Says that these stretches of a slot are going to be written.
  virtual void expectSlot(uint32_t slot, std::span<const SlotRange> ranges) {}
  /// Gives back the memory of these stretches where it was committed by need;
  /// they hold anything from then on.
  virtual void releaseSlot(uint32_t slot, std::span<const SlotRange> ranges) {}
  /// The most bytes that states may commit by and by; the largest number where
  /// all of their memory has been taken.
  virtual uint64_t stateBudget() const { return UINT64_MAX; }

  /// Runs the launches of a call over what inputs() holds, again and again, and
  /// times them. The states of the slots it names hold anything afterwards.
  virtual Check time(uint32_t entry, const CallCounts &counts,
                     const TimingOptions &options, CallTimes &out) {
    return fail(EFFC_UNSUPPORTED, "this device keeps no time");
  }
  /// From now on run() keeps the time of each call, inputs and logits included.
  virtual Check keepTime() {
    return fail(EFFC_UNSUPPORTED, "this device keeps no time");
  }
  /// What calls have taken since keepTime(), if that was asked for.
  virtual std::optional<double> keptSeconds() const { return std::nullopt; }

  /// From now on run() tells `told` what its launches do; null: nobody.
  void setProfile(Profile *told) { profile = told; }

  /// The instruction set of the code that runs: "x86-64-v4", "sm_90a".
  virtual std::string_view isa() const { return plan().name; }

  /// What is not as one would expect of how the model runs, or "".
  virtual const std::string &note() const {
    static const std::string none;
    return none;
  }

protected:
  Profile *profile = nullptr;
};

class Device {
public:
  virtual ~Device() = default;
  virtual const std::string &description() const = 0;
  /// Threads of the host that work for it.
  virtual uint32_t threads() const = 0;

  /// Fails, with the reason, when the file has nothing that runs here.
  virtual Check accepts(const Model &model) const = 0;
  /// Reserves the slots of `sessions` sequences, and one more if slotsFor()
  /// says that padding rows need it.
  virtual Result<std::unique_ptr<Executor>>
  prepare(std::shared_ptr<const Model> model, uint32_t sessions,
          const UploadProgress &progress) = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICE_H
