// One GPU kernel, op by op, into a function of the simulator's ABI.
#ifndef EFFC_CODEGEN_SIM_KERNELREWRITE_H
#define EFFC_CODEGEN_SIM_KERNELREWRITE_H

#include "codegen/sim/FragmentOrigins.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/abi/SimAbi.h"
#include "llvm/ADT/StringMap.h"

#include <cstddef>

/// The place of an entry in the table of calls.
#define EFFC_SIM_CALL(name) (offsetof(rt::SimCalls, name) / sizeof(void *))

namespace effc::sim {

class KernelRewrite {
public:
  /// `sites`: the names of ops that the module holds already, by their text.
  KernelRewrite(mlir::ModuleOp module,
                llvm::StringMap<mlir::LLVM::GlobalOp> &sites)
      : module(module), sites(sites), b(module.getContext()),
        pointer(mlir::LLVM::LLVMPointerType::get(module.getContext())) {}

  /// Puts the function in place of `kernel`; an op that the simulator does not
  /// know is an error.
  mlir::LogicalResult run(mlir::LLVM::LLVMFuncOp kernel);

private:
  void bindParameters(mlir::LLVM::LLVMFuncOp function);
  mlir::LogicalResult rewrite(mlir::Operation *op);

  // KernelRewrite.cpp
  mlir::LogicalResult rewriteOp(mlir::NVVM::ThreadIdXOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::BlockIdXOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::Barrier0Op op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::ShflOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::GriddepcontrolOp op);
  mlir::LogicalResult rewriteOp(mlir::LLVM::LoadOp op);
  mlir::LogicalResult rewriteOp(mlir::LLVM::StoreOp op);
  mlir::LogicalResult rewriteOp(mlir::LLVM::AddressOfOp op);

  // RewriteCopies.cpp
  mlir::LogicalResult rewriteOp(mlir::NVVM::CpAsyncOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::CpAsyncCommitGroupOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::CpAsyncWaitGroupOp op);
  mlir::LogicalResult
  rewriteOp(mlir::NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::MBarrierInitOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::MBarrierArriveExpectTxOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::MBarrierTryWaitParityOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::FenceProxyOp op);
  mlir::LogicalResult replaceArrival(mlir::Operation *op, size_t entryNumber,
                                     mlir::Value address, mlir::Value number);

  // RewriteMath.cpp
  mlir::LogicalResult rewriteOp(mlir::LLVM::CallIntrinsicOp op);
  mlir::LogicalResult rewriteOp(mlir::LLVM::FPTruncOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::ConvertFloatToTF32Op op);
  mlir::LogicalResult rewritePermute(mlir::LLVM::CallIntrinsicOp op);

  // RewriteProducts.cpp
  mlir::LogicalResult rewriteOp(mlir::NVVM::LdMatrixOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::MmaOp op);
  mlir::LogicalResult rewriteOp(tile::WarpGroupDotOp op);
  mlir::LogicalResult rewriteOp(tile::WarpGroupWaitOp op);
  mlir::LogicalResult rewriteOp(tile::WarpGroupFenceOp op);
  mlir::LogicalResult rewriteOp(mlir::NVVM::WgmmaGroupSyncAlignedOp op);
  mlir::Value sumsOf(tile::WarpGroupDotOp op);
  mlir::Value arrayOf(mlir::ValueRange values);
  void passOrigins(mlir::Operation *product);

  void checkAccess(mlir::Operation *op, mlir::Value address, mlir::Type type,
                   uint64_t alignment, bool writes);
  /// Calls an entry of the table with the thread, `arguments` and, if wanted,
  /// the site; null for an entry without a `result`.
  mlir::Value call(size_t entry, mlir::Type result, mlir::ValueRange arguments,
                   bool withSite);
  mlir::LogicalResult replace(mlir::Operation *op, mlir::Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return mlir::success();
  }
  mlir::LogicalResult erase(mlir::Operation *op) {
    op->erase();
    return mlir::success();
  }
  /// Null-terminated, what the call stands for.
  mlir::Value site();
  mlir::Value i32(uint32_t value) {
    return mlir::LLVM::ConstantOp::create(
        b, loc(), b.getI32Type(),
        b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  /// An address of any memory, as calls take it.
  mlir::Value plain(mlir::Value address) {
    return mlir::LLVM::AddrSpaceCastOp::create(b, loc(), pointer, address);
  }
  /// Room on the thread's stack; once per op, since loops would use it up.
  mlir::Value reserve(mlir::Type type, int64_t count);
  mlir::Value elementAt(mlir::Value array, mlir::Type type, int32_t index) {
    return mlir::LLVM::GEPOp::create(b, loc(), pointer, type, array,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{index});
  }
  mlir::Location loc() const { return current->getLoc(); }

  mlir::ModuleOp module;
  llvm::StringMap<mlir::LLVM::GlobalOp> &sites;
  mlir::OpBuilder b;
  mlir::Type pointer;
  mlir::Operation *current = nullptr;
  mlir::Value calls, thread;
  mlir::Block *entry = nullptr;
  /// Of sums that are under way: the array of which this is an element, and
  /// its number.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, unsigned>> underWay;
  /// Products, whose results nothing may read.
  llvm::SmallVector<mlir::Operation *> begun;
  FragmentOrigins origins;
  /// Where an ldmatrix leaves where its elements lie. Its op stays until all
  /// products have asked.
  llvm::DenseMap<mlir::Operation *, mlir::Value> matrixOrigins;
  llvm::SmallVector<mlir::Operation *> matrices;
  mlir::Value passedOrigins; // the array, where the kernel has one
};

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_KERNELREWRITE_H
