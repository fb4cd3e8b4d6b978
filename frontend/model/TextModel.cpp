#include "frontend/model/TextModel.h"

using namespace effc::frontend;
using mlir::Value;

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::buildTextModel(const TextModelConfig &config,
                               FamilyInput &input, EmitLayers emitLayers) {
  auto tied = isHeadTied(config.head, input);
  if (!tied)
    return tied.takeError();
  ModelBuilder model(input, config.family, config.vocabulary, config.width);
  if (config.context > 0)
    model.setContext(config.context);
  Value table = model.matrix("embeddings", config.head.table, config.vocabulary,
                             config.width);
  Value x = model.embedding("embeddings", model.getTokens(), table);
  if (config.embeddingScale != 1)
    x = model.scale("embeddings", x, config.embeddingScale);
  x = emitLayers(model, x);
  x = model.selectRows("output_rows", x, model.getOutputRows());
  if (!config.endNorm.empty())
    x = model.norm("norm", config.endNorm, x, config.norm);
  Value matrix = *tied ? model.parameter("embeddings")
                       : model.matrix("lm_head", config.head.head,
                                      config.vocabulary, config.width);
  Value logits = model.lmHead("lm_head", x, matrix);
  if (config.logitCap)
    logits = model.softCap("logit_cap", logits, *config.logitCap);
  return model.finish(logits);
}
