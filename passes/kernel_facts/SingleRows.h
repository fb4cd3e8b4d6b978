// Products of a single row on a GPU, which take the row without tensor cores.
#ifndef EFFC_PASSES_KERNELFACTS_SINGLEROWS_H
#define EFFC_PASSES_KERNELFACTS_SINGLEROWS_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/seq/SeqOps.h"

namespace effc {

/// How a GPU passes over the contraction of a product with a single row: the
/// longest divisor of `inner` up to a run of 1,024 elements; 0 where that would
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

/// Whether a GPU takes the rows of a call one by one, without tensor cores: a
/// single row whose bits need not be those it has among others.
bool isSingleRow(seq::EntryAttr entry, bool bitStable, int64_t inner);

/// Whether items own whole outputs of a product with a single row on a GPU.
bool ownsOutputs(seq::LinearOp product);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_SINGLEROWS_H
