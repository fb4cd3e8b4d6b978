// The line of a model's text that an error is about.
#ifndef EFFC_COMPILER_SOURCELINES_H
#define EFFC_COMPILER_SOURCELINES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace effc {

/// `message`, whose first line may begin with `path` or its file name, a line and
/// a column: then with that line of the file behind it, and a caret below the
/// column. As it is where the message names no place, or the file has none such.
std::string withSourceLine(llvm::StringRef message, llvm::StringRef path);

} // namespace effc

#endif // EFFC_COMPILER_SOURCELINES_H
