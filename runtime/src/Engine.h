//===- Engine.h - Sessions scheduled over the compiled entries ------------===//
#ifndef EFFC_RUNTIME_SRC_ENGINE_H
#define EFFC_RUNTIME_SRC_ENGINE_H

#include "runtime/src/CodeNames.h"
#include "runtime/src/Counters.h"
#include "runtime/src/Device.h"
#include "runtime/src/Packing.h"
#include "runtime/src/Sampler.h"
#include "runtime/src/StateCopies.h"

#include <memory>
#include <span>
#include <vector>

namespace effc::rt {

class Engine;

/// One sequence. Which slot holds its states, and how many tokens it has taken:
/// at position 0 a call starts from neutral states whatever the slot holds.
struct Session {
  std::shared_ptr<Engine> engine;
  uint32_t slot;
  uint64_t position = 0;
  /// The code by which it took them.
  CodeNames codes = {};
  /// A device failed while it advanced the sequence: its states are anything.
  bool lost = false;
};

class Engine {
public:
  static Result<std::shared_ptr<Engine>>
  create(std::shared_ptr<const Model> model, std::shared_ptr<Device> device,
         uint32_t maxSessions, const UploadProgress &progress = {});

  const Model &model() const { return *artifact; }

  /// From now on the device's time is kept, where it keeps one.
  void keepTime() { executor->keepTime(); }
  std::optional<double> deviceSeconds() const {
    return executor->keptSeconds();
  }

  /// The instruction set of the code that runs; a string that ends with a zero.
  const char *isa() const { return executor->isa().data(); }

  /// What is not as one would expect of how the model runs, or "".
  const std::string &note() const { return executor->note(); }

  /// From now on a timeline is kept, in place of an earlier one.
  void startProfile(size_t mostParts) {
    stopProfile();
    profile = std::make_unique<Profile>(mostParts);
    executor->setProfile(profile.get());
  }
  /// The timeline so far, which ends; null where there is none.
  std::unique_ptr<Profile> stopProfile() {
    executor->setProfile(nullptr);
    return std::move(profile);
  }

  const Plan &plan() const { return executor->plan(); }
  const Counters &counters() const { return work; }

  const std::shared_ptr<const Model> &sharedModel() const { return artifact; }
  uint32_t mostSessions() const {
    return static_cast<uint32_t>(lastSeen.size());
  }
  /// What a sequence of so many tokens fills, and what all may.
  uint64_t bytesOf(uint64_t tokens) const { return held.bytes(tokens); }
  uint64_t stateBudget() const;
  /// Prompts that are cut on multiples of it are cut nowhere else than alone.
  uint64_t grid() const;
  uint32_t mostPrefillRows() const { return prefillPacker->mostRows(); }

  /// Takes a free slot, or fails when all are taken.
  Result<uint32_t> takeSlot();
  /// The slot is free, and what the sequence has filled of it given back. `staysWarm`:
  /// its memory waits for the next sequence, until another slot's does or memory is
  /// needed.
  void giveSlot(uint32_t slot, bool staysWarm = false);
  /// Gives back what waits.
  void coolDown();
  /// Puts the sequence back to position 0, and gives back what grew with it.
  void reset(Session &session);
  /// Fails where the sequence could not take `count` more tokens, for its context
  /// or for memory.
  Check accepts(const Session &session, uint64_t count) const;
  /// Makes `to` continue as `from` would.
  Check copy(const Session &from, Session &to);
  /// What rewind() needs to take back up to `count` tokens that are fed next, at most
  /// copyLayout().mostTakenBack().
  Result<CopiedStates> mark(const Session &session, uint64_t count);
  /// Takes back what was fed since `mark`, but for `kept` tokens where nothing is
  /// fixed.
  Check rewind(Session &session, const CopiedStates &mark, uint64_t kept);
  /// Takes the last `count` tokens back, by way of `mark`, or null, where states do
  /// not go back by themselves: effc_session_rewind().
  Check takeBack(Session &session, uint64_t count, const CopiedStates *mark);
  /// A sequence as the bytes of a state file, and back (StateFile.h). A load
  /// that fails leaves the session as it was.
  Result<std::vector<uint8_t>> save(const Session &session);
  /// How many bytes that are.
  Result<uint64_t> sizeToSave(const Session &session) const;
  Check load(Session &session, std::span<const uint8_t> bytes);
  /// What copies of sequences have of their slots.
  const CopyLayout &copyLayout() const { return copies; }
  /// A copy of the sequence's states, with the rows of tokens from `first` on.
  Result<CopiedStates> copyOut(const Session &session, uint64_t first = 0);
  /// Makes `session` the sequence that `from`, all of it, was copied from, on
  /// whichever device. One that fails for memory leaves the session as it was.
  Check restore(Session &session, const CopiedStates &from);

  /// `prompts` are structs of the caller's header, one after another.
  Check prefill(const effc_prompt_t *prompts, size_t count);
  Check decode(std::span<effc_session_t *const> sessions,
               std::span<const int32_t> tokens, float *outLogits);
  /// The same, but of each row of logits the token of the largest (Choice::id).
  Check decodeBest(std::span<effc_session_t *const> sessions,
                   std::span<const int32_t> tokens, int32_t *outTokens);
  /// EFFC_UNSUPPORTED: calls give hidden states, from which no token is drawn.
  Check requireLogits() const;
  /// The same, but the token that a sampler of its own draws from each row, -1
  /// where it draws none.
  Check decodeDraw(std::span<effc_session_t *const> sessions,
                   std::span<effc_sampler_t *const> samplers,
                   std::span<const int32_t> tokens, int32_t *outTokens);
  /// Up to `steps` of the latter, or without samplers of the former, each of which
  /// feeds what the one before drew: effc_engine_decode_steps().
  Check decodeSteps(std::span<effc_session_t *const> sessions,
                    std::span<effc_sampler_t *const> samplers,
                    std::span<const int32_t> tokens, uint64_t steps,
                    std::span<const int32_t> ends, int32_t *outTokens,
                    size_t *outLengths);

private:
  Result<CopiedStates> read(const Session &session, CopiedStates copy,
                            std::span<const SlotRead> pieces);
  explicit Engine(std::shared_ptr<const Model> model)
      : artifact(std::move(model)), held(artifact->program()),
        copies(artifact->program()) {}

  /// What is fed to one sequence in the current prefill or decode.
  struct Intake {
    Session *session;
    const int32_t *tokens; // the first is at session->position
    bool allWanted, lastWanted;
    float *out;                 // where its next row of logits goes
    int32_t *token = nullptr;   // or where its choice does
    Sampler *sampler = nullptr; // null: the likeliest token
  };

  /// `later` more tokens are to follow, for which there has to be room, too.
  Check addIntake(size_t index, Session *session,
                  std::span<const int32_t> tokens, effc_wanted_t wanted,
                  float *out, uint64_t later = 0);
  Check addDraws(std::span<effc_session_t *const> sessions,
                 std::span<effc_sampler_t *const> samplers,
                 std::span<const int32_t> tokens, uint64_t steps,
                 int32_t *outTokens);
  // What messages begin with is put together only for these: calls allocate
  // nothing.
  Check requireContext(const Session &session, uint64_t count,
                       std::optional<size_t> index = {}) const;
  Check requireMemory(uint64_t more, const char *what) const;
  void coolDownFor(uint64_t more);
  static Error lostSequence(const std::string &which);
  uint64_t bytesToReach(uint32_t slot, uint64_t position) const;
  Check reach(uint32_t slot, uint64_t position, const char *what);
  void shrink(uint32_t slot, uint64_t position);
  Check reachAll();
  Check runAll(const Packer &packer, artifact::CallResult wanted);
  Check runCall(uint32_t entry, const CallCounts &counts);
  Check runNext(const Packer &packer, artifact::CallResult wanted);
  bool choosesAll(uint32_t entry) const;
  int64_t fillInputs(uint32_t rows);
  void fillDraws();
  void collectLogits();
  Check collectChoices();
  class Drawing;
  bool drawsApart();
  void drawAll();

  std::shared_ptr<const Model> artifact;
  std::shared_ptr<Device> device; // outlives the executor below
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Packer> prefillPacker, decodePacker;
  std::vector<bool> chooses; // of each entry, whether it can give choices
  uint32_t scratchSlot = 0;  // named by rows past the end of a call

  /// How many tokens' states each slot has memory for, and the most that all may
  /// take; what they do take is work.stateBytes.
  HeldStates held;
  CopyLayout copies;
  std::vector<uint64_t> reached;
  uint64_t budget = UINT64_MAX;
  std::optional<uint32_t> warm; // a free slot whose memory waits

  // Room for max_sessions from the start: calls allocate nothing.
  std::vector<uint32_t> freeSlots;
  std::vector<Intake> intakes;
  std::vector<Feed> feeds;
  std::vector<Piece> pieces;
  std::vector<uint64_t> lastSeen; // per slot: the call that last named it
  uint64_t callNumber = 0;
  std::vector<SamplingScratch> scratches; // one for each thread that draws
  std::vector<const Sampler *> drawing;   // of the current call
  Counters work;
  std::unique_ptr<Profile> profile; // while one is kept
};

} // namespace effc::rt

/// The C handle is the session itself.
struct effc_session : effc::rt::Session {};

#endif // EFFC_RUNTIME_SRC_ENGINE_H
