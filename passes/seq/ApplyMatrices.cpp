// A product with a semiseparable matrix -> a step that is written out.
//
//   %m = seq.hadamard (seq.rank_matrix rows(%c) columns(%b)),
//                     (seq.decay_matrix %g)
//   %y, %next = seq.apply %m, %x state(%s)
//
// becomes
//
//   %y, %next = seq.recurrence tokens(%g, %c, %b, %x) parameters() states(%s) {
//     %kept = exp(%g) %s, %written = %b (x) %x, %next = %kept + %written
//     yield %c @ %next, %next
//   }
#include "passes/seq/Passes.h"

#include "dialects/seq/Factors.h"
#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_APPLYMATRICESPASS
#include "passes/seq/Passes.h.inc"

using namespace effc::seq;

namespace {

RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Writes the step of one product.
class Step {
public:
  Step(ApplyOp op)
      : op(op), factors(*Factors::of(op.getMatrix())), builder(op),
        loc(op.getLoc()) {}

  void rewrite();

private:
  /// The body's argument for a factor.
  Value inside(Value factor) { return arguments.lookup(factor); }
  Value product(ArrayRef<Value> vectors);

  ApplyOp op;
  Factors factors;
  OpBuilder builder;
  Location loc;
  llvm::DenseMap<Value, Value> arguments;
};

} // namespace

// The product of some vectors [H, 1 or N], one of which is [H, N] where N is
// not 1; ones without any.
Value Step::product(ArrayRef<Value> vectors) {
  auto state = tensorOf(op.getState());
  Value result;
  for (Value vector : vectors) {
    Value next = inside(vector);
    if (!result) {
      result = next;
      continue;
    }
    // One of rank 1 scales the other per head: a sum over one element.
    bool isWide = tensorOf(next).getDimSize(1) > 1;
    result = tensorOf(result).getShape() == tensorOf(next).getShape()
                 ? MulOp::create(builder, loc, result, next).getResult()
                 : ContractOp::create(builder, loc, isWide ? next : result,
                                      "hn", isWide ? result : next, "hu", "hn")
                       .getResult();
  }
  if (!result)
    return ConstantOp::create(builder, loc, 1.0,
                              state.getShape().take_front(2));
  return result;
}

void Step::rewrite() {
  SmallVector<Value> tokens, parameters;
  auto add = [&](Value factor) {
    SmallVector<Value> &list =
        tensorOf(factor).getRank() == 1 ? parameters : tokens;
    if (!llvm::is_contained(list, factor))
      list.push_back(factor);
  };
  for (const auto *list : {&factors.logDecays, &factors.rows, &factors.columns})
    llvm::for_each(*list, add);
  if (!llvm::is_contained(tokens, op.getX()))
    tokens.push_back(op.getX());

  auto recurrence = RecurrenceOp::create(
      builder, loc, op.getY().getType(), TypeRange{op.getState().getType()},
      tokens, parameters, op.getState(), FormAttr());
  Block *body = builder.createBlock(&recurrence.getBody());
  for (Value token : tokens)
    arguments[token] = body->addArgument(
        tensorOf(token).clone(tensorOf(token).getShape().drop_front()), loc);
  for (Value parameter : parameters)
    arguments[parameter] = body->addArgument(parameter.getType(), loc);
  Value state = body->addArgument(op.getState().getType(), loc);

  Value kept = state;
  for (Value logDecay : factors.logDecays) {
    Value decay = ExpOp::create(builder, loc, inside(logDecay));
    kept = ContractOp::create(builder, loc, decay, "h", kept, "hnv", "hnv");
  }
  Value written = ContractOp::create(builder, loc, product(factors.columns),
                                     "hn", inside(op.getX()), "hv", "hnv");
  Value next = AddOp::create(builder, loc, kept, written);
  Value read = ContractOp::create(builder, loc, product(factors.rows), "hn",
                                  next, "hnv", "hv");
  YieldOp::create(builder, loc, ValueRange{read, next});
  op.replaceAllUsesWith(recurrence->getResults());
  op.erase();
}

namespace {
struct ApplyMatricesPass : impl::ApplyMatricesPassBase<ApplyMatricesPass> {
  using ApplyMatricesPassBase::ApplyMatricesPassBase;

  void runOnOperation() override {
    SmallVector<ApplyOp> products;
    getOperation()->walk([&](ApplyOp op) { products.push_back(op); });
    for (ApplyOp op : products)
      Step(op).rewrite();
    // Matrices are used by one another and by products alone.
    SmallVector<Operation *> builders;
    getOperation()->walk([&](Operation *op) {
      if (isa<DecayMatrixOp, RankMatrixOp, HadamardOp>(op))
        builders.push_back(op);
    });
    for (Operation *op : llvm::reverse(builders))
      op->erase();
  }
};
} // namespace
} // namespace effc
