#include "frontend/families/NemotronH.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/StateSpaceMixer.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

enum class Kind : unsigned { Mamba, Attention, Mlp, Experts };

struct NemotronHConfig {
  DecoderConfig decoder;
  StateSpaceConfig mixer;
  /// What follows the mixer's convolution.
  seq::Nonlinearity function = seq::Nonlinearity::Silu;
  std::vector<Kind> kinds;

  bool has(Kind kind) const { return llvm::is_contained(kinds, kind); }
};

} // namespace

/// The kinds of layers by letters: M for a mixer of Mamba-2, * for attention, -
/// for an MLP, E for experts.
static std::vector<Kind> readLetters(ConfigReader &reader) {
  constexpr llvm::StringLiteral kKey = "hybrid_override_pattern",
                                kLetters = "M*-E";
  std::vector<Kind> kinds;
  const std::string *pattern = reader.getString(kKey);
  if (!pattern)
    return kinds;
  for (char letter : *pattern)
    if (size_t kind = kLetters.find(letter); kind != llvm::StringRef::npos)
      kinds.push_back(Kind(kind));
  if (kinds.empty() || kinds.size() != pattern->size() ||
      int64_t(kinds.size()) > kMostLayers)
    reader.reportMismatch(
        kKey, "up to " + Twine(kMostLayers) + " letters out of M, *, - and E",
        *reader.get(kKey));
  return kinds;
}

static std::vector<Kind> readKinds(ConfigReader &reader, Remarks &remarks) {
  std::vector<Kind> kinds;
  llvm::StringRef key =
      reader.isSet("layers_block_type") ? "layers_block_type" : "layer_types";
  if (reader.isSet(key)) {
    const JsonArray *list = reader.get(key)->getArray();
    auto layers = int64_t(list ? list->size() : 0);
    if (list && (layers < 1 || layers > kMostLayers))
      reader.report("expects " + quote(key) + " to name 1 to " +
                    Twine(kMostLayers) + " layers, but got " + Twine(layers));
    else // The released names, then those of the public library.
      for (unsigned kind :
           readLayerPattern(reader, key, layers,
                            {"mamba", "attention", "mlp", "moe",
                             "linear_attention", "full_attention"},
                            [](int64_t) { return 0u; }))
        kinds.push_back(Kind(kind % 4));
    ignoreHarmless(reader, remarks, {"hybrid_override_pattern"});
  } else if (reader.get("hybrid_override_pattern")) {
    kinds = readLetters(reader);
  } else {
    reader.report("lacks 'hybrid_override_pattern' or 'layers_block_type'");
  }
  // As in the public library.
  if (reader.isSet("num_hidden_layers") &&
      reader.getInteger("num_hidden_layers", 1, kMostLayers, 1) !=
          int64_t(kinds.size()) &&
      !reader.hasProblem())
    remarks.push_back("config.json: 'num_hidden_layers' is ignored: the "
                      "kinds of layers name " +
                      std::to_string(kinds.size()));
  return kinds;
}

static StateSpaceConfig readMixer(ConfigReader &reader) {
  constexpr int64_t kMost = kMostStateSpaceDimension;
  StateSpaceConfig config;
  config.heads = reader.requireInteger("mamba_num_heads", 1, kMost);
  config.values = reader.requireInteger("mamba_head_dim", 1, kMost);
  config.keys = reader.requireInteger("ssm_state_size", 1, kMost);
  llvm::StringRef groups = reader.spelled("mamba_n_groups", "n_groups");
  config.groups = reader.getInteger(groups, 1, kMost, 8);
  config.taps = reader.getInteger(reader.spelled("mamba_d_conv", "conv_kernel"),
                                  1, 64, 4);
  config.convolutionBias = reader.getBoolean(
      reader.spelled("mamba_conv_bias", "use_conv_bias"), true);
  config.inputBias = config.outputBias = reader.getBoolean("use_bias", false);
  if (!reader.hasProblem() && config.heads % config.groups != 0)
    reader.report("expects 'mamba_num_heads' to be a multiple of " +
                  quote(groups) + " " + Twine(config.groups) + ", but got " +
                  Twine(config.heads));
  return config;
}

/// The public library bounds the time step of prompts by `time_step_min`, that
/// of steps not: nobody else bounds either.
static void readTimeStep(ConfigReader &reader, Remarks &remarks) {
  double least = reader.getNumber("time_step_min", 0, 1e6, 0.001);
  if (least != 0.001 && least != 0)
    remarks.push_back("config.json: 'time_step_min' is ignored: it bounds the "
                      "time step in the public library's prompts, not in its "
                      "steps, so that both give other logits");
}

/// Experts without gates, and a layer beside them that every token passes.
static ExpertsConfig readNemotronExperts(ConfigReader &reader,
                                         const MlpConfig &mlp) {
  ExpertsConfig experts;
  // The public library's other name.
  llvm::StringRef key = reader.isSet("num_local_experts") ? "num_local_experts"
                                                          : "n_routed_experts";
  experts.experts = reader.requireInteger(key, 1, kMostExperts);
  experts.taken =
      reader.requireInteger("num_experts_per_tok", 1, kMostDimension);
  experts.hidden =
      reader.requireInteger("moe_intermediate_size", 1, kMostDimension);
  experts.shared = reader.requireInteger("moe_shared_expert_intermediate_size",
                                         1, kMostDimension);
  experts.latent =
      reader.getIntegerIfSet("moe_latent_size", 1, kMostDimension).value_or(0);
  experts.scale = reader.getNumber("routed_scaling_factor", 1e-6, 1e6, 1);
  experts.normalised = reader.getBoolean("norm_topk_prob", true);
  experts.sharesAlone = experts.balanced = true;
  experts.score = RouterScore::Sigmoid;
  experts.activation = mlp.activation;
  experts.bias = mlp.bias;
  experts.gated = false;
  if (!reader.hasProblem() && experts.taken > experts.experts)
    reader.report("expects 'num_experts_per_tok' up to " + quote(key) + " " +
                  Twine(experts.experts) + ", but got " + Twine(experts.taken));
  readExpertGroups(reader, experts, "n_group", "topk_group");
  return experts;
}

static NemotronHConfig readNemotronH(ConfigReader &reader, FamilyInput &input) {
  NemotronHConfig config;
  DecoderConfig &decoder = config.decoder;
  decoder.family = "nemotron_h";
  decoder.vocabulary = input.vocabulary;
  decoder.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  decoder.context =
      reader.requireInteger("max_position_embeddings", 1, kMostContext);
  decoder.norm.epsilon = reader.getNumber("layer_norm_epsilon", 0, 1, 1e-5);
  decoder.attention = readAttention(
      reader, decoder.width,
      reader.isSet("attention_head_dim") ? "attention_head_dim" : "head_dim");
  // The first releases' name; where both are there, they agree.
  int64_t channels = decoder.attention.keys;
  reader.getInteger("head_dim", channels, channels, channels);
  decoder.mlp.hidden =
      reader.requireInteger("intermediate_size", 1, kMostDimension);
  decoder.mlp.activation =
      readActivation(reader, "mlp_hidden_act", seq::Nonlinearity::SquaredRelu);
  decoder.mlp.bias = reader.getBoolean("mlp_bias", false);
  config.kinds = readKinds(reader, input.remarks);
  config.mixer = readMixer(reader);
  config.function =
      readActivation(reader, "mamba_hidden_act", seq::Nonlinearity::Silu);
  config.mixer.epsilon = decoder.norm.epsilon;
  readTimeStep(reader, input.remarks);
  // What the public library reads and does not follow.
  for (llvm::StringRef key : {"attention_bias", "tie_word_embeddings"})
    if (reader.getBoolean(key, false))
      reader.report("expects " + quote(key) + " to be false, but got true");
  if (config.has(Kind::Experts))
    decoder.experts = readNemotronExperts(reader, decoder.mlp);
  // Of other kinds of layers, of training, and of positions, which no layer
  // has.
  ignoreHarmless(reader, input.remarks,
                 {"chunk_size",
                  "expand",
                  "hidden_dropout",
                  "mamba_chunk_size",
                  "mamba_dt_init_floor",
                  "mamba_dt_limit",
                  "mamba_dt_max",
                  "mamba_dt_min",
                  "mamba_expand",
                  "mamba_proj_bias",
                  "mamba_ssm_cache_dtype",
                  "moe_intermediate_size",
                  "moe_latent_size",
                  "moe_shared_expert_intermediate_size",
                  "moe_shared_expert_overlap",
                  "mtp_hybrid_override_pattern",
                  "mtp_layers_block_type",
                  "n_group",
                  "n_routed_experts",
                  "n_shared_experts",
                  "norm_eps",
                  "norm_topk_prob",
                  "num_experts_per_tok",
                  "num_logits_to_keep",
                  "num_nextn_predict_layers",
                  "output_router_logits",
                  "partial_rotary_factor",
                  "rescale_prenorm_residual",
                  "residual_in_fp32",
                  "rms_norm_eps",
                  "rope_scaling",
                  "rope_theta",
                  "routed_scaling_factor",
                  "sliding_window",
                  "time_step_floor",
                  "time_step_limit",
                  "time_step_max",
                  "topk_group",
                  "use_mamba_kernels"});
  return config;
}

static Value emitMixer(ModelBuilder &model, const NemotronHConfig &config,
                       Kind kind, const std::string &name,
                       const std::string &source, Value x) {
  const DecoderConfig &decoder = config.decoder;
  MlpNames mlp{name + "mlp", source};
  mlp.gate = "";
  switch (kind) {
  case Kind::Mamba:
    return emitStateSpaceMixer(model, config.mixer, name, source, x,
                               config.function);
  case Kind::Attention: // Its layers turn nothing: the others know positions.
    return emitAttention(model, decoder.attention, LayerAttention(),
                         {name + "attention", source}, x);
  case Kind::Mlp:
    return emitMlp(model, decoder.mlp, mlp, x);
  case Kind::Experts: {
    ExpertsNames experts{name + "experts", source};
    experts.shared = "shared_experts";
    experts.sharedGate = "";
    return emitExperts(model, *decoder.experts, experts, x);
  }
  }
  llvm_unreachable("every kind is listed");
}

/// Tensors begin with `outer`; those that begin with one of `others` are left aside.
static Module build(NemotronHConfig &config, FamilyInput &input,
                    const std::string &outer,
                    llvm::ArrayRef<llvm::StringRef> others) {
  DecoderConfig &decoder = config.decoder;
  std::string released = outer + "backbone.", saved = outer + "model.";
  decoder.prefix = findPrefix(input, {released, saved},
                              {"embeddings.weight", "norm_f.weight"});
  decoder.head.head = outer + "lm_head.weight";
  leaveAside(input, {}, others);
  TextModelConfig text = textModelOf(decoder, input);
  text.head.table = decoder.prefix + "embeddings.weight";
  text.endNorm = decoder.prefix + "norm_f";
  if (config.has(Kind::Mamba))
    config.mixer.normGroups = chooseNormGroups(config.mixer, input);
  if (!config.has(Kind::Attention))
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (auto [layer, kind] : llvm::enumerate(config.kinds)) {
      std::string name = "layers." + std::to_string(layer) + ".",
                  source = decoder.prefix + name;
      Value normed =
          model.norm(name + "norm", source + "norm", x, decoder.norm);
      x = model.add(
          name + "residual", x,
          emitMixer(model, config, kind, name, source + "mixer.", normed));
    }
    return x;
  });
}

Module effc::frontend::importNemotronH(FamilyInput &input) {
  NemotronHConfig config = readNemotronH(input.config, input);
  if (llvm::Error error = input.config.finish())
    return error;
  return build(config, input, "", {"mtp."});
}

/// The key of the text's part of a model that sees; either name is in releases.
static llvm::StringRef keyOfText(ConfigReader &outer) {
  return outer.isSet("text_config") && !outer.isSet("llm_config")
             ? "text_config"
             : "llm_config";
}

int64_t effc::frontend::readNemotronSeeingVocabulary(ConfigReader &outer,
                                                     int64_t most) {
  llvm::StringRef key = keyOfText(outer);
  const JsonObject *object = outer.getObjectIfSet(key);
  if (!object) {
    outer.report("lacks " + quote(key));
    return 1;
  }
  ConfigReader text(outer, key, *object, /*isWhole=*/true);
  int64_t rows = text.requireInteger("vocab_size", 1, most);
  if (text.hasProblem())
    outer.finishInner(text);
  return rows;
}

Module effc::frontend::importNemotronSeeing(FamilyInput &input) {
  ConfigReader &outer = input.config;
  llvm::StringRef key = keyOfText(outer);
  outer.ignore({"vision_config", "sound_config"});
  ignoreHarmless(outer, input.remarks,
                 {"attn_implementation",
                  "downsample_ratio",
                  "force_image_size",
                  "image_tag_type",
                  "img_context_token",
                  "img_context_token_id",
                  "img_end_token",
                  "img_start_token",
                  "max_sequence_length",
                  "norm_mean",
                  "norm_std",
                  "patch_size",
                  "projector_hidden_size",
                  "ps_version",
                  "sound_context_token",
                  "sound_context_token_id",
                  "template",
                  "tie_word_embeddings",
                  "use_thumbnail",
                  "video_context_token",
                  "video_context_token_id",
                  "video_pruning_rate",
                  "vit_hidden_size"});
  ConfigReader text(outer, key, *outer.getObjectIfSet(key), /*isWhole=*/true);
  if (text.isSet("model_type"))
    text.expectString("model_type", "nemotron_h");
  ignoreOuterKeys(text, input.remarks);
  text.ignore({"auto_map", "attn_implementation"});
  if (llvm::Error error = outer.finish())
    return error;
  NemotronHConfig config = readNemotronH(text, input);
  if (llvm::Error error = text.finish())
    return error;
  return build(config, input, "language_model.",
               {"mlp1.", "vision_model.", "sound_encoder.", "sound_projection.",
                "language_model.mtp."});
}
