// Where a compilation may write.
#ifndef EFFC_COMPILER_OUTPUTPLACES_H
#define EFFC_COMPILER_OUTPUTPLACES_H

#include "compiler/Compiler.h"

namespace effc {

/// Fails, with one line, if what a compilation with `options` writes - its
/// output, the modules of its phases, and its remarks at the path `remarks`
/// (empty or "-": no file) - would replace a file of the model or another of
/// these, or if its output cannot be written where it is to lie. Files are told
/// apart by what they are, not by their names. To be called before anything is
/// written.
llvm::Error checkOutputPlaces(const CompileOptions &options,
                              llvm::StringRef remarks = "");

} // namespace effc

#endif // EFFC_COMPILER_OUTPUTPLACES_H
