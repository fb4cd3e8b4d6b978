// Results of kernels that lie in a tensor which joins them, so that nothing
// copies them there.
#ifndef EFFC_PASSES_SEQTOTILE_JOINEDRESULTS_H
#define EFFC_PASSES_SEQTOTILE_JOINEDRESULTS_H

#include "dialects/seq/SeqOps.h"
#include "llvm/ADT/DenseMap.h"

namespace effc {

/// The part of a joined tensor's rows that a result is.
struct JoinedPart {
  mlir::Value joined; ///< result of the kernel that joins; null: none
  int64_t column = 0;
};

/// The results in `body` of kernels that nobody reads but one that joins rows
/// [T, N] of such results, and does nothing else. What the entry gives is not
/// among them: it lies as the caller wants it.
llvm::DenseMap<mlir::Value, JoinedPart> findJoinedResults(mlir::Block &body);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_JOINEDRESULTS_H
