// A layer: a mixer and an MLP, each with a norm and a residual.
#ifndef EFFC_FRONTEND_MODEL_BLOCK_H
#define EFFC_FRONTEND_MODEL_BLOCK_H

#include "frontend/model/ModelBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace effc::frontend {

/// Where norms and residuals stand, with f for the mixer, then for the MLP.
enum class BlockOrder {
  NormFirst,    // x + f(norm(x))
  NormLast,     // norm(x + f(x))
  NormedTokens, // norm(x) + f(norm(x))
  Parallel      // x + mixer(norm(x)) + mlp(norm(x))
};

using EmitPart = llvm::function_ref<mlir::Value(mlir::Value)>;

/// The parts of a layer, from tokens to what is made of them.
struct BlockParts {
  EmitPart mixerNorm, mixer, mlpNorm, mlp;
};

/// `name` is the layer's, with a point at the end.
mlir::Value emitBlock(ModelBuilder &model, const std::string &name,
                      BlockOrder order, const BlockParts &parts, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_BLOCK_H
