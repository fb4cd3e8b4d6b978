#include "frontend/families/PlamoDecoder.h"

#include "frontend/checkpoint/Refusal.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

void effc::frontend::checkPlamoIsPlainText(ConfigReader &reader) {
  reader.expectNone({"image_token_id"},
                    "in the text models that public engines run");
  constexpr llvm::StringLiteral kLinear = "linear_type";
  const std::string *linear =
      reader.isSet(kLinear) ? reader.getString(kLinear) : nullptr;
  if (linear && *linear != "normal")
    reader.reportMismatch(kLinear, "normal", *reader.get(kLinear));
}

/// y behind a part, of which the stored weight is less by `offset` unless it is
/// whole.
static Value normBehind(ModelBuilder &model, const DecoderConfig &config,
                        const std::string &here, const std::string &source,
                        Value y, double offset) {
  if (!config.norm.unitOffset)
    return model.norm(here, source, y, config.norm);
  NormConfig plain;
  plain.epsilon = config.norm.epsilon;
  plain.weight = false;
  Value normed = model.norm(here, "", y, plain);
  Value weight = model.vector(here, source + ".weight", config.width);
  return model.add(
      here, model.mul(here, normed, model.broadcast(here, weight, normed)),
      model.scale(here, normed, offset));
}

static Value emitLayer(ModelBuilder &model, const DecoderConfig &config,
                       int64_t layer, PlamoMixer mixer, Value x) {
  LayerNames names(config, layer);
  const auto &[name, source] = names;
  Value y = model.norm(name + "mixer_norm", source + "pre_mixer_norm", x,
                       config.norm);
  y = mixer(model, names, layer, y);
  y = normBehind(model, config, name + "mixer_end_norm",
                 source + "post_mixer_norm", y, 1.0 / 5);
  x = model.add(name + "mixer_residual", x, y);
  y = model.norm(name + "mlp_norm", source + "pre_mlp_norm", x, config.norm);
  MlpNames mlp{name + "mlp", source + "mlp."};
  mlp.fused = "gate_up_proj";
  y = emitMlp(model, config.mlp, mlp, y);
  y = normBehind(model, config, name + "mlp_end_norm", source + "post_mlp_norm",
                 y, 1 / std::pow(5.0, 1.5));
  return model.add(name + "mlp_residual", x, y);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::buildPlamo(const DecoderConfig &config, FamilyInput &input,
                           PlamoMixer mixer) {
  leaveAside(input, {"rotary_emb.inv_freq", "rotary_emb.cos_cached",
                     "rotary_emb.sin_cached"});
  TextModelConfig text = textModelOf(config, input);
  text.head.table = "model.embed_tokens.weight";
  text.endNorm = "model.norm";
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.layers.size()); ++layer)
      x = emitLayer(model, config, layer, mixer, x);
    return x;
  });
}
