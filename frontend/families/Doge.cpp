#include "frontend/families/Doge.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/DynamicMask.h"
#include "frontend/model/RetrievedExperts.h"
#include "frontend/model/TextModel.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// What the tensors of a layout are called.
struct DogeNames {
  llvm::StringLiteral table, endNorm, mixerNorm, mixerResidual, mlpNorm,
      mlpResidual, mlp;
};

constexpr DogeNames kPublicNames = {"model.embed_tokens.weight",
                                    "model.norm",
                                    "input_layernorm",
                                    "input_residual",
                                    "post_attention_layernorm",
                                    "post_attention_residual",
                                    "mlp."};
/// Those of the authors' repository and of its first checkpoints.
constexpr DogeNames kAuthorsNames = {"model.word_embed.weight",
                                     "model.final_layernorm",
                                     "pre_layernorm",
                                     "pre_residual.weight",
                                     "post_layernorm",
                                     "post_residual.weight",
                                     "feed_forward."};

struct DogeConfig {
  DecoderConfig decoder;
  DogeNames names = kPublicNames;
  /// N, the heads of numbers that keys have.
  int64_t masks = 1;
  /// Keys of the largest numbers that a query attends to; absent: all.
  std::optional<int64_t> keep;
  /// N experts of one hidden unit, S keys of each half, and the experts that a
  /// token takes; no experts: 0.
  int64_t experts = 0, halfKeys = 1, taken = 1;
  /// Those whose keys are vectors, instead.
  std::optional<RetrievedExperts> retrieved;
};

} // namespace

/// Experts whose scores are one product's rows.
static void readRouted(ConfigReader &reader, DogeConfig &config) {
  bool routed = reader.getBoolean("is_moe", false);
  int64_t experts = reader.getInteger("num_experts", 1, kMostDimension, 16384);
  config.taken =
      reader.getInteger("num_experts_per_tok", 1, kMostDimension, 64);
  if (!routed)
    return;
  config.experts = experts;
  config.halfKeys = int64_t(std::sqrt(double(experts)));
  int64_t reached = config.halfKeys * config.halfKeys;
  if (!reader.hasProblem() && config.taken > reached)
    reader.report("expects 'num_experts_per_tok' up to the " + Twine(reached) +
                  " of 'num_experts' that keys reach, but "
                  "got " +
                  Twine(config.taken));
}

/// What the public library's configuration says beside what both do.
static void readPublic(FamilyInput &input, DogeConfig &config) {
  ConfigReader &reader = input.config;
  DecoderConfig &decoder = config.decoder;
  bool bias = reader.getBoolean("attention_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  decoder.attention.headNorm = decoder.norm;
  decoder.mlp.bias = reader.getBoolean("mlp_bias", false);
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  for (LayerAttention &layer : decoder.layers)
    layer.window = window;
  config.masks = decoder.attention.keyHeads;
  config.keep = reader.getInteger("keep_window_size", 1, kMostContext, 2048);
  readRouted(reader, config);
}

/// The same of the authors', which knows no norm of queries and keys, and a
/// number of each key for every head.
static void readAuthors(FamilyInput &input, DogeConfig &config) {
  ConfigReader &reader = input.config;
  DecoderConfig &decoder = config.decoder;
  config.names = kAuthorsNames;
  bool bias = reader.getBoolean("hidden_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  decoder.mlp.bias = bias;
  config.masks = decoder.attention.heads;
  // Its selection looks at keys behind the query.
  if (reader.getNumber("dynamic_mask_ratio", 0, 1, 0) != 0)
    reader.reportMismatch("dynamic_mask_ratio", "0",
                          *reader.get("dynamic_mask_ratio"));
  // Where it is true, keys have no numbers.
  if (reader.getBoolean("is_causal", false))
    reader.report("expects 'is_causal' to be false, but got true");
  if (reader.get("num_cdmoe_experts")) {
    config.retrieved = readRetrievedExperts(reader);
    if (config.retrieved)
      config.retrieved->activation = decoder.mlp.activation;
  } else {
    readRouted(reader, config);
  }
  // The window of keys that a mask spares, and of images a model that sees.
  ignoreHarmless(reader, input.remarks,
                 {"keep_window_size", "num_channels", "patch_size"});
}

static DogeConfig readDoge(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DogeConfig config;
  DecoderConfig &decoder = config.decoder;
  bool authors = reader.get("hidden_bias");
  decoder = readDecoder(reader, input.vocabulary, /*tiedByDefault=*/authors);
  decoder.family = "doge";
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  RotaryConfig rotary =
      readRotary(reader, input, {decoder.attention.keys, decoder.context});
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  if (authors)
    readAuthors(input, config);
  else
    readPublic(input, config);
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
  auto project = [&](MatrixRole role, const char *part, const char *tensor,
                     int64_t rows) {
    return model.project(role, name + part, source + tensor, x, rows,
                         attention.inputBias);
  };
  auto normed = [&](MatrixRole role, const char *part, const char *tensor,
                    const char *norm, int64_t count) {
    Value y = project(role, part, tensor, count * keys);
    if (attention.headNorm)
      y = model.groupNorm(name + part + "_norm", source + norm, y, count, keys,
                          *attention.headNorm);
    return model.reshape(name + part, y, {count, keys});
  };
  Value query = normed(MatrixRole::Other, ".query", "q_proj", "q_norm", heads);
  Value key = normed(MatrixRole::Keys, ".key", "k_proj", "k_norm", keyHeads);
  Value value =
      project(MatrixRole::Values, ".value", "v_proj", attention.keyWidth());
  AttentionExtras extras;
  extras.numbers =
      keyNumbers(model, name + ".mask",
                 model.project(name + ".mask", source + "dt_proj", value,
                               config.masks, attention.inputBias),
                 model.vector(name + ".rate", source + "A", config.masks));
  extras.effect = seq::KeyScore::Bias;
  extras.keep = config.keep;
  addSinks(model, name, layer, query, extras);
  Value mixed = attend(model, name, attention, layer.window,
                       turn(model, name + ".query", layer, query),
                       turn(model, name + ".key", layer, key),
                       model.reshape(name, value, {keyHeads, keys}), extras);
  return model.project(MatrixRole::AttentionOut, name + ".out",
                       source + "o_proj",
                       model.reshape(name, mixed, {attention.inner()}),
                       model.getWidth(), attention.outputBias);
}

/// What experts of one hidden unit add to the MLP.
static Value emitRouted(ModelBuilder &model, const DogeConfig &config,
                        const std::string &name, const std::string &source,
                        Value x) {
  int64_t width = model.getWidth();
  Value scores = model.project(MatrixRole::Router, name + ".router",
                               source + "router_gate", x, 2 * config.halfKeys);
  auto table = [&](MatrixRole role, const char *part, const char *tensor) {
    return model.matrix(role, name + part, source + tensor, config.experts,
                        width);
  };
  return seq::ProductKeyExpertsOp::create(
      model.getBuilder(), model.at(name), x.getType(), x,
      model.reshape(name + ".router", scores, {2, 1, config.halfKeys}),
      table(MatrixRole::Down, ".down", "down_embed.weight"),
      table(MatrixRole::Other, ".up", "up_embed.weight"), config.taken,
      config.decoder.mlp.activation, seq::RetrievalWeighting::Softmax,
      /*weight_inside=*/false,
      /*form=*/nullptr);
}

/// What either kind of experts adds, if there are any.
static Value emitBeside(ModelBuilder &model, const DogeConfig &config,
                        const std::string &name, const std::string &source,
                        Value x) {
  if (config.retrieved)
    return emitRetrievedExperts(model, *config.retrieved, name, source, x);
  if (config.experts > 0)
    return emitRouted(model, config, name + "experts", source, x);
  return {};
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importDoge(FamilyInput &input) {
  DogeConfig config = readDoge(input);
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  const DogeNames &names = config.names;
  leaveAside(input, {"rotary_emb.inv_freq", "rotary_emb.original_inv_freq"});
  TextModelConfig text = textModelOf(decoder, input);
  text.head.table = names.table;
  text.endNorm = names.endNorm;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (size_t layer = 0; layer < decoder.layers.size(); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      // Each channel of the residual has a weight of its own.
      auto add = [&](const std::string &part, llvm::StringRef tensor,
                     Value token, Value made) {
        Value weight =
            model.vector(name + part, source + tensor, decoder.width);
        token = model.mul(name + part, token,
                          model.broadcast(name + part, weight, token));
        return model.add(name + part, token, made);
      };
      auto norm = [&](const char *part, llvm::StringRef tensor) {
        return model.norm(name + part, source + tensor, x, decoder.norm);
      };
      Value normed = norm("mixer_norm", names.mixerNorm);
      x = add("mixer_residual", names.mixerResidual, x,
              emitDynamicMask(model, config, decoder.layers[layer],
                              name + "attention", source + "self_attn.",
                              normed));
      normed = norm("mlp_norm", names.mlpNorm);
      std::string inner = source + names.mlp.str();
      Value made = emitMlp(model, decoder.mlp, {name + "mlp", inner}, normed);
      if (Value more = emitBeside(model, config, name, inner, normed))
        made = model.add(name + "experts", made, more);
      x = add("mlp_residual", names.mlpResidual, x, made);
    }
    return x;
  });
}
