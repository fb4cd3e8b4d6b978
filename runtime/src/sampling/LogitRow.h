//===- LogitRow.h - A row of logits that is looked at in blocks -----------===//
//
// Most tokens of a row are far from likely. The largest logit of each block of
// 32 tells which blocks can be passed over, whatever is asked of the rest.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_LOGITROW_H
#define EFFC_RUNTIME_SRC_SAMPLING_LOGITROW_H

#include "runtime/src/Error.h"
#include "runtime/src/sampling/Candidates.h"
#include "runtime/src/sampling/Race.h"
#include "runtime/src/sampling/Weights.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace effc::rt {

class LogitRow {
public:
  static constexpr size_t kBlock = 32;

  /// Looks through `logits`, which stay the caller's. `maxima` has room for one
  /// number a block. None where a logit is NaN, or all are minus infinity.
  static std::optional<LogitRow> scan(std::span<const float> logits,
                                      std::vector<float> &maxima);
  /// Why that gives none.
  static Error whyNone(std::span<const float> logits);

  size_t size() const { return logits.size(); }
  size_t blocks() const { return maxima.size(); }
  /// The likeliest token, the first of several.
  Candidate best() const { return first; }

  float logit(int32_t id) const { return logits[static_cast<size_t>(id)]; }
  /// How many tokens have this logit.
  size_t count(float logit) const;

  /// All tokens take part in `race`.
  void enterAll(Race &race) const;
  /// The sum of quickExp() over all tokens, but for some that add less than
  /// 2^-51 each.
  double mass(const Distance &distance) const;
  /// The same, faster: within 10^-5 of it if no token lies more than `coarsely` below
  /// the best, and less near the more weight such tokens have.
  RoughMass roughMass(const Distance &distance, double coarsely) const;
  /// Moments of the tokens of `mass`, of a row whose best logit is finite. Where no
  /// block lies more than `nearly` below the best they are the same bits on every
  /// machine.
  RoughMoments moments(const Distance &distance, double nearly) const;
  /// Adds the tokens of at least this logit to `out`, in their order.
  void gather(float least, Candidates &out) const;
  /// A logit that at least `count` tokens reach, or minus infinity. `scratch` is
  /// used as it likes.
  float reachedBy(size_t count, std::vector<float> &scratch) const;

private:
  LogitRow(std::span<const float> logits, std::span<const float> maxima)
      : logits(logits), maxima(maxima) {}

  std::span<const float> logits, maxima;
  Candidate first = {};
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_LOGITROW_H
