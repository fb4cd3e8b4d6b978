// seq.weight and seq.parameter.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using effc::seq::reference::Frame;

SmallVector<StringRef> WeightOp::getSources() {
  if (getComputed())
    return {};
  SmallVector<StringRef> names = {getSource()};
  if (auto further = getFurtherAttr())
    llvm::append_range(names, further.getAsValueRange<StringAttr>());
  return names;
}

static std::string join(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(shape, out, "x");
  return text;
}

// Several tensors, tensors of another shape, and rules.
static LogicalResult verifyTensors(WeightOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  StringRef other = op.getComputed()     ? "a 'computed'"
                    : op.getTransposed() ? "a 'transposed'"
                                         : "";
  StringRef named = op.getFurther() && op.getComputed() ? "'then'"
                    : op.getStored()                    ? "'stored'"
                    : op.getRows() && op.getComputed()  ? "'rows'"
                    : op.getDerived()                   ? "'derived'"
                                                        : "";
  if (!other.empty() && !named.empty())
    return op.emitOpError()
           << "expects no " << named << " for " << other << " weight";
  int64_t tensors = 1;
  if (auto further = op.getFurtherAttr()) {
    tensors += further.size();
    if (further.empty() ||
        llvm::is_contained(further.getAsValueRange<StringAttr>(), ""))
      return op.emitOpError()
             << "expects 'then' to name tensors, but got " << further;
    bool turned = op.getTransposed();
    if (turned && type.getRank() != 2)
      return op.emitOpError() << "expects a 'transposed' weight of several "
                                 "tensors to have 2 dimensions, but got "
                              << type;
    int64_t shared = turned ? type.getDimSize(1) : type.getDimSize(0);
    if (shared % tensors != 0)
      return op.emitOpError()
             << "expects a " << (turned ? "last" : "first") << " dimension in "
             << tensors << " equal shares, but got " << shared;
  }
  if (RowGroupsAttr rows = op.getRowsAttr()) {
    if (op.getFurther() || op.getDerived())
      return op.emitOpError() << "expects 'rows' of one tensor as it is, but "
                                 "got 'then' or 'derived' as well";
    bool turned = op.getTransposed(), blocks = op.hasMatrixPerGroup();
    if (turned && type.getRank() != 2 && !blocks)
      return op.emitOpError()
             << "expects a 'transposed' weight of 2 dimensions, or of "
             << rows.getCount() << " matrices of " << rows.getSize()
             << " 'rows' each, but got " << type;
    int64_t extent = turned ? type.getShape().back() : type.getDimSize(0);
    if (blocks)
      extent = rows.getCount() * rows.getSize();
    if (rows.getSize() * rows.getCount() != extent)
      return op.emitOpError()
             << "expects a " << (turned ? "last" : "first")
             << " dimension of the " << rows.getSize() * rows.getCount()
             << " 'rows', but got " << extent;
    int64_t elements =
        rows.getStride() * rows.getCount() * (type.getNumElements() / extent);
    if (std::optional<ArrayRef<int64_t>> stored = op.getStored();
        stored && ShapedType::getNumElements(*stored) != elements)
      return op.emitOpError() << "expects 'stored' of " << elements
                              << " elements, of which 'rows' are a part, but "
                                 "got "
                              << join(*stored);
    return success();
  }
  int64_t each = type.getNumElements() / tensors;
  auto derived = op.getDerivedAttr();
  bool layers = derived && derived.getRule() == DerivationRule::LowerBound;
  if (derived && (tensors > 1 || !type.getElementType().isF32()))
    return op.emitOpError() << "expects a 'derived' weight of f32 and one "
                               "tensor, but got "
                            << type << " of " << tensors;
  std::optional<ArrayRef<int64_t>> stored = op.getStored();
  if (layers && !(stored && stored->size() == 2 && stored->back() == each &&
                  stored->front() > derived.getLayer()))
    return op.emitOpError()
           << "expects 'stored' of more than " << derived.getLayer()
           << " rows of " << each << ", but got "
           << (stored ? join(*stored) : "none");
  if (derived && derived.getRule() == DerivationRule::Repeated) {
    if (type.getRank() != 3 || !stored || stored->size() != 2 ||
        stored->front() != type.getDimSize(0) ||
        stored->back() != type.getDimSize(2))
      return op.emitOpError()
             << "expects H,V,K of 'stored' H,K for 'repeated', but got " << type
             << " of " << (stored ? join(*stored) : "none");
    return success();
  }
  if (stored && !layers && (!llvm::all_of(*stored, [](int64_t size) {
        return size > 0;
      }) || ShapedType::getNumElements(*stored) != each))
    return op.emitOpError() << "expects 'stored' of " << each
                            << " elements, but got " << join(*stored);
  return success();
}

bool WeightOp::hasMatrixPerGroup() {
  RowGroupsAttr rows = getRowsAttr();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(getType()).getShape();
  return rows && shape.size() == 3 && shape[0] == rows.getCount() &&
         shape[getTransposed() ? 2 : 1] == rows.getSize();
}

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (getComputed() && !getSource().empty())
    return emitOpError() << "expects no 'source' beside 'computed', but got \""
                         << getSource() << "\"";
  if (!getComputed() && getSource().empty())
    return emitOpError()
           << "expects a 'source' that is not empty, but got \"\"";
  int64_t rank = type.getRank();
  if (getComputed()) {
    bool rows = getComputed()->hasRows();
    if (rank != (rows ? 2 : 1) || !type.getElementType().isF32())
      return emitOpError() << "expects a 'computed' weight of f32 and "
                           << (rows ? "2 dimensions, positions first"
                                    : "1 dimension")
                           << ", but got " << type;
    if (int64_t given = getComputed()->getRowCount();
        rows && given > 0 && given != type.getDimSize(0))
      return emitOpError() << "expects a row for each of the " << given
                           << " numbers, but got " << type.getDimSize(0);
    if (failed(getComputed()->verifyCount(type.getShape().back(),
                                          [&] { return emitOpError(); })))
      return failure();
  }
  if (getTransposed() && rank != 2 && rank != 3)
    return emitOpError() << "expects a 'transposed' weight of 2 or 3 "
                            "dimensions, but got "
                         << rank;
  return verifyTensors(*this);
}

LogicalResult
ParameterOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto weight =
      symbolTable.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight)
    return emitOpError() << "expects 'weight' to name a 'seq.weight', but got "
                         << getWeightAttr();
  if (weight.getType() == getResult().getType())
    return success();
  InFlightDiagnostic diagnostic = emitOpError()
                                  << "expects 'result' of the weight's type "
                                  << weight.getType() << ", but got "
                                  << getResult().getType();
  diagnostic.attachNote(weight.getLoc()) << "the weight is declared here";
  return diagnostic;
}

template <typename S>
static llvm::Error evaluate(ParameterOp op, Frame<S> &frame) {
  auto weight =
      SymbolTable::lookupNearestSymbolFrom<WeightOp>(op, op.getWeightAttr());
  return frame.setWeight(op.getResult(), weight);
}
EFFC_SEQ_REFERENCE(ParameterOp)
