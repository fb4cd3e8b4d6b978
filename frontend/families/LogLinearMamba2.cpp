#include "frontend/families/LogLinearMamba2.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/families/Mamba2Config.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/Mlp.h"
#include "frontend/model/StateSpaceMixer.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

/// The library has weights for as many levels, whatever a model's length is, and
/// so for positions below 2^14.
static constexpr int64_t kLevels = 15, kPositions = 1 << (kLevels - 1);

static MlpConfig mlpOf(const Mamba2Config &config) {
  MlpConfig mlp;
  mlp.hidden = widthOfMlp(config.width, 4);
  return mlp;
}

static Value emitLayer(ModelBuilder &model, const Mamba2Config &config,
                       const NormConfig &norm, int64_t layer, Value x) {
  std::string name = "layers." + std::to_string(layer) + ".";
  std::string source = "backbone." + name;
  Value normed =
      model.norm(name + "mixer_norm", source + "mixer_norm", x, norm);
  Value mixed =
      emitStateSpaceMixer(model, config, name, source + "mixer.", normed);
  x = model.add(name + "mixer_residual", x, mixed);
  normed = model.norm(name + "mlp_norm", source + "mlp_norm", x, norm);
  Value inner =
      emitMlp(model, mlpOf(config), {name + "mlp", source + "mlp."}, normed);
  return model.add(name + "mlp_residual", x, inner);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importLogLinearMamba2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  if (reader.isSet("attnres_block_size"))
    reader.reportMismatch("attnres_block_size", "null",
                          *reader.get("attnres_block_size"));
  if (readActivation(reader, "hidden_act", seq::Nonlinearity::Silu) !=
      seq::Nonlinearity::Silu)
    reader.reportMismatch("hidden_act", "silu", *reader.get("hidden_act"));
  auto config = readMamba2Config(reader, input.vocabulary, input.remarks);
  if (!config)
    return config.takeError();
  if (config->dtMin > 0 || std::isfinite(config->dtMax))
    return refuse("config.json: expects no bounds in 'dt_limit', as the public "
                  "library does, but got some");
  config->levels = kLevels;
  config->normGroups = chooseNormGroups(*config, input);
  TextModelConfig text;
  text.family = "log_linear_mamba2";
  text.vocabulary = config->vocabulary;
  text.width = config->width;
  text.head.table = config->table.str();
  text.head.tied = config->tied;
  text.head.mayDiffer = config->headMayDiffer;
  text.endNorm = "backbone.norm_f";
  text.norm.epsilon = config->epsilon;
  text.context = chooseContext(input, kPositions);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    model.refuseStreamed("levels that follow from positions");
    for (int64_t layer = 0; layer < config->layers; ++layer)
      x = emitLayer(model, *config, text.norm, layer, x);
    return x;
  });
}
