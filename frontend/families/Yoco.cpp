#include "frontend/families/Yoco.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashDelta.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// How the layers behind the shared keys attend.
struct CrossConfig {
  AttentionConfig attention;
  LayerAttention turned;
  /// A norm of each query's channels; keys are of tokens that have one.
  bool queryNorm = false;
};

struct YocoConfig {
  FlashConfig model;
  /// How many layers there are before the shared keys.
  int64_t selfLayers = 1;
  FlashMixer mixer;
  CrossConfig cross;
};

} // namespace

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

/// Heads of the width of the model.
static AttentionConfig readHeads(ConfigReader &reader, int64_t width,
                                 llvm::StringRef keyHeads) {
  AttentionConfig attention;
  attention.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  attention.keyHeads = attention.heads;
  if (!keyHeads.empty())
    attention.keyHeads = reader.getIntegerIfSet(keyHeads, 1, kMostDimension)
                             .value_or(attention.heads);
  if (!reader.hasProblem() && width % attention.heads != 0)
    reader.report("expects 'num_heads' to divide 'hidden_size' " +
                  Twine(width) + ", but got " + Twine(attention.heads));
  if (!reader.hasProblem() && attention.heads % attention.keyHeads != 0)
    reader.report("expects 'num_heads' to be a multiple of '" + keyHeads +
                  "' " + Twine(attention.keyHeads) + ", but got " +
                  Twine(attention.heads));
  attention.keys = std::max<int64_t>(width / attention.heads, 1);
  attention.scale = 1 / std::sqrt(double(attention.keys));
  return attention;
}

/// Neighbours turn together. The rule `yoco` has theta^(-i / (P - 1)) for
/// theta^(-i / P): that of another theta.
static RotaryConfig readPairs(ConfigReader &reader, FamilyInput &input,
                              int64_t keys, int64_t context) {
  requireOneOf(reader, "rope_inv_freq", {"fla", "yoco"});
  const std::string *rule = reader.getString("rope_inv_freq");
  if (reader.hasProblem())
    return {};
  RotaryRequest request{keys, context};
  request.scaled = false;
  RotaryConfig rotary = readRotary(reader, input, request);
  rotary.layout = seq::RotaryPairs::Interleaved;
  if (!rotary.frequencies || !rule || *rule == "fla" || rotary.pairs < 2)
    return rotary;
  double theta = std::pow(rotary.frequencies.getTheta().getValueAsDouble(),
                          double(rotary.pairs) / double(rotary.pairs - 1));
  rotary.frequencies = seq::RotaryFrequenciesAttr::get(
      input.context, rotary.frequencies.getScaling(),
      mlir::Builder(input.context).getF64FloatAttr(theta),
      /*factor=*/{}, /*original_context=*/0, /*planned_context=*/0,
      /*low=*/{}, /*high=*/{}, /*divisors=*/{});
  return rotary;
}

static FlashMixer readGatedRetention(ConfigReader &reader, FamilyInput &input,
                                     const FlashConfig &config) {
  AttentionConfig heads = readHeads(reader, config.width, /*keyHeads=*/"");
  double temperature = reader.getNumber("gate_logit_normalizer", 1e-6, 1e6, 16);
  LayerAttention turned;
  turned.frequencies = "retention_frequencies";
  turned.rotary = readPairs(reader, input, heads.keys, config.context);
  NormConfig norm = config.norm;
  return [=](ModelBuilder &model, const std::string &name,
             const std::string &source, Value x, int64_t) {
    int64_t width = model.getWidth();
    auto project = [&](const char *part, int64_t rows) {
      return model.project(name + part, source + part + "_proj", x, rows);
    };
    auto inHeads = [&](const char *part) {
      return model.reshape(name + part, project(part, width),
                           {heads.heads, heads.keys});
    };
    Value query = turn(model, name + "q", turned, inHeads("q"));
    Value key = turn(model, name + "k", turned, inHeads("k"));
    Value value = inHeads("v"), gate = project("gk", heads.heads);
    Value state =
        model.state(name + "mixer", {heads.heads, heads.keys, heads.keys});
    auto op = seq::GatedRetentionOp::create(
        model.getBuilder(), model.at(name + "mixer"), value.getType(),
        state.getType(), query, key, value, gate, state,
        llvm::APFloat(heads.scale), llvm::APFloat(temperature),
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value y = model.groupNorm(name + "norm", source + "o_norm",
                              model.reshape(name + "mixer", op.getY(), {width}),
                              heads.heads, /*size=*/0, norm);
    y = model.mul(name + "norm", y,
                  model.activate(name + "g", project("g", width),
                                 seq::Nonlinearity::Silu));
    return model.project(name + "o", source + "o_proj", y, width);
  };
}

static FlashMixer readWindows(ConfigReader &reader, FamilyInput &input,
                              const FlashConfig &config) {
  AttentionConfig attention = readHeads(reader, config.width, "num_v_heads");
  attention.inputBias = reader.getBoolean("qkv_bias", false);
  LayerAttention layer;
  layer.frequencies = "window_frequencies";
  layer.window = reader.requireInteger("window_size", 1, kMostContext);
  RotaryRequest request{attention.keys, config.context};
  request.scaled = false;
  layer.rotary = readRotary(reader, input, request);
  return [=](ModelBuilder &model, const std::string &name,
             const std::string &source, Value x, int64_t) {
    return emitAttention(model, attention, layer, {name + "attention", source},
                         x);
  };
}

namespace {

struct SelfDecoder {
  llvm::StringLiteral type;
  FlashMixer (*read)(ConfigReader &, FamilyInput &, const FlashConfig &);
  /// What the library writes for the other types' sake.
  llvm::StringLiteral unused;
};

} // namespace

static FlashMixer readGatedDelta(ConfigReader &reader, FamilyInput &,
                                 const FlashConfig &config) {
  return readGatedDeltaMixer(reader, config);
}

/// The library's default comes first.
static constexpr SelfDecoder kSelfDecoders[] = {
    {"gated_deltanet", readGatedDelta,
     "mode window_size qkv_bias rope_theta rope_inv_freq "
     "gate_logit_normalizer"},
    {"gated_retention", readGatedRetention,
     "mode use_gate expand_v use_short_conv allow_neg_eigval conv_size "
     "head_dim num_v_heads window_size qkv_bias"},
    {"swa", readWindows,
     "mode use_gate expand_v use_short_conv allow_neg_eigval conv_size "
     "head_dim rope_inv_freq gate_logit_normalizer"}};

/// Calls `read` with a reader of the object at `key`, which has to be there.
static void readPart(FamilyInput &input, llvm::StringRef key,
                     llvm::function_ref<void(ConfigReader &)> read) {
  const JsonObject *object = input.config.getObjectIfSet(key);
  if (!object)
    return input.config.report("lacks an object " + quote(key));
  ConfigReader reader(input.config, key, *object);
  read(reader);
  input.config.finishInner(reader);
}

static FlashMixer readSelfDecoder(ConfigReader &reader, FamilyInput &input,
                                  const FlashConfig &config) {
  llvm::SmallVector<llvm::StringRef> types;
  for (const SelfDecoder &kind : kSelfDecoders)
    types.push_back(kind.type);
  requireOneOf(reader, "type", types);
  const std::string *type = reader.getString("type");
  for (const SelfDecoder &kind : kSelfDecoders) {
    if (type && *type != kind.type)
      continue;
    llvm::SmallVector<llvm::StringRef> unused;
    kind.unused.split(unused, ' ');
    ignoreHarmless(reader, input.remarks, unused);
    return kind.read(reader, input, config);
  }
  return {};
}

static CrossConfig readCrossDecoder(ConfigReader &reader, FamilyInput &input,
                                    const FlashConfig &config) {
  CrossConfig cross;
  cross.attention = readHeads(reader, config.width, "num_kv_heads");
  cross.attention.inputBias = reader.getBoolean("qkv_bias", false);
  cross.queryNorm = reader.getBoolean("qk_norm", false);
  cross.turned.frequencies = "cross_frequencies";
  cross.turned.rotary =
      readPairs(reader, input, cross.attention.keys, config.context);
  return cross;
}

static YocoConfig readYoco(FamilyInput &input) {
  ConfigReader &reader = input.config;
  YocoConfig config;
  requireOneOf(reader, "attn", {"null"});
  config.model = readFlash(input, 4);
  config.model.family = "yoco";
  config.selfLayers =
      reader.getInteger("num_self_decoder_layers", 1, config.model.layers, 10);
  if (config.selfLayers > config.model.layers)
    reader.report("expects 'num_self_decoder_layers' of at most the " +
                  llvm::Twine(config.model.layers) +
                  " layers, but it is not there, which means 10");
  readPart(input, "self_decoder_attn", [&](ConfigReader &inner) {
    config.mixer = readSelfDecoder(inner, input, config.model);
  });
  readPart(input, "cross_decoder_attn", [&](ConfigReader &inner) {
    config.cross = readCrossDecoder(inner, input, config.model);
  });
  requireOneOf(reader, "hidden_act", {"swish"});
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  return config;
}

//===----------------------------------------------------------------------===//
// The layers
//===----------------------------------------------------------------------===//

/// The layers that all attend to what `x` is projected to once.
static Value emitCrossDecoder(ModelBuilder &model, const YocoConfig &config,
                              Value x) {
  const CrossConfig &cross = config.cross;
  const AttentionConfig &attention = cross.attention;
  std::string builder = "model.shared_kv_builder.";
  Value normed =
      model.norm("shared.norm", builder + "kv_norm", x, config.model.norm);
  auto shared = [&](const char *part, const char *tensor) {
    return model.reshape(part,
                         model.project(part, builder + tensor, normed,
                                       attention.keyWidth(),
                                       attention.inputBias),
                         {attention.keyHeads, attention.keys});
  };
  Value key =
      turn(model, "shared.key", cross.turned, shared("shared.key", "k_proj"));
  Value value = shared("shared.value", "v_proj");
  // A ring that a layer has written to has lost what the next one's first
  // tokens still see, so with a window each layer keeps keys of its own.
  SharedKeys states{"shared", {}, {}};
  bool sharesStates = model.getStreamed().window == 0;
  for (int64_t i = config.selfLayers; i < config.model.layers; ++i) {
    std::string name =
        "cross_layers." + std::to_string(i - config.selfLayers) + ".";
    std::string source = "model." + name;
    auto mixer = [&](Value token) {
      Value query = model.project(name + "q", source + "attn.q_proj", token,
                                  attention.inner(), attention.inputBias);
      if (cross.queryNorm)
        query = model.groupNorm(name + "q_norm", source + "attn.q_norm", query,
                                attention.heads, attention.keys, NormConfig());
      query =
          model.reshape(name + "q", query, {attention.heads, attention.keys});
      LayerAttention layer = streamed(model, name + "attention", cross.turned);
      AttentionExtras extras;
      if (sharesStates)
        extras.shared = &states;
      addSinks(model, name + "attention", layer, query, extras);
      Value mixed =
          attend(model, name + "attention", attention, layer.window,
                 turn(model, name + "q", layer, query), key, value, extras);
      return model.project(
          name + "o", source + "attn.o_proj",
          model.reshape(name + "attention", mixed, {attention.inner()}),
          model.getWidth());
    };
    x = emitFlashLayer(model, config.model, name, source, x, mixer);
  }
  if (sharesStates) {
    model.setNextState(states.keys);
    model.setNextState(states.values);
  }
  return x;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importYoco(FamilyInput &input) {
  YocoConfig config = readYoco(input);
  if (llvm::Error error = input.config.finish())
    return error;
  leaveAside(input, {"rotary.inv_freq"});
  bool crosses = config.selfLayers < config.model.layers;
  TextModelConfig text = textOf(config.model, input);
  text.embeddingScale = std::sqrt(double(config.model.width));
  text.context = chooseContext(input, config.model.context);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t i = 0; i < config.selfLayers; ++i) {
      std::string name = "self_layers." + std::to_string(i) + ".";
      std::string source = "model." + name;
      x = emitFlashLayer(
          model, config.model, name, source, x, [&](Value normed) {
            return config.mixer(model, name, source + "attn.", normed, i);
          });
    }
    return crosses ? emitCrossDecoder(model, config, x) : x;
  });
}
