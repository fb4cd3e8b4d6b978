// tile.kernel -> llvm.func, one for one; the work is in Lowerings.h.
//
//   tile.kernel @k(%item, %x: view, ...)
// becomes
//   llvm.func @k(operands, counts, begin, end)
#include "codegen/host/Lowerings.h"
#include "codegen/host/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/abi/FileHeader.h"

using namespace mlir;

namespace effc::host {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "codegen/host/Passes.h.inc"

// What is known before the kernel is compiled, which takes time that grows with
// its length. The longest kernels of released models have some 10,000 operations.
static constexpr size_t kMostOperations = size_t(1) << 17;

static LogicalResult checkSize(LLVM::LLVMFuncOp function, uint64_t stackBytes) {
  constexpr StringRef kWayOut = "smaller prefill entries, chunks, heads or "
                                "channels make smaller tiles";
  if (stackBytes > rt::FileHeader::kMaxStackBytes) {
    (emitError(function.getLoc())
     << "expects a kernel's tiles to fit " << rt::FileHeader::kMaxStackBytes
     << " bytes of stack, but those of '" << function.getName() << "' take "
     << stackBytes)
            .attachNote()
        << kWayOut;
    return failure();
  }
  size_t operations = 0;
  function.walk([&](Operation *) { ++operations; });
  if (operations <= kMostOperations)
    return success();
  (emitError(function.getLoc())
   << "expects a kernel of at most " << kMostOperations << " operations, but '"
   << function.getName() << "' has " << operations)
          .attachNote()
      << kWayOut;
  return failure();
}

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
      KernelState state(kernel, entry);
      if (failed(lowerKernel(state)))
        return signalPassFailure();
      builder.setInsertionPointToEnd(entry);
      LLVM::ReturnOp::create(builder, kernel.getLoc(), ValueRange{});
      if (failed(checkSize(function, state.stackUsed)))
        return signalPassFailure();
      function->setAttr("effc.stack_bytes",
                        builder.getI64IntegerAttr(state.stackUsed));
      kernel.erase();
    }
  }
};
} // namespace
} // namespace effc::host
