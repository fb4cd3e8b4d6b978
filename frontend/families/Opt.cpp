#include "frontend/families/Opt.h"

#include "frontend/model/Block.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

struct OptConfig {
  TextModelConfig text;
  int64_t layers = 1;
  int64_t context = 1;
  AttentionConfig attention;
  MlpConfig mlp;
  BlockOrder order = BlockOrder::NormFirst;
  bool endNorm = true;
};

} // namespace

static OptConfig readOpt(FamilyInput &input) {
  ConfigReader &reader = input.config;
  OptConfig config;
  TextModelConfig &text = config.text;
  text.family = "opt";
  text.vocabulary = input.vocabulary;
  text.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  text.embeddingWidth =
      reader.getIntegerIfSet("word_embed_proj_dim", 1, kMostDimension)
          .value_or(text.width);
  text.head.tied = reader.getBoolean("tie_word_embeddings", true);
  config.layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  config.context =
      reader.requireInteger("max_position_embeddings", 1, kMostContext);
  config.attention =
      readEqualHeads(reader, "num_attention_heads", text.width, "hidden_size");
  config.mlp.hidden = reader.requireInteger("ffn_dim", 1, kMostDimension);
  config.mlp.activation =
      readActivation(reader, "activation_function", seq::Nonlinearity::Relu);
  bool bias = reader.getBoolean("enable_bias", true);
  config.attention.inputBias = config.attention.outputBias = bias;
  config.mlp.bias = bias;
  bool affine = reader.getBoolean("layer_norm_elementwise_affine", true);
  text.norm.centred = true;
  text.norm.weight = text.norm.bias = affine;
  bool first = reader.getBoolean("do_layer_norm_before", true);
  config.order = first ? BlockOrder::NormFirst : BlockOrder::NormLast;
  config.endNorm = !reader.getBoolean("_remove_final_layer_norm", false);
  config.endNorm &= first;
  ignoreHarmless(reader, input.remarks,
                 {"activation_dropout", "dropout", "layerdrop", "init_std"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importOpt(FamilyInput &input) {
  OptConfig config = readOpt(input);
  if (llvm::Error error = input.config.finish())
    return error;
  TextModelConfig &text = config.text;
  std::string prefix =
      findPrefix(input, {"model.decoder.", "decoder."},
                 {"embed_tokens.weight", "embed_positions.weight"});
  text.head.table = prefix + "embed_tokens.weight";
  text.context = chooseContext(input, config.context);
  bool narrow = text.embeddingWidth != text.width;
  if (narrow)
    text.endProjection = prefix + "project_out";
  if (config.endNorm)
    text.endNorm = prefix + "final_layer_norm";
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    if (narrow)
      x = model.project("begin", prefix + "project_in", x, text.width);
    // The table begins with two rows that no position has.
    x = addPositions(model, prefix + "embed_positions.weight", config.context,
                     /*offset=*/2, x);
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = prefix + name;
      AttentionNames attention{name + "attention", source + "self_attn."};
      attention.output = "out_proj";
      MlpNames mlp{name + "mlp", source};
      mlp.gate = "";
      mlp.up = "fc1";
      mlp.down = "fc2";
      x = emitBlock(
          model, name, config.order,
          {[&](Value token) {
             return model.norm(name + "mixer_norm",
                               source + "self_attn_layer_norm", token,
                               text.norm);
           },
           [&](Value token) {
             return emitAttention(model, config.attention, LayerAttention(),
                                  attention, token);
           },
           [&](Value token) {
             return model.norm(name + "mlp_norm", source + "final_layer_norm",
                               token, text.norm);
           },
           [&](Value token) { return emitMlp(model, config.mlp, mlp, token); }},
          x);
    }
    return x;
  });
}
