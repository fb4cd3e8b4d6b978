// MLIR's diagnostics, turned into the one error and the remarks of a
// compilation.
#ifndef EFFC_COMPILER_DIAGNOSTICS_H
#define EFFC_COMPILER_DIAGNOSTICS_H

#include "compiler/Compiler.h"
#include "mlir/IR/Diagnostics.h"

namespace effc {

/// Lives as long as a compilation. Remarks go to the events as they come; the
/// first error is kept, with its notes, and what follows it is dropped, since a
/// pass that failed says more than those that failed because of it. The context
/// adds no note with the whole op from then on.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext &context, const CompileEvents &events,
                      bool fallbackIsError);

  /// Of what is no diagnostic: a line of the import.
  void remark(llvm::StringRef where, llvm::StringRef text);
  /// The first error, or `otherwise` where a step failed without one.
  llvm::Error takeError(llvm::StringRef otherwise);
  bool hasError() const { return !message.empty(); }

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);
  /// Whether the remark is an error here.
  bool tell(llvm::StringRef where, llvm::StringRef text);
  /// False where there is an error already.
  bool keep(llvm::StringRef where, llvm::StringRef text);

  const CompileEvents &events;
  bool fallbackIsError;
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace effc

#endif // EFFC_COMPILER_DIAGNOSTICS_H
