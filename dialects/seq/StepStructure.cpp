#include "dialects/seq/StepStructure.h"

#include "dialects/seq/AlikeValues.h"
#include "dialects/seq/Seq.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace effc::seq {

// "H,K" for a reader: the extents of a state.
static std::string shapeText(Value state) {
  return llvm::join(
      llvm::map_range(typeOf(state).getShape(),
                      [](int64_t n) { return std::to_string(n); }),
      ",");
}

StepStructure::StepStructure(RecurrenceOp op)
    : op(op), body(op), states(getBlock(), op.getInitialStates().size()),
      bounds(getBlock()) {
  readStep();
  if (obstacle && obstacle != op)
    obstacle = body.getOriginal(obstacle);
}

void StepStructure::readStep() {
  if (!findStates())
    return;
  Value y = getBlock().getTerminator()->getOperand(0);
  if (typeOf(y).getShape() != ArrayRef<int64_t>{typeOf(state).getDimSize(0),
                                                typeOf(state).getDimSize(2)}) {
    failAt(y, "makes a result that is not of shape H,V");
    return;
  }
  // The decayed state is found first: the probe is known by it.
  readNextState(next);
  if (isLinear() && (writes.empty() || !writes.front().key))
    failAt(next, "writes no product of a key and a value");
  for (const StepWrite &write : writes)
    if (isLinear() && !varies(write))
      failAt(write.value, "writes a value that does not vary with the token");
  if (isLinear() && sum)
    readNextSum(nextSum);
  if (isLinear())
    readOutput(y);
  if (isLinear() && !read)
    failAt(y, "does not read the state");
  if (!isLinear() || !sum)
    return;
  if (!denominator) {
    failAt(y, "does not read the sum of keys");
    return;
  }
  if (readsOldSum != readsOldState)
    failAt(denominator, "reads the sum of keys before the write and the state "
                        "after it, or the other way round");
  const StepWrite &write = writes.front();
  sumIsApart = write.probe || sumKeys.size() != 1 ||
               !areAlike(sumKeys[0], write.key) || !areAlike(sumQuery, query);
}

// One state of H,K,V, and behind it at most a sum of keys; false where it
// fails.
bool StepStructure::findStates() {
  if (states.size() == 0) {
    fail(op, "carries no state");
    return false;
  }
  state = states.before(0);
  next = states.after(0);
  bool isMatrix = typeOf(state).getRank() == 3;
  if (isMatrix && states.size() == 1)
    return true;
  if (isMatrix && states.size() == 2 &&
      typeOf(states.before(1)).getShape() ==
          typeOf(state).getShape().drop_back()) {
    sum = states.before(1);
    nextSum = states.after(1);
    return true;
  }
  // Of several states, the op in which two of them meet.
  for (Operation &inside : getBlock().without_terminator()) {
    const llvm::SmallBitVector &all = states.of(inside.getResult(0));
    bool meet = all.count() > 1 &&
                llvm::none_of(inside.getOperands(), [&](Value operand) {
                  return states.of(operand).count() > 1;
                });
    if (!meet)
      continue;
    int first = all.find_first(), second = all.find_next(first);
    fail(&inside, "joins the states of shape " +
                      shapeText(states.before(first)) + " and " +
                      shapeText(states.before(second)));
    return false;
  }
  std::string shapes;
  for (unsigned i = 0; i < states.size(); ++i)
    shapes += (i ? " and " : "") + shapeText(states.before(i));
  fail(op,
       "carries states of shape " + shapes +
           ", not one of H,K,V with at most a sum of keys of H,K behind it");
  return false;
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

// Whether what is written follows from a token, what a probe reads aside.
bool StepStructure::varies(const StepWrite &write) {
  llvm::SetVector<Value> reached;
  reached.insert(write.value);
  for (size_t i = 0; i < reached.size(); ++i) {
    Value each = reached[i];
    if (each == write.probed)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(each)) {
      if (argument.getArgNumber() < op.getTokens().size())
        return true;
      continue;
    }
    reached.insert_range(each.getDefiningOp()->getOperands());
  }
  return false;
}

//===- the next state -----------------------------------------------------===//

// A sum of the decayed state and of products.
void StepStructure::readNextState(Value sum) {
  std::optional<SmallVector<StepTerm>> terms = termsOf(sum);
  if (!terms)
    return failAt(sum, "adds more than " + Twine(kMostNextTerms) + " products");
  SmallVector<StepTerm> products;
  for (const auto &[term, sign] : *terms) {
    Operation *product = term.getDefiningOp();
    bool isDecayed = term == state;
    for (Value operand : isa_and_nonnull<ContractOp, MulOp>(product)
                             ? ValueRange(product->getOperands())
                             : ValueRange())
      isDecayed |= typeOf(operand).getRank() == 3 && dependsOnState(operand);
    if (!isDecayed) {
      products.push_back({term, sign});
      continue;
    }
    if (decayed)
      return failAt(term, "adds the state a second time");
    if (sign < 0)
      return failAt(term, "subtracts the state");
    decayed = term;
  }
  if (decayed && !followDecays(decayed, state, decays))
    return;
  if (!decayed) {
    // The term that the state is in, or none.
    StepTerm *other = llvm::find_if(products, [&](const StepTerm &product) {
      return dependsOnState(product.value);
    });
    if (other == products.end())
      return failAt(sum, "makes a next state without the state before");
    return failAt(other->value,
                  "makes a next state of the state before otherwise "
                  "than by decays and added products");
  }
  readWrites(products);
}

// The factors from `value` down to a state; false where it fails.
bool StepStructure::followDecays(Value value, Value state,
                                 SmallVectorImpl<StepDecay> &decays) {
  int64_t rank = typeOf(state).getRank();
  auto all = llvm::to_vector<3>(llvm::seq<int64_t>(rank));
  while (value != state) {
    Operation *scaled = value.getDefiningOp();
    if (!isa_and_nonnull<ContractOp, MulOp>(scaled)) {
      failAt(value, "is not a product of the state with a decay");
      return false;
    }
    unsigned ofState = dependsOnState(scaled->getOperand(1)) ? 1 : 0;
    Value factor = scaled->getOperand(1 - ofState);
    std::optional<SmallVector<int64_t, 3>> dimensions = all, whole = all;
    if (auto contract = dyn_cast<ContractOp>(scaled)) {
      dimensions = dimensionsInResult(contract, 1 - ofState);
      whole = dimensionsInResult(contract, ofState);
    }
    if (dependsOnState(factor) || !dimensions || whole != all) {
      fail(scaled, "does not scale the state by a decay of some of its "
                   "dimensions");
      return false;
    }
    if (std::string why = readDecays(factor, *dimensions, bounds, decays);
        !why.empty()) {
      fail(scaled, why);
      return false;
    }
    value = scaled->getOperand(ofState);
  }
  return true;
}

//===- the sum of keys ----------------------------------------------------===//

// A sum of the decayed sum and of what the tokens give.
void StepStructure::readNextSum(Value next) {
  SmallVector<Value> terms = {next};
  Value kept;
  while (!terms.empty()) {
    Value term = terms.pop_back_val();
    auto add = term.getDefiningOp<AddOp>();
    if (!dependsOnState(term)) {
      sumKeys.push_back(term);
    } else if (add) {
      terms.push_back(add.getB());
      terms.push_back(add.getA());
    } else if (kept) {
      return failAt(term, "adds the sum of keys a second time");
    } else {
      kept = term;
    }
  }
  if (!kept)
    return failAt(next, "makes a next sum of keys without the one before");
  if (sumKeys.empty())
    return failAt(next, "adds no key to the sum of keys");
  SmallVector<StepDecay> own;
  if (followDecays(kept, sum, own) && !haveSameDecays(own))
    failAt(kept, "decays the sum of keys otherwise than the state");
}

// Whether the state's decays are these, in any order.
bool StepStructure::haveSameDecays(ArrayRef<StepDecay> others) const {
  SmallVector<StepDecay> left(decays);
  for (const StepDecay &other : others) {
    StepDecay *found = llvm::find_if(left, [&](const StepDecay &decay) {
      return decay.dimensions == other.dimensions &&
             areAlike(decay.value, other.value);
    });
    if (found == left.end())
      return false;
    left.erase(found);
  }
  return left.empty();
}

//===- the result ---------------------------------------------------------===//

// reader [H, K] @ state [H, K, V] -> [H, V], or @ sum [H, K] -> [H].
bool StepStructure::isReading(ContractOp op, Value &reader, Value &ofState) {
  SmallVector<AffineMap, 3> maps = op.getMaps();
  for (unsigned side : {0, 1}) {
    int64_t rank = typeOf(op->getOperand(side)).getRank();
    if ((rank != 3 && (rank != 2 || !sum)) ||
        !dependsOnState(op->getOperand(side)) ||
        typeOf(op->getOperand(1 - side)).getRank() != 2)
      continue;
    AffineMap whole = maps[side];
    SmallVector<int64_t, 3> left = {0};
    if (rank == 3)
      left.push_back(2);
    auto out = [&](AffineMap map) {
      SmallVector<int64_t, 3> dimensions;
      for (AffineExpr dimension : map.getResults())
        dimensions.push_back(
            whole.getResultPosition(dimension).value_or(unsigned(-1)));
      return dimensions;
    };
    if (out(maps[1 - side]) == SmallVector<int64_t, 3>{0, 1} &&
        out(maps[2]) == left) {
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
      if (sum && typeOf(ofState).getRank() == 2) {
        readSum(contract, reader, ofState);
        continue;
      }
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

void StepStructure::readSum(ContractOp reading, Value reader, Value ofSum) {
  if (ofSum != sum && ofSum != nextSum)
    return fail(reading, "reads neither the old nor the next sum of keys");
  if (denominator && denominator != reading.getResult())
    return fail(reading, "reads the sum of keys a second time");
  sumQuery = reader;
  denominator = reading;
  readsOldSum = ofSum == sum;
}

//===- the record ---------------------------------------------------------===//

LinearAttr StepStructure::getLinear() const {
  bool head = false, keys = false, values = false, both = false;
  bool constant = true;
  for (const StepDecay &decay : decays) {
    bool k = llvm::is_contained(decay.dimensions, 1);
    bool v = llvm::is_contained(decay.dimensions, 2);
    both |= k && v;
    keys |= k && !v;
    values |= v && !k;
    head |= !k && !v;
    constant &= decay.value.getDefiningOp<ConstantOp>() != nullptr;
  }
  DecayAxis axis = both             ? DecayAxis::Element
                   : keys && values ? DecayAxis::KeyAndValue
                   : keys           ? DecayAxis::Key
                   : values         ? DecayAxis::Value
                   : !head          ? DecayAxis::None
                   : constant       ? DecayAxis::HeadConstant
                                    : DecayAxis::Head;
  const StepWrite &write = writes.front();
  LowRankPair lowRank = !write.probe           ? LowRankPair::None
                        : write.probesOldState ? LowRankPair::UndecayedState
                                               : LowRankPair::DecayedState;
  return LinearAttr::get(
      const_cast<RecurrenceOp &>(op)->getContext(), axis, DecayField::Real,
      InputGate::None, lowRank,
      readsOldState ? ReadOrder::BeforeWrite : ReadOrder::AfterWrite,
      /*bonus=*/false, /*feed_through=*/false,
      sum ? Normaliser::KeySum : Normaliser::None, Stabiliser::None,
      /*heads_per_group=*/1, int64_t(writes.size()));
}

} // namespace effc::seq
