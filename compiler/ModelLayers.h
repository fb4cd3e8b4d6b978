// Which layer an op of a seq module belongs to, by the name of its part.
#ifndef EFFC_COMPILER_MODELLAYERS_H
#define EFFC_COMPILER_MODELLAYERS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace effc {

/// "layers.3.in_proj": the part of the model that an op belongs to. Empty where the op has
/// no name.
llvm::StringRef partOf(mlir::Operation *op);

/// "layers.3" of an op that is at "layers.3.in_proj": a part's name up to its
/// first number. Empty where the name has no number, as that of the embeddings,
/// or the op has no name.
llvm::StringRef layerOf(mlir::Operation *op);

/// The op for a reader: its part, or its place in a text, and its name:
/// "layers.3.in_proj (seq.linear)".
std::string describeOp(mlir::Operation *op);

} // namespace effc

#endif // EFFC_COMPILER_MODELLAYERS_H
