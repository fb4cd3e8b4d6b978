#include "frontend/families/Qwen3Next.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Block.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/TextModel.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// Layers of the gated delta rule.
struct DeltaConfig {
  /// G, H: heads of queries and keys, and of values. K, V: channels of each.
  int64_t groups = 1, heads = 1, keys = 1, values = 1;
  int64_t taps = 4;

  int64_t keyWidth() const { return groups * keys; }
  int64_t inner() const { return heads * values; }
  /// Channels of the values of a group's heads.
  int64_t groupValues() const { return inner() / groups; }
};

struct Qwen3NextConfig {
  DecoderConfig decoder;
  DeltaConfig delta;
  /// 1 for a layer of the gated delta rule.
  std::vector<unsigned> linear;
};

} // namespace

static Qwen3NextConfig readQwen3Next(FamilyInput &input) {
  ConfigReader &reader = input.config;
  Qwen3NextConfig config;
  DecoderConfig &decoder = config.decoder;
  decoder = readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  decoder.family = "qwen3_next";
  decoder.norm.unitOffset = !input.stored.wholeNorms;
  decoder.attention.headNorm = decoder.norm;
  decoder.attention.gated = true;
  bool bias = reader.getBoolean("attention_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  decoder.experts = readExperts(reader, /*normalised=*/true);
  decoder.experts->activation = decoder.mlp.activation;
  decoder.experts->shared = reader.requireInteger(
      "shared_expert_intermediate_size", 1, kMostDimension);
  auto layers = int64_t(decoder.layers.size());
  decoder.routes = readExpertsPattern(reader, layers);
  int64_t interval =
      reader.getInteger("full_attention_interval", 1, kMostLayers, 4);
  config.linear = readLayerPattern(
      reader, "layer_types", layers, {"full_attention", "linear_attention"},
      [&](int64_t layer) -> unsigned { return (layer + 1) % interval != 0; });
  RotaryRequest request{decoder.attention.keys, decoder.context};
  request.turned = 0.25;
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  DeltaConfig &delta = config.delta;
  auto size = [&](llvm::StringRef key) {
    return reader.requireInteger(key, 1, kMostDimension);
  };
  delta.groups = size("linear_num_key_heads");
  delta.heads = size("linear_num_value_heads");
  delta.keys = size("linear_key_head_dim");
  delta.values = size("linear_value_head_dim");
  delta.taps = reader.getInteger("linear_conv_kernel_dim", 2, 64, 4);
  if (!reader.hasProblem() && delta.heads % delta.groups != 0)
    reader.report("expects 'linear_num_value_heads' to be a multiple of "
                  "'linear_num_key_heads' " +
                  Twine(delta.groups) + ", but got " + Twine(delta.heads));
  // Written by release 4 and never read.
  if (reader.getBoolean("use_sliding_window", false))
    reader.report("expects 'use_sliding_window' to be false, but got true");
  ignoreHarmless(reader, input.remarks,
                 {"output_router_logits", "router_aux_loss_coef"});
  return config;
}

/// Of the convolution's channels, all queries, then all keys, then all values,
/// the `size` from `offset` on.
static Value convolve(ModelBuilder &model, const DeltaConfig &config,
                      const std::string &name, const std::string &source,
                      Value x, int64_t offset, int64_t size) {
  int64_t channels = 2 * config.keyWidth() + config.inner();
  WeightSource from(source + "conv1d.weight");
  from.transposed = true;
  from.rows = model.rows(offset, size, channels, 1);
  Value taps = model.numbers(name, from, {config.taps, size});
  return model.shortConvolution(name, x, taps, /*bias=*/{},
                                seq::Activation::Silu);
}

/// Projections lie in turn for each group of heads: its query, key, values and
/// gates in one tensor, learning rates and time steps in another. `isApart`: in
/// the first lie all queries, all keys, all values, and gates in one of their own.
static Value emitDelta(ModelBuilder &model, const DeltaConfig &config,
                       double epsilon, bool isApart, const std::string &name,
                       const std::string &source, Value x) {
  int64_t groups = config.groups, keys = config.keys,
          values = config.groupValues(), heads = config.heads / groups;
  int64_t stride = 2 * keys + 2 * values;
  auto part = [&](const char *what, int64_t offset, int64_t size) {
    if (!isApart)
      return model.projectRows(name + what, source + "in_proj_qkvz", x,
                               model.rows(offset, size, stride, groups));
    if (offset == 2 * keys + values) // the gates
      return model.project(name + what, source + "in_proj_z", x, groups * size);
    return model.projectRows(name + what, source + "in_proj_qkv", x,
                             model.rows(groups * offset, groups * size,
                                        groups * (2 * keys + values), 1));
  };
  auto number = [&](const char *what, int64_t offset) {
    return model.projectRows(name + what, source + "in_proj_ba", x,
                             model.rows(offset, heads, 2 * heads, groups));
  };
  // Queries and keys are of length 1 in each head.
  auto unit = [&](const char *what, int64_t place) {
    NormConfig length;
    length.epsilon = 1e-6;
    Value y = convolve(model, config, name + what + "_conv", source,
                       part(what, place * keys, keys),
                       place * config.keyWidth(), config.keyWidth());
    y = model.groupNorm(name + what, source, y, groups, /*size=*/0, length,
                        seq::NormMeasure::SumSquare);
    return model.reshape(name + "mixer", y, {groups, keys});
  };
  Value query = unit("q", 0), key = unit("k", 1);
  Value value = convolve(model, config, name + "v_conv", source,
                         part("v", 2 * keys, values), 2 * config.keyWidth(),
                         config.inner());
  value = model.reshape(name + "mixer", value, {config.heads, config.values});
  Value rate =
      model.activate(name + "b", number("b", 0), seq::Nonlinearity::Sigmoid);
  Value step = number("a", heads);
  Value decay = model.vector(name + "a_log", source + "A_log", config.heads);
  Value bias = model.vector(name + "dt_bias", source + "dt_bias", config.heads);
  Value state =
      model.state(name + "mixer", {config.heads, keys, config.values});
  auto op = seq::GatedDeltaRuleOp::create(
      model.getBuilder(), model.at(name + "mixer"), value.getType(),
      state.getType(), query, key, value, rate, step, decay, bias, state,
      llvm::APFloat(1 / std::sqrt(double(keys))), /*form=*/nullptr);
  model.setNextState(op.getNextState());
  NormConfig norm;
  norm.epsilon = epsilon;
  Value y = model.groupNorm(
      name + "norm", source + "norm",
      model.reshape(name + "mixer", op.getY(), {config.inner()}), config.heads,
      config.values, norm);
  Value gate = model.activate(name + "z", part("z", 2 * keys + values, values),
                              seq::Nonlinearity::Silu);
  return model.project(name + "out", source + "out_proj",
                       model.mul(name + "norm", y, gate), model.getWidth());
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importQwen3Next(FamilyInput &input) {
  Qwen3NextConfig config = readQwen3Next(input);
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  // Layers that guess several tokens at once.
  leaveAside(input, {"rotary_emb.inv_freq"}, {"mtp."});
  TextModelConfig text = textModelOf(decoder, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(decoder.layers.size()); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      auto norm = [&](const char *part, const char *tensor, Value token) {
        return model.norm(name + part, source + tensor, token, decoder.norm);
      };
      auto mix = [&](Value token) {
        return config.linear[size_t(layer)] == 1
                   ? emitDelta(model, config.delta, decoder.norm.epsilon,
                               input.checkpoint.has(
                                   source + "linear_attn.in_proj_qkv.weight"),
                               name, source + "linear_attn.", token)
                   : emitAttention(model, decoder.attention,
                                   decoder.layers[size_t(layer)],
                                   {name + "attention", source + "self_attn."},
                                   token);
      };
      x = emitBlock(model, name, BlockOrder::NormFirst,
                    {[&](Value token) {
                       return norm("mixer_norm", "input_layernorm", token);
                     },
                     mix,
                     [&](Value token) {
                       return norm("mlp_norm", "post_attention_layernorm",
                                   token);
                     },
                     [&](Value token) {
                       return emitMlpOrExperts(model, decoder, layer, name,
                                               source + "mlp.", token);
                     }},
                    x);
    }
    return x;
  });
}
