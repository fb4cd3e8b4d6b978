// The function @forward of a stored model, to be evaluated, or changed and
// stored again.
#ifndef EFFC_COMPILER_STOREDFORWARD_H
#define EFFC_COMPILER_STOREDFORWARD_H

#include "compiler/Compiler.h"
#include "compiler/Diagnostics.h"
#include "compiler/StoredModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace effc {

/// Owns the module and its context. Ops and values that are had from it live as
/// long as it does.
class StoredForward {
public:
  /// What passes say on it goes to `events`.
  explicit StoredForward(CompileEvents events = {});

  /// Reads the module. Fails where it cannot be read or has no @forward of one
  /// block.
  llvm::Error read(const StoredModel &model);

  mlir::MLIRContext *getContext() { return &context; }
  mlir::ModuleOp getModule() { return *module; }
  mlir::func::FuncOp getFunction() { return function; }
  mlir::Block &getBody() { return function.getBody().front(); }
  mlir::Value getLogits() { return getBody().getTerminator()->getOperand(0); }
  void setLogits(mlir::Value logits) {
    getBody().getTerminator()->setOperand(0, logits);
  }

  /// Leaves out what the logits do not need: ops, states that only such ops
  /// keep, weights.
  void prune();

  /// The module as bytecode, verified. Fails where it is not a module any more.
  llvm::Expected<std::string> write();

  /// The first error that was reported on the module, or `otherwise`.
  llvm::Error takeError(llvm::StringRef otherwise) {
    return diagnostics.takeError(otherwise);
  }

private:
  CompileEvents events;
  mlir::MLIRContext context;
  DiagnosticCollector diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
};

} // namespace effc

#endif // EFFC_COMPILER_STOREDFORWARD_H
