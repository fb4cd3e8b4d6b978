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
//
// and one with a band two of them, the second of which is read by what the
// first has read: a key and a value for each row of a ring, in which the
// token's own row `r` (seq.ring_row) forgets what it held.
//
//   %y, %k, %v = seq.apply_band %m, %x positions(%p) states(%keys, %values)
//
// becomes
//
//   %r = seq.ring_row %p
//   %z, %k = seq.recurrence tokens(%c, %b, %r) states(%keys) {
//     %next = exp(-1e30 %r) %keys + %b (x) %r
//     yield %c @ %next, %next
//   }
//   %y, %v = seq.recurrence tokens(%g, %r, %z, %x) states(%values) {
//     %next = exp(%g) exp(-1e30 %r) %values + %r (x) %x
//     yield %z @ %next, %next
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

/// What a row of a ring decays by where another token is due: its exponential
/// is 0, alone and in any sum.
constexpr double kForget = -1e30;

/// A recurrence whose body is being written, with one state [H, K, V].
class Step {
public:
  /// `inputs` are what the body reads: tokens, and parameters where they have
  /// one dimension.
  Step(Operation *op, Type result, Value state, ArrayRef<Value> inputs);

  /// The body's argument for an input.
  Value inside(Value input) { return arguments.lookup(input); }
  /// The product of some vectors [H, 1 or K]; ones without any.
  Value product(ArrayRef<Value> vectors);
  /// A vector that all heads share.
  Value perHead(Value vector);
  /// Decays the state by the exponential of what varies along `dimension`.
  void decay(Value logDecay, StringRef dimension);
  /// Forgets what lies where the vector `row` is 1.
  void forget(Value row, StringRef dimension);
  /// Writes key (x) value, and reads the sum by `query`; the results.
  ResultRange finish(Value key, Value value, Value query);

private:
  OpBuilder builder;
  Location loc;
  RecurrenceOp recurrence;
  RankedTensorType state;
  Value kept;
  llvm::DenseMap<Value, Value> arguments;
};

} // namespace

Step::Step(Operation *op, Type result, Value before, ArrayRef<Value> inputs)
    : builder(op), loc(op->getLoc()), state(typeOf(before)) {
  SmallVector<Value> tokens, parameters;
  for (Value input : inputs) {
    SmallVector<Value> &list =
        typeOf(input).getRank() == 1 ? parameters : tokens;
    if (!llvm::is_contained(list, input))
      list.push_back(input);
  }
  recurrence = RecurrenceOp::create(builder, loc, result, TypeRange{state},
                                    tokens, parameters, before, FormAttr());
  Block *body = builder.createBlock(&recurrence.getBody());
  for (Value token : tokens)
    arguments[token] = body->addArgument(
        typeOf(token).clone(typeOf(token).getShape().drop_front()), loc);
  for (Value parameter : parameters)
    arguments[parameter] = body->addArgument(parameter.getType(), loc);
  kept = body->addArgument(state, loc);
}

// One of the vectors is [H, K] where K is not 1.
Value Step::product(ArrayRef<Value> vectors) {
  Value result;
  for (Value vector : vectors) {
    Value next = inside(vector);
    if (!result) {
      result = next;
      continue;
    }
    // One of rank 1 scales the other per head: a sum over one element.
    bool isWide = typeOf(next).getDimSize(1) > 1;
    result = typeOf(result).getShape() == typeOf(next).getShape()
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

Value Step::perHead(Value vector) {
  Value ones =
      ConstantOp::create(builder, loc, 1.0, state.getShape().take_front(1));
  return ContractOp::create(builder, loc, ones, "h", inside(vector), "n", "hn");
}

void Step::decay(Value logDecay, StringRef dimension) {
  Value factor = ExpOp::create(builder, loc, logDecay);
  kept =
      ContractOp::create(builder, loc, factor, dimension, kept, "hnv", "hnv");
}

void Step::forget(Value row, StringRef dimension) {
  decay(ScaleOp::create(builder, loc, inside(row), kForget), dimension);
}

ResultRange Step::finish(Value key, Value value, Value query) {
  Value written =
      ContractOp::create(builder, loc, key, "hn", value, "hv", "hnv");
  Value next = AddOp::create(builder, loc, kept, written);
  Value read = ContractOp::create(builder, loc, query, "hn", next, "hnv", "hv");
  YieldOp::create(builder, loc, ValueRange{read, next});
  return recurrence->getResults();
}

// What the factors and the tokens of a product are, in one list.
static SmallVector<Value> inputsOf(ArrayRef<ArrayRef<Value>> factors,
                                   ArrayRef<Value> tokens) {
  SmallVector<Value> inputs;
  for (ArrayRef<Value> list : factors)
    llvm::append_range(inputs, list);
  llvm::append_range(inputs, tokens);
  return inputs;
}

static void rewrite(ApplyOp op) {
  Factors f = *Factors::of(op.getMatrix());
  Step step(op, op.getY().getType(), op.getState(),
            inputsOf({f.logDecays, f.rows, f.columns}, op.getX()));
  for (Value logDecay : f.logDecays)
    step.decay(step.inside(logDecay), "h");
  Value key = step.product(f.columns), query = step.product(f.rows);
  op.replaceAllUsesWith(step.finish(key, step.inside(op.getX()), query));
  op.erase();
}

static void rewrite(ApplyBandOp op) {
  Factors f = *Factors::of(op.getMatrix());
  OpBuilder builder(op);
  ArrayRef<int64_t> keys = op.getKeys().getType().getShape();
  int64_t tokens = op.getX().getType().getDimSize(0);
  auto tensor = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  };
  Value row = RingRowOp::create(builder, op.getLoc(), tensor({tokens, keys[2]}),
                                op.getPositions());

  Step kept(op, tensor({tokens, keys[0], keys[2]}), op.getKeys(),
            inputsOf({f.rows, f.columns}, row));
  kept.forget(row, "v");
  Value key = kept.product(f.columns), query = kept.product(f.rows);
  ResultRange scores = kept.finish(key, kept.perHead(row), query);

  Step mixed(op, op.getY().getType(), op.getValues(),
             inputsOf({f.logDecays}, {row, scores[0], op.getX()}));
  for (Value logDecay : f.logDecays)
    mixed.decay(mixed.inside(logDecay), "h");
  mixed.forget(row, "n");
  key = mixed.perHead(row);
  ResultRange results =
      mixed.finish(key, mixed.inside(op.getX()), mixed.inside(scores[0]));
  op.replaceAllUsesWith(ValueRange{results[0], scores[1], results[1]});
  op.erase();
}

namespace {
struct ApplyMatricesPass : impl::ApplyMatricesPassBase<ApplyMatricesPass> {
  using ApplyMatricesPassBase::ApplyMatricesPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> products;
    getOperation()->walk([&](Operation *op) {
      if (isa<ApplyOp, ApplyBandOp>(op))
        products.push_back(op);
    });
    for (Operation *op : products) {
      if (auto banded = dyn_cast<ApplyBandOp>(op))
        rewrite(banded);
      else
        rewrite(cast<ApplyOp>(op));
    }
    // Matrices are used by one another and by products alone.
    SmallVector<Operation *> builders;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() == 1 &&
          isa<SemiseparableType>(op->getResult(0).getType()))
        builders.push_back(op);
    });
    for (Operation *op : llvm::reverse(builders))
      op->erase();
  }
};
} // namespace
} // namespace effc
