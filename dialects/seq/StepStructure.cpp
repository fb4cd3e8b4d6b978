#include "dialects/seq/StepStructure.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

// Which dimensions of `out` the dimensions of a contraction's operand are, in
// order; empty where the operand has one that `out` lacks.
static std::optional<SmallVector<int64_t, 3>>
dimensionsIn(ContractOp op, unsigned operand, AffineMap space) {
  SmallVector<int64_t, 3> dimensions;
  for (AffineExpr dimension : op.getMaps()[operand].getResults()) {
    std::optional<unsigned> position = space.getResultPosition(dimension);
    if (!position)
      return std::nullopt;
    dimensions.push_back(*position);
  }
  return dimensions;
}

static bool isIncreasing(ArrayRef<int64_t> dimensions) {
  return llvm::is_sorted(dimensions, std::less_equal<>());
}

StepStructure::StepStructure(RecurrenceOp op) : op(op) {
  Operation *yield = op.getBody().front().getTerminator();
  if (op.getInitialStates().size() != 1 ||
      typeOf(op.getInitialStates().front()).getRank() != 3) {
    fail(op, "has not one state of shape H,K,V");
    return;
  }
  state = op.getBody().front().getArguments().back();
  next = yield->getOperand(1);
  if (typeOf(yield->getOperand(0)).getShape() !=
      ArrayRef<int64_t>{typeOf(state).getDimSize(0),
                        typeOf(state).getDimSize(2)}) {
    failAt(yield->getOperand(0), "makes a result that is not of shape H,V");
    return;
  }
  // The decayed state is found first: the probe is known by it.
  readNextState(next);
  if (isLinear() && !key)
    failAt(next, "writes no product of a key and a value");
  if (isLinear() && !varies(value))
    failAt(value, "writes a value that does not vary with the token");
  if (isLinear())
    readOutput(yield->getOperand(0));
  if (isLinear() && !read)
    failAt(yield->getOperand(0), "does not read the state");
}

void StepStructure::fail(Operation *where, const Twine &why) {
  if (obstacle)
    return;
  obstacle = where;
  reason = why.str();
}

void StepStructure::failAt(Value value, const Twine &why) {
  Operation *where = value.getDefiningOp();
  fail(where ? where : op.getOperation(), why);
}

bool StepStructure::dependsOnState(Value value) {
  if (value == state)
    return true;
  Operation *maker = value.getDefiningOp();
  if (!maker)
    return false;
  auto known = depends.find(value);
  if (known != depends.end())
    return known->second;
  bool found = llvm::any_of(maker->getOperands(), [&](Value operand) {
    return dependsOnState(operand);
  });
  return depends[value] = found;
}

// Whether a value follows from a token, what a probe reads aside.
bool StepStructure::varies(Value value) {
  if (value == probed)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() < op.getTokens().size();
  return llvm::any_of(value.getDefiningOp()->getOperands(),
                      [&](Value operand) { return varies(operand); });
}

//===- the next state -----------------------------------------------------===//

// A sum of the decayed state and of products.
void StepStructure::readNextState(Value sum) {
  SmallVector<Value> terms = {sum};
  SmallVector<Value> products;
  while (!terms.empty()) {
    Value term = terms.pop_back_val();
    if (auto add = term.getDefiningOp<AddOp>()) {
      terms.push_back(add.getB());
      terms.push_back(add.getA());
      continue;
    }
    auto product = term.getDefiningOp<ContractOp>();
    bool isDecayed = term == state;
    for (Value operand :
         product ? ValueRange(product->getOperands()) : ValueRange())
      isDecayed |= typeOf(operand).getRank() == 3 && dependsOnState(operand);
    if (!isDecayed) {
      products.push_back(term);
      continue;
    }
    if (decayed)
      return failAt(term, "adds the state a second time");
    decayed = term;
  }
  if (decayed && !readDecays(decayed))
    return;
  if (!decayed)
    return failAt(sum, "makes a next state without the state before");
  for (Value product : products)
    readTerm(product);
}

// The factors from `value` down to the state; false where it fails.
bool StepStructure::readDecays(Value value) {
  while (value != state) {
    auto scaled = value.getDefiningOp<ContractOp>();
    if (!scaled) {
      failAt(value, "is not a product of the state with a decay");
      return false;
    }
    bool stateIsRight = dependsOnState(scaled.getRhs());
    Value factor = stateIsRight ? scaled.getLhs() : scaled.getRhs();
    AffineMap out = scaled.getMaps()[2];
    auto dimensions = dimensionsIn(scaled, stateIsRight ? 0 : 1, out);
    auto whole = dimensionsIn(scaled, stateIsRight ? 1 : 0, out);
    if (dependsOnState(factor) || !dimensions || !isIncreasing(*dimensions) ||
        !whole || *whole != SmallVector<int64_t, 3>{0, 1, 2}) {
      fail(scaled, "does not scale the state by a decay of some of its "
                   "dimensions");
      return false;
    }
    Operation *maker = factor.getDefiningOp();
    auto constant = factor.getDefiningOp<ConstantOp>();
    double number = constant ? constant.getValue().convertToDouble() : 1;
    if (!isa_and_nonnull<ExpOp, SigmoidOp, ConstantOp>(maker) ||
        !(number > 0 && number <= 1)) {
      fail(scaled, "scales the state by what is not an exponential, a logistic "
                   "function or a constant in (0, 1]");
      return false;
    }
    decays.push_back({factor, *dimensions});
    value = stateIsRight ? scaled.getRhs() : scaled.getLhs();
  }
  return true;
}

// key (x) value, of which the value may follow from what a probe reads.
void StepStructure::readTerm(Value term) {
  auto product = term.getDefiningOp<ContractOp>();
  if (!product)
    return failAt(term,
                  "adds to the state what is not a product of a key and a "
                  "value");
  readProduct(product);
}

void StepStructure::readProduct(ContractOp product) {
  AffineMap out = product.getMaps()[2];
  Value sides[2];
  for (unsigned side : {0, 1}) {
    auto dimensions = dimensionsIn(product, side, out);
    Value operand = product->getOperand(side);
    if (dimensions == SmallVector<int64_t, 3>{0, 1})
      sides[0] = operand;
    else if (dimensions == SmallVector<int64_t, 3>{0, 2})
      sides[1] = operand;
  }
  if (!sides[0] || !sides[1] || dependsOnState(sides[0]))
    return fail(product, "adds to the state what is not a product of a key of "
                         "H,K and a value of H,V");
  auto [newKey, newValue] = std::pair(sides[0], sides[1]);
  if (!dependsOnState(newValue)) {
    if (key)
      return fail(product, "writes a second product of a key and a value");
    key = newKey;
    value = newValue;
    return;
  }
  if (probe)
    return fail(product, "writes what a second probe reads");
  if (!readProbe(newValue))
    return;
  // What the probe reads alone has a key of its own.
  if (newValue == probed) {
    erase = newKey;
    return;
  }
  if (key)
    return fail(product, "writes a second product of a key and a value");
  key = newKey;
  value = newValue;
  valueDependsOnProbe = true;
}

// Follows a value of H,V down to the probe's reading, collecting what scales
// it.
bool StepStructure::readProbe(Value from) {
  while (true) {
    Operation *maker = from.getDefiningOp();
    if (!maker) {
      failAt(from, "uses the state other than by reading it");
      return false;
    }
    if (auto reading = dyn_cast<ContractOp>(maker)) {
      Value reader, ofState;
      if (isReading(reading, reader, ofState)) {
        if (ofState != decayed && ofState != state) {
          fail(reading, "probes neither the old nor the decayed state");
          return false;
        }
        probe = reader;
        probed = reading;
        probesOldState = ofState != decayed;
        return true;
      }
      bool rightDepends = dependsOnState(reading.getRhs());
      unsigned factor = rightDepends ? 0 : 1;
      AffineMap out = reading.getMaps()[2];
      auto dimensions = dimensionsIn(reading, factor, out);
      if (dimensions != SmallVector<int64_t, 3>{0} ||
          dimensionsIn(reading, 1 - factor, out) !=
              SmallVector<int64_t, 3>{0, 1} ||
          typeOf(reading).getRank() != 2 ||
          dependsOnState(reading->getOperand(factor))) {
        fail(reading, "scales what a probe reads by more than a number per "
                      "head");
        return false;
      }
      scales.push_back(reading->getOperand(factor));
      from = reading->getOperand(1 - factor);
      continue;
    }
    if (!isa<AddOp, SubOp, NegOp>(maker)) {
      fail(maker, "is no sum or scaling of what a probe reads");
      return false;
    }
    bool second =
        maker->getNumOperands() == 2 && dependsOnState(maker->getOperand(1));
    if (second && dependsOnState(maker->getOperand(0))) {
      fail(maker, "combines two readings of the state");
      return false;
    }
    if (isa<NegOp>(maker) || (isa<SubOp>(maker) && second))
      sign = -sign;
    from = maker->getOperand(second ? 1 : 0);
  }
}

//===- the result ---------------------------------------------------------===//

// reader [H, K] @ state [H, K, V] -> [H, V].
bool StepStructure::isReading(ContractOp op, Value &reader, Value &ofState) {
  SmallVector<AffineMap, 3> maps = op.getMaps();
  for (unsigned side : {0, 1}) {
    if (typeOf(op->getOperand(side)).getRank() != 3 ||
        typeOf(op->getOperand(1 - side)).getRank() != 2)
      continue;
    AffineMap whole = maps[side];
    auto out = [&](AffineMap map) {
      SmallVector<int64_t, 3> dimensions;
      for (AffineExpr dimension : map.getResults())
        dimensions.push_back(
            whole.getResultPosition(dimension).value_or(unsigned(-1)));
      return dimensions;
    };
    if (out(maps[1 - side]) == SmallVector<int64_t, 3>{0, 1} &&
        out(maps[2]) == SmallVector<int64_t, 3>{0, 2}) {
      reader = op->getOperand(1 - side);
      ofState = op->getOperand(side);
      return !dependsOnState(reader);
    }
  }
  return false;
}

// Everything on the way from the result to the state, which must pass through
// one reading.
void StepStructure::readOutput(Value y) {
  SmallVector<Value> open = {y};
  llvm::DenseSet<Value> seen;
  while (!open.empty() && isLinear()) {
    Value from = open.pop_back_val();
    if (!dependsOnState(from) || !seen.insert(from).second)
      continue;
    Operation *maker = from.getDefiningOp();
    if (!maker)
      return failAt(from, "uses the state other than by reading it");
    Value reader, ofState;
    if (auto contract = dyn_cast<ContractOp>(maker);
        contract && isReading(contract, reader, ofState)) {
      if (ofState != state && ofState != next)
        return fail(contract, "reads neither the old nor the next state");
      if (read && read != from)
        return fail(contract, "reads the state a second time");
      query = reader;
      read = from;
      readsOldState = ofState == state && next != state;
      continue;
    }
    if (auto contract = dyn_cast<ContractOp>(maker);
        contract && typeOf(from).getRank() > 2)
      return fail(contract, "uses the state other than by reading it");
    llvm::append_range(open, maker->getOperands());
  }
}

//===- the record ---------------------------------------------------------===//

LinearAttr StepStructure::getLinear() const {
  bool head = false, keys = false, values = false, both = false;
  bool constant = true;
  for (const Decay &decay : decays) {
    bool k = llvm::is_contained(decay.dimensions, 1);
    bool v = llvm::is_contained(decay.dimensions, 2);
    both |= k && v;
    keys |= k && !v;
    values |= v && !k;
    head |= !k && !v;
    constant &= decay.factor.getDefiningOp<ConstantOp>() != nullptr;
  }
  DecayAxis axis = both             ? DecayAxis::Element
                   : keys && values ? DecayAxis::KeyAndValue
                   : keys           ? DecayAxis::Key
                   : values         ? DecayAxis::Value
                   : !head          ? DecayAxis::None
                   : constant       ? DecayAxis::HeadConstant
                                    : DecayAxis::Head;
  LowRankPair lowRank = !probe           ? LowRankPair::None
                        : probesOldState ? LowRankPair::UndecayedState
                                         : LowRankPair::DecayedState;
  return LinearAttr::get(
      const_cast<RecurrenceOp &>(op)->getContext(), axis, DecayField::Real,
      InputGate::None, lowRank,
      readsOldState ? ReadOrder::BeforeWrite : ReadOrder::AfterWrite,
      /*bonus=*/false, /*feed_through=*/false, Normaliser::None,
      Stabiliser::None, /*heads_per_group=*/1);
}

} // namespace effc::seq
