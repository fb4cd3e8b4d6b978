// Whether a compiled file is one that the runtime takes.
#ifndef EFFC_COMPILER_LOADCHECK_H
#define EFFC_COMPILER_LOADCHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace effc {

/// Loads `written` as a user of it would, by the runtime of this version. Importer
/// and loader share their limits, but what a tokenizer's steps make of its tokens,
/// say, is known by doing it alone. `name` is what the file will be called, for the
/// message.
llvm::Error checkLoads(llvm::StringRef written, llvm::StringRef name);

} // namespace effc

#endif // EFFC_COMPILER_LOADCHECK_H
