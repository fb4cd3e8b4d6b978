// seq.recurrence: a mixer written in IR.
#include "dialects/seq/BindingSyntax.h"
#include "dialects/seq/BodyLength.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/StepStructure.h"
#include "dialects/seq/StepTokens.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// Without T.
static RankedTensorType rowType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(tensor.getShape().drop_front());
}

//===- syntax -------------------------------------------------------------===//

ParseResult RecurrenceOp::parse(OpAsmParser &parser, OperationState &result) {
  Bindings tokens, parameters, states;
  SmallVector<Type> y, nextStates;
  if (parser.parseKeyword("tokens") || tokens.parse(parser) ||
      parser.parseKeyword("parameters") || parameters.parse(parser) ||
      parser.parseKeyword("states") || states.parse(parser) ||
      parser.parseArrow() || parseTypes(parser, y) || parser.parseComma() ||
      parseTypes(parser, nextStates) ||
      tokens.resolve(parser, result.operands) ||
      parameters.resolve(parser, result.operands) ||
      states.resolve(parser, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      int32_t(tokens.operands.size()), int32_t(parameters.operands.size()),
      int32_t(states.operands.size())};
  result.addTypes(y);
  result.addTypes(nextStates);
  SmallVector<OpAsmParser::Argument> arguments = std::move(tokens.arguments);
  for (OpAsmParser::Argument &argument : arguments)
    if (auto type = dyn_cast<RankedTensorType>(argument.type);
        type && type.getRank() != 0)
      argument.type = rowType(type);
  llvm::append_range(arguments, parameters.arguments);
  llvm::append_range(arguments, states.arguments);
  // Isolated: the body may call a token what the function calls it.
  return parser.parseRegion(*result.addRegion(), arguments,
                            /*enableNameShadowing=*/true);
}

void RecurrenceOp::print(OpAsmPrinter &printer) {
  Block::BlockArgListType arguments = getBody().getArguments();
  size_t first = getTokens().size(), second = first + getParameters().size();
  printer << " tokens";
  printBindings(printer, arguments.take_front(first), getTokens());
  printer << " parameters";
  printBindings(printer, arguments.slice(first, getParameters().size()),
                getParameters());
  printer << " states";
  printBindings(printer, arguments.drop_front(second), getInitialStates());
  printer << " -> (" << getY().getType() << "), (" << getNextStates().getTypes()
          << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"operandSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===- verifier -----------------------------------------------------------===//

// Says that types are those expected, in another order.
static void noteOrder(InFlightDiagnostic &error, TypeRange expected,
                      TypeRange found) {
  if (expected.size() == found.size() &&
      std::is_permutation(found.begin(), found.end(), expected.begin()))
    error.attachNote() << "the types are those expected in another order: the "
                          "result's row comes first, then each state's next "
                          "value, as the states are listed";
}

LogicalResult RecurrenceOp::verify() {
  if (getTokens().empty())
    return emitOpError("expects at least 1 token operand, but got 0");
  SmallVector<Value> rows(getTokens());
  rows.push_back(getY());
  for (Value tokens : rows)
    if (typeOf(tokens).getRank() == 0)
      return emitOpError("expects tokens of shape T,..., but got a scalar");
  if (getInitialStates().getTypes() == getNextStates().getTypes())
    return success();
  InFlightDiagnostic error = emitOpError()
                             << "expects next states of the states' types ("
                             << getInitialStates().getTypes() << "), but got ("
                             << getNextStates().getTypes() << ")";
  noteOrder(error, getInitialStates().getTypes(), getNextStates().getTypes());
  return error;
}

LogicalResult RecurrenceOp::verifyRegions() {
  SmallVector<Type> arguments;
  for (Type type : getTokens().getTypes())
    arguments.push_back(rowType(type));
  llvm::append_range(arguments, getParameters().getTypes());
  llvm::append_range(arguments, getInitialStates().getTypes());
  if (getBody().getArgumentTypes() != TypeRange(arguments))
    return emitOpError() << "expects block arguments (" << TypeRange(arguments)
                         << "), but got (" << getBody().getArgumentTypes()
                         << ")";
  SmallVector<Type> yielded = {rowType(getY().getType())};
  llvm::append_range(yielded, getInitialStates().getTypes());
  Operation *yield = getBody().front().getTerminator();
  if (!isa<YieldOp>(yield))
    return emitOpError() << "expects a body that ends in 'seq.yield', but got '"
                         << yield->getName() << "'";
  if (yield->getOperandTypes() != TypeRange(yielded)) {
    InFlightDiagnostic error = yield->emitOpError()
                               << "expects operands (" << TypeRange(yielded)
                               << "), but got (" << yield->getOperandTypes()
                               << ")";
    noteOrder(error, yielded, yield->getOperandTypes());
    return error;
  }
  if (failed(verifyBodyLength(*this, getBody().front())))
    return failure();
  for (Operation &inside : getBody().front().without_terminator())
    if (!isElementwiseOp(&inside) &&
        !isa<BroadcastOp, ConstantOp, ContractOp>(inside))
      return inside.emitOpError(
          "expects to stand outside the body of 'seq.recurrence', which holds "
          "elementwise ops, 'seq.broadcast', 'seq.constant' and "
          "'seq.contract'");
  return success();
}

//===- what passes know of it ---------------------------------------------===//

// By its shape alone, since a body may not have been verified yet.
static bool isSumOfKeys(Value state, Value matrix) {
  return typeOf(matrix).getRank() == 3 &&
         typeOf(state).getShape() == typeOf(matrix).getShape().drop_back();
}

SmallVector<StateDescriptor> RecurrenceOp::getStates() {
  SmallVector<StateDescriptor> states;
  unsigned operand = getTokens().size() + getParameters().size(), result = 1;
  for (Value state : getInitialStates()) {
    bool isSum = isSumOfKeys(state, getInitialStates().front());
    states.push_back({operand++, result++,
                      isSum ? StateKind::Sum : StateKind::Matrix,
                      StateGrowth::Fixed, typeOf(state), /*neutral=*/0.0,
                      /*positionDependent=*/false});
  }
  return states;
}

OperandRole RecurrenceOp::getOperandRole(unsigned index) {
  return detail::roleOf(index, getTokens().size(), getParameters().size());
}

StructureAttr RecurrenceOp::getStructure() {
  StepStructure step(*this);
  if (step.isLinear())
    return StructureAttr::get(getContext(), step.getLinear());
  return StructureAttr::get(getContext(), MixerClass::Opaque, /*linear=*/{},
                            /*window=*/{}, /*retrieval=*/{});
}

Obstacle RecurrenceOp::getObstacle() {
  StepStructure step(*this);
  return {step.obstacle, step.reason};
}

CanonicalQuantities RecurrenceOp::buildTokenMap(OpBuilder &builder,
                                                Location loc, ValueRange tokens,
                                                ValueRange parameters) {
  StepStructure step(*this);
  StepTokens rows(builder, loc, *this, step, tokens, parameters);
  return rows.buildQuantities();
}

Value RecurrenceOp::buildReadOut(OpBuilder &builder, Location loc,
                                 const LinearReading &reading,
                                 const CanonicalQuantities &quantities) {
  ArrayRef<Value> operands = quantities.forReadOut;
  size_t count = getTokens().size();
  StepStructure step(*this);
  StepTokens rows(builder, loc, *this, step, operands.take_front(count),
                  operands.drop_front(count));
  return rows.buildReadOut(reading);
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(RecurrenceOp op, Frame<S> &frame) {
  Block &body = op.getBody().front();
  Block::BlockArgListType arguments = body.getArguments();
  size_t first = op.getTokens().size();
  size_t second = first + op.getParameters().size();
  int64_t count = frame[op.getTokens().front()].getDim(0);
  for (Value tokens : op.getTokens())
    if (llvm::Error error = expectSameRows(
            "tokens", frame[op.getTokens().front()], "tokens", frame[tokens]))
      return error;
  for (auto [argument, parameter] :
       llvm::zip(arguments.drop_front(first), op.getParameters()))
    frame.bind(argument, parameter);
  // The results carry the states between the tokens.
  for (auto [next, state] :
       llvm::zip_equal(op.getNextStates(), op.getInitialStates()))
    frame.bind(next, state);
  SmallVector<int64_t> shape(op.getY().getType().getShape());
  shape.front() = count;
  Tensor<S> y(shape);
  OperandRange yielded = body.getTerminator()->getOperands();
  for (int64_t t = 0; t < count; ++t) {
    for (auto [argument, tokens] : llvm::zip(arguments, op.getTokens())) {
      const Tensor<S> &x = frame[tokens];
      int64_t size = x.size() / count;
      frame.set(argument, Tensor<S>(x.getShape().drop_front(),
                                    x.elements().slice(t * size, size).vec()));
    }
    for (auto [argument, state] :
         llvm::zip_equal(arguments.drop_front(second), op.getNextStates()))
      frame.bind(argument, state);
    if (llvm::Error error = frame.run(body))
      return error;
    const Tensor<S> &row = frame[yielded.front()];
    llvm::copy(row.elements(), y.elements().begin() + t * row.size());
    for (auto [next, value] :
         llvm::zip_equal(op.getNextStates(), yielded.drop_front()))
      frame.bind(next, value);
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RecurrenceOp)
