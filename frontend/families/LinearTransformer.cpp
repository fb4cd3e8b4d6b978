#include "frontend/families/LinearTransformer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/Attention.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// What a gate before its sigmoid is of u, the product of a matrix.
enum class GateRule {
  Bounded,  // u; of decays above a bound of the layer, what gives them
  Divided,  // u / denominator
  Softplus, // -u: decays are exp(-softplus(u))
  Shifted   // u + delta
};

/// How a state decays by the token.
struct GatedDecay {
  GateRule rule = GateRule::Bounded;
  /// Whether gates are the keys' product too, and keys what the state forgets.
  bool shared = false;
  /// Whether a head has one gate, not one for each key channel.
  bool scalar = false;
  /// Whether layers have bounds (Bounded).
  bool bounded = false;
  double denominator = 16; // (Divided)
  /// The vector that is added to u; empty: none.
  llvm::StringRef bias = "";
};

/// How queries and keys learn of positions: pairs of channels that turn, or each
/// channel times cosine and sine of its angle, which doubles them.
struct PositionRule {
  bool doubles = false;
  /// Whether half of the channels have angles, and whether these are the slower
  /// ones, which are the last then.
  bool half = false, slow = false;
};

struct LinearTransformerConfig {
  llvm::StringRef family;
  int64_t width = 1, layers = 1, heads = 1;
  MlpConfig mlp;
  std::optional<PositionRule> positions;
  double theta = 1e4;
  /// Whether a decaying sum of embeddings stands before the layers.
  bool sums = true;
  /// Of results: whether they have a gate, and whether it comes before the norm.
  bool gated = true, gateFirst = true;
  seq::Nonlinearity gate = seq::Nonlinearity::Sigmoid;
  /// Whether that norm is one of each head.
  bool normsHeads = false;
  seq::Nonlinearity query = seq::Nonlinearity::Silu,
                    key = seq::Nonlinearity::Silu;
  /// Without it the state only grows.
  std::optional<GatedDecay> decay;
  double embeddingScale = 1;
  bool tied = false;

  int64_t keys() const { return width / heads; }
};

} // namespace

/// Of all norms. The package's kernels add it to the mean of squares.
static constexpr NormConfig kNorm{/*epsilon=*/1e-5};

static seq::Nonlinearity readXmixersFunction(ConfigReader &reader,
                                             llvm::StringRef key,
                                             seq::Nonlinearity otherwise) {
  constexpr std::pair<llvm::StringLiteral, seq::Nonlinearity> kFunctions[] = {
      {"silu", seq::Nonlinearity::Silu},
      {"swish", seq::Nonlinearity::Silu},
      {"sigmoid", seq::Nonlinearity::Sigmoid},
      {"relu", seq::Nonlinearity::Relu},
      {"relu2", seq::Nonlinearity::SquaredRelu},
      {"gelu", seq::Nonlinearity::Gelu},
      {"none", seq::Nonlinearity::Identity}};
  if (!reader.isSet(key))
    return otherwise;
  const std::string *name = reader.getString(key);
  for (const auto &[spelling, function] : kFunctions)
    if (name && *name == spelling)
      return function;
  if (name)
    reader.report(key + " " + quote(*name) +
                  " is not supported; supported: silu, swish, sigmoid, relu, "
                  "relu2, gelu, none");
  return otherwise;
}

/// `lrpe_type`, of which there are six. Problems are left in the reader.
static void readLrpe(ConfigReader &reader, int64_t kind,
                     LinearTransformerConfig &config) {
  config.theta = reader.getNumber("base", 1, 1e12, 1e4);
  if (!reader.getBoolean("use_lrpe", kind != 6))
    return;
  config.positions = PositionRule{kind > 3, kind % 3 != 1, kind % 3 == 2};
  int64_t divisor = kind == 4 ? 1 : kind == 2 || kind == 3 ? 4 : 2;
  if (!reader.hasProblem() && config.keys() % divisor != 0)
    reader.report("expects heads of a multiple of " + Twine(divisor) +
                  " channels for their positions, but got " +
                  Twine(config.keys()));
}

/// Keys that both have. Problems are left in the reader.
static LinearTransformerConfig readBoth(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LinearTransformerConfig config;
  config.width = reader.requireInteger("embed_dim", 1, kMostDimension);
  config.layers = reader.requireInteger("num_layers", 1, kMostLayers);
  config.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  if (!reader.hasProblem() && config.width % config.heads != 0)
    reader.report("expects 'embed_dim' to be a multiple of 'num_heads' " +
                  Twine(config.heads) + ", but got " + Twine(config.width));
  config.mlp.hidden = reader.requireInteger("mid_dim", 1, kMostDimension);
  config.mlp.activation = readXmixersFunction(
      reader, "channel_mixer_activation", seq::Nonlinearity::Silu);
  config.sums = reader.getBoolean("use_tpe", true);
  config.gated = reader.getBoolean("use_output_gate", true);
  config.gate =
      readXmixersFunction(reader, "gate_act", seq::Nonlinearity::Sigmoid);
  requireOneOf(reader, "gate_pos", {"pre", "post"});
  const std::string *place = reader.getString("gate_pos");
  config.gateFirst = !place || *place == "pre";
  constexpr llvm::StringLiteral kNormKey = "token_mixer_norm_type";
  requireOneOf(reader, kNormKey, {"rmsnorm", "grouprmsnorm"});
  const std::string *norm = reader.getString(kNormKey);
  config.normsHeads = norm && *norm == "grouprmsnorm";
  if (reader.getBoolean("use_embed_scale", false))
    config.embeddingScale = std::sqrt(double(config.width));
  config.tied = reader.getBoolean("tie_word_embeddings", false);
  reader.expectString("channel_mixer_type", "glu");
  reader.expectString("norm_type", "rmsnorm");
  reader.expectAlways({"bias"}, false);
  reader.expectAlways({"causal"}, true);
  ignoreHarmless(reader, input.remarks,
                 {"ce_type", "channel_mixer_init_type", "gain", "init_std",
                  "init_type", "max_position_embeddings", "pad_embed_dim",
                  "rescale_type", "token_mixer_init_type", "use_gate_linear"});
  return config;
}

/// `decay_type` and what belongs to it. Problems are left in the reader.
static GatedDecay readGatedDecay(ConfigReader &reader) {
  GatedDecay decay;
  constexpr llvm::StringLiteral kKind = "decay_type";
  constexpr std::tuple<llvm::StringLiteral, GateRule, llvm::StringLiteral>
      kKinds[] = {{"hgrn2", GateRule::Bounded, ""},
                  {"gla", GateRule::Divided, ""},
                  {"mamba_no_a", GateRule::Softplus, "dt_bias"},
                  {"mamba_no_a_no_t", GateRule::Softplus, ""},
                  {"hgrn3", GateRule::Shifted, "delta"}};
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &[spelling, rule, bias] : kKinds)
    names.push_back(spelling);
  requireOneOf(reader, kKind, names);
  const std::string *name = reader.getString(kKind);
  for (const auto &[spelling, rule, bias] : kKinds)
    if (name && *name == spelling) {
      decay.rule = rule;
      decay.bias = bias;
    }
  decay.denominator = reader.getNumber("gate_denom", 1e-6, 1e9, 16);
  decay.scalar = reader.getBoolean("scalar_decay", false);
  // The package's class drops it beside a gate for each head.
  decay.shared = reader.getBoolean("share_decay", false) && !decay.scalar;
  decay.bounded = reader.getBoolean("use_lower_bound", false);
  if (decay.bounded && decay.rule != GateRule::Bounded)
    reader.report("expects 'use_lower_bound' to be false where 'decay_type' is "
                  "not hgrn2, but got true");
  // The package's code has no keys, or no gates, then.
  if (decay.shared && decay.rule == GateRule::Bounded && !decay.bounded)
    reader.report("expects 'use_lower_bound' to be true beside 'share_decay', "
                  "but got false");
  if (decay.shared && decay.rule == GateRule::Softplus)
    reader.report("expects 'share_decay' to be false where 'decay_type' is " +
                  Twine(*name) + ", but got true");
  return decay;
}

namespace {

class LinearTransformerEmitter {
public:
  LinearTransformerEmitter(ModelBuilder &model,
                           const LinearTransformerConfig &config)
      : model(model), config(config), builder(model.getBuilder()) {}

  /// y[t,h,:] = (q[h,:] . k[h,:]) sum_{s <= t} sigmoid(gate[h])^(t-s) x[s,h,:]
  Value emitSums(Value x) {
    std::string name = "sums.", source = "model.tpe.";
    auto forTokens = [&](const char *part) {
      return model.broadcast(
          name + part, model.vector(name + part, source + part, config.width),
          x);
    };
    Value product = model.reshape(
        name + "qk", model.mul(name + "qk", forTokens("q"), forTokens("k")),
        {config.heads, config.keys()});
    Value ones = model.constant("ones", 1, {config.heads, 1, config.keys()});
    Value query = model.reshape(
        name + "qk", model.linear(name + "qk", product, ones), {config.heads});
    Value gate = model.broadcast(
        name + "gate",
        model.vector(name + "gate", source + "log_decay", config.heads), query);
    Value key = repeatNumber(model, name + "one", 1, query);
    auto single = [&](Value y) {
      return model.reshape(name + "mixer", y, {config.heads, 1});
    };
    Value y = retain(name + "mixer", single(query), single(key),
                     inHeads(name + "mixer", x), gate);
    y = norm(name + "norm", source + "norm", y);
    return model.project(name + "out", source + "o_proj", y, config.width);
  }

  Value emitLayer(Value x, int64_t layer) {
    std::string name = "layers." + std::to_string(layer) + ".";
    std::string source = "model." + name;
    Value y = model.norm(name + "mixer_norm", source + "token_norm", x, kNorm);
    x = model.add(name + "mixer_residual", x,
                  emitMixer(name, source + "token_mixer.", y, layer));
    y = model.norm(name + "mlp_norm", source + "channel_norm", x, kNorm);
    MlpNames mlp{name + "mlp", source + "channel_mixer.", "w1", "w2", "w3"};
    return model.add(name + "mlp_residual", x,
                     emitMlp(model, config.mlp, mlp, y));
  }

private:
  Value inHeads(const std::string &name, Value flat) {
    return model.reshape(name, flat, {config.heads, config.keys()});
  }

  Value norm(const std::string &name, const std::string &source, Value y) {
    y = model.reshape(name, y, {config.width});
    return config.normsHeads ? model.groupNorm(name, source, y, config.heads,
                                               config.width, kNorm)
                             : model.norm(name, source, y, kNorm);
  }

  Value emitMixer(const std::string &name, const std::string &source, Value x,
                  int64_t layer) {
    auto project = [&](const char *part) {
      return model.project(name + part, source + part + "_proj", x,
                           config.width);
    };
    Value query = model.activate(name + "q", project("q"), config.query);
    Value value = inHeads(name + "v", project("v"));
    Value key, gate;
    if (config.decay && config.decay->shared) {
      gate = emitGate(name, source, project("k"), layer);
      key = model.activate(name + "k",
                           model.elementwise<seq::NegOp>(name + "k", gate),
                           seq::Nonlinearity::Sigmoid);
    } else {
      key = model.activate(name + "k", project("k"), config.key);
      if (config.decay)
        gate = emitGate(name, source, projectGate(name, source, x), layer);
    }
    query = withPosition(name + "q", inHeads(name + "q", query));
    key = withPosition(name + "k", inHeads(name + "k", key));
    Value y;
    if (!gate)
      y = grow(name + "mixer", query, key, value);
    else if (config.decay->scalar)
      y = retain(name + "mixer", query, key, value, gate);
    else
      y = decayChannels(name + "mixer", query, key, value,
                        besidePositions(name + "f", inHeads(name + "f", gate)));
    return emitOutput(name, source, x, y);
  }

  Value projectGate(const std::string &name, const std::string &source,
                    Value x) {
    if (config.decay->scalar)
      return model.project(name + "f", source + "f_proj", x, config.heads);
    Value low =
        model.project(name + "f.low", source + "f_proj.0", x, config.keys());
    return model.project(name + "f", source + "f_proj.1", low, config.width);
  }

  /// What the decay is the sigmoid of: [T, H] or [T, D], as u.
  Value emitGate(const std::string &name, const std::string &source, Value u,
                 int64_t layer) {
    const GatedDecay &decay = *config.decay;
    std::string here = name + "f";
    int64_t gates = decay.scalar ? config.heads : config.width;
    if (!decay.bias.empty()) {
      Value bias = model.vector(here + "_bias", source + decay.bias, gates);
      u = model.add(here, u, model.broadcast(here, bias, u));
    }
    switch (decay.rule) {
    case GateRule::Bounded:
      return decay.bounded && layer > 0 ? emitBoundedGate(here, u, layer) : u;
    case GateRule::Divided:
      return model.scale(here, u, 1 / decay.denominator);
    case GateRule::Softplus:
      return model.elementwise<seq::NegOp>(here, u);
    case GateRule::Shifted:
      return u;
    }
    llvm_unreachable("all rules are there");
  }

  /// The gate of f = b + (1 - b) sigmoid(u): log f less the log of 1 - f, which
  /// is (1 - b) sigmoid(-u) and does not cancel.
  Value emitBoundedGate(const std::string &here, Value u, int64_t layer) {
    int64_t gates = seq::typeOf(u).getDimSize(1);
    WeightSource stored("model.log_lower_bounds");
    stored.stored = {config.layers, gates};
    stored.derived = seq::DerivationAttr::get(
        builder.getContext(), seq::DerivationRule::LowerBound, layer);
    Value bound = model.broadcast(
        here, model.numbers(here + "_bound", stored, {gates}), u);
    Value above = model.sub(here, repeatNumber(model, here, 1, u), bound);
    Value kept = model.add(
        here, bound,
        model.mul(here, above,
                  model.activate(here, u, seq::Nonlinearity::Sigmoid)));
    Value forgotten =
        model.add(here, model.elementwise<seq::LogOp>(here, above),
                  model.elementwise<seq::LogSigmoidOp>(
                      here, model.elementwise<seq::NegOp>(here, u)));
    return model.sub(here, model.elementwise<seq::LogOp>(here, kept),
                     forgotten);
  }

  /// Frequencies of the channels that have angles: `pairs` of them.
  LayerAttention angles(int64_t pairs) {
    const PositionRule &rule = *config.positions;
    auto number = [&](double value) { return builder.getF64FloatAttr(value); };
    auto make = [&](double theta, seq::RotaryScaling kind,
                    mlir::FloatAttr factor, mlir::DenseF64ArrayAttr divisors) {
      return seq::RotaryFrequenciesAttr::get(
          builder.getContext(), kind, number(theta), factor, /*original=*/0,
          /*planned_context=*/0, mlir::FloatAttr(), mlir::FloatAttr(),
          divisors);
    };
    LayerAttention layer;
    layer.rotary.pairs = pairs;
    using Kind = seq::RotaryScaling;
    if (rule.doubles) {
      // theta^(-2 i / K): of all K channels, or of K / 2 of them.
      double theta = rule.half ? config.theta : config.theta * config.theta;
      layer.rotary.frequencies =
          rule.slow ? make(theta, Kind::Linear, number(config.theta), {})
                    : make(theta, Kind::Default, {}, {});
    } else if (rule.half) {
      // No position turns by what f32 could tell from 0.
      constexpr double kStill = 1e30;
      llvm::SmallVector<double> divisors(size_t(pairs), 1);
      auto still = rule.slow ? divisors.begin() : divisors.begin() + pairs / 2;
      std::fill_n(still, pairs / 2, kStill);
      layer.rotary.frequencies = make(config.theta, Kind::Longrope, {},
                                      builder.getDenseF64ArrayAttr(divisors));
    } else {
      layer.rotary.frequencies = make(config.theta, Kind::Default, {}, {});
    }
    return layer;
  }

  /// x [T, H, K] cut into the channels that have angles and the others, of which
  /// there may be none.
  std::pair<Value, Value> cut(const std::string &name, Value x) {
    int64_t keys = config.keys(), half = keys / 2;
    if (!config.positions->half)
      return {x, Value()};
    Value first = model.slice(name, x, 0, half),
          second = model.slice(name, x, half, keys - half);
    return config.positions->slow ? std::pair(second, first)
                                  : std::pair(first, second);
  }

  Value concat(const std::string &name, llvm::ArrayRef<Value> parts) {
    llvm::SmallVector<Value> present;
    for (Value part : parts)
      if (part)
        present.push_back(part);
    if (present.size() == 1)
      return present.front();
    return seq::ConcatOp::create(builder, model.at(name), present, /*axis=*/2);
  }

  /// Channels without an angle keep their value and would get zeros beside them,
  /// which no product sees: these are left out.
  Value withPosition(const std::string &name, Value x) {
    if (!config.positions)
      return x;
    if (!config.positions->doubles)
      return turn(model, name, angles(config.keys() / 2), x);
    // (x cos a, x sin a) is (x, 0), turned.
    auto [moving, still] = cut(name, x);
    Value pairs = concat(name, {moving, model.scale(name, moving, 0)});
    Value turned =
        turn(model, name, angles(seq::typeOf(moving).getDimSize(2)), pairs);
    return concat(name, {turned, still});
  }

  /// Gates [T, H, K] for the channels that withPosition() gives.
  Value besidePositions(const std::string &name, Value gate) {
    if (!config.positions || !config.positions->doubles)
      return gate;
    auto [moving, still] = cut(name, gate);
    return concat(name, {moving, moving, still});
  }

  Value stateFor(const std::string &here, Value key, Value value) {
    return model.state(here, {config.heads, seq::typeOf(key).getDimSize(2),
                              seq::typeOf(value).getDimSize(2)});
  }

  Value grow(const std::string &here, Value query, Value key, Value value) {
    Value state = stateFor(here, key, value);
    auto op = seq::LinearAttentionOp::create(
        builder, model.at(here), value.getType(), state.getType(), query, key,
        value, state, llvm::APFloat(1.0), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return op.getY();
  }

  Value retain(const std::string &here, Value query, Value key, Value value,
               Value gate) {
    Value state = stateFor(here, key, value);
    auto op = seq::GatedRetentionOp::create(
        builder, model.at(here), value.getType(), state.getType(), query, key,
        value, gate, state, llvm::APFloat(1.0),
        /*temperature=*/llvm::APFloat(1.0), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return op.getY();
  }

  Value decayChannels(const std::string &here, Value query, Value key,
                      Value value, Value gate) {
    Value state = stateFor(here, key, value);
    auto op = seq::GatedLinearAttentionOp::create(
        builder, model.at(here), value.getType(), state.getType(), query, key,
        value, gate, /*value_gate=*/nullptr, state, llvm::APFloat(1.0),
        /*temperature=*/llvm::APFloat(1.0), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return op.getY();
  }

  Value emitOutput(const std::string &name, const std::string &source, Value x,
                   Value mixed) {
    Value y = model.reshape(name + "mixer", mixed, {config.width}), gate;
    if (config.gated) {
      Value low = model.project(name + "gate.low", source + "output_gate.0", x,
                                config.keys());
      gate =
          model.activate(name + "gate",
                         model.project(name + "gate", source + "output_gate.1",
                                       low, config.width),
                         config.gate);
    }
    if (gate && config.gateFirst)
      y = model.mul(name + "gate", y, gate);
    y = norm(name + "norm", source + "norm", y);
    if (gate && !config.gateFirst)
      y = model.mul(name + "gate", y, gate);
    return model.project(name + "o", source + "o_proj", y, config.width);
  }

  ModelBuilder &model;
  const LinearTransformerConfig &config;
  mlir::OpBuilder &builder;
};

} // namespace

static llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildLinearTransformer(const LinearTransformerConfig &config,
                       FamilyInput &input) {
  // The first layer's bound is 0.
  if (config.decay && config.decay->bounded && config.layers == 1)
    leaveAside(input, {"log_lower_bounds"});
  TextModelConfig text;
  text.family = config.family;
  text.vocabulary = input.vocabulary;
  text.width = config.width;
  text.embeddingScale = config.embeddingScale;
  text.head.tied = config.tied;
  text.endNorm = "model.final_norm";
  text.norm = kNorm;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    LinearTransformerEmitter emitter(model, config);
    if (config.sums)
      x = emitter.emitSums(x);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = emitter.emitLayer(x, layer);
    return x;
  });
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importLinearTransformer(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LinearTransformerConfig config = readBoth(input);
  config.family = "linear_transformer";
  readLrpe(reader, reader.getInteger("lrpe_type", 1, 6, 1), config);
  config.query = config.key =
      readXmixersFunction(reader, "linear_activation", seq::Nonlinearity::Silu);
  // All heads have keys and values of their own.
  constexpr llvm::StringLiteral kKeyHeads = "kv_heads";
  if (reader.getInteger(kKeyHeads, -1, kMostDimension, -1) != -1)
    reader.getInteger(kKeyHeads, config.heads, config.heads, config.heads);
  reader.expectString("token_mixer_type", "linear_attn");
  reader.expectAlways({"use_ape", "use_dense_memory"}, false);
  if (llvm::Error error = reader.finish())
    return error;
  return buildLinearTransformer(config, input);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importDecayLinearTransformer(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LinearTransformerConfig config = readBoth(input);
  config.family = "decay_linear_transformer";
  readLrpe(reader, /*kind=*/6, config);
  config.query =
      readXmixersFunction(reader, "q_activation", seq::Nonlinearity::Silu);
  config.key =
      readXmixersFunction(reader, "k_activation", seq::Nonlinearity::Silu);
  config.decay = readGatedDecay(reader);
  reader.expectString("token_mixer_type", "decay_linear_attn");
  ignoreHarmless(reader, input.remarks,
                 {"A_init_range", "dt_init_floor", "dt_limit", "dt_max",
                  "dt_min", "threshold", "use_lightning"});
  if (llvm::Error error = reader.finish())
    return error;
  return buildLinearTransformer(config, input);
}
