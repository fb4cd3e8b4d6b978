#include "tools/effc/Version.h"

#include "Commit.h" // generated: EFFC_COMMIT

// Set by CMake: EFFC_VERSION, and EFFC_LLVM_VERSION when the compiler is built.

std::string effc::cli::versionText() {
  std::string text = "effc " EFFC_VERSION " (commit " EFFC_COMMIT ", ";
#ifdef EFFC_LLVM_VERSION
  text += "LLVM " EFFC_LLVM_VERSION;
#else
  text += "without the compiler";
#endif
  return text + ")";
}
