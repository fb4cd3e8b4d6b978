// Rows of a weight by several threads, in the order and with the bytes of one.
#ifndef EFFC_CODEGEN_ARTIFACT_ROWTHREADS_H
#define EFFC_CODEGEN_ARTIFACT_ROWTHREADS_H

#include "codegen/artifact/WeightRows.h"

namespace effc::codegen {

/// Hands all rows of a weight to `take`, several at a time and in order: `take` runs
/// on the caller's thread alone. Where rows are rounded or reordered, which takes
/// far longer than writing them, so many threads make them; they hold 16 MiB of rows
/// at once, and a row each at least. An error is that of the first row that has one.
llvm::Error
makeRows(WeightRows rows,
         llvm::function_ref<llvm::Error(llvm::ArrayRef<uint8_t> bytes)> take,
         unsigned threads);

/// As many as the process may use, 16 at most.
unsigned threadsForRows();

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_ROWTHREADS_H
