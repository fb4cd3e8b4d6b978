//===- Continuations.h - How likely texts are behind a context ------------===//
//
// What benchmarks with several choices ask for, cut into tokens as the public
// lm-evaluation-harness cuts them: context and continuation together, with the white
// space at the context's end as a part of the continuation.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_CONTINUATIONS_H
#define EFFC_TOOLS_EFFC_CONTINUATIONS_H

#include "tools/effc/Inputs.h"
#include "tools/terminal/Progress.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace effc::cli {

/// A context, and what may follow.
struct ScoringRequest {
  struct Continuation {
    Tokens tokens;      // at least one
    uint64_t bytes = 0; // of its text
  };
  Tokens context; // at least one
  std::vector<Continuation> continuations;
  std::optional<size_t> right; // the index of the right one, where it is known
};

/// Lines of {"context": TEXT or [IDS], "continuations": [TEXT or [IDS], ...],
/// "right": INDEX}, the last of which may be missing. Throws Failure naming `path` and
/// the line for what is none, and for what the model has no room for.
std::vector<ScoringRequest> readScoringRequests(const std::string &path,
                                                const Model &model);

/// What a continuation scored.
struct ContinuationScore {
  double logprob = 0;   // the sum over its tokens, in nats
  bool isGreedy = true; // each token is the likeliest
  /// Of each token, by the runtime's effc_logprobs(): the bits that sampling it
  /// gives, where the logits are the same. `logprob` is summed in double.
  std::vector<float> logprobs;
};

/// Scores continuations; the context is fed once, and its state forked for each.
class ContinuationScoring {
public:
  /// `engine` has room for `sessions` sequences, two at least.
  ContinuationScoring(const Model &model, Engine &engine, uint32_t sessions);

  /// A list for each request, in their order. Reports tokens fed to `progress`.
  std::vector<std::vector<ContinuationScore>>
  run(const std::vector<ScoringRequest> &requests, Progress &progress);

private:
  struct Running; // a context or a continuation on its way
  void scoreGroup(std::span<const ScoringRequest> group,
                  std::span<std::vector<ContinuationScore>> scores);
  void feed(std::span<Running *> running);
  void feedAll(std::vector<Running> &all);

  Engine &engine;
  uint32_t sessions;
  size_t vocabulary;
  uint64_t grid;       // parts of long texts end on multiples of this position
  uint64_t mostLogits; // rows of logits in a call, but for one text alone
  uint64_t fed = 0;
};

/// Tokens that scoring `requests` feeds.
uint64_t fedTokens(const std::vector<ScoringRequest> &requests);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_CONTINUATIONS_H
