// How a checkpoint's numbers differ from those that a family's own checkpoints
// have, since another format's converter changed them, or the model comes from
// another code that computes nearly the same.
#ifndef EFFC_FRONTEND_CHECKPOINT_STOREDFORM_H
#define EFFC_FRONTEND_CHECKPOINT_STOREDFORM_H

#include <cstdint>
#include <optional>

namespace effc::frontend {

struct StoredForm {
  /// Weights of norms that are one less elsewhere are whole.
  bool wholeNorms = false;
  /// What a mixer and an MLP give was halved once for each so many layers before
  /// it, by their last matrices; 0: it was not.
  int64_t halvedEvery = 0;
  /// Heads of values that share a head of keys lie apart: one of each group in
  /// turn, and not group after group.
  bool tiledValues = false;
  /// Matrices that lie as [inputs, outputs] elsewhere lie as all others.
  bool outputsFirst = false;
  /// Queries, keys and values that heads have in turn elsewhere lie one behind the
  /// other, those of all heads.
  bool queriesFirst = false;
  /// The epsilon of the norm of each head, where it is not that of all norms.
  std::optional<double> headNormEpsilon;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_STOREDFORM_H
