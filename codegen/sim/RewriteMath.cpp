// Roundings, approximations and permutations.
#include "codegen/sim/Rewrites.h"

#include "codegen/math/Permutation.h"
#include "dialects/storage/NearestBF16.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace effc;

namespace effc::sim {

// To nearest even, as cvt.rn does; the host has no such instruction and would
// call a library.
static LogicalResult rewrite(LLVM::FPTruncOp op, RewriteState &s) {
  if (!getElementTypeOrSelf(op.getType()).isBF16())
    return success();
  Type type = op.getType(), words = s.b.getI32Type(), halves = s.b.getI16Type();
  auto vector = dyn_cast<VectorType>(type);
  if (vector) {
    words = vector.clone(words);
    halves = vector.clone(halves);
  }
  auto constant = [&](uint32_t value) -> Value {
    TypedAttr attr = s.b.getI32IntegerAttr(static_cast<int32_t>(value));
    if (vector)
      attr = DenseElementsAttr::get(cast<ShapedType>(words), attr);
    return LLVM::ConstantOp::create(s.b, words, attr);
  };
  Value bits = LLVM::BitcastOp::create(s.b, words, op.getArg());
  Value rounded = storage::nearestBF16<LLVM::AddOp, LLVM::AndOp, LLVM::LShrOp>(
      s.b, s.b.getLoc(), bits, constant);
  // NaN would round to infinity: it is made quiet instead.
  Value isNan = LLVM::FCmpOp::create(s.b, LLVM::FCmpPredicate::uno, op.getArg(),
                                     op.getArg());
  Value quiet = LLVM::OrOp::create(s.b, bits, constant(0x400000));
  rounded = LLVM::SelectOp::create(s.b, isNan, quiet, rounded);
  Value high = LLVM::LShrOp::create(s.b, rounded, constant(16));
  Value half = LLVM::TruncOp::create(s.b, halves, high);
  return replace(op, LLVM::BitcastOp::create(s.b, type, half));
}

// To nearest, ties away from zero, as cvt.rna does.
static LogicalResult rewrite(NVVM::ConvertFloatToTF32Op op, RewriteState &s) {
  if (op.getRnd() != NVVM::FPRoundingMode::RNA ||
      op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitError("the simulator rounds to the nearest tf32 only");
  constexpr uint32_t kHalf = 0x1000, kKept = 0xFFFFE000, kNan = 0x7FFFFFFF;
  Value bits = LLVM::BitcastOp::create(s.b, s.b.getI32Type(), op.getSrc());
  Value rounded = LLVM::AndOp::create(
      s.b, LLVM::AddOp::create(s.b, bits, s.i32(kHalf)), s.i32(kKept));
  // The sum of a NaN might be a number, and what is kept of it infinite.
  Value isNan = LLVM::FCmpOp::create(s.b, LLVM::FCmpPredicate::uno, op.getSrc(),
                                     op.getSrc());
  return replace(op, LLVM::SelectOp::create(s.b, isNan, s.i32(kNan), rounded));
}

// Each digit of 4 bits of the selector is the number of a byte; the highest bit would ask
// for the byte's sign, which no lowering does.
static Value permuteBytes(RewriteState &s, ValueRange args) {
  Type i64 = s.b.getI64Type(), i32 = s.b.getI32Type();
  auto wide = [&](Value value) -> Value {
    return LLVM::ZExtOp::create(s.b, i64, value);
  };
  auto number = [&](uint64_t value) -> Value {
    return LLVM::ConstantOp::create(s.b, i64, s.b.getI64IntegerAttr(value));
  };
  Value all = LLVM::OrOp::create(
      s.b, wide(args[0]), LLVM::ShlOp::create(s.b, wide(args[1]), number(32)));
  Value result = number(0), selector = wide(args[2]);
  for (uint64_t byte = 0; byte < 4; ++byte) {
    // Eight times the digit.
    Value by = LLVM::AndOp::create(
        s.b,
        byte == 0 ? LLVM::ShlOp::create(s.b, selector, number(3)).getResult()
                  : LLVM::LShrOp::create(s.b, selector, number(4 * byte - 3))
                        .getResult(),
        number(0x38));
    Value moved = LLVM::AndOp::create(s.b, LLVM::LShrOp::create(s.b, all, by),
                                      number(0xff));
    result = LLVM::OrOp::create(
        s.b, result, LLVM::ShlOp::create(s.b, moved, number(8 * byte)));
  }
  return LLVM::TruncOp::create(s.b, i32, result);
}

// prmt.
static LogicalResult rewritePermute(RewriteState &s, LLVM::CallIntrinsicOp op) {
  APInt selector;
  if (!matchPattern(op.getArgs()[2], m_ConstantInt(&selector)) ||
      selector != f32::kUpperHalves)
    return replace(op, permuteBytes(s, op.getArgs()));
  Value lower = LLVM::LShrOp::create(s.b, op.getArgs()[0], s.i32(16));
  Value upper = LLVM::AndOp::create(s.b, op.getArgs()[1], s.i32(0xffff0000));
  return replace(op, LLVM::OrOp::create(s.b, lower, upper));
}

static LogicalResult rewrite(LLVM::CallIntrinsicOp op, RewriteState &s) {
  if (op.getIntrin() == "llvm.nvvm.prmt")
    return rewritePermute(s, op);
  if (op.getIntrin() != "llvm.nvvm.ex2.approx.ftz.f")
    return op.emitError("the simulator does not know the intrinsic '")
           << op.getIntrin() << "'";
  return replace(op, s.call(EFFC_SIM_CALL(exp2), s.b.getF32Type(), op.getArgs(),
                            /*withSite=*/false));
}

void addMath(Rewrites &rewrites) {
  rewrites
      .add<LLVM::FPTruncOp, NVVM::ConvertFloatToTF32Op, LLVM::CallIntrinsicOp>(
          [](auto op, RewriteState &s) { return rewrite(op, s); });
}

} // namespace effc::sim
