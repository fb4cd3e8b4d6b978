// A softmax over keys that come block by block: what is carried from block to block,
// and what a block does to it.
//
//   m' = max(m, max s);  p = e^(s - m');  a = e^(m - m')
//   l' = a l + sum p;    o' = a o + p v
//
// with a block's scores s and its values v; the result is o / l.
#ifndef EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_RUNNINGSOFTMAX_H
#define EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_RUNNINGSOFTMAX_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// m, l and o of some rows of queries: columns, and a tile of rows x V. Where only the
/// sum is asked for, o is null.
struct RunningSoftmax {
  mlir::Value largest, total, mixed;

  /// Those of no key; with `channels` 0 there are no values.
  static RunningSoftmax begin(KernelBuilder &k, int64_t rows, int64_t channels);
  /// As loops carry them.
  llvm::SmallVector<mlir::Value> values() const;
  static RunningSoftmax of(mlir::ValueRange values);
};

/// A block's scores, taken into the maximum and the sum.
struct SoftmaxStep {
  mlir::Value largest, total; // m', l'
  mlir::Value faded, weights; // a, a column; p, of the scores' type

  /// `scores` [rows, keys], -inf for keys that are out of sight.
  static SoftmaxStep of(KernelBuilder &k, const RunningSoftmax &before,
                        mlir::Value scores);
  /// With the block's values [keys, V]: all three.
  RunningSoftmax mix(KernelBuilder &k, mlir::Value mixed,
                     mlir::Value values) const;
};

} // namespace effc

#endif // EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_RUNNINGSOFTMAX_H
