// What a mixer of class `linear` is, token by token.
//
// With G groups of R = H / G heads, and for each head a state S of K x V:
//
//   S' = exp(decay) . S
//   S  = S' + erase (x) (probe @ S*) + key (x) value     S* = S' or the old S
//   o  = query @ S + (query . bonusKey) value            or of the old S
//   z  = exp(decay) . z + weight sumKey                  the normaliser's sum
//   n  = sumQuery @ z
//
// as the structure record says. A token that writes several times makes S from S' so
// often, each time by a key, a value and a probe of its own, without a decay in between.
// Of a complex field decay, key, query and state are complex numbers and o the real
// part. All but `value` may lack their T: a quantity that does not vary with the token
// may lack its leading T, as those of a parameter alone do.
//
// Source: one recurrence for the whole family, after Sun et al.,
// arXiv:2407.04620, and Yang et al., arXiv:2406.06484; its fields are those of
// `#seq.linear`.
#ifndef EFFC_DIALECTS_SEQ_CANONICALQUANTITIES_H
#define EFFC_DIALECTS_SEQ_CANONICALQUANTITIES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace effc::seq {

/// What a token writes behind the first time. Members are those of
/// CanonicalQuantities.
struct LaterWrite {
  mlir::Value key, value, probe, eraseScale;
};

/// The canonical quantities of some tokens. Absent ones are null.
struct CanonicalQuantities {
  /// [T, G, K]; where the decay is per element, [T, H, K, V] as well.
  mlir::Value query, key;
  mlir::Value value; ///< [T, H, V], input gates applied

  /// Log-decays, nats per token, at most 0: [H] or [T, H] per head, [T, H, K]
  /// per key channel, [T, H, K, V] or [H, K, V] per element; null where only
  /// value channels decay, or nothing does.
  mlir::Value logDecay;
  /// [T, H, V] or [H, V]: log-decays per value channel, where the axis has one.
  mlir::Value valueLogDecay;

  /// Of a complex field: what the decay of logDecay turns the state by, a
  /// number of magnitude 1 of the shape of `logDecay`, and the imaginary parts
  /// of query and key.
  mlir::Value turn, turnImaginary, queryImaginary, keyImaginary;

  mlir::Value bonusKey; ///< [T, G, K]
  mlir::Value probe;    ///< [T, G, K]
  /// What the probe's reading is written along: a key of its own, [T, H, K], or
  /// `key` times a number per head, [T, H].
  mlir::Value erase, eraseScale;
  /// One less than the record's `writes`; then there is no `erase`.
  llvm::SmallVector<LaterWrite, 2> laterWrites;
  /// [T, H], or [T, H, V] with decays per value channel: what the normaliser's
  /// sum takes of a key. Null stands for 1.
  mlir::Value weight;
  /// [T, G, K]: what the normaliser's sum takes and is read with. Null stands
  /// for `query` and `key`.
  mlir::Value sumQuery, sumKey;
  /// Of the shape of the log-decays: log of an input gate without bound, which
  /// multiplies value and weight.
  mlir::Value logGate;
  /// What the mixer's read-out takes from the tokens besides the reading, such
  /// as a feed-through; of any shape.
  llvm::SmallVector<mlir::Value, 2> forReadOut;
};

/// What a recurrence has read for some tokens, for a mixer's read-out.
struct LinearReading {
  mlir::Value read; ///< [T, H, V]
  /// [T, H], or [T, H, V] with decays per value channel: the normaliser's
  /// reading; null without one.
  mlir::Value denominator;
  /// Of the shape of the log-decays: the maximum to which `read` and
  /// `denominator` are scaled, at the time of reading; null without stabiliser.
  mlir::Value maximum;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_CANONICALQUANTITIES_H
