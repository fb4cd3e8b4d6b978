// Noise on logits, so that the largest sum is a draw from their softmax.
//
// The definition is the runtime's (runtime/src/Sampler.h), to the bit: integers
// and single roundings of f32, which every target has, in its order.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_DRAW_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_DRAW_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// The words of `draws` of the kernel's seq.best, f32 whose bits they are: of a
/// single row one each, of several a column. All null where it has no draws.
struct DrawWords {
  mlir::Value scale, amount, key, counter;

  /// Those of `rows` rows from `row` on, of which those from `limit` on, where
  /// it is there, are not stored.
  static DrawWords read(KernelBuilder &k, mlir::Value row, int64_t rows,
                        mlir::Value limit);
  /// The elements of `tile`, which have the numbers from `first` (an index) on,
  /// scaled and with their noise; the tile itself without draws.
  mlir::Value addNoise(KernelBuilder &k, mlir::Value tile,
                       mlir::Value first) const;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_DRAW_H
