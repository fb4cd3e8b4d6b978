// seq.weight and seq.parameter.
#include "dialects/seq/NearestWord.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/storage/Bundles.h"
#include "dialects/storage/Panels.h"

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

static StringRef leadOf(bool turned) { return turned ? "last" : "first"; }

static int64_t tensorsOf(WeightOp op) {
  ArrayAttr further = op.getFurtherAttr();
  return 1 + (further ? static_cast<int64_t>(further.size()) : 0);
}

// Some of what says how a weight is made excludes the rest.
static LogicalResult verifyCombination(WeightOp op) {
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
  return success();
}

// Several tensors, one behind the other.
static LogicalResult verifyFurther(WeightOp op, ArrayAttr further) {
  auto type = cast<RankedTensorType>(op.getType());
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
  if (shared % tensorsOf(op) != 0)
    return op.emitOpError()
           << "expects a " << leadOf(turned) << " dimension in "
           << tensorsOf(op) << " equal shares, but got " << shared;
  return success();
}

// Groups of rows of a tensor.
static LogicalResult verifyRows(WeightOp op, RowGroupsAttr rows) {
  auto type = cast<RankedTensorType>(op.getType());
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
           << "expects a " << leadOf(turned) << " dimension of the "
           << rows.getSize() * rows.getCount() << " 'rows', but got " << extent;
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

// What a rule makes of a tensor, where it takes one of another shape.
static LogicalResult verifyDerived(WeightOp op, DerivationAttr derived) {
  auto type = cast<RankedTensorType>(op.getType());
  if (tensorsOf(op) > 1 || !type.getElementType().isF32())
    return op.emitOpError() << "expects a 'derived' weight of f32 and one "
                               "tensor, but got "
                            << type << " of " << tensorsOf(op);
  std::optional<ArrayRef<int64_t>> stored = op.getStored();
  bool isMatrix = stored && stored->size() == 2;
  std::string found = stored ? join(*stored) : "none";
  if (derived.getRule() == DerivationRule::LowerBound &&
      !(isMatrix && stored->back() == type.getNumElements() &&
        stored->front() > derived.getLayer()))
    return op.emitOpError()
           << "expects 'stored' of more than " << derived.getLayer()
           << " rows of " << type.getNumElements() << ", but got " << found;
  if (derived.getRule() == DerivationRule::Repeated &&
      !(isMatrix && type.getRank() == 3 &&
        stored->front() == type.getDimSize(0) &&
        stored->back() == type.getDimSize(2)))
    return op.emitOpError()
           << "expects H,V,K of 'stored' H,K for 'repeated', but got " << type
           << " of " << found;
  return success();
}

// Several tensors, tensors of another shape, and rules.
static LogicalResult verifyTensors(WeightOp op) {
  if (failed(verifyCombination(op)))
    return failure();
  if (ArrayAttr further = op.getFurtherAttr();
      further && failed(verifyFurther(op, further)))
    return failure();
  if (RowGroupsAttr rows = op.getRowsAttr())
    return verifyRows(op, rows);
  DerivationAttr derived = op.getDerivedAttr();
  if (derived && failed(verifyDerived(op, derived)))
    return failure();
  bool isReshaped =
      derived && (derived.getRule() == DerivationRule::LowerBound ||
                  derived.getRule() == DerivationRule::Repeated);
  std::optional<ArrayRef<int64_t>> stored = op.getStored();
  if (!stored || isReshaped)
    return success();
  int64_t each =
      cast<RankedTensorType>(op.getType()).getNumElements() / tensorsOf(op);
  bool isShape = llvm::all_of(*stored, [](int64_t size) { return size > 0; });
  if (!isShape || ShapedType::getNumElements(*stored) != each)
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
  if (getPanels()) { // weight9
    auto rows = dyn_cast<storage::BlockType>(type.getElementType());
    if (rank != 2 || !rows || !storage::hasPanels(rows))
      return emitOpError()
             << "expects a matrix of blocks that there are panels "
                "of beside 'panels', but got "
             << type;
  }
  if (getBundles()) { // weight10
    auto block = dyn_cast<storage::BlockType>(type.getElementType());
    int64_t blocks = getBundles();
    constexpr int64_t kMostBlocks = 1024;
    if (!block || getPanels() || blocks < 1 || blocks > kMostBlocks ||
        storage::blocksOfBundle(block, type.getShape().back(),
                                blocks * block.getElements()) != blocks)
      return emitOpError()
             << "expects rows of blocks outside of panels that have whole "
                "bundles of "
             << blocks << ", but got " << type
             << (getPanels() ? " in panels" : "");
  }
  if (getChannelOrder() && (rank != 1 || !type.getElementType().isF32()))
    return emitOpError() // weight11
           << "expects a 'channel_order' of f32 and 1 dimension, but got "
           << type;
  return verifyTensors(*this);
}

Type WeightOp::getStoredElement() {
  Type element = cast<RankedTensorType>(getType()).getElementType();
  auto block = dyn_cast<storage::BlockType>(element);
  if (getPanels())
    return storage::PanelType::get(getContext(), block);
  return getBundles() ? Type(storage::bundleOf(block, getBundles())) : element;
}

/// The declared weight whose name fewest changes of letters make of `name`, at most
/// half of them: two letters that changed places are two.
static StringRef nearestWeight(ParameterOp op, StringRef name) {
  constexpr size_t kLongest = 64; // what is longer is no slip of the fingers
  Operation *table = SymbolTable::getNearestSymbolTable(op);
  NearestWord nearest(name, name.size() / 2);
  if (table && name.size() <= kLongest)
    for (auto weight : table->getRegion(0).getOps<WeightOp>())
      if (weight.getSymName().size() <= kLongest)
        nearest.consider(weight.getSymName());
  return nearest.get();
}

LogicalResult
ParameterOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto weight =
      symbolTable.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight) {
    InFlightDiagnostic error =
        emitOpError() << "expects 'weight' to name a 'seq.weight', but got "
                      << getWeightAttr();
    if (StringRef near = nearestWeight(*this, getWeight()); !near.empty())
      error.attachNote() << "did you mean '@" << near << "'?";
    return error;
  }
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
