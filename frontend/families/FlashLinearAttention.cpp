#include "frontend/families/FlashLinearAttention.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

enum class FeatureMap { Product, Elu, Relu, Identity, T2r, Hedgehog, Dpfp };

struct LinearAttentionConfig {
  FlashConfig model;
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  /// Heads of keys and values, shared by groups of queries.
  int64_t keyHeads = 1;
  FeatureMap feature = FeatureMap::Product;
  /// Whether keys have the queries' features.
  bool shared = false;
  /// Whether the reading is divided by the sum of the keys.
  bool normalised = false;
  /// Whether features of queries and of keys are divided by their sum.
  bool sumOfQueries = false, sumOfKeys = false;
  bool affine = true;
};

} // namespace

static LinearAttentionConfig readLinearAttention(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LinearAttentionConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "linear_attn";
  config.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  config.keys =
      readHeadChannels(reader, "expand_k", 1, config.model.width, config.heads);
  config.values =
      readHeadChannels(reader, "expand_v", 1, config.model.width, config.heads);
  config.keyHeads = readKeyHeads(reader, config.heads);
  constexpr std::pair<llvm::StringLiteral, FeatureMap> kMaps[] = {
      {"elementwise_product", FeatureMap::Product},
      {"elu", FeatureMap::Elu},
      {"relu", FeatureMap::Relu},
      {"identity", FeatureMap::Identity},
      {"t2r", FeatureMap::T2r},
      {"hedgehog", FeatureMap::Hedgehog},
      {"dpfp", FeatureMap::Dpfp}};
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &[spelling, map] : kMaps)
    names.push_back(spelling);
  requireOneOf(reader, "feature_map", names);
  if (const std::string *name = reader.getString("feature_map"))
    for (const auto &[spelling, map] : kMaps)
      if (*name == spelling)
        config.feature = map;
  config.shared = reader.getBoolean("tie_feature_map_qk", false);
  config.normalised = reader.getBoolean("norm_feature_map", false);
  config.affine = readAffine(reader);
  config.sumOfQueries = reader.getBoolean("norm_q", false);
  config.sumOfKeys = reader.getBoolean("norm_k", false);
  requireOneOf(reader, "hidden_act", {"swish"});
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  return config;
}

/// DPFP: each of [positive; negative], [T, H, 2 K], times the one that lies 1
/// to 4 places before it, in a circle.
static Value emitNeighbourProducts(ModelBuilder &model, const std::string &name,
                                   Value positive, Value negative) {
  constexpr int64_t kPlaces = 4;
  mlir::OpBuilder &builder = model.getBuilder();
  auto concat = [&](llvm::ArrayRef<Value> parts) -> Value {
    return seq::ConcatOp::create(builder, model.at(name), parts, /*axis=*/2);
  };
  Value x = concat({positive, negative});
  auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
  int64_t heads = type.getDimSize(1), size = type.getDimSize(2);
  llvm::SmallVector<Value> moved;
  for (int64_t places = 1; places <= kPlaces; ++places) {
    int64_t last = places % size;
    if (last > 0)
      moved.push_back(model.slice(name, x, size - last, last));
    moved.push_back(model.slice(name, x, 0, size - last));
  }
  auto flat = [&](Value y) {
    return model.reshape(name, y, {heads * size * kPlaces});
  };
  llvm::SmallVector<Value> same(kPlaces, x);
  return model.reshape(name,
                       model.mul(name, flat(concat(same)), flat(concat(moved))),
                       {heads, size * kPlaces});
}

/// Features [T, H, F] divided by the sums of their heads.
static Value divideBySums(ModelBuilder &model, const std::string &name,
                          Value x) {
  auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
  int64_t heads = type.getDimSize(1), size = type.getDimSize(2);
  Value divided = divideHeads(
      model, name, model.reshape(name, x, {heads * size}), heads,
      [](Value head) { return head; },
      [&](Value sum) {
        return model.add(name, sum, repeatNumber(model, name, 1e-4, sum));
      });
  return model.reshape(name, divided, {heads, size});
}

/// The features of x [T, H K], in heads: [T, H, features].
static Value emitFeatures(ModelBuilder &model,
                          const LinearAttentionConfig &config, int64_t heads,
                          const std::string &name, const std::string &source,
                          Value x) {
  int64_t keys = config.keys;
  auto inHeads = [&](Value flat) {
    int64_t all =
        llvm::cast<mlir::RankedTensorType>(flat.getType()).getDimSize(1);
    return model.reshape(name, flat, {heads, all / heads});
  };
  auto relu = [&](Value flat) {
    return model.activate(name, flat, seq::Nonlinearity::Relu);
  };
  auto negated = [&](Value flat) {
    return model.elementwise<seq::NegOp>(name, flat);
  };
  // All heads have the same matrix, and perhaps the same bias.
  auto layer = [&](const char *part, bool hasBias) {
    std::string weight = name + "." + part;
    std::vector<std::string> matrices(size_t(heads), source + part + ".weight"),
        biases(size_t(heads), source + part + ".bias");
    if (!model.isDeclared(weight))
      (void)model.blocks(weight, WeightSource(matrices), heads, keys, keys);
    Value bias;
    if (hasBias)
      bias = model.isDeclared(weight + "_bias")
                 ? model.parameter(weight + "_bias")
                 : model.numbers(weight + "_bias", WeightSource(biases),
                                 {heads, keys});
    Value y = model.linear(weight, inHeads(x), model.parameter(weight), bias);
    return model.reshape(name, y, {heads * keys});
  };
  switch (config.feature) {
  case FeatureMap::Identity:
    return inHeads(x);
  case FeatureMap::Relu:
    return inHeads(relu(x));
  case FeatureMap::Elu:
    return inHeads(eluPlusOne(model, name, x));
  case FeatureMap::Product:
    return inHeads(model.mul(name, layer("layer1", /*hasBias=*/true),
                             layer("layer2", /*hasBias=*/true)));
  case FeatureMap::T2r:
    return inHeads(relu(layer("layer", /*hasBias=*/false)));
  case FeatureMap::Hedgehog: {
    Value y = model.scale(name, layer("layer", /*hasBias=*/true), 2);
    return seq::SoftmaxOp::create(
        model.getBuilder(), model.at(name),
        seq::ConcatOp::create(model.getBuilder(), model.at(name),
                              mlir::ValueRange{inHeads(y), inHeads(negated(y))},
                              /*axis=*/2));
  }
  case FeatureMap::Dpfp:
    return emitNeighbourProducts(model, name, inHeads(relu(x)),
                                 inHeads(relu(negated(x))));
  }
  llvm_unreachable("every map is listed");
}

Module effc::frontend::importFlashLinearAttention(FamilyInput &input) {
  LinearAttentionConfig config = readLinearAttention(input);
  if (llvm::Error error = input.config.finish())
    return error;
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t) {
    int64_t heads = config.heads, inner = heads * config.values;
    auto each = [&](llvm::StringRef part, int64_t rows) {
      return model.project(name + part, source + part + "_proj", x, rows);
    };
    Value query =
        emitFeatures(model, config, heads, name + "feature_map_q",
                     source + "feature_map_q.", each("q", heads * config.keys));
    // Shared features are stored under both names.
    Value key = emitFeatures(model, config, config.keyHeads,
                             name + "feature_map_k", source + "feature_map_k.",
                             each("k", config.keyHeads * config.keys));
    if (config.sumOfQueries)
      query = divideBySums(model, name + "norm_q", query);
    if (config.sumOfKeys)
      key = divideBySums(model, name + "norm_k", key);
    int64_t features =
        llvm::cast<mlir::RankedTensorType>(key.getType()).getDimSize(2);
    auto shared = [&](Value flat, int64_t channels) {
      return model.reshape(name + "mixer",
                           repeatHeads(model, name + "mixer", flat,
                                       config.keyHeads,
                                       heads / config.keyHeads),
                           {heads, channels});
    };
    if (config.keyHeads != heads)
      key = shared(
          model.reshape(name + "mixer", key, {config.keyHeads * features}),
          features);
    Value value =
        shared(each("v", config.keyHeads * config.values), config.values);
    llvm::APFloat scale(1 / std::sqrt(double(features)));
    Value state = model.state(name + "mixer", {heads, features, config.values});
    mlir::OpBuilder &builder = model.getBuilder();
    mlir::Location loc = model.at(name + "mixer");
    Value mixed;
    if (config.normalised) {
      Value sum = model.state(name + "mixer.sum", {heads, features});
      auto op = seq::NormalisedAttentionOp::create(
          builder, loc, value.getType(), state.getType(), sum.getType(), query,
          key, value, state, sum, scale, llvm::APFloat(1e-10),
          /*form=*/nullptr);
      model.setNextState(op.getNextState());
      model.setNextState(op.getNextSum());
      mixed = op.getY();
    } else {
      auto op = seq::LinearAttentionOp::create(builder, loc, value.getType(),
                                               state.getType(), query, key,
                                               value, state, scale,
                                               /*form=*/nullptr);
      model.setNextState(op.getNextState());
      mixed = op.getY();
    }
    NormConfig norm;
    norm.epsilon = config.model.norm.epsilon;
    Value y = model.groupNorm(name + "norm", source + "norm",
                              model.reshape(name + "mixer", mixed, {inner}),
                              heads, config.affine ? config.values : 0, norm);
    return model.project(name + "o", source + "o_proj", y, model.getWidth());
  };
  return buildFlash(config.model, input, mixer);
}
