#include "frontend/families/FlashModel.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

std::pair<AttentionConfig, LayerAttention>
effc::frontend::readFlashAttention(ConfigReader &reader, FamilyInput &input,
                                   const FlashConfig &config) {
  AttentionConfig attention;
  attention.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  attention.keyHeads = reader.getIntegerIfSet("num_kv_heads", 1, kMostDimension)
                           .value_or(attention.heads);
  attention.inputBias = reader.getBoolean("qkv_bias", false);
  if (reader.getBoolean("qk_norm", false))
    attention.headNorm.emplace();
  if (!reader.hasProblem() && (config.width % attention.heads != 0 ||
                               attention.heads % attention.keyHeads != 0))
    reader.report(
        "expects 'num_heads' to divide 'hidden_size' " + Twine(config.width) +
        " and to be a multiple of 'num_kv_heads' " + Twine(attention.keyHeads) +
        ", but got " + Twine(attention.heads));
  attention.keys = std::max<int64_t>(config.width / attention.heads, 1);
  attention.scale = 1 / std::sqrt(double(attention.keys));
  LayerAttention layer;
  layer.window =
      reader.getIntegerIfSet("window_size", 1, kMostContext).value_or(0);
  layer.frequencies = "frequencies." + std::to_string(config.attention.size());
  // There is `rope_theta` and no scaling.
  RotaryRequest request{attention.keys, config.context};
  request.scaled = false;
  layer.rotary = readRotary(reader, input, request);
  return {attention, layer};
}

/// One object of `attn`: which layers attend, and how.
static void readAttentionLayers(ConfigReader &outer, FamilyInput &input,
                                const JsonObject &object, FlashConfig &config) {
  ConfigReader reader(outer, "attn", object);
  auto how = readFlashAttention(reader, input, config);
  const JsonValue *layers = reader.get("layers");
  const JsonArray *numbers = layers ? layers->getArray() : nullptr;
  if (!numbers)
    reader.report("lacks an array 'layers'");
  for (size_t i = 0; numbers && i < numbers->size(); ++i) {
    std::optional<int64_t> number = (*numbers)[i].getInteger();
    if (!number || *number < 0 || *number >= config.layers)
      reader.reportMismatch(
          "layers", "numbers of layers in 0.." + Twine(config.layers - 1),
          (*numbers)[i]);
    else
      config.attention[*number] = how;
  }
  outer.finishInner(reader);
}

int64_t effc::frontend::widthOfMlp(int64_t width, double ratio) {
  constexpr int64_t kMultiple = 256;
  return llvm::divideCeilSigned(int64_t(double(width) * ratio * 2 / 3),
                                kMultiple) *
         kMultiple;
}

FlashConfig effc::frontend::readFlash(FamilyInput &input, double ratio) {
  ConfigReader &reader = input.config;
  FlashConfig config;
  config.vocabulary = input.vocabulary;
  config.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  config.layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  config.context =
      reader.getInteger("max_position_embeddings", 1, kMostContext, 2048);
  config.norm.epsilon = reader.getNumber("norm_eps", 0, 1, 1e-6);
  config.head.table = "model.embeddings.weight";
  config.head.tied = reader.getBoolean("tie_word_embeddings", false);
  double wanted =
      reader.getNumberIfSet("hidden_ratio", 0, 1024).value_or(ratio);
  config.mlp.hidden =
      reader.getIntegerIfSet("intermediate_size", 1, kMostDimension)
          .value_or(widthOfMlp(config.width, wanted));
  if (reader.isSet("attn")) {
    const JsonValue *attn = reader.get("attn");
    if (const JsonObject *object = attn->getObject())
      readAttentionLayers(reader, input, *object, config);
    else if (const JsonArray *objects = attn->getArray())
      for (const JsonValue &each : *objects) {
        if (!each.getObject())
          reader.reportMismatch("attn", "objects", each);
        else
          readAttentionLayers(reader, input, *each.getObject(), config);
      }
    else
      reader.reportMismatch("attn", "an object or an array of them", *attn);
  }
  if (reader.isSet("attnres_block_size"))
    reader.reportMismatch("attnres_block_size", "null",
                          *reader.get("attnres_block_size"));
  // Of convolutions, where there are any, which have other tensors then.
  if (reader.getBoolean("share_conv_kernel", false) &&
      reader.getBoolean("use_short_conv", false))
    reader.report("expects 'share_conv_kernel' to be false beside "
                  "'use_short_conv', but got true");
  ignoreHarmless(reader, input.remarks,
                 {"attn_mode", "fuse_swiglu", "fuse_cross_entropy",
                  "fuse_linear_cross_entropy", "use_l2warp"});
  return config;
}

int64_t effc::frontend::readHeadChannels(ConfigReader &reader,
                                         llvm::StringRef key, double otherwise,
                                         int64_t width, int64_t heads,
                                         llvm::StringRef widthKey) {
  double factor = reader.getNumber(key, 1e-6, 1024, otherwise);
  double all = double(width) * factor, rounded = std::round(all);
  if (reader.hasProblem())
    return 1;
  if (std::abs(all - rounded) > 1e-6 * all || int64_t(rounded) % heads != 0 ||
      rounded < 1) {
    reader.report(
        "expects " + quote(widthKey) + " " + Twine(width) + " times " +
        quote(key) + " to be a " +
        (heads == 1 ? "whole number"
                    : "multiple of " + std::to_string(heads) + " heads") +
        ", but got " + describeNumber(all) + " by " + describeNumber(factor));
    return 1;
  }
  return int64_t(rounded) / heads;
}

int64_t effc::frontend::readKeyHeads(ConfigReader &reader, int64_t heads) {
  int64_t keyHeads =
      reader.getIntegerIfSet("num_kv_heads", 1, kMostDimension).value_or(heads);
  if (!reader.hasProblem() && heads % keyHeads != 0) {
    reader.report("expects 'num_kv_heads' to divide 'num_heads' " +
                  Twine(heads) + ", but got " + Twine(keyHeads));
    return heads;
  }
  return keyHeads;
}

Value effc::frontend::repeatHeads(ModelBuilder &model, const std::string &name,
                                  Value x, int64_t heads, int64_t times) {
  if (times == 1)
    return x;
  int64_t channels =
      llvm::cast<mlir::RankedTensorType>(x.getType()).getDimSize(1) / heads;
  llvm::SmallVector<Value> repeated;
  for (int64_t head = 0; head < heads; ++head)
    repeated.append(size_t(times),
                    model.slice(name, x, head * channels, channels));
  return seq::ConcatOp::create(model.getBuilder(), model.at(name), repeated,
                               /*axis=*/1);
}

Value effc::frontend::eluPlusOne(ModelBuilder &model, const std::string &name,
                                 Value x) {
  auto relu = [&](Value y) {
    return model.activate(name, y, seq::Nonlinearity::Relu);
  };
  auto negated = [&](Value y) {
    return model.elementwise<seq::NegOp>(name, y);
  };
  // e^-relu(-x) + relu(x)
  return model.add(
      name, model.elementwise<seq::ExpOp>(name, negated(relu(negated(x)))),
      relu(x));
}

Value effc::frontend::divideHeads(ModelBuilder &model, const std::string &name,
                                  Value x, int64_t heads,
                                  llvm::function_ref<Value(Value head)> measure,
                                  llvm::function_ref<Value(Value sum)> bound) {
  int64_t channels =
      llvm::cast<mlir::RankedTensorType>(x.getType()).getDimSize(1) / heads;
  mlir::OpBuilder &builder = model.getBuilder();
  Value ones =
      model.constant("ones." + std::to_string(channels), 1, {1, channels});
  llvm::SmallVector<Value> divided;
  for (int64_t head = 0; head < heads; ++head) {
    Value y = model.slice(name, x, head * channels, channels);
    Value sum = bound(model.linear(name + ".sum", measure(y), ones));
    divided.push_back(seq::DivOp::create(builder, model.at(name), y,
                                         model.spread(name, sum, y)));
  }
  return seq::ConcatOp::create(builder, model.at(name), divided, /*axis=*/1);
}

Value effc::frontend::repeatNumber(ModelBuilder &model, const std::string &name,
                                   double number, Value like) {
  // e^0: what is of tokens has to come from tokens.
  return model.scale(
      name, model.elementwise<seq::ExpOp>(name, model.scale(name, like, 0)),
      number);
}

void effc::frontend::requireOneOf(ConfigReader &reader, llvm::StringRef key,
                                  llvm::ArrayRef<llvm::StringRef> accepted) {
  const JsonValue *value = reader.get(key);
  if (!value || (value->isNull() && llvm::is_contained(accepted, "null")))
    return;
  constexpr llvm::StringLiteral kWords[] = {"true", "false", "null"};
  if (const std::string *text = value->getString())
    if (llvm::is_contained(accepted, *text) &&
        !llvm::is_contained(kWords, *text))
      return;
  if (std::optional<bool> flag = value->getBoolean())
    if (llvm::is_contained(accepted, *flag ? "true" : "false"))
      return;
  reader.reportMismatch(key, llvm::join(accepted, " or "), *value);
}

Value effc::frontend::projectAndConvolve(ModelBuilder &model,
                                         const std::string &name,
                                         const std::string &source,
                                         llvm::StringRef part, Value x,
                                         int64_t rows, int64_t taps,
                                         seq::Activation activation) {
  std::string here = name + part.str();
  Value y = model.project(here, source + part + "_proj", x, rows);
  if (taps == 0)
    return activation == seq::Activation::Silu
               ? model.activate(here, y, seq::Nonlinearity::Silu)
               : y;
  Value weight =
      model.taps(here + "_conv", source + part + "_conv1d.weight", taps, rows);
  return model.shortConvolution(here + "_conv", y, weight, /*bias=*/{},
                                activation);
}

bool effc::frontend::readAffine(ConfigReader &reader) {
  constexpr llvm::StringLiteral kAffine = "elementwise_affine";
  return reader.isSet(kAffine) ? reader.getBoolean(kAffine, true)
                               : !reader.get(kAffine);
}

Value effc::frontend::normAndGate(ModelBuilder &model, const std::string &name,
                                  const std::string &source, Value x,
                                  int64_t heads, double epsilon, Value gate,
                                  seq::Nonlinearity activation, bool affine) {
  int64_t channels =
      llvm::cast<mlir::RankedTensorType>(x.getType()).getDimSize(1);
  NormConfig config;
  config.epsilon = epsilon;
  Value y = model.groupNorm(name + "norm", source, x, heads,
                            affine ? channels / heads : 0, config);
  if (!gate)
    return y;
  return model.mul(name + "norm", y,
                   model.activate(name + "gate", gate, activation));
}

Value effc::frontend::emitFlashAttention(ModelBuilder &model,
                                         const FlashConfig &config,
                                         const std::string &name,
                                         const std::string &source, Value x,
                                         int64_t layer) {
  const auto &[attention, how] = config.attention.at(layer);
  AttentionNames names{name + "attention", source};
  return emitAttention(model, attention, how, names, x);
}

TextModelConfig effc::frontend::textOf(const FlashConfig &config,
                                       const FamilyInput &input) {
  TextModelConfig text;
  text.family = config.family;
  text.vocabulary = config.vocabulary;
  text.width = config.width;
  text.head = config.head;
  text.endNorm = "model.norm";
  text.norm = config.norm;
  if (config.keepsKeys || !config.attention.empty())
    text.context = chooseContext(input, config.context);
  return text;
}

Value effc::frontend::emitFlashLayer(ModelBuilder &model,
                                     const FlashConfig &config,
                                     const std::string &name,
                                     const std::string &source, Value x,
                                     llvm::function_ref<Value(Value)> mixer) {
  Value normed =
      model.norm(name + "mixer_norm", source + "attn_norm", x, config.norm);
  x = model.add(name + "mixer_residual", x, mixer(normed));
  normed = model.norm(name + "mlp_norm", source + "mlp_norm", x, config.norm);
  Value inner =
      emitMlp(model, config.mlp, {name + "mlp", source + "mlp."}, normed);
  return model.add(name + "mlp_residual", x, inner);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::buildFlash(const FlashConfig &config, FamilyInput &input,
                           const FlashMixer &mixer) {
  leaveAside(input, {"rotary.inv_freq"});
  return buildTextModel(
      textOf(config, input), input, [&](ModelBuilder &model, Value x) {
        for (int64_t layer = 0; layer < config.layers; ++layer) {
          std::string name = "layers." + std::to_string(layer) + ".";
          std::string source = "model." + name;
          x = emitFlashLayer(model, config, name, source, x, [&](Value normed) {
            return config.attention.count(layer)
                       ? emitFlashAttention(model, config, name,
                                            source + "attn.", normed, layer)
                       : mixer(model, name, source + "attn.", normed, layer);
          });
        }
        return x;
      });
}
