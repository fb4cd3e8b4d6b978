#include "frontend/families/MiniMaxM2.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"

using namespace effc;
using namespace effc::frontend;

/// Keys of released files that the public library does not read: they say what
/// the model is.
static void checkFixedKeys(ConfigReader &reader) {
  for (llvm::StringRef key : {"use_qk_norm", "use_routing_bias"})
    if (!reader.getBoolean(key, true))
      reader.report("expects " + quote(key) + " to be true, but got false");
  auto check = [&](llvm::StringRef key, llvm::StringRef expected) {
    const std::string *name =
        reader.isSet(key) ? reader.getString(key) : nullptr;
    if (name && *name != expected)
      reader.reportMismatch(key, expected, *reader.get(key));
  };
  check("scoring_func", "sigmoid");
  check("qk_norm_type", "per_layer");
  reader.getInteger("shared_intermediate_size", 0, 0, 0);
  for (llvm::StringRef key :
       {"layernorm_full_attention_beta", "layernorm_linear_attention_beta",
        "layernorm_mlp_beta"})
    reader.getNumber(key, 1, 1, 1);
  reader.expectNone({"sliding_window"}, "in layers that all see all keys");
}

/// `attn_type_list` has a number for each layer, 1 for one that attends.
static void checkLayerTypes(ConfigReader &reader, size_t layers) {
  constexpr llvm::StringLiteral kKey = "attn_type_list";
  if (!reader.isSet(kKey))
    return;
  const JsonArray *list = reader.get(kKey)->getArray();
  if (!list || list->size() != layers ||
      llvm::any_of(*list, [](const JsonValue &kind) {
        return kind.getInteger() != int64_t(1);
      }))
    reader.reportMismatch(kKey, "1 for each layer", *reader.get(kKey));
}

static DecoderConfig readMiniMaxM2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderConfig config =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  config.family = "minimax_m2";
  // Without the key the public library has a width of its own.
  if (!reader.isSet("head_dim"))
    reader.report("lacks 'head_dim'");
  config.attention.wideNorm = config.norm;
  config.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  RotaryRequest request{config.attention.keys, config.context};
  request.theta = 5e6;
  if (std::optional<int64_t> turned =
          reader.getIntegerIfSet("rotary_dim", 2, request.keys))
    // Half a channel more, since the share's channels are rounded down.
    request.turned = (double(*turned) + 0.5) / double(request.keys);
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : config.layers)
    layer.rotary = rotary;
  config.experts = readLocalExperts(reader, config.mlp.hidden, 8);
  config.experts->activation = config.mlp.activation;
  config.experts->score = RouterScore::Sigmoid;
  config.experts->balanced = config.experts->sharesAlone = true;
  config.feedForward = "block_sparse_moe.";
  input.names =
      HeldNames(input.checkpoint, {{".block_sparse_moe.", ".mlp."}}, {".mlp."});
  config.expertNames.gate = "w1";
  config.expertNames.up = "w3";
  config.expertNames.down = "w2";
  config.expertNames.balance = "e_score_correction_bias";
  checkFixedKeys(reader);
  checkLayerTypes(reader, config.layers.size());
  // Of layers that guess further tokens, and of a layer that no model has.
  ignoreHarmless(reader, input.remarks,
                 {"mlp_intermediate_size", "mtp_transformer_layers",
                  "num_mtp_modules", "output_router_logits",
                  "router_aux_loss_coef", "router_jitter_noise",
                  "shared_moe_mode", "use_mtp"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importMiniMaxM2(FamilyInput &input) {
  DecoderConfig config = readMiniMaxM2(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildDecoder(config, input);
}
