// Where a `seq.weight` meets the tensor of the checkpoint that it names.
#ifndef EFFC_FRONTEND_WEIGHTS_H
#define EFFC_FRONTEND_WEIGHTS_H

#include "dialects/seq/Seq.h"
#include "frontend/checkpoint/Checkpoint.h"

namespace effc::frontend {

/// Fails unless the checkpoint has the weight's source, with the weight's shape
/// (or its transpose) and elements of F32, BF16 or F16. A transposed source may
/// have further dimensions of size 1: [C, 1, W] is the transpose of [W, C].
llvm::Error checkWeight(seq::WeightOp weight, const Checkpoint &checkpoint);

/// The elements of a weight in the order of its own type, row-major. Exact: the
/// types that checkWeight() admits all fit a float.
template <typename S>
llvm::Expected<std::vector<S>> readWeight(seq::WeightOp weight,
                                          const Checkpoint &checkpoint);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_WEIGHTS_H
