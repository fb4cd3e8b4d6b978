// By itself, so that another commit compiles little anew.
#include "compiler/Compiler.h"

#include "Commit.h" // generated: EFFC_COMMIT

llvm::StringRef effc::getVersion() { return EFFC_VERSION; }
llvm::StringRef effc::getCommit() { return EFFC_COMMIT; }
