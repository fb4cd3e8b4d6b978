// Roundings, approximations and permutations.
#include "codegen/sim/KernelRewrite.h"

#include "codegen/math/Permutation.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace effc;
using namespace effc::sim;

// To nearest even, as cvt.rn does; the host has no such instruction and would
// call a library.
LogicalResult KernelRewrite::rewriteOp(LLVM::FPTruncOp op) {
  if (!getElementTypeOrSelf(op.getType()).isBF16())
    return success();
  Type type = op.getType(), words = b.getI32Type(), halves = b.getI16Type();
  auto vector = dyn_cast<VectorType>(type);
  if (vector) {
    words = vector.clone(words);
    halves = vector.clone(halves);
  }
  auto constant = [&](uint32_t value) -> Value {
    TypedAttr attr = b.getI32IntegerAttr(static_cast<int32_t>(value));
    if (vector)
      attr = DenseElementsAttr::get(cast<ShapedType>(words), attr);
    return LLVM::ConstantOp::create(b, loc(), words, attr);
  };
  Value bits = LLVM::BitcastOp::create(b, loc(), words, op.getArg());
  Value odd = LLVM::AndOp::create(
      b, loc(), LLVM::LShrOp::create(b, loc(), bits, constant(16)),
      constant(1));
  Value rounded = LLVM::AddOp::create(
      b, loc(), bits, LLVM::AddOp::create(b, loc(), odd, constant(0x7fff)));
  // NaN would round to infinity: it is made quiet instead.
  Value isNan = LLVM::FCmpOp::create(b, loc(), LLVM::FCmpPredicate::uno,
                                     op.getArg(), op.getArg());
  Value quiet = LLVM::OrOp::create(b, loc(), bits, constant(0x400000));
  rounded = LLVM::SelectOp::create(b, loc(), isNan, quiet, rounded);
  Value high = LLVM::LShrOp::create(b, loc(), rounded, constant(16));
  Value half = LLVM::TruncOp::create(b, loc(), halves, high);
  return replace(op, LLVM::BitcastOp::create(b, loc(), type, half));
}

// To nearest, ties away from zero, as cvt.rna does.
LogicalResult KernelRewrite::rewriteOp(NVVM::ConvertFloatToTF32Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RNA ||
      op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitError("the simulator rounds to the nearest tf32 only");
  constexpr uint32_t kHalf = 0x1000, kKept = 0xFFFFE000, kNan = 0x7FFFFFFF;
  Value bits = LLVM::BitcastOp::create(b, loc(), b.getI32Type(), op.getSrc());
  Value rounded = LLVM::AndOp::create(
      b, loc(), LLVM::AddOp::create(b, loc(), bits, i32(kHalf)), i32(kKept));
  // The sum of a NaN might be a number, and what is kept of it infinite.
  Value isNan = LLVM::FCmpOp::create(b, loc(), LLVM::FCmpPredicate::uno,
                                     op.getSrc(), op.getSrc());
  return replace(op,
                 LLVM::SelectOp::create(b, loc(), isNan, i32(kNan), rounded));
}

// prmt, of the one selector that lowerings use.
LogicalResult KernelRewrite::rewritePermute(LLVM::CallIntrinsicOp op) {
  APInt selector;
  if (!matchPattern(op.getArgs()[2], m_ConstantInt(&selector)) ||
      selector != f32::kUpperHalves)
    return op.emitError(
        "the simulator does not know this permutation of bytes");
  Value lower = LLVM::LShrOp::create(b, loc(), op.getArgs()[0], i32(16));
  Value upper = LLVM::AndOp::create(b, loc(), op.getArgs()[1], i32(0xffff0000));
  return replace(op, LLVM::OrOp::create(b, loc(), lower, upper));
}

LogicalResult KernelRewrite::rewriteOp(LLVM::CallIntrinsicOp op) {
  if (op.getIntrin() == "llvm.nvvm.prmt")
    return rewritePermute(op);
  if (op.getIntrin() != "llvm.nvvm.ex2.approx.ftz.f")
    return op.emitError("the simulator does not know the intrinsic '")
           << op.getIntrin() << "'";
  return replace(op, call(EFFC_SIM_CALL(exp2), b.getF32Type(), op.getArgs(),
                          /*withSite=*/false));
}
