// The syntax in which a region's arguments are bound to operands:
//
//   (%a = %x : tensor<?x6xf32>, %b = %y : tensor<?x6xf32>)
#ifndef EFFC_DIALECTS_SEQ_BINDINGSYNTAX_H
#define EFFC_DIALECTS_SEQ_BINDINGSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace effc::seq {

/// Region arguments and the operands they are bound to. The types are those of
/// the operands.
struct Bindings {
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;

  mlir::ParseResult parse(mlir::OpAsmParser &parser);
  /// Appends the operands to `values`.
  mlir::ParseResult resolve(mlir::OpAsmParser &parser,
                            llvm::SmallVectorImpl<mlir::Value> &values) const;
};

void printBindings(mlir::OpAsmPrinter &printer, mlir::ValueRange arguments,
                   mlir::ValueRange operands);

/// Parses "(type, type)", which may be empty.
mlir::ParseResult parseTypes(mlir::OpAsmParser &parser,
                             llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_BINDINGSYNTAX_H
