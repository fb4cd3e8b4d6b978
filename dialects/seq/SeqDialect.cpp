// Registers what the dialect consists of and verifies the attributes it puts
// on other dialects' ops.
#include "dialects/seq/HiddenRows.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/StorageDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/seq/SeqDialect.cpp.inc"

using namespace mlir;
using namespace effc::seq;

void SeqDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOperations();
}

// The attribute must be a `T` and stand on a module (SEQ1).
template <typename T>
static LogicalResult verifyModuleAttribute(Operation *op,
                                           NamedAttribute attribute) {
  if (!isa<T>(attribute.getValue()))
    return op->emitError() << "'" << attribute.getName().getValue()
                           << "' expects an attribute #" << T::name.str()
                           << ", but got " << attribute.getValue();
  if (!isa<ModuleOp>(op))
    return op->emitError() << "'" << attribute.getName().getValue()
                           << "' expects to be on 'builtin.module', but got '"
                           << op->getName() << "'";
  return success();
}

// SEQ2.
static LogicalResult verifyEntry(Operation *op, NamedAttribute attribute) {
  if (!isa<EntryAttr>(attribute.getValue()))
    return op->emitError()
           << "'seq.entry' expects an attribute #seq.entry, but got "
           << attribute.getValue();
  if (!isa<FunctionOpInterface>(op))
    return op->emitError()
           << "'seq.entry' expects to be on a function, but got '"
           << op->getName() << "'";
  return success();
}

// HiddenRows.h.
static LogicalResult verifyHiddenWidth(Operation *op,
                                       NamedAttribute attribute) {
  auto width = dyn_cast<IntegerAttr>(attribute.getValue());
  if (width && width.getInt() >= 1 && isa<ModuleOp>(op))
    return success();
  return op->emitError() << "'seq.hidden_width' expects a number from 1 on "
                            "'builtin.module', but got "
                         << attribute.getValue() << " on '" << op->getName()
                         << "'";
}

static LogicalResult verifyTaps(Operation *op, NamedAttribute attribute) {
  auto width = op->getAttrOfType<IntegerAttr>(kHiddenWidthAttr);
  auto taps = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!isa<ModuleOp>(op) || !width || !taps ||
      !llvm::all_of(taps, llvm::IsaPred<TapAttr>))
    return op->emitError()
           << "'seq.taps' expects an array of #seq.tap on 'builtin.module' "
              "beside 'seq.hidden_width', but got "
           << attribute.getValue() << " on '" << op->getName() << "'";
  int64_t columns = 0;
  for (auto tap : taps.getAsRange<TapAttr>())
    columns += tap.getColumns();
  if (columns != width.getInt())
    return op->emitError() << "'seq.taps' expects values of " << width.getInt()
                           << " numbers together, which is "
                              "'seq.hidden_width', but got "
                           << columns;
  return success();
}

LogicalResult SeqDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  if (name == kModelAttr)
    return verifyModuleAttribute<ModelAttr>(op, attribute);
  if (name == kStateLayoutAttr)
    return verifyModuleAttribute<StateLayoutAttr>(op, attribute);
  if (name == kEntryAttr)
    return verifyEntry(op, attribute);
  if (name == kHiddenWidthAttr)
    return verifyHiddenWidth(op, attribute);
  if (name == kTapsAttr)
    return verifyTaps(op, attribute);
  return op->emitError() << "'" << name
                         << "' is no attribute of the dialect 'seq'";
}

// SEQ4, asked at the last state of a function so that it is reported once.
static LogicalResult verifyStateResults(FunctionOpInterface function,
                                        ArrayRef<unsigned> stateArguments) {
  size_t results = function.getNumResults();
  if (results < stateArguments.size())
    return function.emitError()
           << "expects a result for each of its " << stateArguments.size()
           << " states, but got " << results << " results";
  size_t first = results - stateArguments.size();
  for (auto [index, argument] : llvm::enumerate(stateArguments)) {
    Type expected = function.getArgumentTypes()[argument];
    Type found = function.getResultTypes()[first + index];
    if (expected != found)
      return function.emitError()
             << "expects result #" << first + index << " of type " << expected
             << ", but got " << found << ": it is the next value of the state "
             << function.getArgAttr(argument, kStateNameAttr);
  }
  return success();
}

// SEQ3.
LogicalResult SeqDialect::verifyRegionArgAttribute(Operation *op,
                                                   unsigned regionIndex,
                                                   unsigned argIndex,
                                                   NamedAttribute attribute) {
  StringRef attributeName = attribute.getName().getValue();
  if (attributeName != kStateNameAttr)
    return op->emitError() << "'" << attributeName
                           << "' is no argument attribute of the dialect 'seq'";
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (!function || !name || name.empty())
    return op->emitError() << "'seq.state_name' expects a non-empty string on "
                              "a function's argument, but got "
                           << attribute.getValue();
  Type type = function.getArgumentTypes()[argIndex];
  if (!isStaticTensor(type))
    return op->emitError() << "argument #" << argIndex << " with the state "
                           << name << " expects a static f32 tensor, but got "
                           << type;

  // Once for all of them: with the last one.
  for (unsigned later = argIndex + 1; later < function.getNumArguments();
       ++later)
    if (function.getArgAttr(later, kStateNameAttr))
      return success();
  SmallVector<unsigned> stateArguments;
  llvm::DenseMap<Attribute, unsigned> first; // by name
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    Attribute other = function.getArgAttr(index, kStateNameAttr);
    if (!other)
      continue;
    stateArguments.push_back(index);
    auto [known, isNew] = first.try_emplace(other, index);
    if (!isNew)
      return op->emitError() << "arguments #" << known->second << " and #"
                             << index << " both carry the state " << other;
  }
  return verifyStateResults(function, stateArguments);
}
