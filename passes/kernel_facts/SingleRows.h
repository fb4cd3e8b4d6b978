// Products of a row or a few on a GPU, which are taken without tensor cores.
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

/// The most rows that a GPU takes one by one, without tensor cores. More of them
/// are read again and again, beside fewer outputs: four rows wait for the second
/// cache (tools/sass_model).
inline constexpr int64_t kMostSingleRows = 2;

/// Whether a GPU takes the rows of a call one by one, where there are at most so
/// many: rows whose bits need not be those they have among others.
bool areSingleRows(seq::EntryAttr entry, bool bitStable, int64_t inner,
                   int64_t most = kMostSingleRows);

/// The same of a row alone.
inline bool isSingleRow(seq::EntryAttr entry, bool bitStable, int64_t inner) {
  return areSingleRows(entry, bitStable, inner, /*most=*/1);
}

/// The most terms of all products that read a norm for which each of them takes
/// the norm in. Every item reads the row and its weights again, and the gate of a
/// gated norm, so that beyond these a launch of the norm alone costs less.
/// Predicted for an H100 (tools/sass_model): a step of a model whose norms feed
/// 2.6 and 1.2 million terms takes 0.31 ms with its norms taken in and 0.35
/// without; of one with 17 and 8.4 million, 2.15 and 1.54.
inline int64_t mostNormedTerms(bool isGated) {
  return isGated ? 2'000'000 : 4'000'000;
}

/// Whether items own whole outputs of a product with a single row on a GPU.
bool ownsOutputs(seq::LinearOp product);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_SINGLEROWS_H
