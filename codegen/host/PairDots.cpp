#include "codegen/host/PairDots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;

namespace {
struct Names {
  int64_t lanes;
  StringLiteral dot, round;

  static const Names &of(int64_t lanes) {
    static constexpr Names kAll[] = {{4, "llvm.x86.avx512bf16.dpbf16ps.128",
                                      "llvm.x86.avx512bf16.cvtne2ps2bf16.128"},
                                     {8, "llvm.x86.avx512bf16.dpbf16ps.256",
                                      "llvm.x86.avx512bf16.cvtne2ps2bf16.256"},
                                     {16, "llvm.x86.avx512bf16.dpbf16ps.512",
                                      "llvm.x86.avx512bf16.cvtne2ps2bf16.512"}};
    for (const Names &names : kAll)
      if (names.lanes == lanes)
        return names;
    llvm::report_fatal_error("no products of bf16 are known of such registers");
  }
};
} // namespace

bool PairDots::canTake(tile::DotOp dot, const Place &rows,
                       const Place &matrix) {
  tile::TargetAttr target = tile::getTarget(dot);
  std::optional<Type> roundedTo = dot.getRoundedTo();
  bool hasInstruction = target && target.getBf16Products();
  return hasInstruction && roundedTo && roundedTo->isBF16() &&
         dot.getTransposeB() && !dot.getTransposeA() &&
         matrix.element.isBF16() &&
         (rows.element.isBF16() || rows.element.isF32());
}

Value PairDots::load(const stored::ElementPlace &place, Type element,
                     int64_t valid) {
  VectorType pairs = VectorType::get({terms()}, b.getBF16Type());
  if (element.isBF16())
    return LLVM::BitcastOp::create(
        b, loc, pairs,
        memory.loadStored(place, element, terms(), std::min(valid, terms())));
  auto half = [&](int64_t first) -> Value {
    int64_t left = std::clamp<int64_t>(valid - first, 0, lanes);
    if (left == 0)
      return memory.broadcast(memory.constantF32(0), lanes);
    return memory.loadAt(memory.further(place, element, memory.constant(first)),
                         element, lanes, left);
  };
  // The second of its operands becomes the lower half.
  return call(Names::of(lanes).round, pairs, {half(lanes), half(0)});
}

Value PairDots::add(Value sum, Value left, Value right) {
  return call(Names::of(lanes).dot, sum.getType(), {sum, left, right});
}

Value PairDots::call(StringRef intrinsic, Type result, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(b, loc, result,
                                       b.getStringAttr(intrinsic), arguments)
      .getResult(0);
}
