// Files that are not what their name says: what came in their place, and what
// their owner can do.
#ifndef EFFC_FRONTEND_CHECKPOINT_FOREIGNFILE_H
#define EFFC_FRONTEND_CHECKPOINT_FOREIGNFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace effc::frontend {

/// The most bytes that explainForeign() looks at.
constexpr uint64_t kForeignBytes = 64;

/// What a file begins like, "a Git LFS pointer ...: ..."; empty where it is
/// nothing of this kind. `start` is its first bytes, as many as there are up to
/// kForeignBytes.
std::string explainForeign(llvm::ArrayRef<uint8_t> start);
/// The same of a file that should begin with bytes that are no text.
std::string explainForeignBinary(llvm::ArrayRef<uint8_t> start);

/// What the file or directory `path` is, where it is given as a model and is
/// none: why, and what to do. A path that does not exist may be a name on a
/// hub.
llvm::Error refuseAsModel(llvm::StringRef path);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_FOREIGNFILE_H
