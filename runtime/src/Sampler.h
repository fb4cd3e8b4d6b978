//===- Sampler.h - Chooses a token from logits ----------------------------===//
//
// Filters in the order of the Hugging Face library: repeat penalty,
// temperature, top_k, top_p, min_p; then a draw. Reproducible on every machine:
// random numbers come from a counter (SplitMix64), exponentials from a
// polynomial written out here, and candidates are summed in a defined order (by
// falling logit, ties by rising id; by id alone when nothing needs sorting).
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLER_H
#define EFFC_RUNTIME_SRC_SAMPLER_H

#include "runtime/src/Error.h"

#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

/// exp(x) for x <= 0, within 2 units in the last place, the same bits
/// everywhere; 0 below -708.
double expOfNegative(double x);

/// The `index`-th random number of `seed`, uniform in [0, 1), 53 bits.
double uniformAt(uint64_t seed, uint64_t index);

class Sampler {
public:
  static Result<Sampler> create(const effc_sampler_options_t &options,
                                uint32_t vocabularySize);

  Check accept(std::span<const int32_t> tokens);
  Result<int32_t> sample(std::span<const float> logits);

  uint32_t vocabularySize() const { return static_cast<uint32_t>(seen.size()); }

private:
  struct Candidate {
    float logit;
    int32_t id;
    double probability; // not normalised; the best has 1
  };

  Sampler(const effc_sampler_options_t &options, uint32_t vocabularySize);
  float penalised(float logit, size_t id) const;
  Result<int32_t> best(std::span<const float> logits) const;
  void gather(std::span<const float> logits, float bestLogit);
  void keepTopK();
  void keepTopP();
  void keepMinP();
  int32_t draw();

  effc_sampler_options_t options;
  std::vector<bool> seen;
  std::vector<Candidate> candidates; // room for the vocabulary
  uint64_t drawn = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLER_H
