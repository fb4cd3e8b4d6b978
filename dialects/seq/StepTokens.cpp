#include "dialects/seq/StepTokens.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"

#include <cmath>

using namespace mlir;

namespace effc::seq {

StepTokens::StepTokens(OpBuilder &builder, Location loc, RecurrenceOp op,
                       StepStructure &step, ValueRange tokens,
                       ValueRange parameters)
    : builder(builder), loc(loc), op(op), step(step) {
  llvm::append_range(operands, tokens);
  llvm::append_range(operands, parameters);
  for (auto [argument, operand] :
       llvm::zip(step.getBlock().getArguments(), operands))
    copies[argument] = operand;
}

bool StepTokens::varies(Value original, Value copied) const {
  return typeOf(copied).getRank() > typeOf(original).getRank();
}

Value StepTokens::alongTokens(Value copied, Value like) {
  int64_t rank = typeOf(like).getRank();
  return BroadcastOp::create(builder, loc, copied, like,
                             llvm::to_vector(llvm::seq<int64_t>(1, rank)));
}

Value StepTokens::copy(Value value) {
  if (Value known = copies.lookup(value))
    return known;
  Value copied = copyOp(value.getDefiningOp());
  copies[value] = copied;
  return copied;
}

// `x`, whose dimensions are those of `shape` that `has` names, after T where it
// varies, repeated to the dimensions that `target` names.
Value StepTokens::repeat(Value x, bool perToken, ArrayRef<int64_t> has,
                         ArrayRef<int64_t> target, ArrayRef<int64_t> shape) {
  std::string there = perToken ? "t" : "", lacks, all = there;
  SmallVector<int64_t> missing;
  for (int64_t dimension : target) {
    char letter = 'A' + dimension;
    all += letter;
    bool known = llvm::is_contained(has, dimension);
    (known ? there : lacks) += letter;
    if (!known)
      missing.push_back(shape[dimension]);
  }
  if (missing.empty())
    return x;
  Value ones = ConstantOp::create(builder, loc, 1.0, missing);
  return ContractOp::create(builder, loc, x, there, ones, lacks, all);
}

Value StepTokens::copyOp(Operation *original) {
  SmallVector<Value> inputs;
  bool anyVaries = false;
  Value varying;
  for (Value operand : original->getOperands()) {
    inputs.push_back(copy(operand));
    if (varies(operand, inputs.back())) {
      anyVaries = true;
      varying = inputs.back();
    }
  }
  if (auto contract = dyn_cast<ContractOp>(original)) {
    // Its dimensions as letters, and t for the tokens.
    SmallVector<std::string> letters;
    for (AffineMap map : contract.getMaps()) {
      std::string text;
      for (AffineExpr dimension : map.getResults())
        text += char('A' + cast<AffineDimExpr>(dimension).getPosition());
      letters.push_back(text);
    }
    for (unsigned side : {0, 1})
      if (varies(original->getOperand(side), inputs[side]))
        letters[side] = "t" + letters[side];
    if (anyVaries)
      letters[2] = "t" + letters[2];
    return ContractOp::create(builder, loc, inputs[0], letters[0], inputs[1],
                              letters[1], letters[2]);
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(original)) {
    bool xVaries = varies(broadcast.getX(), inputs[0]);
    bool likeVaries = varies(broadcast.getLike(), inputs[1]);
    SmallVector<int64_t> dimensions(broadcast.getDimensions());
    if (xVaries && !likeVaries)
      return repeat(
          inputs[0], /*perToken=*/true, dimensions,
          llvm::to_vector(llvm::seq(typeOf(broadcast.getLike()).getRank())),
          typeOf(broadcast.getLike()).getShape());
    if (likeVaries)
      for (int64_t &dimension : dimensions)
        ++dimension;
    if (xVaries && likeVaries)
      dimensions.insert(dimensions.begin(), 0);
    return BroadcastOp::create(builder, loc, inputs[0], inputs[1], dimensions);
  }
  for (auto [operand, input] : llvm::zip_equal(original->getOperands(), inputs))
    if (anyVaries && !varies(operand, input))
      input = alongTokens(input, varying);
  Operation *copied = builder.clone(*original);
  copied->setLoc(loc);
  copied->setOperands(inputs);
  if (!inputs.empty())
    copied->getResult(0).setType(inputs.front().getType());
  return copied->getResult(0);
}

// Either may lack T.
Value StepTokens::add(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  int64_t more = typeOf(a).getRank() - typeOf(b).getRank();
  if (more > 0)
    b = alongTokens(b, a);
  else if (more < 0)
    a = alongTokens(a, b);
  return AddOp::create(builder, loc, a, b);
}

// The log of a factor, repeated along the dimensions of `target` that it lacks.
Value StepTokens::logDecay(const StepDecay &decay, ArrayRef<int64_t> target) {
  Operation *maker = decay.value.getDefiningOp();
  Value log;
  // A share has a maker, since tokens have no bounds.
  if (auto constant = dyn_cast<ConstantOp>(maker))
    log = ConstantOp::create(builder, loc,
                             std::log(constant.getValue().convertToDouble()),
                             typeOf(decay.value).getShape());
  else if (isa<ExpOp>(maker))
    log = copy(maker->getOperand(0));
  else if (Value opened = complementOf(decay.value))
    log = LogSigmoidOp::create(builder, loc,
                               NegOp::create(builder, loc, copy(opened)));
  else if (isa<SigmoidOp>(maker))
    log = LogSigmoidOp::create(builder, loc, copy(maker->getOperand(0)));
  else
    log = LogOp::create(builder, loc, copy(decay.value));

  return repeat(log, varies(decay.value, log), decay.dimensions, target,
                typeOf(op.getInitialStates().front()).getShape());
}

Value StepTokens::signedCopy(Value value, double sign) {
  Value copied = copy(value);
  return sign < 0 ? Value(NegOp::create(builder, loc, copied)) : copied;
}

// How much of a key is written for what the probe reads; null where nothing is.
Value StepTokens::eraseScaleOf(const StepWrite &write) {
  if (!write.valueDependsOnProbe)
    return {};
  Value scale = ConstantOp::create(builder, loc, write.sign,
                                   {typeOf(write.value).getDimSize(0)});
  for (Value factor : write.scales) {
    Value next = copy(factor);
    bool longer = varies(factor, next), was = typeOf(scale).getRank() == 2;
    scale = ContractOp::create(builder, loc, scale, was ? "th" : "h", next,
                               longer ? "th" : "h", was || longer ? "th" : "h");
  }
  return scale;
}

LaterWrite StepTokens::copyOf(const StepWrite &write) {
  LaterWrite copied;
  if (write.probe) {
    copied.probe = copy(write.probe);
    // The value without what the probe reads.
    copies[write.probed] =
        ConstantOp::create(builder, loc, 0.0, typeOf(write.probed).getShape());
  }
  copied.key = copy(write.key);
  copied.value = signedCopy(write.value, write.valueSign);
  copied.eraseScale = eraseScaleOf(write);
  return copied;
}

CanonicalQuantities StepTokens::buildQuantities() {
  CanonicalQuantities quantities;
  quantities.query = copy(step.query);
  LaterWrite first = copyOf(step.writes.front());
  quantities.key = first.key;
  quantities.value = first.value;
  quantities.probe = first.probe;
  if (const StepWrite &write = step.writes.front(); write.erase)
    quantities.erase = signedCopy(write.erase, write.eraseSign);
  quantities.eraseScale = first.eraseScale;
  for (const StepWrite &write : llvm::drop_begin(step.writes))
    quantities.laterWrites.push_back(copyOf(write));
  DecayAxis axis = step.getLinear().getDecay();
  bool element = axis == DecayAxis::Element;
  bool keys = axis == DecayAxis::Key || axis == DecayAxis::KeyAndValue;
  SmallVector<int64_t> target = element ? SmallVector<int64_t>{0, 1, 2}
                                : keys  ? SmallVector<int64_t>{0, 1}
                                        : SmallVector<int64_t>{0};
  bool values = axis == DecayAxis::Value || axis == DecayAxis::KeyAndValue;
  for (const StepDecay &decay : step.decays) {
    bool ofValues = values && (axis == DecayAxis::Value ||
                               llvm::is_contained(decay.dimensions, 2));
    Value &sum = ofValues ? quantities.valueLogDecay : quantities.logDecay;
    sum = add(sum, logDecay(decay, ofValues ? ArrayRef<int64_t>({0, 2})
                                            : ArrayRef<int64_t>(target)));
  }
  if (step.sumIsApart) {
    quantities.sumQuery = copy(step.sumQuery);
    for (Value key : step.sumKeys)
      quantities.sumKey = add(quantities.sumKey, copy(key));
  }
  quantities.forReadOut.assign(operands.begin(), operands.end());
  return quantities;
}

Value StepTokens::buildReadOut(const LinearReading &reading) {
  copies[step.read] = reading.read;
  if (step.denominator)
    copies[step.denominator] = reading.denominator;
  return copy(step.getBlock().getTerminator()->getOperand(0));
}

} // namespace effc::seq
