// What is said of a compilation's targets before code is made for them.
#ifndef EFFC_COMPILER_TARGETREMARKS_H
#define EFFC_COMPILER_TARGETREMARKS_H

#include "compiler/Compiler.h"

namespace effc {

/// Remarks on `module`: which GPUs run the code, what its products round, and
/// where weights in blocks are multiplied as numbers.
void remarkOnTargets(const CompileOptions &options, mlir::ModuleOp module);

} // namespace effc

#endif // EFFC_COMPILER_TARGETREMARKS_H
