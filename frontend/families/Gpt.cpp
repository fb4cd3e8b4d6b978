#include "frontend/families/Gpt.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Block.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

/// What the three have in common; names of tensors stand behind the layer's.
struct GptConfig {
  TextModelConfig text;
  /// One for each layer.
  std::vector<AttentionConfig> attention;
  std::vector<LayerAttention> layers;
  MlpConfig mlp;
  BlockOrder order = BlockOrder::NormFirst;
  /// `max_position_embeddings`.
  int64_t context = 1;
  /// The table of positions; empty: there is none.
  std::string positions;
  std::string prefix;
  llvm::StringRef layersName, firstNorm, secondNorm, mixer;
  AttentionNames attentionNames;
  MlpNames mlpNames;
};

} // namespace

static GptConfig readGpt(FamilyInput &input, llvm::StringRef widthKey,
                         llvm::StringRef layersKey, llvm::StringRef headsKey,
                         llvm::StringRef contextKey,
                         llvm::StringRef epsilonKey) {
  ConfigReader &reader = input.config;
  GptConfig config;
  config.text.vocabulary = input.vocabulary;
  config.text.width = reader.requireInteger(widthKey, 1, kMostDimension);
  int64_t layers = reader.requireInteger(layersKey, 1, kMostLayers);
  AttentionConfig attention =
      readEqualHeads(reader, headsKey, config.text.width, widthKey);
  attention.outputBias = true;
  config.attention.assign(size_t(layers), attention);
  config.layers.resize(size_t(layers));
  config.context = reader.requireInteger(contextKey, 1, kMostContext);
  config.text.norm.epsilon = reader.getNumber(epsilonKey, 0, 1, 1e-5);
  config.text.norm.centred = config.text.norm.bias = true;
  config.mlp.bias = true;
  config.mlpNames.gate = "";
  return config;
}

/// What GPT-2 and GPT-Neo call alike.
static void setNames(GptConfig &config, FamilyInput &input,
                     llvm::StringRef mixer) {
  // The first release of GPT-2 lies without the prefix.
  config.prefix =
      findPrefix(input, {"transformer.", ""}, {"wte.weight", "wpe.weight"});
  config.text.head.table = config.prefix + "wte.weight";
  config.positions = config.prefix + "wpe.weight";
  config.text.endNorm = config.prefix + "ln_f";
  config.layersName = "h.";
  config.firstNorm = "ln_1";
  config.secondNorm = "ln_2";
  config.mixer = mixer;
  config.mlpNames.up = "c_fc";
  config.mlpNames.down = "c_proj";
}

static Module buildGpt(GptConfig &config, FamilyInput &input) {
  config.text.context = chooseContext(input, config.context);
  return buildTextModel(config.text, input, [&](ModelBuilder &model, Value x) {
    if (!config.positions.empty())
      x = addPositions(model, config.positions, config.context, /*offset=*/0,
                       x);
    for (size_t layer = 0; layer < config.layers.size(); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source =
          (config.prefix + config.layersName + Twine(layer) + ".").str();
      AttentionNames attention = config.attentionNames;
      attention.name = name + "attention";
      attention.source = (source + config.mixer + ".").str();
      MlpNames mlp = config.mlpNames;
      mlp.name = name + "mlp";
      mlp.source = source + "mlp.";
      auto norm = [&](const char *part, llvm::StringRef tensor, Value token) {
        return model.norm(name + part, source + tensor, token,
                          config.text.norm);
      };
      x = emitBlock(
          model, name, config.order,
          {[&](Value token) {
             return norm("mixer_norm", config.firstNorm, token);
           },
           [&](Value token) {
             return emitAttention(model, config.attention[layer],
                                  config.layers[layer], attention, token);
           },
           [&](Value token) {
             return norm("mlp_norm", config.secondNorm, token);
           },
           [&](Value token) { return emitMlp(model, config.mlp, mlp, token); }},
          x);
    }
    return x;
  });
}

Module effc::frontend::importGpt2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  GptConfig config = readGpt(input, "n_embd", "n_layer", "n_head",
                             "n_positions", "layer_norm_epsilon");
  config.text.family = "gpt2";
  config.text.head.tied = reader.getBoolean("tie_word_embeddings", true);
  config.mlp.hidden = reader.getIntegerIfSet("n_inner", 1, kMostDimension)
                          .value_or(4 * config.text.width);
  config.mlp.activation = readActivation(reader, "activation_function",
                                         seq::Nonlinearity::GeluTanh);
  bool scaled = reader.getBoolean("scale_attn_weights", true);
  bool byLayer = reader.getBoolean("scale_attn_by_inverse_layer_idx", false);
  for (auto [layer, attention] : llvm::enumerate(config.attention)) {
    attention.inputBias = true;
    if (!scaled)
      attention.scale = 1;
    if (byLayer)
      attention.scale /= double(layer + 1);
  }
  if (reader.getBoolean("add_cross_attention", false))
    reader.report("expects 'add_cross_attention' to be false, but got true");
  ignoreHarmless(reader, input.remarks,
                 {"attn_pdrop", "embd_pdrop", "resid_pdrop", "n_ctx",
                  "reorder_and_upcast_attn", "gradient_checkpointing",
                  "summary_activation", "summary_first_dropout",
                  "summary_proj_to_labels", "summary_type",
                  "summary_use_proj"});
  if (llvm::Error error = reader.finish())
    return error;
  leaveAside(input, {".attn.bias", ".attn.masked_bias"});
  setNames(config, input, "attn");
  config.attentionNames.fused = "c_attn";
  config.attentionNames.output = "c_proj";
  config.attentionNames.transposed = config.mlpNames.transposed =
      !input.stored.outputsFirst;
  return buildGpt(config, input);
}

/// The kinds of layers that `attention_types` lists: how often each list of
/// kinds comes.
static std::vector<unsigned> readAttentionTypes(ConfigReader &reader,
                                                int64_t layers) {
  constexpr llvm::StringLiteral kKey = "attention_types";
  std::vector<unsigned> kinds;
  const JsonValue *value = reader.get(kKey);
  const JsonArray *list = value ? value->getArray() : nullptr;
  if (!list) {
    if (value)
      reader.reportMismatch(kKey, "an array", *value);
    else
      reader.report("lacks 'attention_types'");
    return kinds;
  }
  for (const JsonValue &element : *list) {
    const JsonArray *pair = element.getArray();
    const JsonArray *names =
        pair && pair->size() == 2 ? (*pair)[0].getArray() : nullptr;
    std::optional<int64_t> times =
        names ? (*pair)[1].getInteger() : std::nullopt;
    if (!times || *times < 0 || *times > layers) {
      reader.reportMismatch(
          kKey, "pairs of an array of names and how often it comes", element);
      return kinds;
    }
    for (int64_t time = 0; time < *times; ++time)
      for (const JsonValue &entry : *names) {
        const std::string *name = entry.getString();
        if (!name || (*name != "global" && *name != "local")) {
          reader.reportMismatch(kKey, "names out of global, local", entry);
          return kinds;
        }
        kinds.push_back(*name == "local");
      }
  }
  if (int64_t(kinds.size()) != layers)
    reader.report("expects 'attention_types' to name " + Twine(layers) +
                  " layers, but got " + Twine(kinds.size()));
  return kinds;
}

Module effc::frontend::importGptNeo(FamilyInput &input) {
  ConfigReader &reader = input.config;
  GptConfig config = readGpt(input, "hidden_size", "num_layers", "num_heads",
                             "max_position_embeddings", "layer_norm_epsilon");
  config.text.family = "gpt_neo";
  config.text.head.tied = reader.getBoolean("tie_word_embeddings", true);
  config.mlp.hidden =
      reader.getIntegerIfSet("intermediate_size", 1, kMostDimension)
          .value_or(4 * config.text.width);
  config.mlp.activation = readActivation(reader, "activation_function",
                                         seq::Nonlinearity::GeluTanh);
  int64_t window = reader.getInteger("window_size", 1, kMostContext, 256);
  auto layers = int64_t(config.layers.size());
  std::vector<unsigned> kinds = readAttentionTypes(reader, layers);
  // The list written out, which the public implementation makes anew.
  std::vector<unsigned> written =
      readLayerPattern(reader, "attention_layers", layers, {"global", "local"},
                       [&](int64_t layer) -> unsigned {
                         return size_t(layer) < kinds.size() ? kinds[layer] : 0;
                       });
  if (!reader.hasProblem() && written != kinds)
    reader.report("expects 'attention_layers' to be what 'attention_types' "
                  "says, but got another list");
  if (!reader.hasProblem())
    for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds))
      layer.window = kind == 1 ? window : 0;
  // Scores are not divided by anything.
  for (AttentionConfig &attention : config.attention)
    attention.scale = 1;
  ignoreHarmless(reader, input.remarks,
                 {"classifier_dropout", "embed_dropout", "resid_dropout",
                  "gradient_checkpointing", "summary_activation",
                  "summary_first_dropout", "summary_proj_to_labels",
                  "summary_type", "summary_use_proj"});
  if (llvm::Error error = reader.finish())
    return error;
  leaveAside(input, {".attention.bias", ".attention.masked_bias"});
  setNames(config, input, "attn.attention");
  config.attentionNames.output = "out_proj";
  return buildGpt(config, input);
}

Module effc::frontend::importGptNeoX(FamilyInput &input) {
  ConfigReader &reader = input.config;
  GptConfig config =
      readGpt(input, "hidden_size", "num_hidden_layers", "num_attention_heads",
              "max_position_embeddings", "layer_norm_eps");
  config.text.family = "gpt_neox";
  config.text.head.tied = reader.getBoolean("tie_word_embeddings", false);
  config.mlp.hidden =
      reader.requireInteger("intermediate_size", 1, kMostDimension);
  config.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Gelu);
  if (reader.getBoolean("use_parallel_residual", true))
    config.order = BlockOrder::Parallel;
  bool bias = reader.getBoolean("attention_bias", true);
  RotaryRequest request{config.attention.front().keys, config.context};
  request.turned = 0.25;
  request.thetaKey = "rotary_emb_base";
  request.outerShareKey = "rotary_pct";
  RotaryConfig rotary = readRotary(reader, input, request);
  for (auto [layer, attention] :
       llvm::zip_equal(config.layers, config.attention)) {
    layer.rotary = rotary;
    attention.inputBias = attention.outputBias = bias;
  }
  ignoreHarmless(reader, input.remarks,
                 {"classifier_dropout", "hidden_dropout", "is_decoder"});
  if (llvm::Error error = reader.finish())
    return error;
  leaveAside(input, {".attention.bias", ".attention.masked_bias",
                     "rotary_emb.inv_freq"});
  config.prefix = "gpt_neox.";
  config.text.head.table = "gpt_neox.embed_in.weight";
  // As releases before 5 call it.
  if (!input.checkpoint.has(config.text.head.head))
    config.text.head.head = "embed_out.weight";
  config.text.endNorm = "gpt_neox.final_layer_norm";
  config.layersName = "layers.";
  config.firstNorm = "input_layernorm";
  config.secondNorm = "post_attention_layernorm";
  config.mixer = "attention";
  config.attentionNames.fused = "query_key_value";
  config.attentionNames.inTurn = !input.stored.queriesFirst;
  config.attentionNames.output = "dense";
  config.mlpNames.up = "dense_h_to_4h";
  config.mlpNames.down = "dense_4h_to_h";
  return buildGpt(config, input);
}
