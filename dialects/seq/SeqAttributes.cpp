// Verifiers of the attributes, one per attribute in the order of the .td.
#include "dialects/seq/SeqAttributes.h"
#include "dialects/seq/SeqDialect.h"
#include "dialects/seq/TensorTypes.h"
#include "dialects/storage/Storage.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc::seq;

#include "dialects/seq/SeqAttrInterfaces.cpp.inc"
#include "dialects/seq/SeqEnums.cpp.inc"

// The records of a structure: `, NAME = <...>` for each that is there.
template <typename... Record>
static ParseResult parseRecords(AsmParser &parser, Record &...records) {
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc start = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    bool known = false, failed = false;
    auto parseOne = [&]<typename R>(R &record) {
      if (name != R::getMnemonic())
        return;
      known = true;
      FailureOr<R> parsed = FieldParser<R>::parse(parser);
      failed = mlir::failed(parsed);
      record = parsed.value_or(R());
    };
    (parseOne(records), ...);
    if (!known)
      return parser.emitError(start)
             << "expects the name of a record, but got '" << name << "'";
    if (failed)
      return failure();
  }
  return success();
}

template <typename... Record>
static void printRecords(AsmPrinter &printer, Record... records) {
  auto printOne = [&](auto record) {
    if (!record)
      return;
    printer << ", " << record.getMnemonic() << " = ";
    printer.printStrippedAttrOrType(record);
  };
  (printOne(records), ...);
}

#define GET_ATTRDEF_CLASSES
#include "dialects/seq/SeqAttributes.cpp.inc"

void SeqDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/seq/SeqAttributes.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

LogicalResult LinearAttr::verify(EmitError emitError, DecayAxis, DecayField,
                                 InputGate, LowRankPair, ReadOrder, bool, bool,
                                 Normaliser, Stabiliser, int64_t headsPerGroup,
                                 int64_t writes) {
  if (headsPerGroup < 1)
    return emitError() << "expects 'heads_per_group' of at least 1, but got "
                       << headsPerGroup;
  if (writes < 1)
    return emitError() << "expects 'writes' of at least 1, but got " << writes;
  return success();
}

LogicalResult RetrievalAttr::verify(EmitError emitError, int64_t axes,
                                    int64_t heads, int64_t topK,
                                    RetrievalWeighting,
                                    RetrievalContent content, Nonlinearity,
                                    bool weightInside) {
  if (axes != 1 && axes != 2)
    return emitError() << "expects 'axes' of 1 or 2, but got " << axes;
  if (heads < 1 || topK < 1)
    return emitError() << "expects 'heads' and 'top_k' of at least 1, but got "
                       << heads << " and " << topK;
  if (weightInside && content != RetrievalContent::Neuron)
    return emitError() << "expects 'weight_inside' with the content 'neuron' "
                          "alone, but got it with '"
                       << stringifyRetrievalContent(content) << "'";
  return success();
}

LogicalResult WindowAttr::verify(EmitError emitError, int64_t window,
                                 FloatAttr scaleAttr, FloatAttr softCapAttr,
                                 bool, bool, KeyScore keyScore, int64_t keep,
                                 int64_t headsPerKey, int64_t headsPerValue,
                                 int64_t sinkTokens, int64_t block) {
  if (sinkTokens < 0 || (sinkTokens > 0 && window == 0))
    return emitError() << "expects 'sink_tokens' of at least 0, and of 0 where "
                          "'window' is, but got "
                       << sinkTokens << " with a 'window' of " << window;
  if (window < 0 || keep < 0)
    return emitError() << "expects 'window' and 'keep' of at least 0, but got "
                       << window << " and " << keep;
  if (keep > 0 && keyScore == KeyScore::None)
    return emitError() << "expects a 'keep' of 0 without a number per key to "
                          "choose by, but got "
                       << keep;
  if (block < 0 || (block > 0 && (window > 0 || keep > 0)))
    return emitError() << "expects 'block' of at least 0, and of 0 beside a "
                          "'window' or a 'keep', but got "
                       << block << " with " << window << " and " << keep;
  APFloat scale = scaleAttr.getValue(), softCap = softCapAttr.getValue();
  if (!scale.isFinite() || !softCap.isFinite() || softCap.isNegative())
    return emitError() << "expects a finite 'scale' and a finite 'soft_cap' of "
                          "at least 0, but got "
                       << scaleAttr << " and " << softCapAttr;
  if (headsPerKey < 1 || headsPerValue < 1 ||
      (headsPerKey % headsPerValue != 0 && headsPerValue % headsPerKey != 0))
    return emitError() << "expects 'heads_per_key' and 'heads_per_value' of at "
                          "least 1, one a multiple of the other, but got "
                       << headsPerKey << " and " << headsPerValue;
  return success();
}

LogicalResult StructureAttr::verify(EmitError emitError, MixerClass mixerClass,
                                    LinearAttr linear, RetrievalAttr retrieval,
                                    WindowAttr window) {
  // Every record with the class it belongs to.
  const std::pair<MixerClass, Attribute> records[] = {
      {MixerClass::Linear, linear},
      {MixerClass::Retrieval, retrieval},
      {MixerClass::Window, window}};
  for (auto [owner, record] : records)
    if ((mixerClass == owner) != bool(record))
      return emitError() << "expects a record '" << stringifyMixerClass(owner)
                         << "' for the class '" << stringifyMixerClass(owner)
                         << "' alone, but got the class '"
                         << stringifyMixerClass(mixerClass)
                         << (record ? "' with one" : "' without one");
  return success();
}

LogicalResult FormAttr::verify(EmitError emitError, FormKind kind,
                               int64_t chunk) {
  bool chunkwise = kind == FormKind::Chunkwise;
  if (chunkwise ? chunk < 1 : chunk != 0)
    return emitError() << "expects 'chunk' "
                       << (chunkwise ? "of at least 1" : "to be absent")
                       << " for the form '" << stringifyFormKind(kind)
                       << "', but got " << chunk;
  return success();
}

LogicalResult EntryAttr::verify(EmitError emitError, EntryKind, int64_t rows) {
  if (rows < 1)
    return emitError() << "expects 'rows' of at least 1, but got " << rows;
  return success();
}

int64_t StateAttr::getSizeBytes() const {
  return storage::Storage::get(getType().getElementType())
      .bytes(getType().getNumElements());
}

LogicalResult TapAttr::verify(EmitError emitError, StringRef name,
                              ArrayRef<int64_t> shape) {
  if (name.empty())
    return emitError() << "expects a 'name' that is not empty, but got \"\"";
  for (int64_t extent : shape)
    if (extent < 1)
      return emitError() << "expects dimensions of at least 1 in 'shape', but "
                            "got "
                         << extent;
  return success();
}

int64_t TapAttr::getColumns() const { return llvm::product_of(getShape()); }

LogicalResult StateAttr::verify(EmitError emitError, StringRef name, StateKind,
                                StateGrowth growth, RankedTensorType type,
                                FloatAttr neutral, int64_t offset,
                                int64_t positionsPerRow) {
  if (name.empty())
    return emitError() << "expects a 'name' that is not empty, but got \"\"";
  if (!type.hasStaticShape() ||
      llvm::any_of(type.getShape(), [](int64_t size) { return size < 1; }))
    return emitError() << "expects 'type' with positive static dimensions, "
                          "but got "
                       << type;
  std::optional<storage::Storage> stored =
      storage::Storage::of(type.getElementType());
  if (!stored)
    return emitError() << "expects 'type' of stored elements, but got " << type;
  if (neutral.getType() != stored->denseType())
    return emitError() << "expects 'neutral' of the element type "
                       << stored->denseType() << ", but got "
                       << neutral.getType();
  if (offset < 0)
    return emitError() << "expects 'offset' of at least 0, but got " << offset;
  if (positionsPerRow < 0)
    return emitError() << "expects 'positions_per_row' of at least 0, but got "
                       << positionsPerRow;
  if (positionsPerRow > 0 && growth != StateGrowth::Fixed)
    return emitError() << "expects 'positions_per_row' of states of growth "
                          "'fixed' alone, but got "
                       << positionsPerRow << " of growth '"
                       << stringifyStateGrowth(growth) << "'";
  return success();
}

LogicalResult StateLayoutAttr::verify(EmitError emitError, int64_t slotBytes,
                                      ArrayRef<StateAttr> states) {
  llvm::StringSet<> names;
  int64_t end = 0;
  for (StateAttr state : states) {
    if (!names.insert(state.getName()).second)
      return emitError() << "expects names that differ, but got two states '"
                         << state.getName() << "'";
    if (state.getOffset() < end)
      return emitError() << "expects the state '" << state.getName()
                         << "' at an offset of at least " << end
                         << ", the end of the one before, but got "
                         << state.getOffset();
    end = state.getOffset() + state.getSizeBytes();
  }
  if (slotBytes < end)
    return emitError() << "expects 'slot_bytes' of at least " << end
                       << ", the end of the last state, but got " << slotBytes;
  return success();
}

LogicalResult ModelAttr::verify(EmitError emitError, StringRef family,
                                int64_t vocabulary, int64_t width,
                                int64_t maxContext) {
  if (family.empty())
    return emitError() << "expects a 'family' that is not empty, but got \"\"";
  if (vocabulary < 1 || width < 1 || maxContext < 0)
    return emitError() << "expects 'vocabulary' and 'width' of at least 1 and "
                          "'max_context' of at least 0, but got "
                       << vocabulary << ", " << width << " and " << maxContext;
  // Tokens are i32, and files state the vocabulary in as many bits.
  constexpr int64_t kMostTokens = int64_t(1) << 24;
  if (vocabulary > kMostTokens)
    return emitError() << "expects a 'vocabulary' of at most " << kMostTokens
                       << ", but got " << vocabulary;
  return success();
}
