// What MLIR says of a text that is no model, in words for who wrote the model.
#ifndef EFFC_FRONTEND_TEXTMISTAKES_H
#define EFFC_FRONTEND_TEXTMISTAKES_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace effc::frontend {

/// `said` is one line of MLIR's parser about the first word of `rest`. Messages
/// that speak of MLIR's own tools, or of what a parser tried, are put otherwise
/// and name the word and what it may have been meant to be; others are left.
std::string explainMistake(llvm::StringRef said, llvm::StringRef rest,
                           mlir::MLIRContext &context);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TEXTMISTAKES_H
