#include "frontend/families/MiniMaxText.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/Experts.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// What a normalised token and what a layer makes of it count in their sum.
struct Shares {
  double token = 1, made = 1;
};

struct MiniMaxConfig {
  DecoderConfig decoder;
  ExpertsConfig experts;
  /// Which layers are of lightning attention.
  std::vector<unsigned> linear;
  Shares softmaxShares, linearShares, mlpShares;
  seq::Nonlinearity activation = seq::Nonlinearity::Silu;
};

} // namespace

static MiniMaxConfig readMiniMax(FamilyInput &input) {
  ConfigReader &reader = input.config;
  MiniMaxConfig config;
  DecoderConfig &decoder = config.decoder;
  decoder = readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  decoder.family = "minimax";
  decoder.norm.epsilon = reader.getNumber("rms_norm_eps", 0, 1, 1e-5);
  config.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  config.experts.experts =
      reader.getInteger("num_local_experts", 1, kMostDimension, 8);
  config.experts.taken =
      reader.getInteger("num_experts_per_tok", 1, kMostDimension, 2);
  config.experts.hidden = decoder.mlp.hidden;
  config.experts.activation = config.activation;
  if (!reader.hasProblem() && config.experts.taken > config.experts.experts)
    reader.report("expects 'num_experts_per_tok' up to 'num_local_experts' " +
                  Twine(config.experts.experts) + ", but got " +
                  Twine(config.experts.taken));
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  RotaryRequest request{decoder.attention.keys, decoder.context};
  if (std::optional<int64_t> turned =
          reader.getIntegerIfSet("rotary_dim", 2, request.keys))
    // Half a channel more, since the share's channels are rounded down.
    request.turned = (double(*turned) + 0.5) / double(request.keys);
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : decoder.layers) {
    layer.rotary = rotary;
    layer.window = window;
  }
  config.linear =
      readLayerPattern(reader, "layer_types", int64_t(decoder.layers.size()),
                       {"full_attention", "linear_attention"},
                       [](int64_t layer) -> unsigned { return layer % 2; });
  auto readShares = [&](const std::string &what) {
    return Shares{reader.getNumber(what + "_alpha_factor", 0, 1e6, 1),
                  reader.getNumber(what + "_beta_factor", 0, 1e6, 1)};
  };
  config.softmaxShares = readShares("full_attn");
  config.linearShares = readShares("linear_attn");
  config.mlpShares = readShares("mlp");
  // Other values than those of the released models have no meaning.
  if (!reader.getBoolean("postnorm", true))
    reader.report("expects 'postnorm' to be true, but got false");
  reader.getInteger("shared_intermediate_size", 0, 0, 0);
  ignoreHarmless(reader, input.remarks,
                 {"block_size", "output_router_logits", "router_aux_loss_coef",
                  "router_jitter_noise", "shared_moe_mode"});
  return config;
}

/// Lightning attention: queries, keys and values lie in turn for each head, and
/// all have the activation.
static Value emitLightning(ModelBuilder &model, const MiniMaxConfig &config,
                           const std::string &name, const std::string &source,
                           Value x, int64_t layer) {
  const AttentionConfig &attention = config.decoder.attention;
  int64_t heads = attention.heads, keys = attention.keys,
          inner = attention.inner();
  mlir::MLIRContext *context = model.getBuilder().getContext();
  auto part = [&](const char *what, int64_t place) {
    WeightSource rows(source + "qkv_proj.weight");
    rows.rows =
        seq::RowGroupsAttr::get(context, place * keys, keys, 3 * keys, heads);
    Value y =
        model.linear(name + what, x,
                     model.matrix(name + what, rows, inner, model.getWidth()));
    return model.reshape(name + "mixer",
                         model.activate(name + what, y, config.activation),
                         {heads, keys});
  };
  Value query = part("query", 0), key = part("key", 1),
        value = part("value", 2);
  auto rule = seq::HeadDecaysAttr::get(context, seq::DecayRule::Powers, layer,
                                       int64_t(config.decoder.layers.size()),
                                       /*negated=*/false);
  Value decays = model.computed(name + "decays", rule, {heads});
  Value state = model.state(name + "mixer", {heads, keys, keys});
  auto op = seq::RetentionOp::create(
      model.getBuilder(), model.at(name + "mixer"), value.getType(),
      state.getType(), query, key, value, decays, state, llvm::APFloat(1.0),
      /*form=*/nullptr);
  model.setNextState(op.getNextState());
  // The public implementation makes this norm without the configuration's
  // epsilon.
  NormConfig norm;
  norm.epsilon = 1e-6;
  Value y = model.norm(name + "norm", source + "norm",
                       model.reshape(name + "mixer", op.getY(), {inner}), norm);
  Value gate = model.activate(
      name + "gate",
      model.project(name + "gate", source + "output_gate", x, inner),
      seq::Nonlinearity::Sigmoid);
  return model.project(name + "out", source + "out_proj",
                       model.mul(name + "gate", y, gate), model.getWidth());
}

static Value sum(ModelBuilder &model, const std::string &name, Value token,
                 Value made, const Shares &shares) {
  if (shares.token != 1)
    token = model.scale(name, token, shares.token);
  if (shares.made != 1)
    made = model.scale(name, made, shares.made);
  return model.add(name, token, made);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importMiniMax(FamilyInput &input) {
  MiniMaxConfig config = readMiniMax(input);
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  leaveAside(input, {"rotary_emb.inv_freq", ".slope_rate", ".query_decay",
                     ".key_decay", ".diagonal_decay"});
  TextModelConfig text = textModelOf(decoder, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    // The residual is the normalised token.
    for (int64_t layer = 0; layer < int64_t(decoder.layers.size()); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      x = model.norm(name + "mixer_norm", source + "input_layernorm", x,
                     decoder.norm);
      bool linear = config.linear[size_t(layer)] == 1;
      Value mixed =
          linear
              ? emitLightning(model, config, name, source + "self_attn.", x,
                              layer)
              : emitAttention(model, decoder.attention,
                              decoder.layers[size_t(layer)],
                              {name + "attention", source + "self_attn."}, x);
      x = sum(model, name + "mixer_residual", x, mixed,
              linear ? config.linearShares : config.softmaxShares);
      x = model.norm(name + "mlp_norm", source + "post_attention_layernorm", x,
                     decoder.norm);
      ExpertsNames names{name + "experts", source + "block_sparse_moe."};
      names.gate = "w1";
      names.up = "w3";
      names.down = "w2";
      x = sum(model, name + "mlp_residual", x,
              emitExperts(model, config.experts, names, x), config.mlpShares);
    }
    return x;
  });
}
