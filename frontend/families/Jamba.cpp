#include "frontend/families/Jamba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/Experts.h"
#include "frontend/model/SelectiveMixer.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// Every `period`-th layer, from `offset` on.
struct Period {
  int64_t period = 1, offset = 0;

  bool holds(int64_t layer) const { return layer % period == offset; }
};

struct JambaConfig {
  DecoderConfig decoder;
  SelectiveConfig selective;
  ExpertsConfig experts;
  Period attends, routes;
  /// What the first release calls otherwise: the layer behind the mixer, and of
  /// one without a router its expert 0.
  bool first = false;

  std::string feedForward(bool routed) const {
    return !first ? "feed_forward." : routed ? "moe." : "moe.experts.0.";
  }
};

} // namespace

static Period readPeriod(ConfigReader &reader, const std::string &what,
                         int64_t period, int64_t offset) {
  Period read;
  read.period = reader.getInteger(what + "_period", 1, kMostLayers, period);
  read.offset = reader.getInteger(what + "_offset", 0, kMostLayers, offset);
  if (!reader.hasProblem() && read.offset >= read.period)
    reader.report("expects " + quote(what + "_offset") + " below " +
                  quote(what + "_period") + " " + Twine(read.period) +
                  ", but got " + Twine(read.offset));
  return read;
}

static JambaConfig readJamba(FamilyInput &input) {
  ConfigReader &reader = input.config;
  JambaConfig config;
  config.first = !reader.get("max_position_embeddings") && reader.get("n_ctx");
  DecoderKeys keys;
  if (config.first)
    keys.context = "n_ctx";
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  config.decoder.family = "jamba";
  int64_t width = config.decoder.width;
  config.decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  config.attends = readPeriod(reader, "attn_layer", 8, 4);
  config.routes = readPeriod(reader, "expert_layer", 2, 1);
  config.experts.experts =
      reader.getInteger("num_experts", 1, kMostDimension, 16);
  config.experts.taken =
      reader.getInteger("num_experts_per_tok", 1, kMostDimension, 2);
  config.experts.hidden = config.decoder.mlp.hidden;
  config.experts.activation = config.decoder.mlp.activation;
  config.experts.normalised = false;
  if (!reader.hasProblem() && config.experts.experts > 1 &&
      config.experts.taken > config.experts.experts)
    reader.report("expects 'num_experts_per_tok' up to 'num_experts' " +
                  Twine(config.experts.experts) + ", but got " +
                  Twine(config.experts.taken));
  SelectiveConfig &mixer = config.selective;
  mixer.keys = reader.getInteger("mamba_d_state", 1, kMostDimension, 16);
  mixer.taps = reader.getInteger("mamba_d_conv", 1, 64, 4);
  mixer.inner = reader.getInteger("mamba_expand", 1, 1024, 2) * width;
  mixer.rank = readTimeStepRank(reader, "mamba_dt_rank", width);
  mixer.convolutionBias = reader.getBoolean("mamba_conv_bias", true);
  mixer.projectionBias = reader.getBoolean("mamba_proj_bias", false);
  mixer.function = config.decoder.mlp.activation;
  mixer.innerNorm = config.decoder.norm.epsilon;
  mixer.innerNormWeights = true;
  if (config.first) {
    mixer.keyNorm = "B";
    mixer.queryNorm = "C";
  }
  if (reader.isSet("sliding_window"))
    reader.reportMismatch("sliding_window", "null",
                          *reader.get("sliding_window"));
  if (!reader.getBoolean("mamba_inner_layernorms", true))
    reader.report("expects 'mamba_inner_layernorms' to be true, but got false");
  ignoreHarmless(reader, input.remarks,
                 {"n_ctx", "output_router_logits", "router_aux_loss_coef",
                  "use_mamba_kernels", "use_mambapy", "use_associative_scan",
                  "num_logits_to_keep", "calc_logits_for_entire_prompt"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importJamba(FamilyInput &input) {
  JambaConfig config = readJamba(input);
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  TextModelConfig text = textModelOf(decoder, input);
  text.endNorm = "model.final_layernorm";
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(decoder.layers.size()); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      Value normed = model.norm(name + "mixer_norm", source + "input_layernorm",
                                x, decoder.norm);
      // Attention turns nothing: the other layers know of positions.
      Value mixed =
          config.attends.holds(layer)
              ? emitAttention(model, decoder.attention, LayerAttention(),
                              {name + "attention", source + "self_attn."},
                              normed)
              : emitSelectiveMixer(model, config.selective, name,
                                   source + "mamba.", normed);
      x = model.add(name + "mixer_residual", x, mixed);
      normed = model.norm(
          name + "mlp_norm",
          source + (config.first ? "pre_moe_layernorm" : "pre_ff_layernorm"), x,
          decoder.norm);
      bool routed = config.routes.holds(layer) && config.experts.experts > 1;
      std::string inner = source + config.feedForward(routed);
      ExpertsNames experts{name + "experts", inner};
      experts.router = "router";
      Value y =
          routed ? emitExperts(model, config.experts, experts, normed)
                 : emitMlp(model, decoder.mlp, {name + "mlp", inner}, normed);
      x = model.add(name + "mlp_residual", x, y);
    }
    return x;
  });
}
