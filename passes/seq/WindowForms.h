// The forms of a softmax over a window of keys, as primitive ops.
//
// With H heads, G heads of keys and J of values, and the keys in sight of a
// query at position p those at p - window + 1 to p:
//
//   s_j = scale (q . k_j), capped, with slope and number of the key
//   o   = sum_j e^(s_j - m) v_j / (e^(sink - m) + sum_j e^(s_j - m))
//
// for any m; it is the largest s_j and sink. Keys come in blocks, each of which
// moves m up and fades what the blocks before have summed:
//
//   m' = max(m, max_j s_j)             a = e^(m - m')
//   l' = a l + sum_j e^(s_j - m')      o' = a o + sum_j e^(s_j - m') v_j
//
// Keys out of sight have s_j = -inf by select, as have those of blocks that a query
// has not chosen, and those that do not count among the best where only some are
// kept: their rank is counted. Keys of the
// first tokens that stay are a block of their own, with a query of its own and
// with -inf where the window still holds them. m is bounded
// from below by the lowest finite number, so that a block without a key in
// sight adds nothing.
#ifndef EFFC_PASSES_SEQ_WINDOWFORMS_H
#define EFFC_PASSES_SEQ_WINDOWFORMS_H

#include "dialects/seq/SeqInterfaces.h"

namespace effc::seq {

/// What a form works on: the tokens, whose T is static, the record, and the
/// states in the order of the mixer's descriptors.
struct WindowInputs {
  WindowAttr record;
  WindowTokens tokens;
  llvm::SmallVector<mlir::Value> states;

  int64_t getCount() const;
};

/// What a form computes from them.
struct WindowResult {
  mlir::Value mixed; ///< [T, H, V]
  llvm::SmallVector<mlir::Value> states;
};

/// Token by token: a scan of chunk 1 that writes the ring, then reads all of
/// it.
WindowResult buildWindowStep(mlir::OpBuilder &builder, mlir::Location loc,
                             const WindowInputs &inputs);

/// One softmax over the ring before the tokens and the tokens themselves.
WindowResult buildWindowQuadratic(mlir::OpBuilder &builder, mlir::Location loc,
                                  const WindowInputs &inputs);

/// A scan over blocks of `chunk` tokens, each of which reads the ring before it
/// in blocks of `chunk` keys, then its own keys; a block of the tokens left.
WindowResult buildWindowChunkwise(mlir::OpBuilder &builder, mlir::Location loc,
                                  const WindowInputs &inputs, int64_t chunk);

} // namespace effc::seq

#endif // EFFC_PASSES_SEQ_WINDOWFORMS_H
