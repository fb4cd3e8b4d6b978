#include "frontend/model/TextModel.h"

using namespace effc::frontend;
using mlir::Value;

Value effc::frontend::addPositions(ModelBuilder &model,
                                   const std::string &source, int64_t rows,
                                   int64_t offset, Value x) {
  model.refuseStreamed("a table of positions");
  WeightSource from(source);
  if (offset > 0)
    from.rows = model.rows(offset, rows, offset + rows, 1);
  Value table = model.matrix(MatrixRole::Positions, "positions", from, rows,
                             model.getWidth());
  return model.add("positions", x,
                   model.embedding("positions", model.getPositions(), table));
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::buildTextModel(const TextModelConfig &config,
                               FamilyInput &input, EmitLayers emitLayers) {
  auto tied = isHeadTied(config.head, input);
  if (!tied)
    return tied.takeError();
  ModelBuilder model(input, config.family, config.vocabulary, config.width);
  const StreamedKeys &streamed = input.streamed;
  model.setLongest(config.context);
  if (streamed.window == 0)
    model.setContext(config.context);
  else if (config.context > 0 &&
           streamed.sinks + streamed.window > config.context)
    model.report(
        "expects --sinks and --window to be at most the " +
        llvm::Twine(config.context) + " positions of the model, but got " +
        llvm::Twine(streamed.sinks) + " and " + llvm::Twine(streamed.window));
  int64_t width =
      config.embeddingWidth > 0 ? config.embeddingWidth : config.width;
  Value table =
      model.matrix("embeddings", config.head.table, config.vocabulary, width);
  Value x = model.embedding("embeddings", model.getTokens(), table);
  if (config.embeddingScale != 1)
    x = model.scale("embeddings", x, config.embeddingScale);
  x = emitLayers(model, x);
  x = model.selectRows("output_rows", x, model.getOutputRows());
  if (!config.endNorm.empty())
    x = model.norm("norm", config.endNorm, x, config.norm);
  if (!config.endProjection.empty())
    x = model.project("end", config.endProjection, x, width);
  Value matrix = *tied ? model.parameter("embeddings")
                       : model.matrix("lm_head", config.head.head,
                                      config.vocabulary, width);
  Value logits = model.lmHead("lm_head", x, matrix);
  if (!config.head.bias.empty())
    logits =
        model.add("lm_head", logits,
                  model.broadcast("lm_head",
                                  model.vector("lm_head_bias", config.head.bias,
                                               config.vocabulary),
                                  logits));
  if (config.logitScale != 1)
    logits = model.scale("lm_head", logits, config.logitScale);
  if (config.logitCap)
    logits = model.softCap("logit_cap", logits, *config.logitCap);
  return model.finish(logits);
}
