#include "frontend/families/Bloom.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Block.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct BloomConfig {
  TextModelConfig text;
  int64_t layers = 1;
  int64_t context = 1;
  AttentionConfig attention;
  MlpConfig mlp;
  BlockOrder order = BlockOrder::NormFirst;
};

} // namespace

/// The one of two names that is there, the first where none is.
static llvm::StringRef oneOf(ConfigReader &reader, llvm::StringRef name,
                             llvm::StringRef other) {
  return !reader.isSet(name) && reader.isSet(other) ? other : name;
}

static BloomConfig readBloom(FamilyInput &input) {
  ConfigReader &reader = input.config;
  BloomConfig config;
  TextModelConfig &text = config.text;
  text.family = "bloom";
  text.vocabulary = input.vocabulary;
  llvm::StringRef width = oneOf(reader, "n_embed", "hidden_size");
  text.width = reader.requireInteger(width, 1, kMostDimension);
  config.layers = reader.requireInteger(
      oneOf(reader, "n_layer", "num_hidden_layers"), 1, kMostLayers);
  config.attention =
      readEqualHeads(reader, oneOf(reader, "n_head", "num_attention_heads"),
                     text.width, width);
  config.attention.inputBias = config.attention.outputBias = true;
  config.attention.slopes = true;
  // Slopes know no longest context; this is what the models were trained with.
  config.context =
      reader.getIntegerIfSet("seq_length", 1, kMostContext).value_or(2048);
  text.norm.epsilon = reader.getNumber("layer_norm_epsilon", 0, 1, 1e-5);
  text.norm.centred = text.norm.bias = true;
  config.mlp.hidden = 4 * text.width;
  config.mlp.activation = seq::Nonlinearity::GeluTanh;
  config.mlp.bias = true;
  std::optional<int64_t> hidden =
      reader.getIntegerIfSet("n_inner", 1, kMostDimension);
  if (hidden && *hidden != config.mlp.hidden)
    reader.report("expects 'n_inner' to be null or " +
                  Twine(config.mlp.hidden) + ", but got " + Twine(*hidden));
  if (reader.getBoolean("apply_residual_connection_post_layernorm", false))
    config.order = BlockOrder::NormedTokens;
  text.head.tied = reader.getBoolean("tie_word_embeddings", true);
  // How its training was cut, and kernels of its training.
  ignoreHarmless(reader, input.remarks,
                 {"hidden_dropout", "slow_but_exact", "offset_alibi",
                  "attention_softmax_in_fp32", "bias_dropout_fusion",
                  "masked_softmax_fusion", "skip_bias_add", "skip_bias_add_qkv",
                  "unk_token_id"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importBloom(FamilyInput &input) {
  BloomConfig config = readBloom(input);
  if (llvm::Error error = input.config.finish())
    return error;
  TextModelConfig &text = config.text;
  // The first releases lie without the prefix.
  std::string prefix = findPrefix(
      input, {"transformer.", ""},
      {"word_embeddings.weight", "word_embeddings_layernorm.weight"});
  text.head.table = prefix + "word_embeddings.weight";
  text.endNorm = prefix + "ln_f";
  text.context = chooseContext(input, config.context);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    x = model.norm("embeddings_norm", prefix + "word_embeddings_layernorm", x,
                   text.norm);
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = (prefix + "h." + Twine(layer) + ".").str();
      AttentionNames attention{name + "attention", source + "self_attention."};
      attention.fused = "query_key_value";
      attention.inTurn = !input.stored.queriesFirst;
      attention.output = "dense";
      MlpNames mlp{name + "mlp", source + "mlp."};
      mlp.gate = "";
      mlp.up = "dense_h_to_4h";
      mlp.down = "dense_4h_to_h";
      x = emitBlock(
          model, name, config.order,
          {[&](Value token) {
             return model.norm(name + "mixer_norm", source + "input_layernorm",
                               token, text.norm);
           },
           [&](Value token) {
             return emitAttention(model, config.attention, LayerAttention(),
                                  attention, token);
           },
           [&](Value token) {
             return model.norm(name + "mlp_norm",
                               source + "post_attention_layernorm", token,
                               text.norm);
           },
           [&](Value token) { return emitMlp(model, config.mlp, mlp, token); }},
          x);
    }
    return x;
  });
}
