// seq.scan: a body run over the chunks of the tokens, carrying states.
#include "dialects/seq/BindingSyntax.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// `chunk C tokens(%a = %x : type) states(%s = %s0 : type) -> (types), (types)
//  { body }`; the arguments of the tokens have C rows.
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  Bindings tokens, states;
  IntegerAttr chunk;
  SmallVector<Type> outputs, nextStates;
  Type i64 = parser.getBuilder().getI64Type();
  if (parser.parseKeyword("chunk") ||
      parser.parseAttribute(chunk, i64, getChunkAttrName(result.name),
                            result.attributes) ||
      parser.parseKeyword("tokens") || tokens.parse(parser) ||
      parser.parseKeyword("states") || states.parse(parser) ||
      parser.parseArrow() || parseTypes(parser, outputs) ||
      parser.parseComma() || parseTypes(parser, nextStates) ||
      tokens.resolve(parser, result.operands) ||
      states.resolve(parser, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  auto &properties = result.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {int32_t(tokens.operands.size()),
                                    int32_t(states.operands.size())};
  properties.resultSegmentSizes = {int32_t(outputs.size()),
                                   int32_t(nextStates.size())};
  result.addTypes(outputs);
  result.addTypes(nextStates);

  SmallVector<OpAsmParser::Argument> arguments = std::move(tokens.arguments);
  for (OpAsmParser::Argument &argument : arguments)
    if (auto type = dyn_cast<RankedTensorType>(argument.type);
        type && type.getRank() != 0)
      argument.type = withRows(type, chunk.getInt());
  llvm::append_range(arguments, states.arguments);
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ScanOp::print(OpAsmPrinter &printer) {
  Block::BlockArgListType arguments = getBody().getArguments();
  size_t tokens = getTokens().size();
  printer << " chunk " << getChunk() << " tokens";
  printBindings(printer, arguments.take_front(tokens), getTokens());
  printer << " states";
  printBindings(printer, arguments.drop_front(tokens), getStates());
  printer << " -> (" << getOutputs().getTypes() << "), ("
          << getNextStates().getTypes() << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getChunkAttrName(), "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ScanOp::verify() {
  int64_t chunk = getChunk();
  if (chunk < 1)
    return emitOpError() << "expects 'chunk' of at least 1, but got " << chunk;
  if (getTokens().empty())
    return emitOpError() << "expects at least 1 token operand, but got 0";
  std::optional<int64_t> rows;
  for (Value value : llvm::concat<Value>(getTokens(), getOutputs())) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0)
      return emitOpError() << "expects tokens of shape T,..., but got a scalar";
    if (rows && *rows != type.getDimSize(0))
      return emitOpError() << "expects token operands and results with one T = "
                           << printExtent(*rows) << ", but got "
                           << printExtent(type.getDimSize(0));
    rows = type.getDimSize(0);
  }
  if (!ShapedType::isDynamic(*rows) && *rows % chunk != 0)
    return emitOpError() << "expects T to be a multiple of 'chunk' " << chunk
                         << ", but got " << *rows;
  if (getStates().getTypes() != getNextStates().getTypes())
    return emitOpError() << "expects next states of the states' types ("
                         << getStates().getTypes() << "), but got ("
                         << getNextStates().getTypes() << ")";
  return success();
}

// The types `tokens` with a chunk's rows, then the types of the states.
static SmallVector<Type> bodyTypes(ScanOp op, ValueRange tokens) {
  SmallVector<Type> types;
  for (Type type : tokens.getTypes())
    types.push_back(withRows(cast<RankedTensorType>(type), op.getChunk()));
  llvm::append_range(types, op.getStates().getTypes());
  return types;
}

LogicalResult ScanOp::verifyRegions() {
  SmallVector<Type> arguments = bodyTypes(*this, getTokens());
  if (getBody().getArgumentTypes() != TypeRange(arguments))
    return emitOpError() << "expects block arguments (" << TypeRange(arguments)
                         << "), but got (" << getBody().getArgumentTypes()
                         << ")";
  Operation *yield = getBody().front().getTerminator();
  SmallVector<Type> yielded = bodyTypes(*this, getOutputs());
  if (!isa<YieldOp>(yield))
    return emitOpError() << "expects a body that ends in 'seq.yield', but got '"
                         << yield->getName() << "'";
  if (yield->getOperandTypes() != TypeRange(yielded))
    return yield->emitOpError()
           << "expects operands (" << TypeRange(yielded) << "), but got ("
           << yield->getOperandTypes() << ")";
  return success();
}

// Rows [first, first + count) of `x`.
template <typename S>
static Tensor<S> rowsOf(const Tensor<S> &x, int64_t first, int64_t count) {
  SmallVector<int64_t> shape(x.getShape());
  int64_t rowSize = x.size() / shape.front();
  shape.front() = count;
  return Tensor<S>(shape,
                   x.elements().slice(first * rowSize, count * rowSize).vec());
}

// Writes `rows` into `y`, starting at row `first`.
template <typename S>
static void setRows(Tensor<S> &y, int64_t first, const Tensor<S> &rows) {
  int64_t rowSize = rows.size() / rows.getDim(0);
  llvm::copy(rows.elements(), y.elements().begin() + first * rowSize);
}

template <typename S> static llvm::Error evaluate(ScanOp op, Frame<S> &frame) {
  Block &body = op.getBody().front();
  int64_t chunk = op.getChunk();
  auto rowsIn = [&](Value tokens) {
    return std::visit([](const auto &tensor) { return tensor.getDim(0); },
                      frame.getDatum(tokens));
  };
  int64_t rows = rowsIn(op.getTokens().front());
  for (Value tokens : op.getTokens())
    if (rowsIn(tokens) != rows)
      return fail("expects 'tokens' with the " + Twine(rows) +
                  " rows of 'tokens', but got " + Twine(rowsIn(tokens)));
  if (rows % chunk != 0)
    return fail("expects T to be a multiple of 'chunk' " + Twine(chunk) +
                ", but got " + Twine(rows));

  Block::BlockArgListType arguments = body.getArguments();
  auto tokenArguments = arguments.take_front(op.getTokens().size());
  auto stateArguments = arguments.drop_front(op.getTokens().size());
  OperandRange yielded = body.getTerminator()->getOperands();
  auto yieldedRows = yielded.take_front(op.getOutputs().size());
  auto yieldedStates = yielded.drop_front(op.getOutputs().size());

  std::vector<Tensor<S>> outputs;
  for (Type type : op.getOutputs().getTypes()) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
    shape.front() = rows;
    outputs.emplace_back(shape);
  }
  // The results carry the states between the chunks.
  for (auto [next, state] : llvm::zip_equal(op.getNextStates(), op.getStates()))
    frame.bind(next, state);
  for (int64_t first = 0; first < rows; first += chunk) {
    for (auto [argument, tokens] :
         llvm::zip_equal(tokenArguments, op.getTokens()))
      frame.set(argument, std::visit(
                              [&](const auto &tensor) -> Datum<S> {
                                return rowsOf(tensor, first, chunk);
                              },
                              frame.getDatum(tokens)));
    for (auto [argument, state] :
         llvm::zip_equal(stateArguments, op.getNextStates()))
      frame.bind(argument, state);
    if (llvm::Error error = frame.run(body))
      return error;
    for (auto [output, value] : llvm::zip_equal(outputs, yieldedRows))
      setRows(output, first, frame[value]);
    for (auto [next, value] :
         llvm::zip_equal(op.getNextStates(), yieldedStates))
      frame.bind(next, value);
  }
  for (auto [result, output] : llvm::zip_equal(op.getOutputs(), outputs))
    frame.set(result, std::move(output));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ScanOp)
