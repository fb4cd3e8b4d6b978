// What is said where no temporary file or folder can be made: the folder in
// question is the user's choice, so it is named.
#ifndef EFFC_CODEGEN_TEMPORARYPLACE_H
#define EFFC_CODEGEN_TEMPORARYPLACE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/Path.h"

namespace effc::codegen {

/// `what`: "file" or "folder". `code`: why there is none.
inline llvm::Error refuseTemporary(llvm::StringRef what, std::error_code code) {
  llvm::SmallString<128> place;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, place);
  return llvm::createStringError(
      "cannot make a temporary " + what + " in '" + place +
      "': " + llvm::StringRef(code.message()).lower() +
      "; TMPDIR names the folder: set it to one that can be written to");
}

} // namespace effc::codegen

#endif // EFFC_CODEGEN_TEMPORARYPLACE_H
