// Inner values, each under a name, in place of logits: what `--tap` and
// `--product-inputs` give.
#ifndef EFFC_COMPILER_NAMEDROWS_H
#define EFFC_COMPILER_NAMEDROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace effc {

struct NamedValue {
  std::string name;
  mlir::Value value; ///< of the tokens or of the output's rows
};

/// Makes `forward` give of each row of the output the numbers of `values`, one after
/// another, in place of logits, and names them in its module (runtime/include/effc/taps.h).
/// Fails where a row would be longer than a file takes, which `option` is told.
llvm::Error giveNamedRows(mlir::func::FuncOp forward,
                          llvm::ArrayRef<NamedValue> values,
                          llvm::StringRef option);

} // namespace effc

#endif // EFFC_COMPILER_NAMEDROWS_H
