// Exponentials of which one follows from another -> one.
//
//   m = max(p, q)                     e = exp(-|p - q|)
//   exp(p - m), exp(q - m)      ->    p >= q ? 1 : e,  p <= q ? 1 : e
//
// as a running maximum needs them: the same bits, since one of the two is
// exp(0) and the other's argument is -|p - q|. And
//
//                                     e = exp(-|x|), s = 1 / (1 + e), c = e s
//   1 / (1 + exp(-x)),                x >= 0 ? s : c
//   1 / (1 + exp(x))            ->    x >= 0 ? c : s
//
// as a gate and its complement: one division instead of two. `c` is rounded
// once more than a sigmoid, and relative to its own size. And
//
//   tanh(x / 2) (exp(x) + 1)    ->    expm1(x), or of x = 2 z beside exp(z)
//                                     m = expm1(z), m (m + 2)
//
// as what a decay leaves of one: an exponential, a hyperbolic tangent and its
// division less, since expm1(z) shares all but its last steps with exp(z).
#include "codegen/host/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace effc::host {
#define GEN_PASS_DEF_PAIREXPONENTIALSPASS
#include "codegen/host/Passes.h.inc"

namespace {

Value constantLike(OpBuilder &b, Location loc, Value like, float number) {
  TypedAttr attr = b.getF32FloatAttr(number);
  if (auto shape = dyn_cast<VectorType>(like.getType()))
    attr = DenseElementsAttr::get(shape, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

Value compare(OpBuilder &b, Location loc, arith::CmpFPredicate predicate,
              Value x, Value y) {
  return arith::CmpFOp::create(b, loc, predicate, x, y);
}

// exp(-|x|).
Value decayOf(OpBuilder &b, Location loc, Value x) {
  Value size = math::AbsFOp::create(b, loc, x);
  return math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, size));
}

//===- exponentials below their maximum -----------------------------------===//

/// The exponentials of both operands of a maximum, less the maximum.
struct BelowMaximum {
  SmallVector<math::ExpOp> lhs, rhs;
};

void pairMaxima(Block &block) {
  llvm::MapVector<Operation *, BelowMaximum> groups;
  for (auto exp : block.getOps<math::ExpOp>()) {
    auto difference = exp.getOperand().getDefiningOp<arith::SubFOp>();
    auto maximum = difference
                       ? difference.getRhs().getDefiningOp<arith::MaximumFOp>()
                       : arith::MaximumFOp();
    if (!maximum || maximum->getBlock() != &block)
      continue;
    if (difference.getLhs() == maximum.getLhs())
      groups[maximum].lhs.push_back(exp);
    else if (difference.getLhs() == maximum.getRhs())
      groups[maximum].rhs.push_back(exp);
  }
  for (auto &[op, group] : groups) {
    if (group.lhs.empty() || group.rhs.empty())
      continue;
    auto maximum = cast<arith::MaximumFOp>(op);
    Value p = maximum.getLhs(), q = maximum.getRhs();
    OpBuilder b(maximum);
    Location loc = maximum.getLoc();
    Value e = decayOf(b, loc, arith::SubFOp::create(b, loc, p, q));
    Value one = constantLike(b, loc, e, 1);
    // A NaN fails both comparisons, and e is one.
    Value ofP = arith::SelectOp::create(
        b, loc, compare(b, loc, arith::CmpFPredicate::OGE, p, q), one, e);
    Value ofQ = arith::SelectOp::create(
        b, loc, compare(b, loc, arith::CmpFPredicate::OLE, p, q), one, e);
    for (math::ExpOp exp : group.lhs)
      exp.replaceAllUsesWith(ofP);
    for (math::ExpOp exp : group.rhs)
      exp.replaceAllUsesWith(ofQ);
  }
}

//===- sigmoids of a number and of its negative ---------------------------===//

// `number`, or a vector of it.
bool isNumber(Value value, double number) {
  if (auto repeat = value.getDefiningOp<vector::BroadcastOp>())
    value = repeat.getSource();
  FloatAttr attr;
  if (DenseFPElementsAttr many;
      matchPattern(value, m_Constant(&many)) && many.isSplat())
    return many.getSplatValue<APFloat>().convertToDouble() == number;
  return matchPattern(value, m_Constant(&attr)) &&
         attr.getValueAsDouble() == number;
}

bool isOne(Value value) { return isNumber(value, 1); }

/// 1 / (1 + exp(-x)), or of the negative of x.
struct Sigmoid {
  arith::DivFOp op;
  math::ExpOp exp;
  Value x;
  bool negated = false;
};

std::optional<Sigmoid> matchSigmoid(arith::DivFOp op) {
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  auto exp = sum ? sum.getLhs().getDefiningOp<math::ExpOp>() : math::ExpOp();
  if (!exp || exp->getBlock() != op->getBlock() || !isOne(op.getLhs()) ||
      !isOne(sum.getRhs()))
    return std::nullopt;
  Sigmoid found{op, exp, exp.getOperand(), /*negated=*/true};
  while (auto negative = found.x.getDefiningOp<arith::NegFOp>()) {
    found.x = negative.getOperand();
    found.negated = !found.negated;
  }
  return found;
}

void pairSigmoids(Block &block) {
  llvm::MapVector<Value, SmallVector<Sigmoid>> groups;
  for (auto op : block.getOps<arith::DivFOp>())
    if (std::optional<Sigmoid> found = matchSigmoid(op))
      groups[found->x].push_back(*found);
  for (auto &[x, group] : groups) {
    auto isNegated = [](const Sigmoid &each) { return each.negated; };
    if (llvm::all_of(group, isNegated) || llvm::none_of(group, isNegated))
      continue;
    Operation *first = group.front().exp;
    for (const Sigmoid &each : group)
      if (each.exp->isBeforeInBlock(first))
        first = each.exp;
    OpBuilder b(first);
    Location loc = first->getLoc();
    Value e = decayOf(b, loc, x), one = constantLike(b, loc, e, 1);
    Value larger = arith::DivFOp::create(b, loc, one,
                                         arith::AddFOp::create(b, loc, e, one));
    Value smaller = arith::MulFOp::create(b, loc, e, larger);
    Value isPositive = compare(b, loc, arith::CmpFPredicate::OGE, x,
                               constantLike(b, loc, x, 0));
    Value plain = arith::SelectOp::create(b, loc, isPositive, larger, smaller);
    Value negative =
        arith::SelectOp::create(b, loc, isPositive, smaller, larger);
    for (Sigmoid &each : group)
      each.op.replaceAllUsesWith(each.negated ? negative : plain);
  }
}

//===- an exponential less one --------------------------------------------===//

// What `product` multiplies by `number`, on its right; null: nothing.
Value multipliedBy(Value product, double number) {
  auto op = product.getDefiningOp<arith::MulFOp>();
  return op && isNumber(op.getRhs(), number) ? op.getLhs() : Value();
}

// x, where `op` is tanh(x / 2) (exp(x) + 1); null: it is not.
Value lessOneOf(arith::MulFOp op) {
  auto tanh = op.getLhs().getDefiningOp<math::TanhOp>();
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  auto exp = sum ? sum.getLhs().getDefiningOp<math::ExpOp>() : math::ExpOp();
  if (!tanh || !exp || !isOne(sum.getRhs()) ||
      multipliedBy(tanh.getOperand(), 0.5) != exp.getOperand())
    return {};
  return exp.getOperand();
}

void joinLessOne(Block &block) {
  SmallVector<std::pair<arith::MulFOp, Value>> found;
  llvm::SmallPtrSet<Value, 4> exponents;
  for (Operation &op : block)
    if (auto product = dyn_cast<arith::MulFOp>(op)) {
      if (Value x = lessOneOf(product))
        found.push_back({product, x});
    } else if (auto exp = dyn_cast<math::ExpOp>(op)) {
      exponents.insert(exp.getOperand());
    }
  for (auto [op, x] : found) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value half = multipliedBy(x, 2), result;
    if (half && exponents.contains(half)) {
      Value m = math::ExpM1Op::create(b, loc, half);
      result = arith::MulFOp::create(
          b, loc, m,
          arith::AddFOp::create(b, loc, m, constantLike(b, loc, m, 2)));
    } else {
      result = math::ExpM1Op::create(b, loc, x);
    }
    op.replaceAllUsesWith(result);
  }
}

struct PairExponentialsPass
    : impl::PairExponentialsPassBase<PairExponentialsPass> {
  using PairExponentialsPassBase::PairExponentialsPassBase;

  void runOnOperation() override {
    getOperation()->walk([](Block *block) {
      pairMaxima(*block);
      pairSigmoids(*block);
      joinLessOne(*block);
    });
  }
};
} // namespace
} // namespace effc::host
