// seq.kernel: a region whose arguments are bound to the operands.
#include "dialects/seq/BindingSyntax.h"
#include "dialects/seq/BodyLength.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/storage/StorageDialect.h"

using namespace mlir;
using namespace effc::seq;
using effc::seq::reference::Frame;

// `"name" (%a = %x : type, ...) -> (type, ...) { body }`
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  Bindings inputs;
  if (parser.parseAttribute(name, getNameAttrName(result.name),
                            result.attributes) ||
      inputs.parse(parser) || inputs.resolve(parser, result.operands) ||
      parser.parseArrow() || parseTypes(parser, result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), inputs.arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printAttributeWithoutType(getNameAttr());
  printer << ' ';
  printBindings(printer, getBody().getArguments(), getInputs());
  printer << " -> (" << getResultTypes() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getNameAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult KernelOp::verify() {
  if (getName().empty())
    return emitOpError() << "expects a 'name' that is not empty, but got \"\"";
  if (getNarrow().has_value() != getNarrowTo().has_value()) // kernel6
    return emitOpError() << "expects 'narrow' and 'narrow_to' together, but "
                            "got only '"
                         << (getNarrow() ? "narrow" : "narrow_to") << "'";
  if (!getNarrow())
    return success();
  if (!getNarrowTo()->isBF16() && !getNarrowTo()->isF16() &&
      !isa<effc::storage::DigitsType>(*getNarrowTo())) // kernel6
    return emitOpError()
           << "expects 'narrow_to' to be bf16, f16 or digits, but "
              "got "
           << *getNarrowTo();
  ArrayRef<int64_t> narrow = *getNarrow();
  if (narrow.empty())
    return emitOpError() << "expects 'narrow' to list a result or to be absent";
  int64_t before = -1;
  for (int64_t number : narrow) {
    if (number <= before || number >= static_cast<int64_t>(getNumResults()))
      return emitOpError() << "expects 'narrow' to list numbers of its "
                           << getNumResults()
                           << " results in ascending order, but got " << number
                           << " behind " << before;
    before = number;
    auto type = dyn_cast<RankedTensorType>(getResult(number).getType());
    if (!type || (!type.getElementType().isF32() &&
                  !isa<effc::storage::BlockType>(type.getElementType())))
      return emitOpError() << "expects 'narrow' to list results of f32 or of "
                              "blocks, but result "
                           << number << " is " << getResult(number).getType();
  }
  return success();
}

Type KernelOp::getStoredType(unsigned number) {
  if (llvm::is_contained(getNarrow().value_or(ArrayRef<int64_t>{}),
                         int64_t(number)))
    return *getNarrowTo();
  return cast<RankedTensorType>(getResult(number).getType()).getElementType();
}

// kernel7
static LogicalResult verifyRoot(KernelOp kernel) {
  std::optional<uint64_t> number = kernel.getRoot();
  if (!number)
    return success();
  auto ops = kernel.getBody().front().without_terminator();
  auto count = static_cast<uint64_t>(llvm::range_size(ops));
  if (*number >= count)
    return kernel.emitOpError()
           << "expects 'root' to be the number of one of its " << count
           << " ops, but got " << kernel.getRootAttr();
  Operation *root = kernel.getRootOp();
  if (isElementwiseOp(root) || isViewOp(root))
    return kernel.emitOpError()
           << "expects 'root' to be the number of an op that is neither "
              "elementwise nor a view, but op "
           << *number << " is '" << root->getName() << "'";
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  TypeRange arguments = getBody().getArgumentTypes();
  if (arguments != getInputs().getTypes())
    return emitOpError() << "expects block arguments of the operands' types ("
                         << getInputs().getTypes() << "), but got ("
                         << arguments << ")";
  Operation *yield = getBody().front().getTerminator();
  if (!isa<YieldOp>(yield))
    return emitOpError() << "expects a body that ends in 'seq.yield', but got '"
                         << yield->getName() << "'";
  if (yield->getOperandTypes() != getResultTypes())
    return yield->emitOpError()
           << "expects operands of the types of the kernel's results ("
           << getResultTypes() << "), but got (" << yield->getOperandTypes()
           << ")";
  if (failed(verifyRoot(*this)))
    return failure();
  return verifyBodyLength(*this, getBody().front());
}

Operation *KernelOp::getRootOp() {
  std::optional<uint64_t> number = getRoot();
  if (!number)
    return nullptr;
  return &*std::next(getBody().front().begin(), *number);
}

template <typename S>
static llvm::Error evaluate(KernelOp op, Frame<S> &frame) {
  Block &body = op.getBody().front();
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), op.getInputs()))
    frame.bind(argument, input);
  if (llvm::Error error = frame.run(body))
    return error;
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    frame.bind(result, value);
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(KernelOp)
