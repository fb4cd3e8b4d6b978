//===- Sampler.h - Chooses a token from logits ----------------------------===//
//
// Filters in the order of the Hugging Face library: repeat penalty,
// temperature, top_k, top_p, min_p; then a draw (Gumbel-max): of the tokens
// that are left, the one with the largest
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

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

/// exp(x) for x <= 0, within 2 units in the last place, the same bits
/// everywhere; 0 below -708.
double expOfNegative(double x);

/// Philox-2x32 with 10 rounds (Salmon et al., "Parallel Random Numbers: As Easy
/// as 1, 2, 3", SC'11).
std::array<uint32_t, 2> philox(std::array<uint32_t, 2> counter, uint32_t key);

/// The noise of the tokens in one draw.
struct Noise {
  uint32_t key, counter;

  /// That of the `index`-th draw of a seed; no two draws of a seed share it.
  static Noise of(uint64_t seed, uint64_t index);
  /// -ln(-ln u), where u follows from the first word of
  /// philox({token, counter}, key); kernels compute the same bits
  /// (passes/seq_to_tile/builders/dense/Draw.cpp).
  float at(uint32_t token) const;

  /// The word's lower 31 bits are a number n. With its highest bit clear u is
  /// (n + 1/2) / 2^32, else 1 - (n + 1/2) / 2^32: evenly spread over (0, 1),
  /// and exact near 1, where noise is large. Within 2^-22 and one unit in the
  /// last place of the exact noise, for each of the 2^32 words.
  static float from(uint32_t word);
  /// No noise is more.
  static constexpr float kMost = 23;
};

/// By what one token is drawn: the largest logit * scale + amount * noise.
struct Draw {
  float scale = 1;
  float amount = 0; // 1, or 0 for the likeliest token
  Noise noise = {};
};

class Sampler {
public:
  static Result<Sampler> create(const effc_sampler_options_t &options,
                                uint32_t vocabularySize);

  Check accept(std::span<const int32_t> tokens);
  /// A draw counts, whether it gives a token or not.
  Result<int32_t> sample(std::span<const float> logits);

  /// Whether tokens are left out or logits changed, so that nextDraw() does not
  /// say all.
  bool needsLogits() const;
  /// The draw that comes next, which counts from then on. What comes of it is
  /// to be told to accept().
  Draw nextDraw();

  bool isGreedy() const { return options.temperature == 0; }
  uint32_t vocabularySize() const { return static_cast<uint32_t>(seen.size()); }

private:
  struct Candidate {
    float logit;
    int32_t id;
    double probability; // not normalised; the best has 1
  };

  Sampler(const effc_sampler_options_t &options, uint32_t vocabularySize);
  float penalised(float logit, size_t id) const;
  bool hasFilters() const;
  Result<int32_t> best(std::span<const float> logits) const;
  void gather(std::span<const float> logits, float bestLogit);
  void keepTopK();
  void keepTopP();
  void keepMinP();
  Result<int32_t> largest(std::span<const float> logits, Draw draw) const;

  effc_sampler_options_t options;
  float scale; // 1 / temperature
  std::vector<bool> seen;
  std::vector<Candidate> candidates; // room for the vocabulary
  uint64_t drawn = 0;
};

} // namespace effc::rt

/// The C handle.
struct effc_sampler {
  effc::rt::Sampler sampler;
};

#endif // EFFC_RUNTIME_SRC_SAMPLER_H
