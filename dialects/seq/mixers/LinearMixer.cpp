#include "dialects/seq/mixers/LinearMixer.h"

#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"

using namespace mlir;

namespace effc::seq {

OperandRole roleOf(unsigned index, ArrayRef<OperandSignature> signature,
                   ArrayRef<Value> operands) {
  for (auto [operand, value] : llvm::zip_equal(signature, operands))
    if (value && index-- == 0)
      return operand.role;
  llvm_unreachable("asked for the role of an operand that is not there");
}

SmallVector<std::pair<StringRef, Value>>
nameOperands(ArrayRef<OperandSignature> signature, ArrayRef<Value> operands) {
  SmallVector<std::pair<StringRef, Value>> named;
  for (auto [operand, value] : llvm::zip_equal(signature, operands))
    if (value)
      named.push_back({operand.name, value});
  return named;
}

SmallVector<StateDescriptor>
describeStates(Operation *op, ArrayRef<OperandSignature> signature) {
  auto isState = [](const OperandSignature &operand) {
    return operand.role == OperandRole::State;
  };
  unsigned count = llvm::count_if(signature, isState);
  unsigned operand = op->getNumOperands() - count;
  unsigned result = op->getNumResults() - count;
  SmallVector<StateDescriptor> states;
  for (const OperandSignature &state :
       llvm::make_filter_range(signature, isState)) {
    auto type = cast<RankedTensorType>(op->getOperand(operand).getType());
    states.push_back({operand++, result++, state.kind, StateGrowth::Fixed, type,
                      /*neutral=*/state.start, /*positionDependent=*/false,
                      state.keepsF32});
  }
  return states;
}

/// G divides H.
static LogicalResult expectWholeGroups(Operation *op, int64_t heads,
                                       int64_t groups) {
  if (heads % groups == 0)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "expects G to divide H = " << heads
                             << ", but got " << groups;
  error.attachNote()
      << (groups > heads && groups % heads == 0
              ? "heads share queries and keys, not values: they "
                "were perhaps exchanged"
              : "each group serves as many heads as any other; "
                "a projection of another width was perhaps taken");
  return error;
}

LogicalResult verifyShapes(Operation *op, ArrayRef<OperandSignature> signature,
                           ArrayRef<Value> operands) {
  ShapeFormula shapes(op);
  shapes.bind("1", 1);
  auto check = [&](StringRef name, Value value, StringRef letters) {
    SmallVector<StringRef> formula;
    for (size_t i = 0; i < letters.size(); ++i)
      formula.push_back(letters.substr(i, 1));
    return shapes.check(name, value, formula);
  };
  bool isGrouped = false;
  for (auto [operand, value] : llvm::zip_equal(signature, operands)) {
    isGrouped |= operand.letters.contains('G');
    if (value && failed(check(operand.name, value, operand.letters)))
      return failure();
  }
  if (failed(check("y", op->getResult(0), "THV")))
    return failure();
  return isGrouped ? expectWholeGroups(op, shapes["H"], shapes["G"])
                   : success();
}

LogicalResult expectPositive(Operation *op, StringRef name,
                             FloatAttr attribute) {
  APFloat value = attribute.getValue();
  if (value.isFinite() && !value.isNegative() && !value.isZero())
    return success();
  return op->emitOpError() << "expects '" << name
                           << "' finite and above 0, but got " << attribute;
}

StructureAttr LinearStructure::get(MLIRContext *context) const {
  auto linear =
      LinearAttr::get(context, decay, field, inputGate, lowRank, read, bonus,
                      feedThrough, normaliser, stabiliser, headsPerGroup,
                      /*writes=*/1);
  return StructureAttr::get(context, linear);
}

Value MapBuilder::constant(double number, Value like) {
  Value scalar = ConstantOp::create(builder, loc, number, {});
  return BroadcastOp::create(builder, loc, scalar, like, ArrayRef<int64_t>{});
}

// tanh(x / 2) = (e^x - 1) / (e^x + 1).
Value MapBuilder::expMinusOne(Value x) {
  Value half = create<TanhOp>(scaled(x, 0.5));
  return mul(half, add(exp(x), constant(1, x)));
}

Value MapBuilder::scaled(Value x, double number) {
  return number == 1 ? x : mul(x, constant(number, x));
}

Value MapBuilder::spread(Value x, Value like) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  int64_t all = cast<RankedTensorType>(like.getType()).getRank();
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(all - rank, all));
  return BroadcastOp::create(builder, loc, x, like, dimensions);
}

Value MapBuilder::product(Value a, StringRef aLetters, Value b,
                          StringRef bLetters, StringRef outLetters) {
  return ContractOp::create(builder, loc, a, aLetters, b, bLetters, outLetters);
}

} // namespace effc::seq
