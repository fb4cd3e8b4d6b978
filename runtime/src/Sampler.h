//===- Sampler.h - Chooses a token from logits ----------------------------===//
//
// Logits are adjusted (sampling/Adjustments.h), filters leave tokens out in the
// order of the Hugging Face library (sampling/Filters.h), then comes a draw
// (Gumbel-max): of the tokens that are left, the one with the largest
//
//   logit * (1 / temperature) + noise(seed, number of the draw, token)
//
// in f32, of several the lowest. The noise of a token is -ln(-ln u) with a u in
// (0, 1) of its own, so that a token comes as often as its share of the softmax
// says. No sum over tokens is taken: kernels that compute logits draw from them
// by the same definition, bit for bit (Noise below), and nobody has to see the
// logits. Reproducible on every machine: noise comes from a counter and from
// arithmetic written out here, and so do the exponentials by which filters go.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLER_H
#define EFFC_RUNTIME_SRC_SAMPLER_H

#include "runtime/src/Error.h"
#include "runtime/src/sampling/Adjustments.h"
#include "runtime/src/sampling/Filters.h"
#include "runtime/src/sampling/Noise.h"
#include "runtime/src/sampling/Weights.h"

#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

/// Where a draw puts what it works on: one for each thread that draws.
class SamplingScratch {
public:
  /// Afterwards draws from rows of so many tokens allocate nothing. Memory is
  /// committed as far as draws use it.
  void reserve(uint32_t vocabularySize);
  /// As effc_logprobs(); false where the row gives no token.
  bool logprobs(std::span<const float> logits, int32_t token,
                std::span<effc_logprob_t> out);
  /// The token of the largest logit, -1 where one is NaN or all are minus
  /// infinity.
  int32_t likeliest(std::span<const float> logits);
  /// That of the calling thread.
  static SamplingScratch &ofThread();

private:
  friend class Sampler;
  std::vector<float> maxima, numbers, adjusted;
  Candidates kept;
};

class Sampler {
public:
  static Result<Sampler> create(const effc_sampler_options_t &options,
                                uint32_t vocabularySize);

  /// Tokens of a prompt.
  Check accept(std::span<const int32_t> tokens);
  /// A token that was drawn elsewhere by nextDraw().
  void drew(int32_t token);
  /// The token drawn from a row of logits, or -1 where sample() says why there is
  /// none. A draw counts, whether it gives a token or not. `scratch` has room for
  /// the vocabulary.
  int32_t draw(std::span<const float> logits, SamplingScratch &scratch);
  Result<int32_t>
  sample(std::span<const float> logits,
         SamplingScratch &scratch = SamplingScratch::ofThread());

  /// What the draw that is `ahead` behind the next one would give of these logits, as
  /// far as is known now; -1 for none. Nothing counts.
  int32_t guess(std::span<const float> logits, uint64_t ahead,
                SamplingScratch &scratch) const;

  /// Tokens of the next draw (effc_sampler_set_mask).
  void setMask(const uint64_t *words) { mask = words; }

  bool keepsLogprobs() const { return !kept.empty(); }
  /// Those of the last draw (effc_sampler_logprobs).
  std::span<const effc_logprob_t> logprobs() const {
    return {kept.data(), hasDrawn ? kept.size() : 0};
  }

  /// Whether tokens are left out or logits changed or looked at, so that
  /// nextDraw() does not say all.
  bool needsLogits() const;
  /// The draw that comes next, which counts from then on. What comes of it is
  /// to be told to drew().
  Draw nextDraw();

  bool isGreedy() const { return filters.temperature == 0; }
  uint32_t vocabularySize() const { return vocabulary; }

private:
  Sampler(const effc_sampler_options_t &options, uint32_t vocabularySize);
  std::span<const float> adjust(std::span<const float> logits,
                                const uint64_t *words,
                                SamplingScratch &scratch) const;
  bool changesLogits() const { return mask || adjustments.areActive(); }
  Draw drawAt(uint64_t number) const;
  int32_t choose(std::span<const float> logits, Draw draw,
                 SamplingScratch &scratch) const;

  uint32_t vocabulary;
  Filters filters;
  Adjustments adjustments;
  uint64_t seed;
  float scale; // 1 / temperature
  uint64_t drawn = 0;
  const uint64_t *mask = nullptr;   // of the next draw; the caller's
  std::vector<effc_logprob_t> kept; // as many as are asked for
  bool hasDrawn = false;            // they are those of a draw
};

} // namespace effc::rt

/// The C handle.
struct effc_sampler {
  effc::rt::Sampler sampler;
};

#endif // EFFC_RUNTIME_SRC_SAMPLER_H
