// What a matrix is for, as far as the choice of its storage asks.
#ifndef EFFC_FRONTEND_WEIGHTS_MATRIXROLE_H
#define EFFC_FRONTEND_WEIGHTS_MATRIXROLE_H

namespace effc::frontend {

/// Whoever declares a matrix says its role (ModelBuilder): a name says nothing, and use
/// alone cannot tell an MLP's last matrix from a half of a product of low rank.
enum class MatrixRole {
  Other,
  /// Of attention's values; of queries, keys and values in one matrix too. Mixes give
  /// this role and the next three a storage of their own (WeightMixes.h).
  Values,
  Keys,
  AttentionOut,
  /// The last matrix of an MLP, or of all of a layer's experts.
  Down,
  /// What chooses experts, a row each. This role and the next ones stay as they are.
  Router,
  /// How much the experts' shared layer counts: one row.
  SharedGate,
  /// A table of positions.
  Positions,
  /// Either half of a product of low rank whose rounding mixes do not risk.
  LowRank,
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_WEIGHTS_MATRIXROLE_H
