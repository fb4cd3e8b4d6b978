#include "frontend/families/FlashRwkv.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/Rwkv7.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

/// What the configurations of both have in common.
struct RwkvConfig {
  FlashConfig model;
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  /// Whether the first layer normalises the embeddings.
  bool normFirst = true;
  seq::Nonlinearity activation = seq::Nonlinearity::SquaredRelu;
  seq::Nonlinearity gateFunction = seq::Nonlinearity::Silu;

  int64_t keyWidth() const { return heads * keys; }
  int64_t inner() const { return heads * values; }
};

/// A layer's mixer: of the normalised token and of the token before it less
/// that one.
using RwkvMixer = std::function<Value(ModelBuilder &, const std::string &name,
                                      const std::string &source, Value x,
                                      Value delta, int64_t layer)>;
/// What follows it, from the same two.
using RwkvMlp =
    std::function<Value(ModelBuilder &, const std::string &name,
                        const std::string &source, Value x, Value delta)>;

} // namespace

static RwkvConfig readRwkv(FamilyInput &input, llvm::StringRef family,
                           double ratio) {
  ConfigReader &reader = input.config;
  RwkvConfig config;
  config.model = readFlash(input, ratio);
  config.model.family = family;
  config.model.norm.epsilon = reader.getNumber("norm_eps", 0, 1, 1e-5);
  config.model.norm.centred = true;
  config.model.norm.bias = reader.getBoolean("norm_bias", true);
  config.normFirst = reader.getBoolean("norm_first", true);
  requireOneOf(reader, "hidden_act", {"sqrelu", "relu"});
  if (const std::string *name = reader.getString("hidden_act"))
    if (*name == "relu")
      config.activation = seq::Nonlinearity::Relu;
  // The library's rule for a missing width is another one here.
  if (!reader.isSet("intermediate_size")) {
    double wanted =
        reader.getNumberIfSet("hidden_ratio", 0, 1024).value_or(ratio);
    auto hidden = int64_t(double(config.model.width) * wanted);
    config.model.mlp.hidden = (hidden + 31) / 32 * 32;
  }
  return config;
}

/// x + delta * mu, with mu a vector.
static Value lerp(ModelBuilder &model, const std::string &name, Value x,
                  Value delta, Value mu) {
  return model.add(name, x,
                   model.mul(name, delta, model.broadcast(name, mu, x)));
}

/// Two matrices with a function between; a bias after them.
static Value emitLowRank(ModelBuilder &model, const std::string &name,
                         const std::string &source, Value x, int64_t rank,
                         int64_t rows, bool bias, bool tanh,
                         seq::Nonlinearity function) {
  Value low = model.project(MatrixRole::LowRank, name + ".low",
                            source + "lora.0", x, rank);
  low = tanh ? model.elementwise<seq::TanhOp>(name + ".low", low)
             : model.activate(name + ".low", low, function);
  return model.project(MatrixRole::LowRank, name, source + "lora.2", low, rows,
                       bias);
}

static Module build(const RwkvConfig &config, FamilyInput &input,
                    const RwkvMixer &mixer, const RwkvMlp &mlp) {
  const FlashConfig &shared = config.model;
  return buildTextModel(
      textOf(shared, input), input, [&](ModelBuilder &model, Value x) {
        for (int64_t layer = 0; layer < shared.layers; ++layer) {
          std::string name = "layers." + std::to_string(layer) + ".";
          std::string source = "model." + name;
          if (config.normFirst && layer == 0)
            x = model.norm(name + "first_norm", source + "pre_norm", x,
                           shared.norm);
          Value normed = model.norm(name + "mixer_norm", source + "attn_norm",
                                    x, shared.norm);
          Value mixed;
          if (shared.attention.count(layer))
            mixed = emitFlashAttention(model, shared, name, source + "attn.",
                                       normed, layer);
          else
            mixed = mixer(model, name, source + "attn.", normed,
                          model.shiftDifference(name + "shift", normed), layer);
          // A power of two, so that nothing is rounded.
          auto whole = [&](const char *part, Value made) {
            if (input.stored.halvedEvery == 0 ||
                layer < input.stored.halvedEvery)
              return made;
            return model.scale(name + part, made,
                               std::exp2(layer / input.stored.halvedEvery));
          };
          mixed = whole("mixer_residual", mixed);
          x = model.add(name + "mixer_residual", x, mixed);
          normed = model.norm(name + "mlp_norm", source + "ffn_norm", x,
                              shared.norm);
          Value inner = mlp(model, name + "mlp.", source + "ffn.", normed,
                            model.shiftDifference(name + "mlp.shift", normed));
          inner = whole("mlp_residual", inner);
          x = model.add(name + "mlp_residual", x, inner);
        }
        return x;
      });
}

//===----------------------------------------------------------------------===//
// RWKV6
//===----------------------------------------------------------------------===//

namespace {

/// The gates that RWKV6 makes, in the order in which their numbers are stored.
constexpr llvm::StringLiteral kGates[] = {"r", "w", "k", "v", "g"};
/// The order of the model's authors.
constexpr llvm::StringLiteral kGatesOfAuthors[] = {"w", "k", "v", "r", "g"};

} // namespace

/// How far each gate's input lies between the token and the one before: from
/// five low ranks in one tensor [D, 5 r], a row of which has the columns of
/// every gate. Where each gate has a matrix of its own, the low ranks lie in the
/// order of the model's authors.
static std::vector<Value> emitShares(ModelBuilder &model,
                                     const std::string &name,
                                     const std::string &source, Value x,
                                     Value delta, int64_t rank) {
  int64_t width = model.getWidth();
  Value mu = model.vector(name + "x_mu", source + "x_proj.0.mu", width);
  Value low = model.project(MatrixRole::LowRank, name + "x.low",
                            source + "x_proj.0.linear",
                            lerp(model, name + "x", x, delta, mu), 5 * rank);
  low = model.elementwise<seq::TanhOp>(name + "x.low", low);
  std::vector<Value> shares;
  for (int64_t i = 0; i < 5; ++i) {
    std::string here = name + kGates[i].str() + "_share";
    mlir::MLIRContext *context = model.getBuilder().getContext();
    std::string own = "." + kGates[i].str();
    bool isApart = model.hasTensor(source + "x_proj.2" + own + ".weight");
    WeightSource matrix(source + "x_proj.2" + (isApart ? own : "") + ".weight");
    WeightSource bias(source + "x_bias" + (isApart ? own : ""));
    int64_t place = i;
    if (isApart) {
      place = llvm::find(kGatesOfAuthors, kGates[i]) - kGatesOfAuthors;
    } else {
      matrix.stored = {width, 5 * rank};
      matrix.rows = seq::RowGroupsAttr::get(context, i, 1, 5, width);
      bias.stored = {5, width};
      bias.rows =
          seq::RowGroupsAttr::get(context, i * width, width, 5 * width, 1);
    }
    shares.push_back(model.linear(
        here, model.slice(here, low, place * rank, rank),
        model.matrix(MatrixRole::LowRank, here, matrix, width, rank),
        model.numbers(here + "_bias", bias, {width})));
  }
  return shares;
}

Module effc::frontend::importFlashRwkv6(FamilyInput &input) {
  ConfigReader &reader = input.config;
  RwkvConfig config = readRwkv(input, "rwkv6", 3.5);
  int64_t width = config.model.width;
  config.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  config.keys = readHeadChannels(reader, "expand_k", 0.5, width, config.heads);
  config.values = readHeadChannels(reader, "expand_v", 1, width, config.heads);
  int64_t rank = reader.getInteger("proj_low_rank_dim", 1, kMostDimension, 32);
  int64_t decayRank =
      reader.getInteger("gate_low_rank_dim", 1, kMostDimension, 64);
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  if (llvm::Error error = reader.finish())
    return error;
  NormConfig headNorm = config.model.norm;
  headNorm.bias = true;
  headNorm.epsilon = input.stored.headNormEpsilon.value_or(headNorm.epsilon);
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, Value delta, int64_t) {
    std::vector<Value> shares = emitShares(model, name, source, x, delta, rank);
    int64_t keyWidth = config.keyWidth(), inner = config.inner();
    auto between = [&](int64_t i) {
      std::string here = name + kGates[i].str();
      return model.add(here, x, model.mul(here, delta, shares[i]));
    };
    auto project = [&](int64_t i, int64_t rows) {
      return model.project(name + kGates[i],
                           source + kGates[i] + "_proj.linear", between(i),
                           rows);
    };
    auto keyed = [&](Value flat) {
      return model.reshape(name + "mixer", flat, {config.heads, config.keys});
    };
    Value read = project(0, keyWidth);
    Value decay = emitLowRank(model, name + "w", source + "w_proj.linear.",
                              between(1), decayRank, keyWidth, /*bias=*/true,
                              /*tanh=*/true, seq::Nonlinearity::Identity);
    Value key = project(2, keyWidth);
    Value value = model.reshape(name + "mixer", project(3, inner),
                                {config.heads, config.values});
    Value gate = project(4, inner);
    Value bonus = model.numbers(name + "bonus", WeightSource(source + "bonus"),
                                {config.heads, config.keys});
    Value state =
        model.state(name + "mixer", {config.heads, config.keys, config.values});
    auto op = seq::Rwkv6Op::create(model.getBuilder(), model.at(name + "mixer"),
                                   value.getType(), state.getType(),
                                   keyed(read), keyed(key), value, keyed(decay),
                                   bonus, state, /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value y = model.groupNorm(name + "norm", source + "g_norm",
                              model.reshape(name + "mixer", op.getY(), {inner}),
                              config.heads, inner, headNorm);
    y = model.mul(name + "norm", y,
                  model.activate(name + "g", gate, config.gateFunction));
    return model.project(name + "o", source + "o_proj", y, width);
  };
  auto mlp = [&](ModelBuilder &model, const std::string &name,
                 const std::string &source, Value x, Value delta) {
    auto project = [&](const char *part, int64_t rows) {
      std::string here = name + part, from = source + part;
      Value mu = model.vector(here + "_mu", from + ".mu", width);
      return model.project(here, from + ".linear",
                           lerp(model, here, x, delta, mu), rows);
    };
    Value key =
        model.activate(name + "key", project("key", config.model.mlp.hidden),
                       config.activation);
    Value value = model.project(name + "value", source + "value", key, width);
    Value gate =
        model.activate(name + "receptance", project("receptance", width),
                       seq::Nonlinearity::Sigmoid);
    return model.mul(name + "value", value, gate);
  };
  return build(config, input, mixer, mlp);
}

//===----------------------------------------------------------------------===//
// RWKV7
//===----------------------------------------------------------------------===//

namespace {

struct Rwkv7Ranks {
  int64_t decay = 1, gate = 1, rate = 1, value = 1;
};

/// Emits the mixers, which share the first layer's values.
class Rwkv7Mixer {
public:
  Rwkv7Mixer(const RwkvConfig &config, const Rwkv7Ranks &ranks, bool unitByRoot,
             double headEpsilon)
      : config(config), ranks(ranks), unitByRoot(unitByRoot),
        headEpsilon(headEpsilon) {}

  Value emit(ModelBuilder &model, const std::string &name,
             const std::string &source, Value x, Value delta, int64_t layer) {
    int64_t width = config.keyWidth(), inner = config.inner();
    auto between = [&](const char *part) {
      Value mu = model.vector(name + part, source + part, width);
      return lerp(model, name + part, x, delta, mu);
    };
    auto vectorFor = [&](const char *part) {
      return model.vector(name + part, source + part, width);
    };
    Value read =
        model.project(name + "r", source + "r_proj", between("x_r"), width);
    Value decay = emitLowRank(model, name + "w", source + "w_lora.",
                              between("x_w"), ranks.decay, width, true, true,
                              seq::Nonlinearity::Identity);
    Value key =
        model.project(name + "k", source + "k_proj", between("x_k"), width);
    Value value = emitValue(model, name, source, between("x_v"), layer);
    Value rate =
        model.activate(name + "a",
                       emitLowRank(model, name + "a", source + "a_lora.",
                                   between("x_a"), ranks.rate, width, true,
                                   false, seq::Nonlinearity::Identity),
                       seq::Nonlinearity::Sigmoid);
    Value gate = emitLowRank(model, name + "g", source + "g_lora.",
                             between("x_g"), ranks.gate, inner, false, false,
                             seq::Nonlinearity::Sigmoid);
    Rwkv7Config recurrence{config.heads, config.keys, config.values,
                           unitByRoot};
    auto [mixed, bonus] = emitRwkv7(
        model, recurrence, name,
        {read, decay, key, value, rate, vectorFor("k_k"), vectorFor("k_a")},
        source + "r_k");
    NormConfig headNorm;
    headNorm.centred = headNorm.bias = true;
    headNorm.epsilon = headEpsilon;
    Value y = model.groupNorm(name + "norm", source + "g_norm", mixed,
                              config.heads, inner, headNorm);
    y = model.mul(name + "g", model.add(name + "bonus", y, bonus), gate);
    return model.project(name + "o", source + "o_proj", y, model.getWidth());
  }

private:
  /// The values of a layer move towards those of the first.
  Value emitValue(ModelBuilder &model, const std::string &name,
                  const std::string &source, Value x, int64_t layer) {
    Value value =
        model.project(name + "v", source + "v_proj", x, config.inner());
    if (!first) {
      first = value;
      return value;
    }
    Value share = model.activate(
        name + "v_share",
        emitLowRank(model, name + "v_share", source + "v_lora.", x, ranks.value,
                    config.inner(), true, false, seq::Nonlinearity::Identity),
        seq::Nonlinearity::Sigmoid);
    return model.add(
        name + "v", value,
        model.mul(name + "v", share, model.sub(name + "v", first, value)));
  }

  const RwkvConfig &config;
  const Rwkv7Ranks &ranks;
  bool unitByRoot;
  double headEpsilon;
  Value first;
};

} // namespace

/// The heads: by their number or by their size, which the library both writes.
static void readHeads(ConfigReader &reader, RwkvConfig &config) {
  int64_t width = config.model.width;
  std::optional<int64_t> keys =
      reader.get("head_dim")
          ? reader.getIntegerIfSet("head_dim", 1, kMostDimension)
          : 64;
  std::optional<int64_t> heads =
      reader.getIntegerIfSet("num_heads", 1, kMostDimension);
  if (!keys && !heads)
    reader.report("lacks 'head_dim' and 'num_heads'");
  config.keys = keys ? *keys : width / heads.value_or(1);
  config.heads = std::max<int64_t>(width / config.keys, 1);
  if (!reader.hasProblem() && (config.heads * config.keys != width ||
                               (heads && *heads != config.heads)))
    reader.report("expects 'num_heads' times 'head_dim' to be 'hidden_size' " +
                  Twine(width) + ", but got " +
                  Twine(heads.value_or(config.heads)) + " times " +
                  Twine(config.keys));
  config.values = config.keys;
  const JsonValue *sizes = reader.get("value_dim");
  if (!sizes || sizes->isNull())
    return;
  llvm::SmallVector<const JsonValue *> each = {sizes};
  if (const JsonArray *list = sizes->getArray()) {
    each.clear();
    for (const JsonValue &size : *list)
      each.push_back(&size);
    if (int64_t(each.size()) != config.model.layers)
      return reader.report("expects 'value_dim' to have a number for each of " +
                           Twine(config.model.layers) + " layers, but got " +
                           Twine(each.size()));
  }
  for (const JsonValue *size : each) {
    std::optional<int64_t> channels = size->getInteger();
    if (!channels || channels != each.front()->getInteger() || *channels < 1 ||
        *channels > kMostDimension || *channels % config.heads != 0)
      return reader.reportMismatch("value_dim",
                                   "the same multiple of 'num_heads' " +
                                       Twine(config.heads) + " in all layers",
                                   *size);
    config.values = *channels / config.heads;
  }
}

Module effc::frontend::importFlashRwkv7(FamilyInput &input) {
  ConfigReader &reader = input.config;
  RwkvConfig config = readRwkv(input, "rwkv7", 4);
  readHeads(reader, config);
  auto readRank = [&](llvm::StringRef key, int64_t otherwise) {
    return reader.getInteger(key, 1, kMostDimension, otherwise);
  };
  Rwkv7Ranks ranks;
  ranks.decay = readRank("decay_low_rank_dim", 64);
  ranks.gate = readRank("gate_low_rank_dim", 128);
  ranks.rate = readRank("a_low_rank_dim", 64);
  ranks.value = readRank("v_low_rank_dim", 16);
  // It also says how keys get the length 1.
  bool unitByRoot = reader.getBoolean("fuse_norm", true);
  if (llvm::Error error = reader.finish())
    return error;
  int64_t width = config.model.width;
  Rwkv7Mixer layers(config, ranks, unitByRoot,
                    input.stored.headNormEpsilon.value_or(
                        double(config.keys) * config.model.norm.epsilon));
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, Value delta,
                   int64_t layer) {
    return layers.emit(model, name, source, x, delta, layer);
  };
  auto mlp = [&](ModelBuilder &model, const std::string &name,
                 const std::string &source, Value x, Value delta) {
    Value mu = model.vector(name + "x_k", source + "x_k", width);
    Value key = model.project(name + "key", source + "key",
                              lerp(model, name + "key", x, delta, mu),
                              config.model.mlp.hidden);
    key = model.activate(name + "key", key, config.activation);
    return model.project(name + "value", source + "value", key, width);
  };
  return build(config, input, mixer, mlp);
}
