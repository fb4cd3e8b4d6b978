// A fault for tests: half of a warp goes past what all its lanes take part in.
#ifndef EFFC_TEST_UNIT_CODEGEN_SIM_DIVERGENCE_H
#define EFFC_TEST_UNIT_CODEGEN_SIM_DIVERGENCE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace effc::test {

/// Lanes 16 to 31 go past `op`, with `instead` for its results.
inline void skipInUpperHalf(mlir::Operation *op, mlir::ValueRange instead) {
  using namespace mlir;
  Block *before = op->getBlock();
  Block *taken = before->splitBlock(op);
  Block *after = taken->splitBlock(op->getNextNode());
  OpBuilder b = OpBuilder::atBlockEnd(before);
  Location loc = op->getLoc();
  auto i32 = [&](int32_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value half = LLVM::AndOp::create(
      b, loc, NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()), i32(16));
  Value upper =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, half, i32(0));
  LLVM::CondBrOp::create(b, loc, upper, after, instead, taken, ValueRange());
  for (Value result : op->getResults())
    result.replaceAllUsesWith(after->addArgument(result.getType(), loc));
  b.setInsertionPointToEnd(taken);
  LLVM::BrOp::create(b, loc, op->getResults(), after);
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CODEGEN_SIM_DIVERGENCE_H
