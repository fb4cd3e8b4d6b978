// `effc compile --tap`: a model that gives inner values.
#ifndef EFFC_COMPILER_TAPS_H
#define EFFC_COMPILER_TAPS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace effc {

/// Makes the model in `module`, as imported, give inner values in place of logits: all
/// that one of `patterns`, extended regular expressions of whole names, matches, in the
/// order of the ops. The module's `seq.taps` says what the numbers of a row are.
///
/// Names:
///
/// - `layers.0.in_proj`: what the last op gives that computes something for that part
///   of the model;
/// - `layers.0.mixer:dt`: an operand of a mixer that has tokens;
/// - `layers.0.mixer:log_decay`: a canonical quantity of a mixer (MixerQuantities.h).
///
/// Fails where a pattern is no regular expression, matches nothing, or where rows would
/// be longer than a file may say.
llvm::Error giveTaps(mlir::ModuleOp module,
                     llvm::ArrayRef<std::string> patterns);

} // namespace effc

#endif // EFFC_COMPILER_TAPS_H
