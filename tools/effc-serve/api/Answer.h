//===- Answer.h - From events to one answer of HTTP -----------------------===//
//
// Collects what is generated and answers whole, or sends each part as an event of
// a stream. All of it runs on the thread of the loop.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_API_ANSWER_H
#define EFFC_TOOLS_EFFC_SERVE_API_ANSWER_H

#include "tools/effc-serve/api/Shape.h"
#include "tools/effc-serve/engine/AnswerParts.h"
#include "tools/effc-serve/engine/Generation.h"
#include "tools/effc-serve/engine/Sessions.h"
#include "tools/effc-serve/http/HttpServer.h"
#include "tools/effc-serve/records/Metrics.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace effc::serve {

/// A request that was read: what is to be generated, and how it is answered.
struct Asked {
  GenerationPlan plan;
  std::shared_ptr<Shape> shape;
  bool isStream = false, includesUsage = false;
  bool echoes = false;                   // the prompt comes before the text
  std::vector<std::string> promptTexts;  // where it echoes
  uint32_t logprobs = 0;                 // of each token; 0: none
  std::optional<AnswerManner> manner;    // of a conversation
  std::shared_ptr<SessionLease> session; // that it goes on with; null: none
  std::vector<std::string> ignored;      // fields
};

class Answer : public GenerationListener,
               public std::enable_shared_from_this<Answer> {
public:
  Answer(std::shared_ptr<Exchange> exchange, Generations &generations,
         Asked asked, Metrics &metrics);

  /// Begins to generate.
  void start();

  void onEvent(size_t choice, const effc_event_t &event) override;
  void onDone() override;
  void onFailed(const ApiError &error) override;

private:
  using Clock = std::chrono::steady_clock;
  struct Choice {
    Written said; // of a whole answer; of a stream what is not yet sent
    std::optional<AnswerParts> parts;      // of a conversation
    std::unique_ptr<LogprobText> logprobs; // null: none are asked for
    bool hasLogprobs = false;              // that are not yet sent
    const char *finish = nullptr;          // the reason, behind the end
    Clock::time_point lastToken;
  };

  void addPrompt(Choice &choice, size_t prompt);
  void took(Choice &choice, const effc_event_t &event);
  Times &times();
  void addTimes(const effc_event_t &event);
  static void addText(Choice &choice, const effc_event_t &event);
  void sendPart(size_t index);
  void appendLogprobs(std::string &out, Choice &choice);
  void appendUsage(std::string &out) const;
  void appendExtension(std::string &out) const;
  void takeCached(const effc_event_t &event);
  void growSession(const effc_event_t &event);
  void finishWhole();
  void endRequest(const char *reason, int status);

  std::shared_ptr<Exchange> exchange;
  Generations &generations;
  Asked asked;
  Metrics &metrics;
  std::weak_ptr<Generation> generation;
  std::vector<Choice> choices;
  std::string head; // of each chunk, up to its choice
  std::string part; // scratch
  uint64_t promptTokens = 0, newTokens = 0;
  uint64_t drafted = 0, accepted = 0; // guessed tokens
  /// What the prompts had of the cache of states, and of the first that could have
  /// had more why.
  struct {
    uint64_t tokens = 0, matched = 0, kept = 0;
    effc_cache_miss_t miss = EFFC_CACHE_HIT;
    bool isNear = false;
  } cached;
  std::vector<int32_t> drawn; // where there is a session
  std::string sessionPart;    // of the extension
  Clock::time_point since;
  bool hasBegun = false, isOver = false;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_API_ANSWER_H
