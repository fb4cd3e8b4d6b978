#include "frontend/families/KimiLinear.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashDelta.h"
#include "frontend/model/Block.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/Experts.h"
#include "frontend/model/LatentAttention.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct KimiConfig {
  int64_t width = 1, layers = 1, context = 1;
  KimiDeltaConfig delta;
  LatentConfig latent;
  /// Which layers are of the delta rule; the others attend.
  std::vector<bool> linear;
  MlpConfig mlp;
  std::optional<ExpertsConfig> experts;
  /// Which layers have experts, where there are any.
  std::vector<bool> routed;
  /// Whether the public library wrote the configuration, not the hub's code.
  bool isLibrarys = false;
  NormConfig norm;
  HeadConfig head;

  bool hasExperts(int64_t layer) const {
    return experts && routed[size_t(layer)];
  }
};

} // namespace

/// Reads the numbers of layers, counted from 1, that `key` lists.
static std::vector<bool> readLayerNumbers(ConfigReader &reader,
                                          llvm::StringRef key, int64_t layers) {
  std::vector<bool> listed(size_t(layers), false);
  const JsonValue *value = reader.get(key);
  if (!value) {
    reader.report("lacks " + quote(key));
    return listed;
  }
  const JsonArray *list = value->getArray();
  if (!list) {
    reader.reportMismatch(key, "an array of layers", *value);
    return listed;
  }
  for (const JsonValue &element : *list) {
    std::optional<int64_t> layer = element.getInteger();
    if (!layer || *layer < 1 || *layer > layers)
      reader.reportMismatch(key, "layers from 1 to " + Twine(layers), element);
    else
      listed[size_t(*layer - 1)] = true;
  }
  return listed;
}

/// The public library's spelling. A configuration that was loaded from the
/// hub's has both, which have to agree.
static void readLibraryLayers(ConfigReader &reader, KimiConfig &config,
                              bool hasBoth) {
  KimiDeltaConfig delta = config.delta;
  auto read = [&](llvm::StringRef key, int64_t least, int64_t most,
                  int64_t &size, int64_t fallback) {
    int64_t given = reader.getIntegerIfSet(key, least, most).value_or(fallback);
    if (hasBoth && !reader.hasProblem() && given != size)
      reader.report("expects " + quote(key) + " to be " + Twine(size) +
                    ", as 'linear_attn_config' says, but got " + Twine(given));
    size = given;
  };
  auto otherwise = [&](int64_t size, int64_t librarys) {
    return hasBoth ? size : librarys;
  };
  read("linear_num_heads", 1, kMostDimension, delta.heads,
       otherwise(delta.heads, 32));
  read("linear_head_dim", 1, kMostDimension, delta.keys,
       otherwise(delta.keys, 128));
  read("linear_conv_kernel_dim", 1, 64, delta.taps, otherwise(delta.taps, 4));
  delta.epsilon = config.norm.epsilon;
  config.delta = delta;
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", config.layers,
      {"full_attention", "linear_attention"}, [](int64_t) { return 0u; });
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    bool isLinear = kinds[size_t(layer)] == 1;
    if (hasBoth && !reader.hasProblem() &&
        isLinear != config.linear[size_t(layer)])
      reader.report("expects 'layer_types' to be as 'linear_attn_config' says, "
                    "but got another kind for layer " +
                    Twine(layer + 1));
    config.linear[size_t(layer)] = isLinear;
  }
}

static void readLinearLayers(ConfigReader &outer, KimiConfig &config) {
  constexpr llvm::StringLiteral kKey = "linear_attn_config";
  config.linear.assign(size_t(config.layers), false);
  const JsonObject *object = outer.getObjectIfSet(kKey);
  if (!object)
    return;
  ConfigReader reader(outer, kKey, *object);
  KimiDeltaConfig &delta = config.delta;
  delta.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  delta.keys = reader.requireInteger("head_dim", 1, kMostDimension);
  delta.taps = reader.requireInteger("short_conv_kernel_size", 1, 64);
  delta.epsilon = config.norm.epsilon;
  config.linear = readLayerNumbers(reader, "kda_layers", config.layers);
  std::vector<bool> attends =
      readLayerNumbers(reader, "full_attn_layers", config.layers);
  for (size_t layer = 0; layer < attends.size(); ++layer)
    if (config.linear[layer] == attends[layer])
      reader.report("expects each layer in one of 'kda_layers' and "
                    "'full_attn_layers', but got layer " +
                    Twine(layer + 1) +
                    (attends[layer] ? " in both" : " in neither"));
  reader.expectNone({"gate_lower_bound", "use_full_rank_gate"},
                    "in a layout without bounded gates");
  outer.finishInner(reader);
}

/// Which layers have experts: every `moe_layer_freq`-th from the first on, or as
/// the public library lists them.
static void readRoutedLayers(ConfigReader &reader, KimiConfig &config) {
  int64_t first = reader.getInteger("first_k_dense_replace", 0, kMostLayers, 0);
  int64_t period = reader.getInteger("moe_layer_freq", 1, kMostLayers, 1);
  std::vector<unsigned> kinds =
      readLayerPattern(reader, "mlp_layer_types", config.layers,
                       {"dense", "sparse"}, [&](int64_t layer) -> unsigned {
                         return layer >= first && layer % period == 0;
                       });
  for (unsigned kind : kinds)
    config.routed.push_back(kind == 1);
}

static void readExpertLayers(ConfigReader &reader, KimiConfig &config) {
  readRoutedLayers(reader, config);
  // Where the key is missing, the public library has one and the hub's code none.
  constexpr llvm::StringLiteral kShared = "num_shared_experts";
  int64_t shared =
      reader.getIntegerIfSet(kShared, 0, kMostDimension)
          .value_or(config.isLibrarys && !reader.get(kShared) ? 1 : 0);
  bool normalised = reader.getBoolean("moe_renormalize", true);
  double scale = reader.getNumber("routed_scaling_factor", 1e-6, 1e6,
                                  config.isLibrarys ? 2.446 : 1);
  const std::string *score = reader.getString("moe_router_activation_func");
  if (score && *score != "sigmoid" && *score != "softmax")
    reader.reportMismatch("moe_router_activation_func", "sigmoid or softmax",
                          *reader.get("moe_router_activation_func"));
  auto size = [&](llvm::StringRef key) {
    return reader.isSet("num_experts")
               ? reader.requireInteger(key, 1, kMostDimension)
               : reader.getIntegerIfSet(key, 1, kMostDimension).value_or(1);
  };
  ExpertsConfig experts;
  experts.experts = size("num_experts");
  experts.taken = size("num_experts_per_token");
  experts.hidden = size("moe_intermediate_size");
  if (!reader.isSet("num_experts")) {
    reader.ignore({"num_expert_group", "topk_group"});
    return;
  }
  if (!reader.hasProblem() && experts.taken > experts.experts)
    reader.report("expects 'num_experts_per_token' up to 'num_experts' " +
                  Twine(experts.experts) + ", but got " + Twine(experts.taken));
  experts.activation = config.mlp.activation;
  experts.score = score && *score == "softmax" ? RouterScore::Softmax
                                               : RouterScore::Sigmoid;
  experts.normalised = normalised;
  experts.sharesAlone = config.isLibrarys;
  experts.balanced = true;
  experts.scale = scale;
  experts.shared = shared * experts.hidden;
  readExpertGroups(reader, experts, "num_expert_group", "topk_group");
  config.experts = experts;
}

/// The positions that the tables of keys have room for.
static int64_t readContext(ConfigReader &reader) {
  for (llvm::StringRef key : {"model_max_length", "max_position_embeddings"})
    if (std::optional<int64_t> context =
            reader.getIntegerIfSet(key, 1, kMostContext))
      return *context;
  reader.report("lacks 'model_max_length'");
  return 1;
}

static KimiConfig readKimiLinear(FamilyInput &input) {
  ConfigReader &reader = input.config;
  KimiConfig config;
  config.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  config.layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  config.isLibrarys = reader.isSet("layer_types");
  config.norm.epsilon =
      reader.getNumber("rms_norm_eps", 0, 1, config.isLibrarys ? 1e-5 : 1e-6);
  config.mlp.hidden =
      reader.requireInteger("intermediate_size", 1, kMostDimension);
  config.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  config.head.tied = reader.getBoolean("tie_word_embeddings", false);
  config.head.table = "model.embed_tokens.weight";
  config.context = readContext(reader);
  readLinearLayers(reader, config);
  config.delta.function = config.mlp.activation;
  if (config.isLibrarys)
    readLibraryLayers(reader, config, reader.isSet("linear_attn_config"));
  config.latent = readLatentAttention(reader);
  // The public code makes this norm without the configuration's epsilon.
  config.latent.norm.epsilon = 1e-6;
  if (!reader.getBoolean("mla_use_nope", config.isLibrarys))
    reader.report("expects 'mla_use_nope' to be true, but got false");
  config.latent.bias = reader.getBoolean("attention_bias", false);
  int64_t both = config.latent.keys + config.latent.shared;
  reader.getInteger("qk_head_dim", both, both, both);
  readExpertLayers(reader, config);
  if (config.isLibrarys)
    input.names =
        HeldNames(input.checkpoint,
                  {{".self_attn.f_a_proj.", ".self_attn.forget_gate.f_a_proj."},
                   {".self_attn.f_b_proj.", ".self_attn.forget_gate.f_b_proj."},
                   {".self_attn.A_log", ".self_attn.forget_gate.A_log"},
                   {".self_attn.dt_bias", ".self_attn.forget_gate.dt_bias"},
                   {".block_sparse_moe.", ".mlp."}},
                  {".self_attn.forget_gate.", ".mlp.experts."});
  config.delta.joinedTaps = input.names.areHeld();
  if (reader.getInteger("num_nextn_predict_layers", 0, kMostLayers, 0) > 0)
    reader.reportMismatch("num_nextn_predict_layers", "0",
                          *reader.get("num_nextn_predict_layers"));
  reader.expectNone({"mla_use_output_gate", "attn_res_block_size",
                     "routed_expert_hidden_size", "latent_moe_use_norm",
                     "activation_situ_beta", "activation_situ_linear_beta"},
                    "beside the parts that Kimi Linear has");
  // Keys are not turned.
  ignoreHarmless(reader, input.remarks,
                 {"head_dim", "rope_theta", "rope_scaling", "use_grouped_topk",
                  "output_router_logits"});
  return config;
}

static Value emitMlpPart(ModelBuilder &model, const KimiConfig &config,
                         int64_t layer, const std::string &name,
                         const std::string &source, Value x) {
  if (!config.hasExperts(layer)) {
    // The library calls the MLP of a dense layer as those with experts on saving.
    bool isOwn = llvm::any_of(
        llvm::ArrayRef({"gate_proj", "up_proj", "down_proj"}),
        [&](llvm::StringRef part) {
          return model.hasTensor((source + "mlp." + part + ".weight").str());
        });
    std::string called =
        config.isLibrarys && !isOwn ? "block_sparse_moe." : "mlp.";
    return emitMlp(model, config.mlp, {name + "mlp", source + called}, x);
  }
  ExpertsNames names{name + "experts", source + "block_sparse_moe."};
  names.gate = "w1";
  names.up = "w3";
  names.down = "w2";
  names.shared = "shared_experts";
  names.sharedGate = "";
  return emitExperts(model, *config.experts, names, x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importKimiLinear(FamilyInput &input) {
  KimiConfig config = readKimiLinear(input);
  if (llvm::Error error = input.config.finish())
    return error;
  TextModelConfig text;
  text.family = "kimi_linear";
  text.vocabulary = input.vocabulary;
  text.width = config.width;
  text.head = config.head;
  text.endNorm = "model.norm";
  text.norm = config.norm;
  if (llvm::is_contained(config.linear, false))
    text.context = chooseContext(input, config.context);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      auto norm = [&](const char *part, const char *tensor) {
        return [&, part, tensor](Value token) {
          return model.norm(name + part, source + tensor, token, config.norm);
        };
      };
      auto mix = [&](Value token) {
        std::string attention = source + "self_attn.";
        return config.linear[size_t(layer)]
                   ? emitKimiDelta(model, config.delta, name, attention, token)
                   : emitLatentAttention(model, config.latent,
                                         name + "attention", attention, token);
      };
      auto feed = [&](Value token) {
        return emitMlpPart(model, config, layer, name, source, token);
      };
      auto mixerNorm = norm("mixer_norm", "input_layernorm"),
           mlpNorm = norm("mlp_norm", "post_attention_layernorm");
      x = emitBlock(model, name, BlockOrder::NormFirst,
                    {mixerNorm, mix, mlpNorm, feed}, x);
    }
    return x;
  });
}
