// Which outputs of a product an op takes that keeps a state of them: what a product
// may do besides whose rows are taken one by one (FormKernels.cpp, OutputUpdates.h).
#ifndef EFFC_PASSES_KERNELFACTS_TAKENOUTPUTS_H
#define EFFC_PASSES_KERNELFACTS_TAKENOUTPUTS_H

#include "dialects/seq/SeqOps.h"

namespace effc {

/// What a value holds the elements of, all of them.
mlir::Value elementsOf(mlir::Value value);

/// The operand of a short convolution whose channels it convolves, or of a
/// recurrence whose channels do not meet its values [T, H, V]: a state that a
/// number per head decays, [H, 1, V], and operands of numbers per head besides.
/// Null where channels meet.
mlir::OpOperand *ownChannelsOf(mlir::Operation *op);

/// The outputs of a product that an op takes, which keeps a state of them and
/// in which channels do not meet.
struct TakenOutputs {
  seq::LinearOp product; ///< null: it takes something else, or is no such op
  int64_t first = 0, heads = 1, channels = 0; ///< channels of each head

  int64_t end() const { return first + heads * channels; }
  bool overlaps(const TakenOutputs &other) const {
    return first < other.end() && other.first < end();
  }
  bool isLike(const TakenOutputs &other) const {
    return first == other.first && heads == other.heads &&
           channels == other.channels;
  }

  static TakenOutputs of(mlir::Operation *op);
};

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_TAKENOUTPUTS_H
