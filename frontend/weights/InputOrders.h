// Matrices whose inputs were sorted before they were quantised
// (frontend/quantised/InputOrder.h).
#ifndef EFFC_FRONTEND_WEIGHTS_INPUTORDERS_H
#define EFFC_FRONTEND_WEIGHTS_INPUTORDERS_H

#include "dialects/seq/Seq.h"
#include "frontend/checkpoint/Checkpoint.h"
#include "frontend/checkpoint/ConfigReader.h"

#include "mlir/IR/BuiltinOps.h"

namespace effc::frontend {

/// Has products read such matrices in blocks, their inputs brought into the order of
/// groups before:
///
///   %y = seq.linear %x, %w                 : tensor<64x96xf32>
///   -> %o = seq.permute_channels %x by %order
///      %y = seq.linear %o, %w              : tensor<64x96x!storage.block<...>>
///
/// Products that read the same rows in the same order share the op. A matrix that
/// several tensors are joined to, that is turned, or that anything but products of whole
/// rows reads, stays f32; a remark counts them. `isTyped`: the user chooses types of
/// matrices, so that all stay f32 for that. Fails where the numbers of an order cannot be
/// read.
llvm::Error orderInputs(mlir::ModuleOp module, Checkpoint &checkpoint,
                        bool isTyped, Remarks &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_WEIGHTS_INPUTORDERS_H
