// What every language model has around its layers: the table of embeddings
// before them, and after them the choice of rows, the last norm and the head.
#ifndef EFFC_FRONTEND_MODEL_TEXTMODEL_H
#define EFFC_FRONTEND_MODEL_TEXTMODEL_H

#include "frontend/model/Head.h"
#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct TextModelConfig {
  llvm::StringRef family;
  int64_t vocabulary = 1, width = 1;
  HeadConfig head;
  /// The last norm, by its tensor without `.weight`; empty: there is none.
  std::string endNorm;
  NormConfig norm;
  /// Positions that states which grow have room for; 0: none of them grows.
  int64_t context = 0;
  /// Channels of an embedding, where they are not `width`.
  int64_t embeddingWidth = 0;
  /// What leads back to them after the last norm, by its tensor without
  /// `.weight`; empty: nothing.
  std::string endProjection;
  double embeddingScale = 1;
  /// What logits are multiplied with, before the cap.
  double logitScale = 1;
  std::optional<double> logitCap;
};

/// `x` and what the table `source` has for its tokens' positions: one of `rows`
/// rows for each, behind `offset` more.
mlir::Value addPositions(ModelBuilder &model, const std::string &source,
                         int64_t rows, int64_t offset, mlir::Value x);

/// The layers, from embeddings [T, D] to what the last norm takes.
using EmitLayers =
    llvm::function_ref<mlir::Value(ModelBuilder &model, mlir::Value x)>;

/// Builds the module. Fails where a tied head differs from the table, and with
/// the first weight that does not fit, or that no layer reads.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildTextModel(const TextModelConfig &config, FamilyInput &input,
               EmitLayers emitLayers);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_TEXTMODEL_H
