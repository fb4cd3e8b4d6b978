// Layers between the mixers: two matrices, or three with a gate.
#ifndef EFFC_FRONTEND_MODEL_MLP_H
#define EFFC_FRONTEND_MODEL_MLP_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct MlpConfig {
  int64_t hidden = 1;
  seq::Nonlinearity activation = seq::Nonlinearity::Silu;
  bool bias = false;
};

struct MlpNames {
  std::string name, source;
  /// The gate is empty where there is none.
  llvm::StringRef gate = "gate_proj", up = "up_proj", down = "down_proj";
  /// One tensor [gates; ups] instead of two.
  llvm::StringRef fused = "";
  /// Whether matrices lie as [inputs, outputs].
  bool transposed = false;
  /// Of the last matrix.
  MatrixRole role = MatrixRole::Down;
};

/// The function that a configuration calls `key`, `otherwise` where it does
/// not. Problems are left in the reader.
seq::Nonlinearity readActivation(ConfigReader &reader, llvm::StringRef key,
                                 seq::Nonlinearity otherwise);

/// down(activation(gate(x)) * up(x)), or down(activation(up(x))).
mlir::Value emitMlp(ModelBuilder &model, const MlpConfig &config,
                    const MlpNames &names, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_MLP_H
