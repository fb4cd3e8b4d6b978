#include "frontend/families/Lfm2.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/GatedConvolution.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

struct Lfm2Config {
  DecoderConfig decoder;
  GatedConvolutionConfig convolution;
  /// 1 for a layer that attends.
  std::vector<unsigned> attends;
  /// The first layers, which have an MLP where others have experts.
  int64_t dense = 0;
};

} // namespace

/// The layers that attend by their numbers, where that key counts: `kinds` is
/// what `layer_types` says, or all of them.
static void readAttendingLayers(ConfigReader &reader,
                                std::vector<unsigned> &kinds) {
  constexpr llvm::StringLiteral kKey = "full_attn_idxs";
  if (!reader.isSet(kKey))
    return;
  std::vector<bool> read =
      readListedLayers(reader, kKey, int64_t(kinds.size()));
  std::vector<unsigned> listed(read.begin(), read.end());
  if (!reader.hasProblem() && reader.isSet("layer_types") && listed != kinds)
    return reader.report(
        "expects " + quote(kKey) + " to name the " +
        Twine(llvm::count(kinds, 1u)) +
        " layers of full_attention in 'layer_types', but got " +
        Twine(llvm::count(listed, 1u)));
  kinds = listed;
}

/// `intermediate_size`, which older files call `block_ff_dim`, or the width of
/// the MLP that follows from it.
static int64_t readHidden(ConfigReader &reader, bool adjustedByDefault) {
  std::optional<int64_t> older =
      reader.getIntegerIfSet("block_ff_dim", 1, kMostDimension);
  int64_t hidden =
      older && !reader.get("intermediate_size")
          ? *older
          : reader.requireInteger("intermediate_size", 1, kMostDimension);
  hidden = older.value_or(hidden);
  bool isAdjusted =
      reader.getBoolean("block_auto_adjust_ff_dim", adjustedByDefault);
  constexpr llvm::StringLiteral kFactor = "block_ffn_dim_multiplier";
  std::optional<double> factor = reader.getNumberIfSet(kFactor, 1e-3, 1e3);
  int64_t multiple =
      reader.getInteger("block_multiple_of", 1, kMostDimension, 256);
  if (!isAdjusted)
    return hidden;
  hidden = 2 * hidden / 3;
  if (reader.get(kFactor) && !factor)
    return hidden; // null
  hidden = int64_t(factor.value_or(1) * double(hidden));
  return (hidden + multiple - 1) / multiple * multiple;
}

/// Keys that say once more what others do.
static void checkRepeated(ConfigReader &reader, const DecoderConfig &decoder) {
  auto check = [&](llvm::StringRef key, int64_t size, llvm::StringRef other) {
    if (!reader.isSet(key))
      return;
    int64_t found = reader.getInteger(key, 1, kMostDimension, size);
    if (!reader.hasProblem() && found != size)
      reader.report("expects " + quote(key) + " to be " + quote(other) + " " +
                    Twine(size) + ", but got " + Twine(found));
  };
  for (llvm::StringRef key : {"block_dim", "conv_dim", "conv_dim_out"})
    check(key, decoder.width, "hidden_size");
  check("num_heads", decoder.attention.heads, "num_attention_heads");
  for (llvm::StringRef key : {"block_use_swiglu", "use_pos_enc"})
    if (!reader.getBoolean(key, true))
      reader.report("expects " + quote(key) + " to be true, but got false");
}

static Lfm2Config readLfm2(FamilyInput &input, bool hasExperts) {
  ConfigReader &reader = input.config;
  Lfm2Config config;
  DecoderKeys keys;
  keys.epsilon = "norm_eps";
  keys.epsilonOtherwise = 1e-5;
  keys.hidden = "";
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true, keys);
  DecoderConfig &decoder = config.decoder;
  decoder.family = hasExperts ? "lfm2_moe" : "lfm2";
  // The older key wins.
  decoder.head.tied = reader.getBoolean("tie_embedding", decoder.head.tied);
  decoder.attention.headNorm = decoder.norm;
  decoder.mlp.hidden =
      hasExperts ? reader.requireInteger("intermediate_size", 1, kMostDimension)
                 : readHidden(reader, true);
  config.convolution = readGatedConvolution(reader, /*tapsByDefault=*/3);
  if (hasExperts && !reader.isSet("layer_types"))
    reader.report("lacks 'layer_types'");
  config.attends =
      readLayerPattern(reader, "layer_types", int64_t(decoder.layers.size()),
                       {"conv", "full_attention"}, [](int64_t) { return 1u; });
  if (!hasExperts)
    readAttendingLayers(reader, config.attends);
  RotaryRequest request{decoder.attention.keys, decoder.context};
  request.theta = 1e6;
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  checkRepeated(reader, decoder);
  ignoreHarmless(reader, input.remarks,
                 {"block_mlp_init_scale", "block_norm_eps",
                  "block_out_init_scale", "block_use_xavier_init",
                  "conv_use_xavier_init", "output_router_logits",
                  "router_aux_loss_coef", "theta"});
  return config;
}

static void readLfm2Experts(ConfigReader &reader, Lfm2Config &config) {
  DecoderConfig &decoder = config.decoder;
  config.dense = reader.getInteger("num_dense_layers", 0, kMostLayers, 2);
  decoder.experts = readExperts(reader, /*normalised=*/true);
  ExpertsConfig &experts = *decoder.experts;
  experts.score = RouterScore::Sigmoid;
  experts.shareEpsilon = 1e-6;
  experts.balanced = reader.getBoolean("use_expert_bias", true);
  experts.scale = reader.getNumber("routed_scaling_factor", 1e-6, 1e6, 1);
}

static Value emitFeedForward(ModelBuilder &model, const Lfm2Config &config,
                             int64_t layer, const std::string &name,
                             const std::string &source, Value x) {
  const DecoderConfig &decoder = config.decoder;
  if (decoder.experts && layer >= config.dense) {
    ExpertsNames names{name + "experts", source};
    names.gate = "w1";
    names.up = "w3";
    names.down = "w2";
    names.balance = "expert_bias";
    return emitExperts(model, *decoder.experts, names, x);
  }
  MlpNames names{name + "mlp", source};
  names.gate = "w1";
  names.up = "w3";
  names.down = "w2";
  return emitMlp(model, decoder.mlp, names, x);
}

static Value emitLayer(ModelBuilder &model, const Lfm2Config &config,
                       int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto mix = [&](Value token) {
    if (config.attends[size_t(layer)] == 0)
      return emitGatedConvolution(model, config.convolution, name,
                                  source + "conv.", token);
    AttentionNames names{name + "attention", source + "self_attn."};
    names.output = "out_proj";
    names.queryNorm = "q_layernorm";
    names.keyNorm = "k_layernorm";
    return emitAttention(model, decoder.attention,
                         decoder.layers[size_t(layer)], names, token);
  };
  auto feed = [&](Value token) {
    return emitFeedForward(model, config, layer, name, source + "feed_forward.",
                           token);
  };
  return emitNormFirstLayer(model, decoder, names, "operator_norm", "ffn_norm",
                            mix, feed, x);
}

static Module import(FamilyInput &input, bool hasExperts) {
  Lfm2Config config = readLfm2(input, hasExperts);
  if (hasExperts)
    readLfm2Experts(input.config, config);
  if (llvm::Error error = input.config.finish())
    return error;
  TextModelConfig text = textModelOf(config.decoder, input);
  text.endNorm = config.decoder.prefix + "embedding_norm";
  if (!llvm::is_contained(config.attends, 1u))
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.attends.size()); ++layer)
      x = emitLayer(model, config, layer, x);
    return x;
  });
}

Module effc::frontend::importLfm2(FamilyInput &input) {
  return import(input, /*hasExperts=*/false);
}

Module effc::frontend::importLfm2Moe(FamilyInput &input) {
  return import(input, /*hasExperts=*/true);
}
