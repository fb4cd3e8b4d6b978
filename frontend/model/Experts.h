// Gated layers of which each token takes a few.
#ifndef EFFC_FRONTEND_MODEL_EXPERTS_H
#define EFFC_FRONTEND_MODEL_EXPERTS_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct ExpertsConfig {
  /// E, the number that a token takes, and F, the hidden units of each.
  int64_t experts = 1, taken = 1, hidden = 1;
  seq::Nonlinearity activation = seq::Nonlinearity::Silu;
  /// Weights are the softmax over the experts taken, or that over all of them.
  bool normalised = true;
};

/// The tensors: `source` + `router` + ".weight", and for each expert its three
/// behind `source` + `experts` + "." + its number.
struct ExpertsNames {
  std::string name, source;
  llvm::StringRef router = "gate", experts = "experts";
  llvm::StringRef gate = "gate_proj", up = "up_proj", down = "down_proj";
};

mlir::Value emitExperts(ModelBuilder &model, const ExpertsConfig &config,
                        const ExpertsNames &names, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_EXPERTS_H
