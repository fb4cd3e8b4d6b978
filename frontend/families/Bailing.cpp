#include "frontend/families/Bailing.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

std::vector<unsigned> effc::frontend::readBailingKinds(ConfigReader &reader,
                                                       int64_t layers) {
  constexpr llvm::StringLiteral kKey = "layer_group_size";
  int64_t group = reader.isSet("layer_types")
                      ? reader.getInteger(kKey, 1, kMostLayers, 1)
                      : reader.requireInteger(kKey, 1, kMostLayers);
  // Where the last group is not whole, the public codes differ in what its layers
  // are.
  if (!reader.hasProblem() && !reader.isSet("layer_types") &&
      layers % group != 0)
    reader.report("expects " + quote(kKey) + " to divide the " + Twine(layers) +
                  " layers where no 'layer_types' lists them, but got " +
                  Twine(group));
  return readLayerPattern(
      reader, "layer_types", layers, {"linear_attention", "full_attention"},
      [&](int64_t layer) -> unsigned { return (layer + 1) % group == 0; });
}

static std::vector<unsigned> readRouted(ConfigReader &reader, int64_t layers) {
  constexpr llvm::StringLiteral kFirst = "first_k_dense_replace";
  int64_t first = reader.isSet("mlp_layer_types")
                      ? reader.getInteger(kFirst, 0, kMostLayers, 0)
                      : reader.requireInteger(kFirst, 0, kMostLayers);
  return readLayerPattern(
      reader, "mlp_layer_types", layers, {"dense", "sparse"},
      [&](int64_t layer) -> unsigned { return layer >= first; });
}

static ExpertsConfig readBailingExperts(ConfigReader &reader,
                                        const MlpConfig &mlp) {
  ExpertsConfig experts;
  llvm::StringRef count =
      reader.isSet("n_routed_experts")
          ? llvm::StringRef("n_routed_experts")
          : reader.spelled("num_experts", "num_local_experts");
  llvm::StringRef taken =
      reader.spelled("num_experts_per_tok", "num_experts_per_token");
  experts.experts = reader.requireInteger(count, 1, kMostExperts);
  experts.taken = reader.requireInteger(taken, 1, kMostDimension);
  experts.hidden =
      reader.requireInteger("moe_intermediate_size", 1, kMostDimension);
  experts.shared =
      experts.hidden * reader.getInteger(reader.spelled("num_shared_experts",
                                                        "n_shared_experts"),
                                         0, kMostExperts, 1);
  // Of other widths the public codes make different ones.
  reader.getInteger("moe_shared_expert_intermediate_size", experts.hidden,
                    experts.hidden, experts.hidden);
  experts.normalised = reader.getBoolean(
      reader.spelled("norm_topk_prob", "moe_renormalize"), true);
  constexpr llvm::StringLiteral kScale = "routed_scaling_factor";
  if (!reader.isSet(kScale))
    reader.report("lacks " + quote(kScale));
  experts.scale = reader.getNumber(kScale, 1e-6, 1e6, 1);
  experts.score = RouterScore::Sigmoid;
  experts.balanced = experts.sharesAlone = true;
  experts.activation = mlp.activation;
  if (!reader.hasProblem() && experts.taken > experts.experts)
    reader.report("expects " + quote(taken) + " up to " + quote(count) + " " +
                  Twine(experts.experts) + ", but got " + Twine(experts.taken));
  readExpertGroups(reader, experts,
                   reader.spelled("n_group", "num_expert_group"), "topk_group");
  return experts;
}

/// Keys of released files that say what the model is.
static void checkFixedKeys(ConfigReader &reader) {
  reader.expectAlways({"moe_router_enable_expert_bias", "use_rmsnorm"}, true);
  reader.expectAlways(
      {"scale_router_input", "up_proj_norm", "use_nGPT", "value_norm"}, false);
  reader.expectString("score_function", "sigmoid");
  reader.expectString("scoring_func", "sigmoid");
  reader.expectString("topk_method", "noaux_tc");
  reader.expectNone(
      {"expert_swiglu_limit_list", "share_expert_swiglu_limit_list"},
      "in experts without bounds");
}

BailingModel effc::frontend::readBailing(FamilyInput &input,
                                         llvm::StringRef family) {
  ConfigReader &reader = input.config;
  BailingModel bailing;
  DecoderConfig &decoder = bailing.decoder;
  decoder.family = family;
  decoder.vocabulary = input.vocabulary;
  decoder.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  decoder.layers.resize(
      size_t(reader.requireInteger("num_hidden_layers", 1, kMostLayers)));
  decoder.mlp.hidden =
      reader.requireInteger("intermediate_size", 1, kMostDimension);
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  decoder.context = reader.requireInteger(
      reader.spelled("max_position_embeddings", "model_max_length"), 1,
      kMostContext);
  decoder.norm.epsilon = reader.getNumber("rms_norm_eps", 0, 1, 1e-6);
  decoder.head.tied = reader.getBoolean("tie_word_embeddings", false);
  bailing.further = reader.getInteger(
      reader.spelled("num_nextn_predict_layers", "num_mtp_layers"), 0,
      kMostLayers, 0);
  bailing.routed = readRouted(reader, int64_t(decoder.layers.size()));
  decoder.experts = readBailingExperts(reader, decoder.mlp);
  decoder.expertNames.balance = "gate.expert_bias";
  decoder.expertNames.shared = "shared_experts";
  decoder.expertNames.sharedGate = "";
  checkFixedKeys(reader);
  input.names =
      HeldNames(input.checkpoint,
                {{"model.word_embeddings.", "model.embed_tokens."},
                 {".attention.query_layernorm.", ".self_attn.q_norm."},
                 {".attention.key_layernorm.", ".self_attn.k_norm."},
                 {".attention.dense.", ".self_attn.o_proj."},
                 {".attention.f_proj.", ".self_attn.forget_gate.f_proj."},
                 {".attention.A_log", ".self_attn.forget_gate.A_log"},
                 {".attention.dt_bias", ".self_attn.forget_gate.dt_bias"},
                 {".attention.", ".self_attn."},
                 {".gate.expert_bias", ".gate.e_score_correction_bias"}},
                {".self_attn."});
  // Of training, and of layers that guess further tokens.
  ignoreHarmless(reader, input.remarks,
                 {"embedding_dropout", "max_window_layers",
                  "mtp_loss_scaling_factor", "mtp_use_kda", "output_dropout",
                  "output_router_logits", "router_aux_loss_coef",
                  "router_dtype", "seq_aux"});
  return bailing;
}

LatentConfig effc::frontend::readBailingLatent(FamilyInput &input,
                                               int64_t context) {
  ConfigReader &reader = input.config;
  LatentConfig latent = readLatentAttention(reader);
  // The public code makes this norm without the configuration's epsilon.
  latent.norm.epsilon = 1e-6;
  latent.output = "dense";
  int64_t both = latent.keys + latent.shared;
  reader.getInteger("qk_head_dim", both, both, both);
  reader.expectAlways({"rope_interleave"}, true);
  RotaryRequest request{latent.shared, context};
  request.theta = 6e6;
  // The share is of the other layers' heads.
  request.shareKey = "";
  request.harmless = {"partial_rotary_factor"};
  latent.rotary = readRotary(reader, input, request);
  latent.rotary.layout = seq::RotaryPairs::Interleaved;
  // Scaled positions would also change the scores' scale.
  if (latent.rotary.frequencies &&
      latent.rotary.frequencies.getScaling() != seq::RotaryScaling::Default)
    reader.report("expects positions without scaling (rope_type default)");
  return latent;
}

static Value emitLayer(ModelBuilder &model, const BailingModel &bailing,
                       int64_t layer, EmitBailingMixer mixer, Value x) {
  const DecoderConfig &decoder = bailing.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto mix = [&](Value token) {
    return mixer(model, layer, name, source + "attention.", token);
  };
  auto feed = [&](Value token) {
    std::string mlp = source + "mlp.";
    if (bailing.routed[size_t(layer)] == 0)
      return emitMlp(model, decoder.mlp, {name + "mlp", mlp}, token);
    return emitMlpOrExperts(model, decoder, layer, name, mlp, token);
  };
  return emitNormFirstLayer(model, decoder, names, "input_layernorm",
                            "post_attention_layernorm", mix, feed, x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::buildBailing(FamilyInput &input, const BailingModel &bailing,
                             bool grows, EmitBailingMixer mixer) {
  const DecoderConfig &decoder = bailing.decoder;
  auto layers = int64_t(decoder.layers.size());
  std::vector<std::string> further;
  for (int64_t layer = layers; layer < layers + bailing.further; ++layer)
    further.push_back(LayerNames(decoder, layer).source);
  leaveAside(
      input, {"rotary_emb.inv_freq", ".slope"},
      llvm::SmallVector<llvm::StringRef>(further.begin(), further.end()));
  TextModelConfig text = textModelOf(decoder, input);
  text.head.table =
      input.names.nameOf(decoder.prefix + "word_embeddings.weight");
  if (!grows)
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < layers; ++layer)
      x = emitLayer(model, bailing, layer, mixer, x);
    return x;
  });
}
