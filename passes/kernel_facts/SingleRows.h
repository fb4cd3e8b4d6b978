// Products of a row or a few on a GPU, which are taken without tensor cores.
#ifndef EFFC_PASSES_KERNELFACTS_SINGLEROWS_H
#define EFFC_PASSES_KERNELFACTS_SINGLEROWS_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/seq/SeqOps.h"

namespace effc {

/// Elements of a run of a single row that are multiplied at once: long enough that each
/// thread has loads on the way, whatever the block, and no shorter than what memory gives
/// at once of a row of 16-bit weights.
inline constexpr int64_t kLongestRun = 1024, kShortestRun = 64;

/// How a GPU passes over the contraction of a product with a single row: the
/// longest divisor of `inner` up to the longest run; 0 where that would
/// be short, and the row is one of a matrix.
int64_t singleRowStep(int64_t inner);

/// The shapes of a product of rows with a matrix (`seq::isDenseOp`): so many
/// parts, each of a run of outputs that sum up `inner` terms.
struct DenseShape {
  int64_t parts, outputs, inner;

  static DenseShape of(mlir::Operation *op) {
    if (auto scores = mlir::dyn_cast<seq::KeyScoresOp>(op))
      return {2 * scores.getHeads(), scores.getKeysPerHalf(),
              scores.getChannels()};
    llvm::ArrayRef<int64_t> weight =
        mlir::cast<mlir::RankedTensorType>(op->getOperand(1).getType())
            .getShape();
    return {weight.size() == 3 ? weight.front() : 1, weight.drop_back().back(),
            weight.back()};
  }
};

/// The most rows that a GPU takes one by one, without tensor cores. More of them
/// are read again and again, beside fewer outputs: four rows wait for the second
/// cache (tools/sass_model). It is a bound of the method: rows come from the second
/// cache for each output and weights from memory once, so their bytes tell, and no
/// number of a chip's record.
inline constexpr int64_t kMostSingleRows = 2;

/// Whether a GPU takes the rows of a call one by one, where there are at most so
/// many: rows whose bits need not be those they have among others.
bool areSingleRows(seq::EntryAttr entry, bool bitStable, int64_t inner,
                   int64_t most = kMostSingleRows);

/// The same of a row alone.
inline bool isSingleRow(seq::EntryAttr entry, bool bitStable, int64_t inner) {
  return areSingleRows(entry, bitStable, inner, /*most=*/1);
}

/// Whether items own whole outputs of a product with a single row on a GPU.
bool ownsOutputs(seq::LinearOp product);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_SINGLEROWS_H
