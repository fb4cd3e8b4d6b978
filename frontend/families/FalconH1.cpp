#include "frontend/families/FalconH1.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/StateSpaceMixer.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct FalconH1Config {
  DecoderConfig decoder;
  StateSpaceConfig mixer;
  /// What the mixer and attention take and give is multiplied with.
  double mixerIn = 1, mixerOut = 1, attentionIn = 1, attentionOut = 1;
  /// The same of the MLP's gate, before its function, and result.
  double gate = 1, down = 1;
};

} // namespace

/// Reads an array of as many factors as `factors` points to, which may be
/// missing or null.
static void readFactors(ConfigReader &reader, llvm::StringRef key,
                        llvm::ArrayRef<double *> factors) {
  if (!reader.isSet(key))
    return;
  const JsonValue *value = reader.get(key);
  const JsonArray *list = value->getArray();
  if (!list || list->size() != factors.size()) {
    if (!list)
      return reader.reportMismatch(
          key, "an array of " + Twine(factors.size()) + " numbers", *value);
    return reader.report("expects " + quote(key) + " to have " +
                         Twine(factors.size()) + " numbers, but got " +
                         Twine(list->size()));
  }
  for (auto [element, factor] : llvm::zip_equal(*list, factors)) {
    std::optional<double> number = element.getNumber();
    if (!number || !(*number > 0) || !(*number <= 1e9))
      return reader.reportMismatch(key, "numbers above 0", element);
    *factor = *number;
  }
}

static void readMixer(FamilyInput &input, FalconH1Config &config) {
  ConfigReader &reader = input.config;
  StateSpaceConfig &mixer = config.mixer;
  mixer =
      readStateSpaceMixer(reader, input, config.decoder.width, "mamba_d_ssm");
  mixer.epsilon = config.decoder.norm.epsilon;
  mixer.outputBias = reader.getBoolean("projectors_bias", false);
  bool behind = reader.getBoolean("mamba_norm_before_gate", true);
  // Without a norm its place means nothing.
  mixer.gate = !reader.getBoolean("mamba_rms_norm", false)
                   ? StateSpaceGate::Alone
               : behind ? StateSpaceGate::BehindNorm
                        : StateSpaceGate::BeforeNorm;
  StateSpaceFactors &factors = mixer.factors;
  readFactors(reader, "ssm_multipliers",
              {&factors.gate, &factors.value, &factors.key, &factors.query,
               &factors.step});
  config.mixerIn = readFactor(reader, "ssm_in_multiplier");
  config.mixerOut = readFactor(reader, "ssm_out_multiplier");
}

static FalconH1Config readFalconH1(FamilyInput &input) {
  ConfigReader &reader = input.config;
  FalconH1Config config;
  DecoderKeys keys;
  keys.epsilonOtherwise = 1e-5;
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "falcon_h1";
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  decoder.mlp.bias = reader.getBoolean("mlp_bias", false);
  bool bias = reader.getBoolean("attention_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  // A factor of all keys is one of all scores.
  decoder.attention.scale *= readFactor(reader, "key_multiplier");
  config.attentionIn = readFactor(reader, "attention_in_multiplier");
  config.attentionOut = readFactor(reader, "attention_out_multiplier");
  readFactors(reader, "mlp_multipliers", {&config.gate, &config.down});
  decoder.embeddingScale = readFactor(reader, "embedding_multiplier");
  decoder.logitScale = readFactor(reader, "lm_head_multiplier");
  RotaryConfig rotary =
      readRotary(reader, input, {decoder.attention.keys, decoder.context});
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  readMixer(input, config);
  // What no release sets: layers without one of the two, and windows.
  reader.expectNone({"attn_layer_indices", "sliding_window"},
                    "in layers that all attend to all keys");
  if (!reader.getBoolean("mamba_use_mlp", true))
    reader.report("expects 'mamba_use_mlp' to be true, but got false");
  ignoreHarmless(reader, input.remarks,
                 {"expansion_factor", "mamba_chunk_size",
                  "mlp_expansion_factor", "num_logits_to_keep"});
  return config;
}

namespace {

class FalconH1Emitter {
public:
  FalconH1Emitter(const FalconH1Config &config, int64_t layer,
                  ModelBuilder &model)
      : config(config), layer(layer), model(model),
        names(config.decoder, layer) {}

  Value emit(Value x) {
    auto mix = [this](Value token) { return emitMixers(token); };
    auto feed = [this](Value token) { return emitFeedForward(token); };
    return emitNormFirstLayer(model, config.decoder, names, "input_layernorm",
                              "pre_ff_layernorm", mix, feed, x);
  }

private:
  Value scaled(const char *part, Value x, double factor) {
    return factor == 1 ? x : model.scale(name + part, x, factor);
  }

  Value emitMixers(Value x) {
    const DecoderConfig &decoder = config.decoder;
    Value mixed = emitStateSpaceMixer(
        model, config.mixer, name, source + "mamba.",
        scaled("mixer_in", x, config.mixerIn), decoder.mlp.activation);
    Value attended =
        emitAttention(model, decoder.attention, decoder.layers[size_t(layer)],
                      {name + "attention", source + "self_attn."},
                      scaled("attention_in", x, config.attentionIn));
    return model.add(name + "mixers",
                     scaled("mixer_out", mixed, config.mixerOut),
                     scaled("attention_out", attended, config.attentionOut));
  }

  Value emitFeedForward(Value x) {
    const MlpConfig &mlp = config.decoder.mlp;
    auto project = [&](const char *part, const char *tensor, Value in,
                       int64_t rows, MatrixRole role = MatrixRole::Other) {
      return model.project(role, name + part, source + "feed_forward." + tensor,
                           in, rows, mlp.bias);
    };
    Value gate =
        scaled("mlp.gate", project("mlp.gate", "gate_proj", x, mlp.hidden),
               config.gate);
    gate = model.activate(name + "mlp.gate", gate, mlp.activation);
    Value up = project("mlp.up", "up_proj", x, mlp.hidden);
    Value y =
        project("mlp.down", "down_proj", model.mul(name + "mlp.up", gate, up),
                model.getWidth(), MatrixRole::Down);
    return scaled("mlp.down", y, config.down);
  }

  const FalconH1Config &config;
  int64_t layer;
  ModelBuilder &model;
  const LayerNames names;
  const std::string &name = names.name, &source = names.source;
};

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importFalconH1(FamilyInput &input) {
  FalconH1Config config = readFalconH1(input);
  if (llvm::Error error = input.config.finish())
    return error;
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(config.decoder, input);
  text.endNorm = config.decoder.prefix + "final_layernorm";
  config.mixer.normGroups = chooseNormGroups(config.mixer, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.decoder.layers.size());
         ++layer)
      x = FalconH1Emitter(config, layer, model).emit(x);
    return x;
  });
}
