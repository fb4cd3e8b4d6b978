// The forms of a linear recurrence, as primitive ops.
//
// With G groups of R heads each, K and V channels, S the state of a head and
// D_t = exp(logDecay_t):
//
//   S_t = D_t S_{t-1} + key_t (x) value_t,   read_t = query_t @ S_t
//
// Unrolled over a block of C tokens after the state S_0, with the decay from
// token j to token i, D_ij = exp(logDecay_{j+1} + ... + logDecay_i), and from
// the block's start, D_i = exp(logDecay_0 + ... + logDecay_i):
//
//   read_i = D_i query_i @ S_0 + sum_{j <= i} D_ij (query_i . key_j) value_j
//   S_C    = D_{C-1} S_0 + sum_j key_j (x) D_{C-1,j} value_j
//
// Every factor is the exponential of a sum of log-decays; none is a quotient or
// a difference, so a decay of -1e4 costs no later token its precision.
#ifndef EFFC_PASSES_SEQ_LINEARFORMS_H
#define EFFC_PASSES_SEQ_LINEARFORMS_H

#include "mlir/IR/Builders.h"

namespace effc::seq {

/// The canonical quantities of some tokens, heads split into groups, and the
/// state before the first of them.
struct LinearTokens {
  mlir::Value query;    ///< [T, G, K]
  mlir::Value key;      ///< [T, G, K]
  mlir::Value value;    ///< [T, G, R, V]
  mlir::Value logDecay; ///< [T, G, R], nats
  mlir::Value state;    ///< [G, R, K, V]

  int64_t getCount() const;
};

/// What a form computes from them.
struct LinearResult {
  mlir::Value read;  ///< [T, G, R, V]
  mlir::Value state; ///< [G, R, K, V], after the last token
};

/// Token by token: a scan of chunk 1 over the recurrence as it is written.
LinearResult buildStepForm(mlir::OpBuilder &builder, mlir::Location loc,
                           const LinearTokens &tokens);

/// All tokens as one block.
LinearResult buildQuadraticForm(mlir::OpBuilder &builder, mlir::Location loc,
                                const LinearTokens &tokens);

/// A scan over the full blocks of `chunk` tokens, then a block of those left.
LinearResult buildChunkwiseForm(mlir::OpBuilder &builder, mlir::Location loc,
                                const LinearTokens &tokens, int64_t chunk);

} // namespace effc::seq

#endif // EFFC_PASSES_SEQ_LINEARFORMS_H
