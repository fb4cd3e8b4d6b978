// The largest number of each row and which it is, without the row in memory.
//
// Items of a product keep the best of the outputs that they compute; a second
// launch finds the best of these.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_BEST_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_BEST_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// Largest numbers and which they are, whole numbers in f32: one of each, or
/// tiles of both. NaN where one of the numbers is.
struct Best {
  mlir::Value value, number;
};

/// Of each row of a block, or of all elements of a row or column. Elements have
/// the numbers from `first` (an index) on; those from `limit` on do not count.
Best bestOf(KernelBuilder &k, mlir::Value tile, mlir::Value first,
            mlir::Value limit);
/// The same of elements that have the numbers `tiles.number`.
Best bestOf(KernelBuilder &k, Best tiles);
/// Of two single ones, of which `earlier` has the lower number.
Best bestOfTwo(KernelBuilder &k, Best earlier, Best later);
/// Place by place of two tiles: what `earlier` has, or an element of `tile` and
/// its number as above.
Best bestOfPlaces(KernelBuilder &k, Best earlier, mlir::Value tile,
                  mlir::Value first, mlir::Value limit);
/// What there is before any number has been seen.
Best noBest(KernelBuilder &k);

/// How the items of a product share the outputs of a row among them.
struct ChoiceItems {
  int64_t runsPerItem; ///< runs of the product's tile, one after another
  int64_t count;       ///< items for each row, or tile of rows

  static ChoiceItems of(mlir::Operation *root, const KernelContext &context);
};
/// The memory between both launches: for each row the values that the items
/// have found, then their numbers. An index into it is (row, 0 or 1, item).
mlir::Value choiceMemory(KernelBuilder &k, const ChoiceItems &items,
                         bool written);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_BEST_H
