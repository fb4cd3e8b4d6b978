#include "frontend/families/QwenRwkv.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/Rwkv7.h"
#include "frontend/model/WrittenStep.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

/// A layer's mixer, from the normalised token and the one before it less that.
using EmitRwkvMixer = llvm::function_ref<Value(
    ModelBuilder &model, const std::string &name, const std::string &source,
    Value x, Value delta, int64_t layer)>;

static Module buildQwenRwkv(const DecoderConfig &decoder, FamilyInput &input,
                            EmitRwkvMixer mixer) {
  TextModelConfig text = textModelOf(decoder, input);
  text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(decoder.layers.size()); ++layer) {
      LayerNames names(decoder, layer);
      const auto &[name, source] = names;
      auto mix = [&](Value token) {
        return mixer(model, name, source + "self_attn.", token,
                     model.shiftDifference(name + "shift", token), layer);
      };
      auto feed = [&](Value token) {
        return emitMlp(model, decoder.mlp, {name + "mlp", source + "mlp."},
                       token);
      };
      x = emitNormFirstLayer(model, decoder, names, "input_layernorm",
                             "post_attention_layernorm", mix, feed, x);
    }
    return x;
  });
}

/// Keys of Qwen2 about attention, of which none is left.
static void ignoreAttention(ConfigReader &reader, FamilyInput &input) {
  ignoreHarmless(reader, input.remarks,
                 {"max_window_layers", "rope_scaling", "rope_theta",
                  "sliding_window", "use_sliding_window"});
  ignoreRotary(reader, input);
}

/// x + delta * mu
static Value between(ModelBuilder &model, const std::string &here, Value x,
                     Value delta, Value mu) {
  return model.add(here, x, model.mul(here, delta, mu));
}

/// The product with half of a product of low rank, which lies as [inputs, outputs],
/// unless `outputsFirst`.
static Value multiplyFrom(ModelBuilder &model, const std::string &name,
                          const std::string &tensor, Value x, int64_t rows,
                          bool outputsFirst) {
  WeightSource from(tensor);
  from.transposed = !outputsFirst;
  return model.linear(name, x,
                      model.matrix(MatrixRole::LowRank, name, from, rows,
                                   seq::typeOf(x).getDimSize(1)));
}

//===----------------------------------------------------------------------===//
// QRWKV6
//===----------------------------------------------------------------------===//

namespace {

struct QwenRwkv6Config {
  DecoderConfig decoder;
  /// Ranks of what lies between tokens, and of decays.
  int64_t shiftRank = 32, decayRank = 64;
  bool bias = true;
  /// How matrices lie (StoredForm).
  bool outputsFirst = false;
};

} // namespace

static QwenRwkv6Config readRwkv6Qwen2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  QwenRwkv6Config config;
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "rwkv6qwen2";
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  const AttentionConfig &attention = decoder.attention;
  if (!reader.hasProblem() && attention.inner() != decoder.width)
    reader.report("expects 'num_attention_heads' heads to share "
                  "'hidden_size' " +
                  Twine(decoder.width) + ", but got " +
                  Twine(attention.inner()) + " channels");
  bool isWide = decoder.width >= 4096;
  auto rank = [&](llvm::StringRef key, int64_t otherwise) {
    // 0 is what an exporter writes that does not know it.
    int64_t said = reader.getIntegerIfSet(key, 0, kMostDimension).value_or(0);
    return said > 0 ? said : otherwise;
  };
  // Of the first models, whose configurations do not say them.
  config.shiftRank = rank("lora_rank_tokenshift", isWide ? 64 : 32);
  config.decayRank = rank("lora_rank_decay", isWide ? 128 : 64);
  config.bias = reader.getBoolean("attention_bias", true);
  config.outputsFirst = input.stored.outputsFirst;
  reader.expectAlways({"balance_state", "use_tokenshift"}, true);
  reader.expectAlways({"groupnorm_att", "use_rope", "attention_output_bias"},
                      false);
  reader.getInteger("gate_rank_type", 1, 1, 1);
  // Of gates that are no whole matrix.
  ignoreHarmless(reader, input.remarks, {"lora_rank_gate"});
  ignoreAttention(reader, input);
  return config;
}

namespace {

/// A token's five inputs, and the order in which files of GGUF have the numbers of
/// their low ranks.
constexpr llvm::StringLiteral kInputs[] = {"r", "k", "v", "w", "g"};
constexpr size_t kOutputsFirstPlaces[] = {3, 1, 2, 0, 4};

class QwenRwkv6Emitter {
public:
  QwenRwkv6Emitter(ModelBuilder &model, const QwenRwkv6Config &config,
                   const std::string &name, const std::string &source)
      : model(model), config(config), attention(config.decoder.attention),
        name(name), source(source) {}

  Value emit(Value x, Value delta) {
    emitInputs(x, delta);
    int64_t width = config.decoder.width, keys = attention.keys;
    auto inHeads = [&](Value flat) {
      return model.reshape(name + "mixer", flat, {attention.heads, keys});
    };
    auto shared = [&](const char *part, const char *tensor, Value token) {
      Value y = model.project(name + part, source + tensor, token,
                              attention.keyWidth(), config.bias);
      return repeatHeads(model, name + part, y, attention.keyHeads,
                         attention.heads / attention.keyHeads);
    };
    Value query = model.project(name + "r", source + "q_proj", inputs[0], width,
                                config.bias);
    query = model.scale(name + "r", query, 1 / std::sqrt(double(keys)));
    Value key = shared("k", "k_proj", inputs[1]),
          value = shared("v", "v_proj", inputs[2]);
    Value decay = emitLogDecay(inputs[3]);
    // What a channel forgets it takes in.
    Value kept = model.elementwise<seq::ExpOp>(name + "w", decay);
    key = model.sub(name + "k", key, model.mul(name + "k", key, kept));
    Value gate = model.activate(
        name + "g",
        model.project(name + "g", source + "gate", inputs[4], width),
        seq::Nonlinearity::Sigmoid);
    Value y = emitStep(
        {inHeads(query), inHeads(key), inHeads(value), inHeads(decay)});
    y = model.mul(name + "g", model.reshape(name + "mixer", y, {width}), gate);
    return model.project(name + "o", source + "o_proj", y, width);
  }

private:
  /// How far each input lies between the token and the one before follows from
  /// both, by a low rank of its own.
  void emitInputs(Value x, Value delta) {
    int64_t width = config.decoder.width, rank = config.shiftRank;
    std::string here = name + "x";
    auto stored = [&](const std::string &part) {
      std::string own = name + "x_" + part;
      return model.broadcast(
          own, model.vector(own, source + "time_maa_" + part, width), x);
    };
    Value low = multiplyFrom(model, here + ".low", source + "time_maa_w1",
                             between(model, here, x, delta, stored("x")),
                             5 * rank, config.outputsFirst);
    low = model.elementwise<seq::TanhOp>(here + ".low", low);
    WeightSource matrices(source + "time_maa_w2");
    matrices.transposed = !config.outputsFirst;
    Value shares = model.linear(
        here, model.reshape(here, low, {5, rank}),
        model.blocks(MatrixRole::LowRank, here, matrices, 5, width, rank));
    shares = model.reshape(here, shares, {5 * width});
    for (auto [index, part] : llvm::enumerate(kInputs)) {
      std::string own = name + "x_" + part.str();
      size_t place = config.outputsFirst ? kOutputsFirstPlaces[index] : index;
      Value share = model.slice(own, shares, int64_t(place) * width, width);
      inputs[index] = between(model, own, x, delta,
                              model.add(own, stored(part.str()), share));
    }
  }

  /// -exp of a low rank's product and its bias, and not below -5, as the
  /// authors' code has it.
  Value emitLogDecay(Value x) {
    std::string here = name + "w";
    int64_t width = config.decoder.width;
    Value low = model.elementwise<seq::TanhOp>(
        here + ".low",
        multiplyFrom(model, here + ".low", source + "time_decay_w1", x,
                     config.decayRank, config.outputsFirst));
    Value y = multiplyFrom(model, here, source + "time_decay_w2", low, width,
                           config.outputsFirst);
    Value bias = model.vector(here + "_bias", source + "time_decay", width);
    y = model.add(here, y, model.broadcast(here, bias, y));
    y = model.elementwise<seq::NegOp>(here,
                                      model.elementwise<seq::ExpOp>(here, y));
    return seq::ClampOp::create(model.getBuilder(), model.at(here), y.getType(),
                                y, model.getBuilder().getF64FloatAttr(-5),
                                /*upper=*/nullptr);
  }

  /// S = exp(decay) S + k (x) v, y = q S
  Value emitStep(llvm::ArrayRef<Value> tokens) {
    int64_t keys = attention.keys;
    Value state = model.state(name + "mixer", {attention.heads, keys, keys});
    WrittenStep step(model, name + "mixer", tokens[2], tokens, {}, state);
    Value decay = step.make<seq::ExpOp>(step.token(3));
    Value next = step.make<seq::AddOp>(
        step.contract(decay, "hk", step.state(0), "hkv", "hkv"),
        step.contract(step.token(1), "hk", step.token(2), "hv", "hkv"));
    return step.finish(step.contract(step.token(0), "hk", next, "hkv", "hv"),
                       next);
  }

  ModelBuilder &model;
  const QwenRwkv6Config &config;
  const AttentionConfig &attention;
  const std::string &name, &source;
  Value inputs[5];
};

} // namespace

Module effc::frontend::importRwkv6Qwen2(FamilyInput &input) {
  QwenRwkv6Config config = readRwkv6Qwen2(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildQwenRwkv(
      config.decoder, input,
      [&](ModelBuilder &model, const std::string &name,
          const std::string &source, Value x, Value delta, int64_t) {
        return QwenRwkv6Emitter(model, config, name, source).emit(x, delta);
      });
}

//===----------------------------------------------------------------------===//
// ARWKV
//===----------------------------------------------------------------------===//

namespace {

struct QwenRwkv7Config {
  DecoderConfig decoder;
  Rwkv7Config mixer;
  bool gate = true;
  /// The epsilon of a norm of each head; none without.
  std::optional<double> headNorm;
  /// How matrices lie (StoredForm).
  bool outputsFirst = false;
};

} // namespace

static QwenRwkv7Config readRwkvHybrid(FamilyInput &input) {
  ConfigReader &reader = input.config;
  QwenRwkv7Config config;
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "rwkv_hybrid";
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  reader.getInteger("wkv_version", 7, 7, 7);
  Rwkv7Config &mixer = config.mixer;
  mixer.keys = mixer.values =
      reader.getInteger("head_size", 1, kMostDimension, 64);
  mixer.heads = std::max<int64_t>(decoder.width / mixer.keys, 1);
  if (!reader.hasProblem() && mixer.keyWidth() != decoder.width)
    reader.report("expects 'hidden_size' to be a multiple of 'head_size' " +
                  Twine(mixer.keys) + ", but got " + Twine(decoder.width));
  reader.getInteger("num_wkv_heads", mixer.heads, mixer.heads, mixer.heads);
  config.gate = reader.getBoolean("wkv_has_gate", true);
  config.outputsFirst = input.stored.outputsFirst;
  double divisor = reader.getNumber("head_size_divisor", 1, 1e3, 8);
  if (reader.getBoolean("wkv_has_group_norm", true))
    config.headNorm = 1e-5 * divisor * divisor;
  // Some layers may attend; no public engine runs such a model.
  constexpr llvm::StringLiteral kLayers = "wkv_layers";
  const std::string *layers =
      reader.isSet(kLayers) ? reader.getString(kLayers) : nullptr;
  if (layers && *layers != "full")
    reader.reportMismatch(kLayers, "full", *reader.get(kLayers));
  ignoreHarmless(reader, input.remarks, {"attention_bias"});
  ignoreAttention(reader, input);
  return config;
}

namespace {

/// Emits the mixers, which share the first layer's values.
class QwenRwkv7Emitter {
public:
  explicit QwenRwkv7Emitter(const QwenRwkv7Config &config) : config(config) {}

  Value emit(ModelBuilder &model, const std::string &name,
             const std::string &tensors, Value x, Value delta) {
    // The public code makes these ranks whatever the width.
    constexpr int64_t kDecay = 64, kRate = 64, kValue = 32, kGate = 128;
    std::string source = tensors + "time_mixer.";
    int64_t width = config.decoder.width;
    auto vector = [&](const std::string &part) {
      return model.vector(name + part, source + part, width);
    };
    auto input = [&](const std::string &part) {
      std::string here = name + "x_" + part;
      return between(model, here, x, delta,
                     model.broadcast(here, vector("x_" + part), x));
    };
    auto low = [&](const std::string &part, Value token, int64_t rank) {
      return multiplyFrom(model, name + part + ".low", source + part + "1",
                          token, rank, config.outputsFirst);
    };
    auto wide = [&](const std::string &part, Value token) {
      return multiplyFrom(model, name + part, source + part + "2", token, width,
                          config.outputsFirst);
    };
    auto biased = [&](const std::string &part, Value y) {
      return model.add(name + part, y,
                       model.broadcast(name + part, vector(part + "0"), y));
    };
    auto sigmoid = [&](const std::string &part, Value y) {
      return model.activate(name + part, y, seq::Nonlinearity::Sigmoid);
    };
    Rwkv7Parts parts;
    parts.read =
        model.project(name + "r", source + "receptance", input("r"), width);
    Value bent = model.elementwise<seq::TanhOp>(name + "w.low",
                                                low("w", input("w"), kDecay));
    parts.decay = biased("w", wide("w", bent));
    parts.key = model.project(name + "k", source + "key", input("k"), width);
    Value token = input("v");
    parts.value = model.project(name + "value", source + "value", token, width);
    if (first) {
      Value share =
          sigmoid("v", biased("v", wide("v", low("v", token, kValue))));
      parts.value =
          model.add(name + "value", parts.value,
                    model.mul(name + "value", share,
                              model.sub(name + "value", first, parts.value)));
    } else {
      first = parts.value;
    }
    parts.rate =
        sigmoid("a", biased("a", wide("a", low("a", input("a"), kRate))));
    parts.keyWeight = vector("k_k");
    parts.rateWeight = vector("k_a");
    Value gate;
    if (config.gate)
      gate = wide("g", sigmoid("g.low", low("g", input("g"), kGate)));
    auto [mixed, bonus] =
        emitRwkv7(model, config.mixer, name, parts, source + "r_k");
    if (config.headNorm) {
      NormConfig norm;
      norm.centred = norm.bias = true;
      norm.epsilon = *config.headNorm;
      mixed = model.groupNorm(name + "norm", source + "ln_x", mixed,
                              config.mixer.heads, width, norm);
    }
    Value y = model.add(name + "bonus", mixed, bonus);
    if (gate)
      y = model.mul(name + "g", y, gate);
    return model.project(name + "o", source + "output", y, width);
  }

private:
  const QwenRwkv7Config &config;
  Value first;
};

} // namespace

Module effc::frontend::importRwkvHybrid(FamilyInput &input) {
  QwenRwkv7Config config = readRwkvHybrid(input);
  if (llvm::Error error = input.config.finish())
    return error;
  // The first layer's values move towards no others.
  std::string first =
      LayerNames(config.decoder, 0).source + "self_attn.time_mixer.v";
  std::string unread[] = {first + "0", first + "1", first + "2"};
  leaveAside(input, {}, {unread[0], unread[1], unread[2]});
  QwenRwkv7Emitter layers(config);
  return buildQwenRwkv(
      config.decoder, input,
      [&](ModelBuilder &model, const std::string &name,
          const std::string &source, Value x, Value delta,
          int64_t) { return layers.emit(model, name, source, x, delta); });
}
