//===- Generation.h - What one request of a client has generated ----------===//
//
// One request of HTTP may be many of the scheduler: a list of prompts, with more
// choices than there are slots. A few of them are with the scheduler at a time, so
// that a long list leaves room in the queue for others.
//
// All of it runs on the thread of the loop.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_GENERATION_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_GENERATION_H

#include "tools/effc-serve/engine/ServedModel.h"
#include "tools/effc-serve/wire/ApiError.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace effc::serve {

/// The scheduler's class of a request that says nothing, so that others can go before
/// it and behind.
inline constexpr int kMiddleClass = 3;

struct GenerationPlan {
  std::vector<std::vector<int32_t>> prompts;
  uint32_t choices = 1; // of each prompt; choice i has the seed + i
  uint64_t maxTokens = 16;
  effc_sampler_options_t sampling = effc_sampler_options_default();
  std::vector<effc_logit_bias_t> biases;
  std::vector<std::string> stops;
  std::vector<int32_t> stopTokens;
  bool ignoreEnd = false;
  bool showsSpecial =
      false; // texts have special tokens, as marks of calls may be
  uint32_t promptLogprobs = 0;
  std::shared_ptr<effc_grammar_t> grammar; // that texts follow; null: any text
  /// States of the first prompt's beginning; null: none.
  std::shared_ptr<const Checkpoint> from;
  bool keepsStates = false; // the last event of each choice brings its states
  /// Of the first prompt: ends of beginnings that later ones will share.
  std::vector<uint64_t> marks;
  std::string salt; // states are shared with those of the same alone
  uint32_t priority = kMiddleClass;
  uint32_t draftTokens = 0;              // guessed at once
  std::chrono::milliseconds deadline{0}; // from the beginning; 0: none

  size_t choiceCount() const { return prompts.size() * choices; }
};

/// Told of what comes. Choices of all prompts are numbered through.
class GenerationListener {
public:
  virtual ~GenerationListener() = default;
  /// An event of the scheduler. One of EFFC_EVENT_PROMPT is told for each choice
  /// of its prompt.
  virtual void onEvent(size_t choice, const effc_event_t &event) = 0;
  /// Each choice has ended.
  virtual void onDone() = 0;
  /// Nothing more comes.
  virtual void onFailed(const ApiError &error) = 0;
};

class Generations;

class Generation : public std::enable_shared_from_this<Generation> {
public:
  Generation(Generations &all, GenerationPlan plan,
             std::shared_ptr<GenerationListener> listener);

  /// Has what runs wait for its reader, or go on; nothing more is begun meanwhile.
  void hold(bool waits);
  /// Ends all of it; the listener hears no more.
  void cancel();
  /// The same, and the listener hears why.
  void fail(const ApiError &error);
  bool hasTokens() const { return tokensCame; }

private:
  friend class Generations;
  /// One request of the scheduler.
  struct Unit {
    Generation *owner;
    size_t prompt;
    uint32_t first, count; // choices of the prompt
    uint64_t number = 0;   // the scheduler's
    uint32_t endsLeft = 0; // not 0: it is with the scheduler
  };

  /// Gives the scheduler what it may have now.
  void submitMore();
  void submit(Unit &unit);
  void take(Unit &unit, const effc_event_t &event);

  Generations &all;
  const GenerationPlan plan;
  const std::chrono::steady_clock::time_point since =
      std::chrono::steady_clock::now();
  std::shared_ptr<GenerationListener> listener; // null: nobody wants to hear
  std::deque<Unit> units;
  size_t next = 0; // of `units`, to be submitted
  size_t running = 0, choicesLeft;
  bool tokensCame = false, retryIsPosted = false, isHeld = false;
};

/// All that a model generates: reads the scheduler's events and hands them on.
class Generations {
public:
  /// Calls a function some time later.
  using Later = std::function<void(std::function<void()>)>;
  Generations(ServedModel &model, Later later)
      : served(model), later(std::move(later)) {}

  ServedModel &model() { return served; }
  /// Begins; the listener is told of a refusal as well.
  std::shared_ptr<Generation> start(GenerationPlan plan,
                                    std::shared_ptr<GenerationListener> to);
  /// Hands on what has come; to be called when the scheduler's descriptor is
  /// readable.
  void pump();
  /// Ends those that have no token yet, or all.
  void failAll(const ApiError &error, bool alsoThoseWithTokens);
  bool isEmpty() const { return live.empty(); }
  /// Why nothing is generated any more; "" as long as it is.
  const std::string &broken() const { return whyBroken; }
  /// Of the last request that a failing device ended; "" where there was none.
  const std::string &deviceFailure() const { return lastDeviceFailure; }

private:
  friend class Generation;
  ServedModel &served;
  Later later;
  std::set<std::shared_ptr<Generation>> live;
  std::string whyBroken, lastDeviceFailure;
};

/// What a client is told of a call that failed.
ApiError apiErrorOf(const Error &error);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_GENERATION_H
