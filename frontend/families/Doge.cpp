#include "frontend/families/Doge.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/DynamicMask.h"
#include "frontend/model/TextModel.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct DogeConfig {
  DecoderConfig decoder;
  /// Keys of the largest numbers that a query attends to.
  int64_t keep = 1;
  /// N experts of one hidden unit, S keys of each half, and the experts that a
  /// token takes; no experts: 0.
  int64_t experts = 0, halfKeys = 1, taken = 1;
};

} // namespace

static DogeConfig readDoge(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DogeConfig config;
  DecoderConfig &decoder = config.decoder;
  decoder = readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  decoder.family = "doge";
  bool bias = reader.getBoolean("attention_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  decoder.attention.headNorm = decoder.norm;
  decoder.mlp.bias = reader.getBoolean("mlp_bias", false);
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  RotaryConfig rotary =
      readRotary(reader, input, {decoder.attention.keys, decoder.context});
  for (LayerAttention &layer : decoder.layers) {
    layer.rotary = rotary;
    layer.window = window;
  }
  config.keep = reader.getInteger("keep_window_size", 1, kMostContext, 2048);
  bool routed = reader.getBoolean("is_moe", false);
  int64_t experts = reader.getInteger("num_experts", 1, kMostDimension, 16384);
  config.taken =
      reader.getInteger("num_experts_per_tok", 1, kMostDimension, 64);
  if (routed) {
    config.experts = experts;
    config.halfKeys = int64_t(std::sqrt(double(experts)));
    int64_t reached = config.halfKeys * config.halfKeys;
    if (!reader.hasProblem() && config.taken > reached)
      reader.report("expects 'num_experts_per_tok' up to the " +
                    Twine(reached) +
                    " of 'num_experts' that keys reach, but "
                    "got " +
                    Twine(config.taken));
  }
  // A softmax over the chosen experts sums up to 1 already.
  ignoreHarmless(reader, input.remarks,
                 {"hidden_dropout", "norm_topk_prob", "output_router_logits",
                  "router_aux_loss_coef"});
  return config;
}

/// Attention whose scores have a number of each key added, which follows from
/// the values of all its heads.
static Value emitDynamicMask(ModelBuilder &model, const DogeConfig &config,
                             const LayerAttention &given,
                             const std::string &name, const std::string &source,
                             Value x) {
  LayerAttention layer = streamed(model, name, given);
  const AttentionConfig &attention = config.decoder.attention;
  int64_t heads = attention.heads, keyHeads = attention.keyHeads,
          keys = attention.keys;
  auto project = [&](const char *part, const char *tensor, int64_t rows) {
    return model.project(name + part, source + tensor, x, rows,
                         attention.inputBias);
  };
  auto normed = [&](const char *part, const char *tensor, const char *norm,
                    int64_t count) {
    Value y = project(part, tensor, count * keys);
    y = model.groupNorm(name + part + "_norm", source + norm, y, count, keys,
                        *attention.headNorm);
    return model.reshape(name + part, y, {count, keys});
  };
  Value query = normed(".query", "q_proj", "q_norm", heads);
  Value key = normed(".key", "k_proj", "k_norm", keyHeads);
  Value value = project(".value", "v_proj", attention.keyWidth());
  AttentionExtras extras;
  extras.numbers =
      keyNumbers(model, name + ".mask",
                 model.project(name + ".mask", source + "dt_proj", value,
                               keyHeads, attention.inputBias),
                 model.vector(name + ".rate", source + "A", keyHeads));
  extras.effect = seq::KeyScore::Bias;
  extras.keep = config.keep;
  addSinks(model, name, layer, query, extras);
  Value mixed = attend(model, name, attention, layer.window,
                       turn(model, name + ".query", layer, query),
                       turn(model, name + ".key", layer, key),
                       model.reshape(name, value, {keyHeads, keys}), extras);
  return model.project(name + ".out", source + "o_proj",
                       model.reshape(name, mixed, {attention.inner()}),
                       model.getWidth(), attention.outputBias);
}

/// What retrieved experts of one hidden unit add to the MLP.
static Value emitRetrieved(ModelBuilder &model, const DogeConfig &config,
                           const std::string &name, const std::string &source,
                           Value x) {
  int64_t width = model.getWidth();
  Value scores = model.project(name + ".router", source + "router_gate", x,
                               2 * config.halfKeys);
  auto table = [&](const char *part, const char *tensor) {
    return model.matrix(name + part, source + tensor, config.experts, width);
  };
  return seq::ProductKeyExpertsOp::create(
      model.getBuilder(), model.at(name), x.getType(), x,
      model.reshape(name + ".router", scores, {2, 1, config.halfKeys}),
      table(".down", "down_embed.weight"), table(".up", "up_embed.weight"),
      config.taken, config.decoder.mlp.activation,
      seq::RetrievalWeighting::Softmax, /*weight_inside=*/false,
      /*form=*/nullptr);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importDoge(FamilyInput &input) {
  DogeConfig config = readDoge(input);
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(decoder, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (size_t layer = 0; layer < decoder.layers.size(); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      // Each channel of the residual has a weight of its own.
      auto add = [&](const std::string &part, const char *tensor, Value token,
                     Value made) {
        Value weight =
            model.vector(name + part, source + tensor, decoder.width);
        token = model.mul(name + part, token,
                          model.broadcast(name + part, weight, token));
        return model.add(name + part, token, made);
      };
      Value normed = model.norm(name + "mixer_norm", source + "input_layernorm",
                                x, decoder.norm);
      x = add("mixer_residual", "input_residual", x,
              emitDynamicMask(model, config, decoder.layers[layer],
                              name + "attention", source + "self_attn.",
                              normed));
      normed = model.norm(name + "mlp_norm",
                          source + "post_attention_layernorm", x, decoder.norm);
      std::string inner = source + "mlp.";
      Value made = emitMlp(model, decoder.mlp, {name + "mlp", inner}, normed);
      if (config.experts > 0)
        made = model.add(
            name + "experts", made,
            emitRetrieved(model, config, name + "experts", inner, normed));
      x = add("mlp_residual", "post_attention_residual", x, made);
    }
    return x;
  });
}
