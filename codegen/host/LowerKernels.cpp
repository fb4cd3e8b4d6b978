// tile.kernel -> llvm.func, one for one; the work is in KernelLowering.
//
//   tile.kernel @k(%item, %x: view, ...)
// becomes
//   llvm.func @k(operands, counts, begin, end)
#include "codegen/host/KernelLowering.h"
#include "codegen/host/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace effc::host {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "codegen/host/Passes.h.inc"

namespace {
struct LowerKernelsPass : impl::LowerKernelsPassBase<LowerKernelsPass> {
  using LowerKernelsPassBase::LowerKernelsPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    Type pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = IntegerType::get(context, 64);
    auto signature = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(context), {pointer, pointer, i64, i64});
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      OpBuilder builder(kernel);
      auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(),
                                               kernel.getSymName(), signature);
      Block *entry = function.addEntryBlock(builder);
      KernelLowering lowering(kernel, entry);
      if (failed(lowering.run()))
        return signalPassFailure();
      builder.setInsertionPointToEnd(entry);
      LLVM::ReturnOp::create(builder, kernel.getLoc(), ValueRange{});
      function->setAttr("effc.stack_bytes",
                        builder.getI64IntegerAttr(lowering.stackBytes()));
      kernel.erase();
    }
  }
};
} // namespace
} // namespace effc::host
