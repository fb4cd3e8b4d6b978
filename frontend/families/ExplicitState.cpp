// The state transformations of the explicit layout: what acts on each token by
// itself.
#include "frontend/families/ExplicitParts.h"

#include "frontend/model/Experts.h"
#include "frontend/model/Mlp.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

//===----------------------------------------------------------------------===//
// Dense layers
//===----------------------------------------------------------------------===//

static MlpConfig readDense(PartInput &in) {
  MlpConfig config;
  config.hidden = in.reader.requireInteger("hidden", 1, kMostDimension);
  config.activation =
      readActivation(in.reader, "activation", seq::Nonlinearity::Silu);
  config.bias = in.reader.getBoolean("bias", false);
  return config;
}

static EmitPart readDensePart(PartInput &in, bool gated) {
  MlpConfig config = readDense(in);
  return [config, gated](ModelBuilder &model, const std::string &at, Value x) {
    MlpNames names{at + "mlp", at};
    names.gate = gated ? "gate" : "";
    names.up = "up";
    names.down = "down";
    return emitMlp(model, config, names, x);
  };
}

EmitPart effc::frontend::readMlpPart(PartInput &in) {
  return readDensePart(in, /*gated=*/false);
}

EmitPart effc::frontend::readGluPart(PartInput &in) {
  return readDensePart(in, /*gated=*/true);
}

//===----------------------------------------------------------------------===//
// Experts by a router
//===----------------------------------------------------------------------===//

EmitPart effc::frontend::readExpertsPart(PartInput &in) {
  ConfigReader &reader = in.reader;
  ExpertsConfig config;
  config.experts = reader.requireInteger("experts", 1, kMostDimension);
  config.taken = reader.requireInteger("taken", 1, kMostDimension);
  config.hidden = reader.requireInteger("hidden", 1, kMostDimension);
  config.activation =
      readActivation(reader, "activation", seq::Nonlinearity::Silu);
  config.normalised = reader.getBoolean("normalised", true);
  if (!reader.hasProblem() && config.taken > config.experts)
    reader.report("expects 'taken' of at most the " + Twine(config.experts) +
                  " experts, but got " + Twine(config.taken));
  // Those that every token takes are one gated layer.
  std::optional<MlpConfig> shared;
  readInner(in, "shared", [&](PartInput &inner) { shared = readDense(inner); });
  return [config, shared](ModelBuilder &model, const std::string &at, Value x) {
    ExpertsNames names{at + "experts", at};
    names.router = "router";
    names.gate = "gate";
    names.up = "up";
    names.down = "down";
    Value y = emitExperts(model, config, names, x);
    if (!shared)
      return y;
    MlpNames dense{at + "shared", at + "shared."};
    dense.gate = "gate";
    dense.up = "up";
    dense.down = "down";
    dense.role = MatrixRole::Other; // files made by mixes have it so
    return model.add(at + "experts", emitMlp(model, *shared, dense, x), y);
  };
}

//===----------------------------------------------------------------------===//
// Product keys
//===----------------------------------------------------------------------===//

namespace {

struct ProductKeys {
  /// H, S, K: heads, keys of each half, channels of half a query.
  int64_t heads = 1, keysPerHalf = 1, channels = 1;
  int64_t rows = 1, taken = 1;
  bool queryBias = false;
  seq::KeyLayout layout = seq::KeyLayout::HalfHead;
  seq::RetrievalWeighting weighting = seq::RetrievalWeighting::Softmax;
};

} // namespace

static ProductKeys readProductKeys(PartInput &in, seq::KeyLayout layout) {
  ConfigReader &reader = in.reader;
  ProductKeys keys;
  keys.layout = layout;
  keys.heads = reader.requireInteger("heads", 1, kMostDimension);
  keys.rows = reader.requireInteger("experts", 1, int64_t(1) << 30);
  keys.taken = reader.requireInteger("taken", 1, kMostDimension);
  keys.channels = reader.requireInteger("keys", 1, kMostDimension);
  keys.queryBias = reader.getBoolean("query_bias", false);
  // In the order of the enumeration.
  keys.weighting = seq::RetrievalWeighting(
      readName(reader, "weighting",
               {"softmax", "softmax_all", "sigmoid", "relu", "score"}, 0));
  keys.keysPerHalf = int64_t(std::sqrt(double(keys.rows)));
  if (!reader.hasProblem() && keys.taken > keys.keysPerHalf * keys.keysPerHalf)
    reader.report("expects 'taken' of at most the " +
                  Twine(keys.keysPerHalf * keys.keysPerHalf) +
                  " experts that product keys reach, but got " +
                  Twine(keys.taken));
  return keys;
}

/// The scores [T, 2, H, S] of all keys.
static Value emitScores(ModelBuilder &model, const ProductKeys &keys,
                        const std::string &at, Value x) {
  int64_t channels = keys.channels, heads = keys.heads, half = keys.keysPerHalf;
  Value query = model.project(at + "q", at + "q", x, 2 * heads * channels,
                              keys.queryBias);
  bool rowPerHalf = keys.layout == seq::KeyLayout::HeadHalf;
  int64_t rows = rowPerHalf ? 2 * heads * half : heads * half;
  int64_t columns = rowPerHalf ? channels : 2 * channels;
  Value weight = model.matrix(at + "k", at + "k", rows, columns);
  mlir::OpBuilder &builder = model.getBuilder();
  auto type = mlir::RankedTensorType::get(
      {mlir::ShapedType::kDynamic, 2, heads, half}, builder.getF32Type());
  return seq::KeyScoresOp::create(builder, model.at(at + "scores"), type, query,
                                  weight, keys.layout);
}

EmitPart effc::frontend::readMemoryPart(PartInput &in) {
  ProductKeys keys = readProductKeys(in, seq::KeyLayout::HeadHalf);
  return [keys](ModelBuilder &model, const std::string &at, Value x) -> Value {
    Value scores = emitScores(model, keys, at, x);
    Value table = model.matrix(at + "v", at + "v", keys.rows, model.getWidth());
    return seq::ProductKeyMemoryOp::create(
        model.getBuilder(), model.at(at + "memory"), x.getType(), scores, table,
        keys.taken, keys.weighting, /*form=*/nullptr);
  };
}

EmitPart effc::frontend::readNeuronPart(PartInput &in) {
  ConfigReader &reader = in.reader;
  ProductKeys keys = readProductKeys(in, seq::KeyLayout::HalfHead);
  seq::Nonlinearity activation =
      readActivation(reader, "activation", seq::Nonlinearity::Gelu);
  bool inside = reader.getBoolean("weight_inside", false);
  // The layer beside the experts, with a gate or without.
  std::optional<MlpConfig> shared;
  bool gated = false;
  readInner(in, "shared", [&](PartInput &inner) {
    gated = inner.reader.getBoolean("gated", true);
    shared = readDense(inner);
  });
  return [=](ModelBuilder &model, const std::string &at, Value x) -> Value {
    Value scores = emitScores(model, keys, at, x);
    int64_t width = model.getWidth();
    Value down = model.matrix(MatrixRole::Down, at + "experts.down",
                              at + "experts.down", keys.rows, width);
    Value up =
        model.matrix(at + "experts.up", at + "experts.up", keys.rows, width);
    Value y = seq::ProductKeyExpertsOp::create(
        model.getBuilder(), model.at(at + "experts"), x.getType(), x, scores,
        down, up, keys.taken, activation, keys.weighting, inside,
        /*form=*/nullptr);
    if (!shared)
      return y;
    MlpNames dense{at + "shared", at + "shared."};
    dense.gate = gated ? "gate" : "";
    dense.up = "up";
    dense.down = "down";
    dense.role = MatrixRole::Other; // files made by mixes have it so
    return model.add(at + "experts", emitMlp(model, *shared, dense, x), y);
  };
}
