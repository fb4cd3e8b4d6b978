#include "frontend/families/Mamba2.h"

#include "frontend/families/Mamba.h"
#include "frontend/families/Mamba3.h"

#include "frontend/families/Mamba2Config.h"
#include "frontend/families/MambaSsmLayers.h"
#include "frontend/model/Head.h"
#include "frontend/model/Mlp.h"
#include "frontend/model/StateSpaceMixer.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

static llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
build(Mamba2Config config, const MambaSsmLayers &around, FamilyInput &input,
      seq::Nonlinearity function = seq::Nonlinearity::Silu) {
  TextModelConfig text;
  text.family = "mamba2";
  text.vocabulary = config.vocabulary;
  text.width = config.width;
  text.head.table = config.table.str();
  text.head.tied = config.tied;
  text.head.mayDiffer = config.headMayDiffer;
  text.head.key =
      config.headMayDiffer ? "tie_word_embeddings" : "tie_embeddings";
  text.endNorm = "backbone.norm_f";
  text.norm = around.norm;
  text.context = around.context;
  config.normGroups = chooseNormGroups(config, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    auto mix = [&](const std::string &name, const std::string &source,
                   Value normed) {
      return emitStateSpaceMixer(model, config, name, source, normed, function);
    };
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = emitMambaSsmLayer(model, around, layer, x, mix);
    return x;
  });
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
frontend::importMamba2(FamilyInput &input) {
  seq::Nonlinearity function =
      readActivation(input.config, "hidden_act", seq::Nonlinearity::Silu);
  auto config = readMamba2Config(input.config, input.vocabulary, input.remarks);
  if (!config)
    return config.takeError();
  MambaSsmLayers around;
  around.norm.epsilon = config->epsilon;
  return build(*config, around, input, function);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
frontend::importMambaSsm(FamilyInput &input) {
  // The package's default is its first mixer.
  const JsonValue *mixer = input.config.get("ssm_cfg");
  const JsonObject *arguments = mixer ? mixer->getObject() : nullptr;
  const JsonValue *layer = arguments ? arguments->find("layer") : nullptr;
  const std::string *name = layer ? layer->getString() : nullptr;
  if (arguments && (!layer || (name && *name == "Mamba1")))
    return importMambaSsm1(input);
  if (name && *name == "Mamba3")
    return importMambaSsm3(input);
  ConfigReader &reader = input.config;
  MambaSsmLayers around = readMambaSsmLayers(
      input, reader.requireInteger("d_model", 1, kMostMamba2Dimension),
      reader.requireInteger("n_layer", 1, kMostMamba2Layers));
  auto config = readMambaSsmConfig(reader, input.vocabulary, input.remarks);
  if (!config)
    return config.takeError();
  return build(*config, around, input);
}
