// What tolerates that the numbers it reads are rounded to 16 bits.
#ifndef EFFC_DIALECTS_SEQ_ROUNDINGTOLERANCE_H
#define EFFC_DIALECTS_SEQ_ROUNDINGTOLERANCE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace effc::seq {

/// Whether reads of a tensor tolerate rounding: what follows changes by little more
/// than it does by rounding the rows of products, as in public models of 16 bits.
///
/// - Products with weights tolerate it in their rows, mixers in what they multiply:
///   queries, keys, values, but not steps that are written out. Norms, convolutions
///   and elementwise ops do if they have the trait `OpTrait::WellConditioned`.
/// - A sum does not, since a residual is one; nor do decays and exponents of a mixer
///   and what it adds up over all tokens, scores by which something is chosen, states,
///   and what leaves the function.
///
/// Elementwise ops and views are followed, from one seq.kernel to the next as well.
/// Answers are kept: the function must not change meanwhile.
class RoundingTolerance {
public:
  /// Of all that reads `tensor`.
  bool ofReads(mlir::Value tensor);

private:
  bool ofRead(mlir::OpOperand &read);
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_ROUNDINGTOLERANCE_H
