// The options that shape an artifact, spelt one way: how its provenance keeps
// them, and how they are read back to make it again.
#ifndef EFFC_COMPILER_CANONICALOPTIONS_H
#define EFFC_COMPILER_CANONICALOPTIONS_H

#include "compiler/Compiler.h"

namespace effc {

/// "--target=host", "--prefill-rows=16,64,256", ...: those that are always
/// given, and those that differ from their defaults.
std::vector<std::string> writeCanonicalOptions(const CompileOptions &options);

/// Fills `options` from what writeCanonicalOptions() wrote. Fails on an option
/// that this compiler does not know, naming it.
llvm::Error readCanonicalOptions(llvm::ArrayRef<std::string> texts,
                                 CompileOptions &options);

} // namespace effc

#endif // EFFC_COMPILER_CANONICALOPTIONS_H
