//===- Head.h - The ops that make a model's logits ------------------------===//
#ifndef EFFC_PASSES_SEQ_HEAD_H
#define EFFC_PASSES_SEQ_HEAD_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace effc {

/// The ops that make logits of rows, in order: one product of rows with a
/// matrix, and every elementwise op between it and the logits. Empty where the
/// logits are anything else.
llvm::SmallVector<mlir::Operation *> collectHead(mlir::Value logits);

} // namespace effc

#endif // EFFC_PASSES_SEQ_HEAD_H
