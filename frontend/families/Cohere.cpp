#include "frontend/families/Cohere.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Block.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

/// Keys of the first releases, which the public library does not read: they say
/// what the model is.
static void checkFixedKeys(ConfigReader &reader) {
  for (llvm::StringRef key :
       {"use_embedding_sharing", "use_gated_activation", "use_parallel_block"})
    if (!reader.getBoolean(key, true))
      reader.report("expects " + quote(key) + " to be true, but got false");
  if (reader.getBoolean("use_qk_norm", false))
    reader.report("expects 'use_qk_norm' to be false, but got true");
  reader.getNumber("rotary_pct", 1, 1, 1);
  auto check = [&](llvm::StringRef key, llvm::StringRef expected) {
    const std::string *name =
        reader.isSet(key) ? reader.getString(key) : nullptr;
    if (name && *name != expected)
      reader.reportMismatch(key, expected, *reader.get(key));
  };
  check("position_embedding_type", "rope_gptj");
  check("order_of_interleaved_layers", "local_attn_first");
}

static DecoderConfig readCohere2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderKeys keys;
  keys.epsilon = "layer_norm_eps";
  keys.epsilonOtherwise = 1e-5;
  DecoderConfig config =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true, keys);
  config.family = "cohere2";
  config.norm.centred = true;
  config.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  bool bias = reader.getBoolean("attention_bias", false);
  config.attention.inputBias = config.attention.outputBias = bias;
  config.logitScale =
      reader.getNumberIfSet("logit_scale", 1e-9, 1e9).value_or(0.0625);
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  if (!reader.get("sliding_window"))
    window = 4096;
  int64_t period =
      reader.getInteger("sliding_window_pattern", 1, kMostLayers,
                        reader.getInteger("layer_switch", 1, kMostLayers, 4));
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(config.layers.size()),
      {"full_attention", "sliding_attention"},
      [&](int64_t layer) -> unsigned { return (layer + 1) % period != 0; });
  RotaryConfig rotary =
      readRotary(reader, input, {config.attention.keys, config.context});
  rotary.layout = seq::RotaryPairs::Interleaved;
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds)) {
    layer.window = kind == 1 ? window : 0;
    // A layer turns where it has a window.
    if (layer.window > 0)
      layer.rotary = rotary;
  }
  checkFixedKeys(reader);
  ignoreHarmless(reader, input.remarks,
                 {"cache_implementation", "use_parallel_embedding"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importCohere2(FamilyInput &input) {
  DecoderConfig config = readCohere2(input);
  if (llvm::Error error = input.config.finish())
    return error;
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(config, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (size_t layer = 0; layer < config.layers.size(); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".",
                  source = config.prefix + name;
      Value normed =
          model.norm(name + "norm", source + "input_layernorm", x, config.norm);
      auto shared = [&](Value) { return normed; };
      auto mix = [&](Value token) {
        return emitAttention(model, config.attention, config.layers[layer],
                             {name + "attention", source + "self_attn."},
                             token);
      };
      auto feed = [&](Value token) {
        return emitMlp(model, config.mlp, {name + "mlp", source + "mlp."},
                       token);
      };
      x = emitBlock(model, name, BlockOrder::Parallel,
                    {shared, mix, shared, feed}, x);
    }
    return x;
  });
}
