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

/// What differs between the two layouts, whose tensors have the same names.
struct MiniMaxLayout {
  /// Prefixes and suffixes of the shares' keys.
  llvm::StringLiteral softmax, linear, mlp, token, made;
  /// How a head's decay follows from its number and the layer's.
  seq::DecayRule decays;
  /// Whether layers are named ('layer_types') or numbered ('attn_type_list').
  bool named;
  /// Whether the residual is the normalised token where nothing says so, and
  /// whether it may be another.
  bool postnorm, anyResidual;
};

struct MiniMaxConfig {
  DecoderConfig decoder;
  ExpertsConfig experts;
  /// Which layers are of lightning attention.
  std::vector<unsigned> linear;
  seq::DecayRule decays = seq::DecayRule::Powers;
  /// Whether the residual is the normalised token.
  bool postnorm = true;
  Shares softmaxShares, linearShares, mlpShares;
  seq::Nonlinearity activation = seq::Nonlinearity::Silu;
};

} // namespace

/// The public library's.
static constexpr MiniMaxLayout kPublicLayout = {
    "full_attn",          "linear_attn",     "mlp",
    "_alpha_factor",      "_beta_factor",    seq::DecayRule::Powers,
    /*named=*/true,       /*postnorm=*/true,
    /*anyResidual=*/false};
/// That of the checkpoints' own code.
static constexpr MiniMaxLayout kOwnLayout = {"layernorm_full_attention",
                                             "layernorm_linear_attention",
                                             "layernorm_mlp",
                                             "_alpha",
                                             "_beta",
                                             seq::DecayRule::Alibi,
                                             /*named=*/false,
                                             /*postnorm=*/false,
                                             /*anyResidual=*/true};

/// Which layers are of lightning attention, by a number for each: 0 for those,
/// 1 for softmax.
static std::vector<unsigned> readTypeNumbers(ConfigReader &reader,
                                             int64_t layers) {
  constexpr llvm::StringLiteral kKey = "attn_type_list";
  std::vector<unsigned> linear(size_t(layers), 0);
  const JsonValue *value = reader.get(kKey);
  const JsonArray *numbers = value ? value->getArray() : nullptr;
  if (!value)
    reader.report("lacks 'attn_type_list'");
  else if (!numbers)
    reader.reportMismatch(kKey, "an array of numbers", *value);
  else if (int64_t(numbers->size()) != layers)
    reader.report("expects 'attn_type_list' to have " + Twine(layers) +
                  " numbers, but got " + Twine(numbers->size()));
  if (reader.hasProblem())
    return linear;
  for (auto [kind, number] : llvm::zip(linear, *numbers)) {
    std::optional<int64_t> type = number.getInteger();
    if (type != 0 && type != 1)
      reader.reportMismatch(kKey, "0 or 1 for each layer", number);
    kind = type == 0;
  }
  return linear;
}

static MiniMaxConfig readMiniMax(FamilyInput &input,
                                 const MiniMaxLayout &layout) {
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
  int64_t layers = int64_t(decoder.layers.size());
  config.linear = layout.named
                      ? readLayerPattern(
                            reader, "layer_types", layers,
                            {"full_attention", "linear_attention"},
                            [](int64_t layer) -> unsigned { return layer % 2; })
                      : readTypeNumbers(reader, layers);
  config.decays = layout.decays;
  if (!reader.hasProblem() && config.decays == seq::DecayRule::Alibi &&
      layers == 1)
    reader.report("expects 'num_hidden_layers' to be at least 2, by one less "
                  "than which decays are divided, but got 1");
  auto readShares = [&](llvm::StringRef what) {
    return Shares{reader.getNumber((what + layout.token).str(), 0, 1e6, 1),
                  reader.getNumber((what + layout.made).str(), 0, 1e6, 1)};
  };
  config.softmaxShares = readShares(layout.softmax);
  config.linearShares = readShares(layout.linear);
  config.mlpShares = readShares(layout.mlp);
  config.postnorm = reader.getBoolean("postnorm", layout.postnorm);
  // The public library's model never reads it.
  if (!config.postnorm && !layout.anyResidual)
    reader.report("expects 'postnorm' to be true, but got false");
  reader.getInteger("shared_intermediate_size", 0, 0, 0);
  input.names =
      HeldNames(input.checkpoint, {{".block_sparse_moe.", ".mlp."}}, {".mlp."});
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
  auto rule = seq::HeadDecaysAttr::get(context, config.decays, layer,
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

static llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
import(FamilyInput &input, const MiniMaxLayout &layout) {
  MiniMaxConfig config = readMiniMax(input, layout);
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  leaveAside(input, {"rotary_emb.inv_freq", ".slope_rate", ".query_decay",
                     ".key_decay", ".diagonal_decay"});
  TextModelConfig text = textModelOf(decoder, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(decoder.layers.size()); ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "model." + name;
      Value normed = model.norm(name + "mixer_norm", source + "input_layernorm",
                                x, decoder.norm);
      bool linear = config.linear[size_t(layer)] == 1;
      Value mixed =
          linear ? emitLightning(model, config, name, source + "self_attn.",
                                 normed, layer)
                 : emitAttention(
                       model, decoder.attention, decoder.layers[size_t(layer)],
                       {name + "attention", source + "self_attn."}, normed);
      x = sum(model, name + "mixer_residual", config.postnorm ? normed : x,
              mixed, linear ? config.linearShares : config.softmaxShares);
      normed = model.norm(name + "mlp_norm",
                          source + "post_attention_layernorm", x, decoder.norm);
      ExpertsNames names{name + "experts", source + "block_sparse_moe."};
      names.gate = "w1";
      names.up = "w3";
      names.down = "w2";
      x = sum(model, name + "mlp_residual", config.postnorm ? normed : x,
              emitExperts(model, config.experts, names, normed),
              config.mlpShares);
    }
    return x;
  });
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importMiniMax(FamilyInput &input) {
  return import(input, kPublicLayout);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importMiniMaxText01(FamilyInput &input) {
  return import(input, kOwnLayout);
}
