// Where a `seq.weight` meets the tensor of the checkpoint that it names.
#ifndef EFFC_FRONTEND_WEIGHTS_WEIGHTS_H
#define EFFC_FRONTEND_WEIGHTS_WEIGHTS_H

#include "dialects/seq/Seq.h"
#include "frontend/checkpoint/Checkpoint.h"

namespace effc::frontend {

/// Fails unless the checkpoint has each of the weight's tensors, with the shape
/// that the weight says (its own, a share of it, `stored`, or its transpose)
/// and elements of F32, BF16 or F16. Dimensions of size 1 may be left out or
/// added: [C, 1, W] is the transpose of [W, C], [1, 1, D] is a vector.
llvm::Error checkWeight(seq::WeightOp weight, const Checkpoint &checkpoint);

/// The elements of a weight in the order of its own type, row-major. Exact: the
/// types that checkWeight() admits all fit a float.
template <typename S>
llvm::Expected<std::vector<S>> readWeight(seq::WeightOp weight,
                                          const Checkpoint &checkpoint);

/// The bytes of a weight that is made of several tensors, of rows of one or
/// derived from one, in the order of its own type, or turned where it is
/// `transposed`.
struct GatheredWeight {
  TensorType type = ElementType::F32;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes;
};
llvm::Expected<GatheredWeight> gatherWeight(seq::WeightOp weight,
                                            const Checkpoint &checkpoint);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_WEIGHTS_WEIGHTS_H
