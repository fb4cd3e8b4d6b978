// The forms of a retrieval, as primitive ops.
//
// With scores of S keys on each of two axes a head scores N = S^2 rows. Two
// ways lead to its best K:
//
//   pairs:       all N sums are formed, then the K best of them are looked for;
//   candidates:  the keys of each axis are ordered, and of a-th and b-th ones
//                only pairs with a b <= K are summed, since each such pair has
//                a b - 1 before it (seq.choose_rows).
//
// The chosen rows are then copied out and multiplied (pairs), or read where
// they lie (candidates): what kernels do.
#ifndef EFFC_PASSES_SEQ_RETRIEVALFORMS_H
#define EFFC_PASSES_SEQ_RETRIEVALFORMS_H

#include "dialects/seq/SeqInterfaces.h"

namespace effc::seq {

/// By all pairs, with every chosen row copied out. Returns the mixer's token
/// result. T must be static.
mlir::Value buildPairForm(mlir::OpBuilder &builder, mlir::Location loc,
                          RetrievalAttr record,
                          const RetrievalOperands &operands);

/// By candidates, as the phases that kernels are made of. Returns the mixer's
/// token result.
mlir::Value buildCandidateForm(mlir::OpBuilder &builder, mlir::Location loc,
                               RetrievalAttr record,
                               const RetrievalOperands &operands);

/// Replaces `op`, of class retrieval, by the form that `kind` stands for: all
/// pairs for `quadratic`, candidates for `step` and `chunkwise`, since tokens
/// do not meet in a retrieval.
void expandRetrieval(MixerOpInterface op, FormKind kind);

} // namespace effc::seq

#endif // EFFC_PASSES_SEQ_RETRIEVALFORMS_H
