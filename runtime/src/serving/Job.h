//===- Job.h - A request while it is with the scheduler -------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_JOB_H
#define EFFC_RUNTIME_SRC_SERVING_JOB_H

#include "runtime/src/CheckpointHandle.h"
#include "runtime/src/Engine.h"
#include "runtime/src/StopText.h"
#include "runtime/src/grammar/Grammar.h"
#include "runtime/src/serving/DraftModel.h"
#include "runtime/src/serving/Drafts.h"
#include "runtime/src/serving/Order.h"
#include "runtime/src/serving/StateCache.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace effc::rt {

/// Sampling options together with what their pointers lead to.
class OwnedSampling {
public:
  /// `moreEnds` wait for `min_tokens`, too.
  OwnedSampling(const effc_sampler_options_t &given,
                std::span<const int32_t> moreEnds);
  OwnedSampling(const OwnedSampling &) = delete;
  OwnedSampling &operator=(const OwnedSampling &) = delete;

  const effc_sampler_options_t &options() const { return copy; }

private:
  effc_sampler_options_t copy;
  std::vector<effc_logit_bias_t> biases;
  std::vector<int32_t> ends;
};

/// What a token or an end makes of a text.
struct Spoken {
  std::string text;
  std::optional<effc_end_t> end; // none while it goes on
  int32_t stop = -1;             // the stop text that came
  std::string message;           // of a failure
};

/// Tokens of a prompt, and what the model says of them.
struct Scored {
  uint64_t begin = 0, count = 0;
  bool isWhole = true; // false: a row was not numbers, and there are fewer
  std::vector<effc_logprob_t> logprobs;
};

/// A request, its sampler and its text. Knows nothing of other requests.
class Job {
public:
  enum class Phase {
    Queued,    // has no session
    Waiting,   // for the prompt of its first choice, whose state it will take
    Prompt,    // its prompt is fed
    Replaying, // after a failure: tokens drawn before are fed
    Decoding   // its last token waits to be fed
  };

  /// Checks all but what depends on other requests. `request` has `sampling`,
  /// `options` are those of the scheduler. `model` outlives the job.
  static Result<std::unique_ptr<Job>>
  create(const effc_request_t &request, const Model &model,
         const effc_scheduler_options_t &options);

  /// The tokens of a request's prompt, of whichever form it has.
  static Result<std::vector<int32_t>> promptOf(const effc_request_t &request,
                                               const Model &model);

  /// Takes a token that was drawn, -1 for none.
  Spoken take(int32_t token);
  /// What `rows` of logits, of the prompt's tokens from `fed` on, say of the tokens
  /// that follow them in the prompt and were not scored before.
  Scored score(std::span<const float> rows, SamplingScratch &scratch);
  /// What is left of its text.
  std::string finishText();
  /// Begins anew, with the tokens drawn so far known: they are fed again.
  Check restart();

  /// Tokens of the prompt, and the most that there will be.
  uint64_t mostTokens() const { return prompt.size() + maxTokens; }
  /// How far the prompt is fed before its states are copied; else its end.
  uint64_t nextStop() const {
    for (uint64_t stop : stops)
      if (stop > fed)
        return stop;
    return prompt.size();
  }
  /// Nothing is said of tokens that are not fed.
  bool reads() const {
    return !(cacheFlags & EFFC_CACHE_NO_READ) && promptLogprobs == 0;
  }
  bool writes() const { return !(cacheFlags & EFFC_CACHE_NO_WRITE); }

  Place place = {};
  uint32_t choice = 0;            // of the request
  std::vector<Job *> others = {}; // of the first choice: those that wait for it
  std::vector<int32_t> prompt;
  uint64_t maxTokens = 0;
  uint32_t promptLogprobs = 0; // of each token of the prompt; choice 0 alone
  uint64_t deadline = 0;       // by the scheduler's clock; 0: none
  void *user = nullptr;

  Phase phase = Phase::Queued;
  effc_session session = {}; // its slot, unless it is queued
  std::optional<effc_sampler> sampler;
  size_t fed = 0;             // of the prompt, then of what was drawn
  std::vector<int32_t> drawn; // the last of them is not yet fed
  size_t scored = 1;          // tokens of the prompt
  uint64_t reserved = 0;      // bytes for its states
  uint32_t retries = 0;
  bool hasFailed = false;
  /// By the scheduler's clock: when it was submitted, found a place, had a token first
  /// and last.
  uint64_t submittedAt = 0;
  std::optional<uint64_t> admittedAt, firstTokenAt, lastTokenAt;

  std::string salt; // its SHA-256, 32 bytes, or ""
  std::vector<uint64_t> marks;
  uint32_t cacheFlags = 0;
  std::optional<effc_checkpoint> from; // states that it brought
  bool keepsStates = false;            // its end brings them
  CacheUse cached;                     // what its prompt had
  std::vector<uint64_t> stops;         // of its prompt, where states are copied
  uint64_t lookedAt = 0;  // the cache's version when it last looked
  bool isCounted = false; // what its prompt had

  uint32_t draftTokens = 0;     // guessed at a time, at most
  std::optional<Drafts> drafts; // none: one token after another
  /// Of a model that guesses; none where there is none, or no room.
  std::optional<DraftModel::Follower> follower;
  bool isDrafted = false; // in the current step
  uint64_t drafted = 0, accepted = 0;

  // Changed under the scheduler's lock.
  bool hasEnded = false;
  bool isCancelled = false;
  bool isHeld = false; // its reader wants no more for now
  uint32_t unread = 0;
  uint64_t unreadSince = 0; // when there were too many; 0: there are not

private:
  explicit Job(const effc_request_t &request);

  OwnedSampling sampling;
  uint32_t vocabulary = 0;
  Check follow(const effc_request_t &request, const Model &model);
  Check maskNextDraw();

  std::vector<int32_t> ends, stopTokens;   // ends: of the model
  std::optional<grammar::Matcher> matcher; // where its grammar stands, if any
  std::optional<DecodeStream> stream;      // none without a tokenizer
  StopText stop{{}};
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_JOB_H
