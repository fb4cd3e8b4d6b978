// What is known of one GPU kernel while it becomes a function of the simulator's
// ABI.
#ifndef EFFC_CODEGEN_SIM_REWRITESTATE_H
#define EFFC_CODEGEN_SIM_REWRITESTATE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "runtime/abi/SimAbi.h"
#include "llvm/ADT/StringMap.h"

#include <cstddef>

/// The place of an entry in the table of calls.
#define EFFC_SIM_CALL(name) (offsetof(rt::SimCalls, name) / sizeof(void *))

namespace effc::sim {

struct RewriteState {
  /// `sites`: the names of ops that the module holds already, by their text.
  RewriteState(mlir::ModuleOp module,
               llvm::StringMap<mlir::LLVM::GlobalOp> &sites)
      : module(module), sites(sites), b(module.getLoc(), module.getContext()),
        pointer(mlir::LLVM::LLVMPointerType::get(module.getContext())) {}

  mlir::Location loc() const { return b.getLoc(); }
  /// Calls an entry of the table with the thread, `arguments` and, if wanted,
  /// the site; null for an entry without a `result`.
  mlir::Value call(size_t entry, mlir::Type result, mlir::ValueRange arguments,
                   bool withSite);
  /// Null-terminated, what the call stands for.
  mlir::Value site();
  mlir::Value i32(uint32_t value) {
    return mlir::LLVM::ConstantOp::create(
        b, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  /// An address of any memory, as calls take it.
  mlir::Value plain(mlir::Value address) {
    return mlir::LLVM::AddrSpaceCastOp::create(b, pointer, address);
  }
  /// Room on the thread's stack; once per op, since loops would use it up.
  mlir::Value reserve(mlir::Type type, int64_t count);
  mlir::Value elementAt(mlir::Value array, mlir::Type type, int32_t index) {
    return mlir::LLVM::GEPOp::create(b, pointer, type, array,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{index});
  }
  /// The values in memory, one after another.
  mlir::Value arrayOf(mlir::ValueRange values);

  mlir::ModuleOp module;
  llvm::StringMap<mlir::LLVM::GlobalOp> &sites;
  /// Stands before the op that is being rewritten, with its location.
  mlir::ImplicitLocOpBuilder b;
  mlir::Type pointer;
  mlir::Value calls, thread;
  mlir::Block *entry = nullptr;
};

inline mlir::LogicalResult replace(mlir::Operation *op, mlir::Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return mlir::success();
}

inline mlir::LogicalResult erase(mlir::Operation *op) {
  op->erase();
  return mlir::success();
}

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_REWRITESTATE_H
