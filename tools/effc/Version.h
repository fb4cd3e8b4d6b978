#ifndef EFFC_TOOLS_EFFC_VERSION_H
#define EFFC_TOOLS_EFFC_VERSION_H

#include <string>

namespace effc::cli {

/// "effc 0.1.0 (commit 0123abc, LLVM 22.1.8)"; without the compiler, its
/// absence takes the place of LLVM's version.
std::string versionText();

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_VERSION_H
