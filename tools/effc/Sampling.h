//===- Sampling.h - Many samples of many prompts --------------------------===//
//
// Prompts go through the library's scheduler: each is fed once for as many samples as
// run together, all that run decode in one call, and whoever ends makes room for the
// next.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SAMPLING_H
#define EFFC_TOOLS_EFFC_SAMPLING_H

#include "tools/effc/DraftChoice.h"
#include "tools/effc/SamplePrompts.h"

#include <functional>

namespace effc::cli {

struct SamplingOptions {
  uint64_t samples = 1; // of each prompt
  uint64_t newTokens = 128;
  uint32_t together = 64; // sequences that the engine has room for
  /// Sample i of prompt j draws with the seed of these + j `samples` + i.
  effc_sampler_options_t sampling = {};
  std::vector<std::string> stops;
  const Grammar *grammar = nullptr; // that samples follow; null: any text
  DraftChoice drafts;               // how tokens are guessed,
  const std::optional<Drafter> *drafter = nullptr; // and by which model
};

struct OneSample {
  uint64_t seed = 0;
  Tokens tokens;
  std::string text;            // empty without a tokenizer
  std::vector<float> logprobs; // of each token, where they are asked for
  const char *reason = "";     // "end", "stop", "length", "context"
};

/// Samples prompts from `first` on. Hands the samples of each to `done`, prompts in
/// order, as soon as they and those before are there; `done` returns whether to go on.
/// Throws Failure where a request fails, or the file can take no drafts.
void sampleAll(const std::vector<SamplePrompt> &prompts, size_t first,
               const Model &model, const Engine &engine,
               const SamplingOptions &options,
               const std::function<bool(size_t, std::vector<OneSample>)> &done);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_SAMPLING_H
