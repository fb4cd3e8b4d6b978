// States of a written step that stand alone -> ops of their own.
//
//   %y, %a, %b, %c = seq.recurrence tokens(%x, ...) states(%a0, %b0, %c0) {
//     ...                    a' = x                    (the token before)
//     %r = q @ b             b' = decay b + k (x) v    (no other state)
//     yield f(a, %r, c), ...
//   }
//
// becomes
//
//   %p, %a = seq.token_shift %x state(%a0)
//   %r, %b = seq.recurrence tokens(...) states(%b0) { ... yield q @ b, b' }
//   %y, %c = seq.recurrence tokens(%p, %r, ...) states(%c0) {
//     yield f(p, r, c), ... }
#include "passes/seq/Passes.h"

#include "dialects/seq/Seq.h"
#include "dialects/seq/StepStructure.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SPLITSTEPSPASS
#include "passes/seq/Passes.h.inc"

using namespace effc::seq;

namespace {

/// A value of a body that a token operand takes the place of.
struct Given {
  Value inside, outside;
};

/// A step made of parts of another one.
class Extract {
public:
  Extract(RecurrenceOp op, ArrayRef<Given> given)
      : op(op), body(op.getBody().front()), states(op), given(given) {}

  /// The step that yields `y` and carries `kept` of the states, in front of the
  /// other one.
  RecurrenceOp write(Value y, ArrayRef<unsigned> kept);

private:
  void need(Value value);

  RecurrenceOp op;
  Block &body;
  StepStates states;
  ArrayRef<Given> given;
  llvm::SetVector<Value> needed;
};

} // namespace

void Extract::need(Value value) {
  if (!needed.insert(value))
    return;
  bool isGiven = llvm::any_of(
      given, [&](const Given &each) { return each.inside == value; });
  if (Operation *maker = value.getDefiningOp(); maker && !isGiven)
    for (Value operand : maker->getOperands())
      need(operand);
}

RecurrenceOp Extract::write(Value y, ArrayRef<unsigned> kept) {
  SmallVector<Value> yielded = {y};
  for (unsigned index : kept)
    yielded.push_back(states.after(index));
  for (Value value : yielded)
    need(value);

  // Arguments of the new body, and what is bound to them.
  SmallVector<Value> arguments, tokens, parameters, before;
  size_t tokenCount = op.getTokens().size();
  auto operandsFrom = [&](size_t first, OperandRange operands,
                          SmallVector<Value> &list) {
    for (auto [i, operand] : llvm::enumerate(operands))
      if (Value argument = body.getArgument(first + i);
          needed.contains(argument)) {
        arguments.push_back(argument);
        list.push_back(operand);
      }
  };
  operandsFrom(0, op.getTokens(), tokens);
  for (const Given &each : given)
    if (needed.contains(each.inside)) {
      arguments.push_back(each.inside);
      tokens.push_back(each.outside);
    }
  if (tokens.empty()) {
    arguments.push_back(body.getArgument(0));
    tokens.push_back(op.getTokens().front());
  }
  operandsFrom(tokenCount, op.getParameters(), parameters);
  SmallVector<Type> nextTypes;
  for (unsigned index : kept) {
    arguments.push_back(states.before(index));
    before.push_back(op.getInitialStates()[index]);
    nextTypes.push_back(before.back().getType());
  }

  OpBuilder builder(op);
  SmallVector<int64_t> shape(typeOf(y).getShape());
  shape.insert(shape.begin(), typeOf(op.getY()).getDimSize(0));
  auto made = RecurrenceOp::create(builder, op.getLoc(), typeOf(y).clone(shape),
                                   nextTypes, tokens, parameters, before,
                                   op.getFormAttr());
  Block *block = builder.createBlock(&made.getBody());
  IRMapping mapping;
  for (Value argument : arguments)
    mapping.map(argument, block->addArgument(argument.getType(), op.getLoc()));
  for (Operation &inside : body.without_terminator())
    if (Value result = inside.getResult(0);
        needed.contains(result) && !mapping.contains(result))
      builder.clone(inside, mapping);
  YieldOp::create(builder, op.getLoc(),
                  llvm::map_to_vector(yielded, [&](Value value) {
                    return mapping.lookup(value);
                  }));
  return made;
}

// The one value through which all but the state's own next value follows from
// it: a product of the state, as it was or will be, with what no state makes.
static Value readingOf(RecurrenceOp op, const StepStates &states,
                       unsigned index) {
  auto isReading = [&](ContractOp product) {
    for (unsigned side : {0, 1})
      if (Value operand = product->getOperand(side);
          (operand == states.before(index) || operand == states.after(index)) &&
          !states.dependsOnAny(product->getOperand(1 - side)))
        return typeOf(product.getResult()).getRank() == 2;
    return false;
  };
  SmallVector<Value> open = {
      op.getBody().front().getTerminator()->getOperand(0)};
  for (unsigned other = 0; other < states.size(); ++other)
    if (other != index)
      open.push_back(states.after(other));
  Value reading;
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!states.dependsOn(value, index) || !seen.insert(value).second)
      continue;
    Operation *maker = value.getDefiningOp();
    if (!maker)
      return {};
    if (auto product = dyn_cast<ContractOp>(maker);
        product && isReading(product)) {
      if (reading)
        return {};
      reading = value;
      continue;
    }
    llvm::append_range(open, maker->getOperands());
  }
  return reading;
}

// What a reader calls a state: its name in the function, or its number.
static std::string nameOf(RecurrenceOp op, unsigned index) {
  auto argument = dyn_cast<BlockArgument>(op.getInitialStates()[index]);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  auto name = function ? function.getArgAttrOfType<StringAttr>(
                             argument.getArgNumber(), "seq.state_name")
                       : StringAttr();
  return name ? "state '" + name.str() + "'"
              : "state #" + std::to_string(index);
}

// `op` without state `index`, whose next value is `next`.
static RecurrenceOp replaceWithout(RecurrenceOp op, unsigned index, Value next,
                                   const Given &given) {
  SmallVector<unsigned> kept;
  for (unsigned other = 0; other < op.getInitialStates().size(); ++other)
    if (other != index)
      kept.push_back(other);
  RecurrenceOp rest = Extract(op, given).write(
      op.getBody().front().getTerminator()->getOperand(0), kept);
  op.getY().replaceAllUsesWith(rest.getY());
  op.getNextStates()[index].replaceAllUsesWith(next);
  for (auto [i, other] : llvm::enumerate(kept))
    op.getNextStates()[other].replaceAllUsesWith(rest.getNextStates()[i]);
  op.erase();
  return rest;
}

// The token operand that a state's next value is; null where it is another
// value, or no token shift takes it.
static Value shiftedToken(RecurrenceOp op, const StepStates &states,
                          unsigned index) {
  auto argument = dyn_cast<BlockArgument>(states.after(index));
  int64_t rank = typeOf(states.before(index)).getRank();
  if (!argument || argument.getArgNumber() >= op.getTokens().size() ||
      (rank != 1 && rank != 2))
    return {};
  return op.getTokens()[argument.getArgNumber()];
}

// Takes one state off; null where none stands alone.
static RecurrenceOp splitOnce(RecurrenceOp op) {
  if (op.getInitialStates().size() < 2 || StepStructure(op).isLinear())
    return {};
  StepStates states(op);
  OpBuilder builder(op);
  for (unsigned index = 0; index < states.size(); ++index) {
    Value token = shiftedToken(op, states, index);
    if (!token)
      continue;
    emitRemark(op.getLoc()) << nameOf(op, index)
                            << " is the token before: a token shift of its own";
    auto shift = TokenShiftOp::create(builder, op.getLoc(), token,
                                      op.getInitialStates()[index]);
    return replaceWithout(op, index, shift.getNextLast(),
                          {states.before(index), shift.getY()});
  }
  for (unsigned index = 0; index < states.size(); ++index) {
    if (states.of(states.after(index)).count() != 1 ||
        !states.dependsOn(states.after(index), index))
      continue;
    Value reading = readingOf(op, states, index);
    if (!reading)
      continue;
    RecurrenceOp own = Extract(op, {}).write(reading, index);
    if (!StepStructure(own).isLinear()) {
      own.erase();
      continue;
    }
    emitRemark(op.getLoc())
        << nameOf(op, index)
        << " follows from no other state: a recurrence of its own";
    return replaceWithout(op, index, own.getNextStates().front(),
                          {reading, own.getY()});
  }
  return {};
}

namespace {
struct SplitStepsPass : impl::SplitStepsPassBase<SplitStepsPass> {
  using SplitStepsPassBase::SplitStepsPassBase;

  void runOnOperation() override {
    SmallVector<RecurrenceOp> steps;
    getOperation()->walk([&](RecurrenceOp op) { steps.push_back(op); });
    for (RecurrenceOp step : steps)
      while (step)
        step = splitOnce(step);
  }
};
} // namespace
} // namespace effc
