#include "dialects/seq/TokenMapChecks.h"

#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace effc::seq {

namespace {
/// Compares quantities with shapes that are named by letters: T tokens, H
/// heads, G groups of heads, K key channels, V value channels.
class QuantityChecks {
public:
  QuantityChecks(MixerOpInterface mixer, const CanonicalQuantities &quantities)
      : mixer(mixer), quantities(quantities),
        linear(mixer.getStructure().getLinear()) {}

  LogicalResult check();

private:
  /// Binds H, V, G and K by the quantities that every mixer has.
  LogicalResult bindExtents();
  LogicalResult checkState();
  /// One of the shapes; without T as well where `mayLackTokens`. Null passes.
  LogicalResult check(StringRef name, Value value, ArrayRef<StringRef> shapes,
                      bool mayLackTokens = true);
  bool fits(Value value, StringRef letters) const;
  std::string describe(StringRef letters) const;
  LogicalResult complain(StringRef name, Value value,
                         ArrayRef<std::string> shapes);

  MixerOpInterface mixer;
  const CanonicalQuantities &quantities;
  LinearAttr linear;
  llvm::StringMap<int64_t> extents;
};
} // namespace

bool QuantityChecks::fits(Value value, StringRef letters) const {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  return shape.size() == letters.size() &&
         llvm::all_of(llvm::zip_equal(shape, letters), [&](auto pair) {
           auto [extent, letter] = pair;
           auto known = extents.find(StringRef(&letter, 1));
           // How many tokens there are, a type need not say.
           return letter == 'T' || known == extents.end() ||
                  known->second == extent;
         });
}

// "T,H = ?, 6"
std::string QuantityChecks::describe(StringRef letters) const {
  SmallVector<int64_t> shape;
  std::string names;
  for (const char &letter : letters) {
    names += (names.empty() ? "" : ",") + std::string(1, letter);
    auto known = extents.find(StringRef(&letter, 1));
    shape.push_back(known == extents.end() ? ShapedType::kDynamic
                                           : known->second);
  }
  return names + " = " + printExtents(shape);
}

LogicalResult QuantityChecks::complain(StringRef name, Value value,
                                       ArrayRef<std::string> shapes) {
  InFlightDiagnostic error = mixer->emitOpError()
                             << "expects its token map to give '" << name
                             << "' of shape " << llvm::join(shapes, " or ")
                             << ", but got ";
  if (value)
    error << printExtents(typeOf(value).getShape());
  else
    error << "none";
  error.attachNote(value ? value.getLoc() : mixer.getLoc())
      << "CanonicalQuantities.h says what each quantity is";
  return error;
}

LogicalResult QuantityChecks::check(StringRef name, Value value,
                                    ArrayRef<StringRef> shapes,
                                    bool mayLackTokens) {
  SmallVector<std::string> all;
  for (StringRef letters : shapes)
    for (StringRef form : {letters, letters.drop_front()}) {
      if (form != letters && !mayLackTokens)
        continue;
      if (!value || fits(value, form))
        return success();
      all.push_back(describe(form));
    }
  return complain(name, value, all);
}

LogicalResult QuantityChecks::bindExtents() {
  Value value = quantities.value;
  if (!value || typeOf(value).getRank() != 3)
    return complain("value", value, {describe("THV")});
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  extents["H"] = shape[1];
  extents["V"] = shape[2];
  extents["G"] = shape[1] / linear.getHeadsPerGroup();
  bool isElement = linear.getDecay() == DecayAxis::Element;
  for (auto [name, factor] :
       {std::pair("query", quantities.query), {"key", quantities.key}}) {
    int64_t rank = factor ? typeOf(factor).getRank() : 0;
    // Of [T, G, K], [G, K], or per element.
    bool perElement = isElement && rank == 4;
    if (rank < 2 || rank > 4 || (rank == 4 && !isElement))
      return complain(name, factor, {describe("TGK")});
    extents.try_emplace("K",
                        typeOf(factor).getShape()[perElement ? 2 : rank - 1]);
    if (!fits(factor, perElement ? "THKV" : rank == 3 ? "TGK" : "GK"))
      return complain(name, factor, {describe(perElement ? "THKV" : "TGK")});
  }
  return success();
}

// A matrix that the quantities do not fill.
LogicalResult QuantityChecks::checkState() {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  for (const StateDescriptor &state : stateful.getStates()) {
    Value matrix = mixer->getOperand(state.operand);
    if (state.kind != StateKind::Matrix || typeOf(matrix).getRank() != 3)
      continue;
    ArrayRef<int64_t> shape = typeOf(matrix).getShape();
    for (auto [letter, extent, name] : {std::tuple("H", shape[0], "value"),
                                        {"K", shape[1], "key"},
                                        {"V", shape[2], "value"}}) {
      if (extents.at(letter) == extent)
        continue;
      extents["H"] = shape[0];
      extents["G"] = shape[0] / linear.getHeadsPerGroup();
      extents["K"] = shape[1];
      extents["V"] = shape[2];
      bool isKey = StringRef(name) == "key";
      return complain(name, isKey ? quantities.key : quantities.value,
                      {describe(isKey ? "TGK" : "THV")});
    }
  }
  return success();
}

LogicalResult QuantityChecks::check() {
  if (failed(bindExtents()) || failed(checkState()))
    return failure();
  using enum DecayAxis;
  DecayAxis axis = linear.getDecay();
  SmallVector<StringRef, 2> decays = {"TH"};
  if (axis == Key || axis == KeyAndValue)
    decays = {"THK"};
  if (axis == Element)
    decays = {"THKV"};
  // Of an element's own query and key, as of its decay.
  SmallVector<StringRef, 2> factors = {"TGK"};
  if (axis == Element)
    factors.push_back("THKV");
  StringRef scalars = quantities.valueLogDecay ? "THV" : "TH";
  const CanonicalQuantities &q = quantities;
  struct Row {
    StringRef name;
    mlir::Value value;
    SmallVector<StringRef, 2> shapes;
  };
  const Row rows[] = {{"logDecay", q.logDecay, decays},
                      {"valueLogDecay", q.valueLogDecay, {"THV"}},
                      {"turn", q.turn, decays},
                      {"turnImaginary", q.turnImaginary, decays},
                      {"queryImaginary", q.queryImaginary, factors},
                      {"keyImaginary", q.keyImaginary, factors},
                      {"bonusKey", q.bonusKey, {"TGK"}},
                      {"probe", q.probe, {"TGK"}},
                      {"erase", q.erase, {"THK"}},
                      {"eraseScale", q.eraseScale, {"TH"}},
                      {"weight", q.weight, {scalars}},
                      {"sumQuery", q.sumQuery, {"TGK"}},
                      {"sumKey", q.sumKey, {"TGK"}},
                      {"logGate", q.logGate, {scalars}}};
  for (const Row &row : rows)
    if (failed(check(row.name, row.value, row.shapes)))
      return failure();
  for (const LaterWrite &write : q.laterWrites)
    for (const Row &row : {Row{"key", write.key, {"TGK"}},
                           {"value", write.value, {"THV"}},
                           {"probe", write.probe, {"TGK"}},
                           {"eraseScale", write.eraseScale, {"TH"}}})
      if (failed(check(row.name, row.value, row.shapes)))
        return failure();
  return success();
}

LogicalResult checkQuantities(MixerOpInterface mixer,
                              const CanonicalQuantities &quantities) {
  return QuantityChecks(mixer, quantities).check();
}

FailureOr<CanonicalQuantities>
buildCheckedTokenMap(MixerOpInterface mixer, OpBuilder &builder, Location loc,
                     ValueRange tokens, ValueRange parameters) {
  CanonicalQuantities quantities =
      mixer.buildTokenMap(builder, loc, tokens, parameters);
  if (failed(checkQuantities(mixer, quantities)))
    return failure();
  return quantities;
}

LogicalResult checkTokenMap(MixerOpInterface mixer) {
  Block block;
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  auto argumentsFor = [&](OperandRole role) {
    SmallVector<Value> arguments;
    for (Value operand : stateful.getOperandsOf(role))
      arguments.push_back(block.addArgument(operand.getType(), mixer.getLoc()));
    return arguments;
  };
  SmallVector<Value> tokens = argumentsFor(OperandRole::Token),
                     parameters = argumentsFor(OperandRole::Parameter);
  OpBuilder builder(mixer.getContext()); // the block stands in no region
  builder.setInsertionPointToEnd(&block);
  return buildCheckedTokenMap(mixer, builder, mixer.getLoc(), tokens,
                              parameters);
}

} // namespace effc::seq
