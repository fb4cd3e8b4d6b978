#include "frontend/families/ExplicitPart.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/ExplicitParts.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

//===----------------------------------------------------------------------===//
// The table of parts
//===----------------------------------------------------------------------===//

namespace {

struct NamedPart {
  llvm::StringLiteral name;
  EmitPart (*read)(PartInput &);
};

/// All but the recurrences, which are a table of their own.
constexpr NamedPart kParts[] = {{"attention", readAttentionPart},
                                {"mlp", readMlpPart},
                                {"glu", readGluPart},
                                {"experts", readExpertsPart},
                                {"pkm", readMemoryPart},
                                {"peer", readNeuronPart},
                                {"cdmoe", readNeuronPart},
                                {"srm", readStructuredPart},
                                {"masked_mixer", readMaskedMixerPart}};

} // namespace

EmitPart effc::frontend::readPart(PartInput &in) {
  auto nothing = [](ModelBuilder &, const std::string &, Value x) { return x; };
  const std::string *name = in.reader.getString("part");
  if (!name) {
    if (!in.reader.get("part"))
      in.reader.report("lacks 'part'");
    return nothing;
  }
  for (const NamedPart &part : kParts)
    if (*name == part.name)
      return part.read(in);
  if (EmitPart recurrence = readRecurrence(in, *name))
    return recurrence;
  std::string known;
  for (const NamedPart &part : kParts)
    known += part.name.str() + ", ";
  in.reader.report("part " + quote(*name) + " is not supported; supported: " +
                   known + listRecurrences());
  return nothing;
}

//===----------------------------------------------------------------------===//
// What parts are described by
//===----------------------------------------------------------------------===//

bool effc::frontend::readInner(
    PartInput &in, llvm::StringRef key,
    llvm::function_ref<void(PartInput &inner)> read) {
  const JsonObject *object = in.reader.getObjectIfSet(key);
  if (!object)
    return false;
  std::string path = in.path + "." + key.str();
  ConfigReader inner(path, *object);
  PartInput each{inner, in.input, path, in.width, in.context};
  read(each);
  in.reader.finishInner(inner);
  return true;
}

size_t effc::frontend::readName(ConfigReader &reader, llvm::StringRef key,
                                llvm::ArrayRef<llvm::StringRef> names,
                                size_t otherwise) {
  const std::string *name = reader.getString(key);
  if (!name)
    return otherwise;
  const auto *found = llvm::find(names, llvm::StringRef(*name));
  if (found == names.end()) {
    reader.report(key + " " + quote(*name) +
                  " is not supported; supported: " + llvm::join(names, ", "));
    return otherwise;
  }
  return size_t(found - names.begin());
}

NormChoice effc::frontend::readNorm(PartInput &in, llvm::StringRef key,
                                    NormChoice otherwise) {
  const JsonValue *value = in.reader.get(key);
  if (value && value->isNull())
    otherwise.present = false;
  readInner(in, key, [&](PartInput &inner) {
    NormChoice norm;
    enum { Rms, RmsUnscaled, RmsPlusOne, Layer };
    size_t kind =
        readName(inner.reader, "kind",
                 {"rms", "rms_unscaled", "rms_plus_one", "layer"}, Rms);
    norm.config.epsilon = inner.reader.getNumber("eps", 0, 1, 1e-5);
    norm.hasWeight = kind != RmsUnscaled;
    norm.config.unitOffset = kind == RmsPlusOne;
    norm.config.centred = kind == Layer;
    if (kind == Layer)
      norm.config.bias = inner.reader.getBoolean("bias", true);
    otherwise = norm;
  });
  return otherwise;
}

llvm::ArrayRef<int64_t> effc::frontend::innerShape(Value x) {
  return llvm::cast<mlir::RankedTensorType>(x.getType())
      .getShape()
      .drop_front();
}

Value effc::frontend::emitNorm(ModelBuilder &model, const std::string &name,
                               Value x, const NormChoice &norm,
                               int64_t groups) {
  if (!norm.present)
    return x;
  if (norm.hasWeight && groups == 1)
    return model.norm(name, name, x, norm.config);
  return model.groupNorm(name, name, x, groups,
                         norm.hasWeight ? innerShape(x)[0] : 0, norm.config);
}

PositionChoice effc::frontend::readPositions(PartInput &in, int64_t keys) {
  PositionChoice positions;
  readInner(in, "positions", [&](PartInput &inner) {
    positions.kind = PositionChoice::Kind(
        1 + readName(inner.reader, "kind", {"rotary", "cosine_sine"}, 0));
    if (positions.kind != PositionChoice::Rotary)
      return;
    bool interleaved = inner.reader.getBoolean("interleaved", false);
    if (inner.reader.hasProblem() || in.reader.hasProblem())
      return;
    RotaryRequest request{keys, in.context};
    positions.rotary = readRotary(inner.reader, inner.input, request);
    if (interleaved)
      positions.rotary.layout = seq::RotaryPairs::Interleaved;
  });
  return positions;
}

LayerAttention effc::frontend::rotaryLayer(const std::string &at,
                                           const PositionChoice &positions) {
  LayerAttention layer;
  layer.rotary = positions.rotary;
  layer.frequencies = at + "frequencies";
  return layer;
}

Value effc::frontend::emitPositions(ModelBuilder &model, const std::string &at,
                                    const PositionChoice &positions, Value x) {
  if (positions.kind == PositionChoice::None)
    return x;
  if (positions.kind == PositionChoice::Rotary)
    return turn(model, at + "positions", rotaryLayer(at, positions), x);
  // One set of frequencies for queries and keys.
  std::string name = at + "theta";
  llvm::ArrayRef<int64_t> shape = innerShape(x);
  Value theta = model.isDeclared(name)
                    ? model.parameter(name)
                    : model.numbers(name, WeightSource(name), shape);
  auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
  auto wide = mlir::RankedTensorType::get(
      {type.getDimSize(0), shape[0], 2 * shape[1]}, type.getElementType());
  return seq::CosineSineOp::create(model.getBuilder(),
                                   model.at(at + "positions"), wide, x,
                                   model.getPositions(), theta);
}

FeatureChoice effc::frontend::readFeature(ConfigReader &reader,
                                          llvm::StringRef key, bool heads) {
  using seq::Nonlinearity;
  struct Named {
    llvm::StringLiteral name;
    FeatureChoice choice;
  };
  constexpr Named kFeatures[] = {
      {"identity", {FeatureChoice::Plain, Nonlinearity::Identity}},
      {"silu", {FeatureChoice::Plain, Nonlinearity::Silu}},
      {"gelu", {FeatureChoice::Plain, Nonlinearity::Gelu}},
      {"gelu_tanh", {FeatureChoice::Plain, Nonlinearity::GeluTanh}},
      {"relu", {FeatureChoice::Plain, Nonlinearity::Relu}},
      {"squared_relu", {FeatureChoice::Plain, Nonlinearity::SquaredRelu}},
      {"sigmoid", {FeatureChoice::Plain, Nonlinearity::Sigmoid}},
      {"exp", {FeatureChoice::Exp}},
      {"softplus", {FeatureChoice::Softplus}},
      {"tanh", {FeatureChoice::Tanh}},
      {"elu_plus_one", {FeatureChoice::EluPlusOne}},
      {"taylor", {FeatureChoice::Taylor}}};
  llvm::SmallVector<llvm::StringRef> names;
  for (const Named &feature : kFeatures)
    if (heads || feature.choice.kind != FeatureChoice::Taylor)
      names.push_back(feature.name);
  return kFeatures[readName(reader, key, names, 0)].choice;
}

/// [1, x / K^(1/4), (x_i x_j) / sqrt(2 K)] of each head, so that the product of
/// two is the exponential's Taylor polynomial 1 + s + s^2 / 2 of
/// s = q . k / sqrt(K).
static Value emitTaylor(ModelBuilder &model, const std::string &name, Value x) {
  mlir::OpBuilder &builder = model.getBuilder();
  mlir::Location loc = model.at(name);
  int64_t heads = innerShape(x)[0], keys = innerShape(x)[1];
  // Elements are scaled by kernels of channels, which have no heads.
  Value pairs = model.scale(
      name, seq::ContractOp::create(builder, loc, x, "thk", x, "thl", "thkl"),
      1 / std::sqrt(2 * double(keys)));
  Value quadratic = model.reshape(name, pairs, {heads, keys * keys});
  Value flat = model.scale(name, model.reshape(name, x, {heads * keys}),
                           1 / std::pow(double(keys), 0.25));
  Value linear = model.reshape(name, flat, {heads, keys});
  Value one = model.constant("ones." + std::to_string(heads), 1, {heads, 1});
  Value first = model.slice(name, x, 0, 1);
  Value ones = seq::BroadcastOp::create(builder, loc, one, first,
                                        llvm::ArrayRef<int64_t>{1, 2});
  return seq::ConcatOp::create(builder, loc,
                               mlir::ValueRange{ones, linear, quadratic},
                               /*axis=*/2);
}

Value effc::frontend::emitFeature(ModelBuilder &model, const std::string &name,
                                  Value x, const FeatureChoice &feature) {
  switch (feature.kind) {
  case FeatureChoice::Plain:
    return model.activate(name, x, feature.function);
  case FeatureChoice::Exp:
    return model.elementwise<seq::ExpOp>(name, x);
  case FeatureChoice::Softplus:
    return model.elementwise<seq::SoftplusOp>(name, x);
  case FeatureChoice::Tanh:
    return model.elementwise<seq::TanhOp>(name, x);
  case FeatureChoice::EluPlusOne: {
    // e^x below 0, x + 1 above: e^-relu(-x) + relu(x).
    auto negated = [&](Value value) {
      return model.elementwise<seq::NegOp>(name, value);
    };
    Value below = model.elementwise<seq::ReluOp>(name, negated(x));
    return model.add(name, model.elementwise<seq::ExpOp>(name, negated(below)),
                     model.elementwise<seq::ReluOp>(name, x));
  }
  case FeatureChoice::Taylor:
    return emitTaylor(model, name, x);
  }
  llvm_unreachable("every kind is listed");
}
