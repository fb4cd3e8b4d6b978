//===- Divergence.h - How far two models' predictions are apart -----------===//
#ifndef EFFC_TOOLS_EFFC_DIVERGENCE_H
#define EFFC_TOOLS_EFFC_DIVERGENCE_H

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace effc::cli {

/// Sums over rows of logits of two models for the same tokens.
struct Divergence {
  uint64_t rows = 0;
  /// Kullback-Leibler divergence from the other model's distribution, in nats: what
  /// one loses who takes the model's for it. In double.
  double sumKl = 0;
  double largestKl = 0;
  /// Rows in which both have their largest logit at the same token, of equal ones
  /// the first.
  uint64_t same = 0;
  double sumNll = 0; // of the other model, over tokens that follow

  void add(std::span<const float> own, std::span<const float> other);
  void add(const Divergence &further);
};

/// Divergences by the position of the token that was fed: whether what one model loses
/// adds up with the length of a text.
struct Drift {
  /// Of positions in a band's range, the last of which is not empty.
  std::vector<Divergence> bands;

  /// The first position of a band and that of the next: 16 positions, then as many as
  /// lie before.
  static std::pair<uint64_t, uint64_t> rangeOf(size_t band);

  void add(uint64_t position, const Divergence &row);
  void add(const Drift &further);
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_DIVERGENCE_H
