// Modules of phases as files: what --dump-phases writes and --compile-from reads.
#ifndef EFFC_COMPILER_PHASEFILES_H
#define EFFC_COMPILER_PHASEFILES_H

#include "compiler/Phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace effc {

struct CompileOptions;
struct Target;

/// The file of a phase's module in `folder`. With several targets each has a
/// folder of its own in it, by the target's name.
std::string phaseFile(llvm::StringRef folder, const CompileOptions &options,
                      const Target &target, Phase phase);

/// Writes a phase's module, with its folder. That of the import has locations:
/// nothing else knows the names of layers yet, which later phases keep.
llvm::Error writePhaseFile(mlir::ModuleOp module, Phase phase,
                           llvm::StringRef path);

/// The module of a phase, as it was written or as somebody has changed it since.
/// Fails where the file cannot be read, or was not made for `expected`, the
/// target that the options describe.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readPhaseFile(llvm::StringRef path, mlir::Attribute expected);

} // namespace effc

#endif // EFFC_COMPILER_PHASEFILES_H
