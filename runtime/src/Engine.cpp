#include "runtime/src/Engine.h"

#include "runtime/src/Limits.h"
#include "runtime/src/Status.h"
#include "runtime/src/system/FloatMode.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

using namespace effc;
using namespace effc::rt;

// SegmentRecord::flags.
static constexpr int32_t kFirst = 1; // the sequence starts here
static constexpr int32_t kLast = 2;  // what is fed to it ends here

static std::unique_ptr<Packer> makePacker(const Plan &plan,
                                          artifact::EntryKind kind) {
  std::vector<EntryShape> shapes;
  for (uint32_t i = 0; i < plan.entries->size(); ++i) {
    const artifact::Entry &entry = *plan.entries->Get(i);
    // A decode entry takes one row of each sequence: there is nothing to cut.
    if (entry.kind() == kind)
      shapes.push_back(
          {i, entry.rows(),
           kind == artifact::EntryKind::Prefill ? entry.chunk() : 1});
  }
  return std::make_unique<Packer>(std::move(shapes));
}

static bool givesChoices(const artifact::Entry &entry) {
  return std::any_of(entry.launches()->begin(), entry.launches()->end(),
                     [](const artifact::Launch *launch) {
                       return launch->only_for() ==
                              artifact::CallResult::Choices;
                     });
}

Result<std::shared_ptr<Engine>>
Engine::create(std::shared_ptr<const Model> model,
               std::shared_ptr<Device> device, uint32_t maxSessions,
               const UploadProgress &progress) {
  if (maxSessions == 0 || maxSessions > kMaxSessions)
    return invalidArgument("'max_sessions' is ", maxSessions, ", but 1 to ",
                           kMaxSessions, " are possible");
  std::shared_ptr<Engine> engine(new Engine(model));
  Result<std::unique_ptr<Executor>> executor =
      device->prepare(model, maxSessions, progress);
  if (!executor)
    return executor.error();
  engine->executor = std::move(*executor);
  const Plan &plan = engine->executor->plan();
  engine->prefillPacker = makePacker(plan, artifact::EntryKind::Prefill);
  engine->decodePacker = makePacker(plan, artifact::EntryKind::Decode);
  for (const artifact::Entry *entry : *plan.entries)
    engine->chooses.push_back(givesChoices(*entry));
  engine->work.entries.resize(plan.entries->size());
  engine->device = std::move(device);
  engine->scratchSlot = maxSessions;
  engine->reached.assign(maxSessions, 0);
  engine->budget = engine->executor->stateBudget();
  for (uint32_t slot = maxSessions; slot-- > 0;)
    engine->freeSlots.push_back(slot);
  engine->intakes.reserve(maxSessions);
  engine->feeds.reserve(maxSessions);
  engine->pieces.reserve(maxSessions);
  engine->lastSeen.assign(maxSessions, 0);
  engine->drawing.reserve(maxSessions);
  engine->scratches.resize(
      std::min(engine->device->threads(), std::max(maxSessions, 1u)));
  for (SamplingScratch &scratch : engine->scratches)
    scratch.reserve(model->program().vocabulary_size());
  return engine;
}

Result<uint32_t> Engine::takeSlot() {
  if (freeSlots.empty())
    return fail(EFFC_EXHAUSTED, "all ", lastSeen.size(),
                " sessions of the engine are open");
  uint32_t slot = freeSlots.back();
  freeSlots.pop_back();
  if (warm == slot)
    warm.reset();
  work.sessions.add(1);
  return slot;
}

Error Engine::lostSequence(const std::string &which) {
  return fail(EFFC_DEVICE_ERROR, which,
              " was lost when the device failed while advancing it: reset it");
}

/// Below that a system call costs more than the memory is worth.
static constexpr uint64_t kLeastToRelease = uint64_t(1) << 20;

/// What memory the slot would take beyond what it has.
uint64_t Engine::bytesToReach(uint32_t slot, uint64_t position) const {
  if (position <= reached[slot])
    return 0;
  return held.bytes(position) - held.bytes(reached[slot]);
}

Check Engine::requireMemory(uint64_t more, const char *what) const {
  uint64_t committed = work.stateBytes.now;
  if (more <= budget - std::min(budget, committed))
    return {};
  return fail(EFFC_OUT_OF_MEMORY, what, " ", more,
              " bytes more for states, but of ", budget,
              " bytes that the system has for them ", committed,
              " are in use: close or reset other sequences, or feed less");
}

/// Where the rest is not enough, nothing stays warm.
void Engine::coolDownFor(uint64_t more) {
  if (more > budget - std::min(budget, work.stateBytes.now))
    coolDown();
}

/// The slot is about to hold `position` tokens.
Check Engine::reach(uint32_t slot, uint64_t position, const char *what) {
  uint64_t more = bytesToReach(slot, position);
  coolDownFor(more);
  if (Check error = requireMemory(more, what))
    return error;
  work.stateBytes.add(more);
  reached[slot] = std::max(reached[slot], position);
  return {};
}

/// The slot holds `position` tokens, and no more. At 0 even states of a fixed
/// size go.
void Engine::shrink(uint32_t slot, uint64_t position) {
  if (position >= reached[slot])
    return;
  uint64_t less = held.bytes(reached[slot]) - held.bytes(position);
  if (less < kLeastToRelease)
    return;
  executor->releaseSlot(slot, held.rangesBetween(position, reached[slot]));
  work.stateBytes.take(less);
  reached[slot] = position;
}

/// Closed slots may keep memory that is not worth giving back, but no more than a
/// whole slot.
uint64_t Engine::stateBudget() const {
  if (budget == UINT64_MAX)
    return budget;
  uint64_t ofSlot = held.bytes(UINT64_MAX);
  uint64_t kept = lastSeen.size() * std::min(kLeastToRelease, ofSlot);
  return budget - std::min(budget, kept);
}

uint64_t Engine::grid() const {
  uint64_t grid = 1;
  for (const artifact::Entry *entry : *executor->plan().entries)
    if (entry->kind() == artifact::EntryKind::Prefill)
      grid = std::lcm(grid, uint64_t(entry->chunk()));
  return grid;
}

void Engine::coolDown() {
  if (warm)
    shrink(*warm, 0);
  warm.reset();
}

void Engine::giveSlot(uint32_t slot, bool staysWarm) {
  if (staysWarm) {
    coolDown();
    warm = slot;
  } else {
    shrink(slot, 0);
  }
  freeSlots.push_back(slot);
  work.sessions.take(1);
}

void Engine::reset(Session &session) {
  // States of a fixed size will be filled by the next token, whichever it is.
  shrink(session.slot, 1);
  session.position = 0;
  session.codes = {};
  session.lost = false;
}

Check Engine::requireContext(const Session &session, uint64_t count,
                             std::optional<size_t> index) const {
  uint64_t limit = artifact->program().max_context();
  if (limit == 0)
    limit = kMaxContext;
  if (count <= limit - session.position)
    return {};
  return fail(EFFC_EXHAUSTED,
              index ? "sequence " + std::to_string(*index) : "the sequence",
              " would take ", count, " tokens from position ", session.position,
              " on, but the model's context has ", limit, ": ",
              limit - session.position, " more fit");
}

Check Engine::accepts(const Session &session, uint64_t count) const {
  if (session.lost)
    return lostSequence("the sequence");
  if (Check error = requireContext(session, count))
    return error;
  return requireMemory(bytesToReach(session.slot, session.position + count),
                       "the sequence would take");
}

Check Engine::addIntake(size_t index, Session *session,
                        std::span<const int32_t> tokens, effc_wanted_t wanted,
                        float *out, uint64_t later) {
  if (!session || session->engine.get() != this)
    return invalidArgument("session ", index, " is not one of this engine");
  if (lastSeen[session->slot] == callNumber)
    return invalidArgument("session ", index, " is named twice in one call");
  lastSeen[session->slot] = callNumber;
  if (session->lost)
    return lostSequence("sequence " + std::to_string(index));
  if (tokens.empty())
    return invalidArgument("prompt ", index, " has no tokens");
  const artifact::Program &program = artifact->program();
  uint32_t vocabulary = program.vocabulary_size();
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= vocabulary)
      return invalidArgument("token ", i, " of sequence ", index, " is ",
                             tokens[i], ", but the vocabulary has ",
                             vocabulary);
  if (Check error = requireContext(*session, tokens.size() + later, index))
    return error;
  if (wanted != EFFC_LOGITS_NONE && wanted != EFFC_LOGITS_LAST &&
      wanted != EFFC_LOGITS_ALL)
    return invalidArgument("'wanted' of prompt ", index, " is ", int(wanted));
  if (wanted != EFFC_LOGITS_NONE && !out)
    return invalidArgument("prompt ", index,
                           " wants logits, but 'out_logits' is null");
  intakes.push_back({session, tokens.data(), wanted == EFFC_LOGITS_ALL,
                     wanted == EFFC_LOGITS_LAST, out});
  feeds.push_back({session->position, tokens.size()});
  return {};
}

Check Engine::prefill(const effc_prompt_t *prompts, size_t count) {
  ++callNumber;
  intakes.clear();
  feeds.clear();
  // As large as the caller's header says; where it says nothing, as the first
  // one that had a size.
  size_t size = count && prompts->size ? prompts->size : sizeof(effc_prompt_t);
  if (size < sizeof(effc_prompt_t) || size > kMostOptionBytes)
    return invalidArgument("the prompts' 'size' is ", size, ", but ",
                           sizeof(effc_prompt_t), " is expected");
  const auto *bytes = reinterpret_cast<const unsigned char *>(prompts);
  for (size_t i = 0; i < count; ++i) {
    const auto &prompt =
        *reinterpret_cast<const effc_prompt_t *>(bytes + i * size);
    if (prompt.size != prompts->size)
      return invalidArgument("prompt ", i, " has the size ", prompt.size,
                             ", but prompt 0 has ", prompts->size);
    if (Check error = checkBeyond(&prompt, size, "a prompt has "))
      return error;
    if (!prompt.tokens && prompt.count > 0)
      return invalidArgument("'tokens' of prompt ", i, " is null");
    if (Check error =
            addIntake(i, prompt.session, {prompt.tokens, prompt.count},
                      prompt.wanted, prompt.out_logits))
      return error;
  }
  return runAll(*prefillPacker, artifact::CallResult::Logits);
}

Check Engine::decode(std::span<effc_session_t *const> sessions,
                     std::span<const int32_t> tokens, float *outLogits) {
  ++callNumber;
  intakes.clear();
  feeds.clear();
  uint64_t width = rowWidth(artifact->program());
  effc_wanted_t wanted = outLogits ? EFFC_LOGITS_LAST : EFFC_LOGITS_NONE;
  for (size_t i = 0; i < sessions.size(); ++i)
    if (Check error = addIntake(i, sessions[i], tokens.subspan(i, 1), wanted,
                                outLogits ? outLogits + i * width : nullptr))
      return error;
  return runAll(*decodePacker, artifact::CallResult::Logits);
}

/// Tokens are drawn from logits alone.
Check Engine::requireLogits() const {
  if (auto width = artifact->program().hidden_width())
    return fail(EFFC_UNSUPPORTED,
                "no token can be drawn: the model was compiled "
                "for its hidden states, rows of ",
                *width, " numbers");
  return {};
}

/// Names the sequences of a call whose tokens are drawn: by `samplers`, or where there
/// are none, the likeliest. The first of `steps` tokens of each is the next to run.
Check Engine::addDraws(std::span<effc_session_t *const> sessions,
                       std::span<effc_sampler_t *const> samplers,
                       std::span<const int32_t> tokens, uint64_t steps,
                       int32_t *outTokens) {
  if (Check error = requireLogits())
    return error;
  ++callNumber;
  intakes.clear();
  feeds.clear();
  uint32_t vocabulary = artifact->program().vocabulary_size();
  for (size_t i = 0; i < sessions.size(); ++i) {
    effc_sampler_t *sampler = samplers.empty() ? nullptr : samplers[i];
    if (!samplers.empty() && !sampler)
      return invalidArgument("sampler ", i, " is null");
    if (uint32_t size =
            sampler ? sampler->sampler.vocabularySize() : vocabulary;
        size != vocabulary)
      return invalidArgument("sampler ", i, " is for ", size,
                             " tokens, but the vocabulary has ", vocabulary);
    if (Check error = addIntake(i, sessions[i], tokens.subspan(i, 1),
                                EFFC_LOGITS_NONE, nullptr, steps - 1))
      return error;
    intakes.back().lastWanted = true;
    intakes.back().token = outTokens + i * steps;
    intakes.back().sampler = sampler ? &sampler->sampler : nullptr;
  }
  return {};
}

Check Engine::decodeBest(std::span<effc_session_t *const> sessions,
                         std::span<const int32_t> tokens, int32_t *outTokens) {
  return decodeDraw(sessions, {}, tokens, outTokens);
}

Check Engine::decodeDraw(std::span<effc_session_t *const> sessions,
                         std::span<effc_sampler_t *const> samplers,
                         std::span<const int32_t> tokens, int32_t *outTokens) {
  if (Check error = addDraws(sessions, samplers, tokens, 1, outTokens))
    return error;
  return runAll(*decodePacker, artifact::CallResult::Choices);
}

/// Whether entry `entry` gives the choices that the current pieces want. If it
/// does not for one of them, it gives logits for all: weights are read once.
bool Engine::choosesAll(uint32_t entry) const {
  if (!chooses[entry])
    return false;
  return std::none_of(pieces.begin(), pieces.end(), [&](const Piece &piece) {
    const Sampler *sampler = intakes[piece.feed].sampler;
    return sampler && sampler->needsLogits();
  });
}

/// Lays out the current pieces as one packed call; returns how many rows of
/// logits it gives. Rows past the end go to the scratch slot.
int64_t Engine::fillInputs(uint32_t rows) {
  const CallInputs &inputs = executor->inputs();
  int32_t row = 0;
  int64_t outputs = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece &piece = pieces[i];
    const Intake &intake = intakes[piece.feed];
    int32_t slot = static_cast<int32_t>(intake.session->slot);
    const int32_t *tokens =
        intake.tokens + (piece.position - intake.session->position);
    int32_t flags =
        (piece.position == 0 ? kFirst : 0) | (piece.last ? kLast : 0);
    inputs.segments[i] =
        artifact::SegmentRecord(slot, row, static_cast<int32_t>(piece.length),
                                flags, static_cast<int64_t>(piece.position));
    for (uint32_t k = 0; k < piece.length; ++k, ++row) {
      inputs.tokens[row] = tokens[k];
      inputs.rowSlots[row] = slot;
      inputs.rowPositions[row] = static_cast<int64_t>(piece.position + k);
      bool lastToken = piece.last && k + 1 == piece.length;
      if (intake.allWanted || (intake.lastWanted && lastToken))
        inputs.outputRows[outputs++] = row;
    }
  }
  for (; static_cast<uint32_t>(row) < rows; ++row) {
    inputs.tokens[row] = 0;
    inputs.rowSlots[row] = static_cast<int32_t>(scratchSlot);
    inputs.rowPositions[row] = 0;
  }
  return outputs;
}

/// Says how the tokens of the current pieces, of one row each, are drawn.
void Engine::fillDraws() {
  artifact::DrawRecord *record = executor->inputs().draws;
  for (const Piece &piece : pieces) {
    Sampler *sampler = intakes[piece.feed].sampler;
    Draw draw = sampler ? sampler->nextDraw() : Draw();
    *record++ = artifact::DrawRecord(draw.scale, draw.amount, draw.noise.key,
                                     draw.noise.counter);
  }
}

/// Hands the last call's logits to those who wanted them.
void Engine::collectLogits() {
  uint64_t width = rowWidth(artifact->program());
  const float *logits = executor->results();
  for (const Piece &piece : pieces) {
    Intake &intake = intakes[piece.feed];
    uint64_t count = intake.allWanted                  ? piece.length
                     : intake.lastWanted && piece.last ? 1
                                                       : 0;
    if (count == 0)
      continue;
    std::memcpy(intake.out, logits, count * width * sizeof(float));
    intake.out += count * width;
    logits += count * width;
  }
}

/// Hands on the choices of the last call, each a row of one sequence.
Check Engine::collectChoices() {
  uint64_t vocabulary = artifact->program().vocabulary_size();
  const float *row = executor->results();
  for (const Piece &piece : pieces) {
    const Intake &intake = intakes[piece.feed];
    Choice choice = {row[0], row[1]};
    row += 2;
    std::optional<int32_t> id = choice.id(vocabulary);
    if (!id)
      return fail(EFFC_DEVICE_ERROR, "the device chose token ", choice.token,
                  " of a vocabulary of ", vocabulary);
    *intake.token = *id;
    if (intake.sampler && *id >= 0)
      intake.sampler->drew(*id);
  }
  return {};
}

/// Choices from the logits of the last call. An item has a scratch, and takes the next
/// row until there is none: a thread that is held up leaves rows to the others.
class Engine::Drawing : public HostWork {
public:
  explicit Drawing(Engine &engine) : engine(engine) {}

  void run(int64_t item) const override {
    SamplingScratch &scratch = engine.scratches[static_cast<size_t>(item)];
    while (true) {
      size_t row = next.fetch_add(1, std::memory_order_relaxed);
      if (row >= engine.pieces.size())
        return;
      choose(row, scratch);
    }
  }

private:
  void choose(size_t index, SamplingScratch &scratch) const {
    uint64_t vocabulary = engine.artifact->program().vocabulary_size();
    std::span<const float> logits(
        engine.executor->results() + index * vocabulary, vocabulary);
    const Intake &intake = engine.intakes[engine.pieces[index].feed];
    *intake.token = intake.sampler ? intake.sampler->draw(logits, scratch)
                                   : scratch.likeliest(logits);
  }

  Engine &engine;
  mutable std::atomic<size_t> next = 0;
};

/// Whether no sampler draws twice in the current call: in which order would show.
bool Engine::drawsApart() {
  drawing.clear();
  for (const Piece &piece : pieces)
    if (const Sampler *sampler = intakes[piece.feed].sampler)
      drawing.push_back(sampler);
  std::sort(drawing.begin(), drawing.end());
  return std::adjacent_find(drawing.begin(), drawing.end()) == drawing.end();
}

void Engine::drawAll() {
  DefaultFloatMode mode; // as on the other threads
  // Below that waking threads takes as long as they save.
  constexpr uint64_t kLeastToShare = uint64_t(1) << 17;
  uint64_t logits = pieces.size() * artifact->program().vocabulary_size();
  size_t parts = std::min(scratches.size(), pieces.size());
  if (parts > 1 && logits >= kLeastToShare && drawsApart())
    executor->share(Drawing(*this), static_cast<int64_t>(parts));
  else
    Drawing(*this).run(0);
}

Check Engine::runCall(uint32_t entry, const CallCounts &counts) {
  EntryWork &done = work.entries[entry];
  ++done.calls;
  Stopwatch watch(done.seconds);
  if (profile)
    profile->beginCall({entry, counts.rows, counts.segments, counts.outputs,
                        Profile::now(), 0});
  Check error = executor->run(entry, counts);
  if (profile)
    profile->endCall();
  if (error)
    return error;
  done.tokens += static_cast<uint64_t>(counts.rows);
  done.outputs += static_cast<uint64_t>(counts.outputs);
  return {};
}

/// Runs the calls that are still to come, until there are none.
Check Engine::runNext(const Packer &packer, artifact::CallResult wanted) {
  while (true) {
    uint32_t entry = packer.nextCall(feeds, pieces);
    if (pieces.empty())
      return {};
    CallCounts counts = {0, static_cast<int64_t>(pieces.size()), 0};
    for (const Piece &piece : pieces)
      counts.rows += piece.length;
    counts.outputs = fillInputs(executor->plan().entries->Get(entry)->rows());
    if (wanted == artifact::CallResult::Choices && choosesAll(entry)) {
      counts.result = wanted;
      fillDraws();
    }
    if (Check error = runCall(entry, counts))
      return error;
    if (wanted != artifact::CallResult::Choices) {
      collectLogits();
      continue;
    }
    Stopwatch watch(work.choiceSeconds);
    if (counts.result != artifact::CallResult::Choices)
      drawAll();
    else if (Check error = collectChoices())
      return error;
  }
}

/// Before anything runs, the slots of the call have memory for all of it.
Check Engine::reachAll() {
  uint64_t more = 0;
  for (size_t i = 0; i < intakes.size(); ++i)
    more += bytesToReach(intakes[i].session->slot,
                         feeds[i].position + feeds[i].remaining);
  coolDownFor(more);
  if (Check error = requireMemory(more, "the call takes"))
    return error;
  work.stateBytes.add(more);
  for (size_t i = 0; i < intakes.size(); ++i) {
    uint64_t &reaches = reached[intakes[i].session->slot];
    reaches = std::max(reaches, feeds[i].position + feeds[i].remaining);
  }
  return {};
}

Check Engine::runAll(const Packer &packer, artifact::CallResult wanted) {
  if (Check error = reachAll())
    return error;
  if (Check error = runNext(packer, wanted)) {
    for (const Intake &intake : intakes)
      intake.session->lost = true;
    return error;
  }
  for (size_t i = 0; i < intakes.size(); ++i) {
    intakes[i].session->position = feeds[i].position;
    intakes[i].session->codes.add(executor->isa());
  }
  return {};
}
