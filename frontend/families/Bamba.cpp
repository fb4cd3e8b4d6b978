#include "frontend/families/Bamba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/StateSpaceMixer.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

struct BambaConfig {
  DecoderConfig decoder;
  StateSpaceConfig mixer;
  /// The layers that attend.
  std::vector<bool> attends;
};

} // namespace

static BambaConfig readBamba(FamilyInput &input) {
  ConfigReader &reader = input.config;
  BambaConfig config;
  DecoderKeys keys;
  keys.epsilonOtherwise = 1e-5;
  keys.context = "";
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "bamba";
  // Released files leave it out: the public library's number.
  decoder.context =
      reader.getInteger("max_position_embeddings", 1, kMostContext, 262144);
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  decoder.mlp.bias = reader.getBoolean("mlp_bias", false);
  bool bias = reader.getBoolean("attention_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  config.attends = readListedLayers(reader, "attn_layer_indices",
                                    int64_t(decoder.layers.size()));
  // Outside of 'rope_parameters' the public library takes 0.5 whatever it says.
  reader.getNumber("partial_rotary_factor", 0.5, 0.5, 0.5);
  // The channels that turn, as the first releases say it.
  int64_t turned = decoder.attention.keys / 2;
  if (reader.isSet("attn_rotary_emb") && !reader.hasProblem())
    reader.getInteger("attn_rotary_emb", turned, turned, turned);
  RotaryRequest request{decoder.attention.keys, decoder.context};
  request.turned = 0.5;
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  config.mixer = readStateSpaceMixer(reader, input, decoder.width);
  config.mixer.epsilon = decoder.norm.epsilon;
  ignoreHarmless(reader, input.remarks,
                 {"mamba_chunk_size", "mamba_dt_rank", "num_logits_to_keep",
                  "use_mamba_kernels", "z_loss_coefficient"});
  return config;
}

static Value emitLayer(ModelBuilder &model, const BambaConfig &config,
                       int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto mix = [&](Value token) {
    if (!config.attends[size_t(layer)])
      return emitStateSpaceMixer(model, config.mixer, name, source + "mamba.",
                                 token, decoder.mlp.activation);
    return emitAttention(model, decoder.attention,
                         decoder.layers[size_t(layer)],
                         {name + "attention", source + "self_attn."}, token);
  };
  auto feed = [&](Value token) {
    return emitMlp(model, decoder.mlp, {name + "mlp", source + "feed_forward."},
                   token);
  };
  return emitNormFirstLayer(model, decoder, names, "input_layernorm",
                            "pre_ff_layernorm", mix, feed, x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importBamba(FamilyInput &input) {
  BambaConfig config = readBamba(input);
  if (llvm::Error error = input.config.finish())
    return error;
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(config.decoder, input);
  text.endNorm = config.decoder.prefix + "final_layernorm";
  config.mixer.normGroups = chooseNormGroups(config.mixer, input);
  if (!llvm::is_contained(config.attends, true))
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.attends.size()); ++layer)
      x = emitLayer(model, config, layer, x);
    return x;
  });
}
