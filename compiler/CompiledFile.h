// What a user wants to know of a file that was just compiled.
#ifndef EFFC_COMPILER_COMPILEDFILE_H
#define EFFC_COMPILER_COMPILEDFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace effc {

struct CompiledFile {
  uint64_t fileBytes = 0;
  uint64_t parameters =
      0; // as the artifact counts them (codegen/artifact/ParameterCount.h)
  /// That elements are stored in, those of most first, without those of less than a
  /// fiftieth: "q4_k", "q6_k".
  std::vector<std::string> weightTypes;
  uint64_t bytesPerSession = 0; // of one sequence that is as long as it may be
  uint64_t maxContext = 0;      // tokens of such a sequence; 0: no bound
  bool hasTokenizer = false;
};

/// Reads it off the file at `path` and the module of phase seq or later that
/// was written there, whose states are laid out. Fails where the file cannot be
/// asked for its size.
llvm::Expected<CompiledFile> describeCompiledFile(llvm::StringRef path,
                                                  mlir::ModuleOp module);

} // namespace effc

#endif // EFFC_COMPILER_COMPILEDFILE_H
