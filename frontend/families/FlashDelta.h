// DeltaNet, Gated DeltaNet and Kimi delta attention, in the layouts of
// flash-linear-attention, and the last one's layer for models that have it.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHDELTA_H
#define EFFC_FRONTEND_FAMILIES_FLASHDELTA_H

#include "frontend/families/FlashModel.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashDeltaNet(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashGatedDeltaNet(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashKda(FamilyInput &input);

/// A layer of Kimi delta attention whose values have as many heads and channels
/// as its keys.
struct KimiDeltaConfig {
  /// H heads of K channels, taps of the short convolutions.
  int64_t heads = 1, keys = 1, taps = 4;
  double epsilon = 1e-5;
  /// What follows the convolutions.
  seq::Nonlinearity function = seq::Nonlinearity::Silu;
  /// Whether the taps of queries, keys and values lie in one tensor, `conv1d`.
  bool joinedTaps = false;
  /// The least log-decay, where gates are bounded.
  std::optional<double> leastDecay = std::nullopt;
  /// Whether decays and gates are made by one matrix each.
  bool fullRank = false;
  /// What the output's matrix is called.
  llvm::StringRef output = "o_proj";
};

/// The layer as Kimi Linear names its tensors, with `f_a_proj` and `f_b_proj`
/// for the decays and `g_a_proj` and `g_b_proj` for the gate; or, of full rank,
/// with `f_proj` and `g_proj`. `name` and
/// `source` are those of the layer's mixer, with a point at the end; `x` is
/// normalised.
mlir::Value emitKimiDelta(ModelBuilder &model, const KimiDeltaConfig &config,
                          const std::string &name, const std::string &source,
                          mlir::Value x);

/// The mixer of Gated DeltaNet with the keys of `reader`, an object inside of
/// the configuration of another model. Problems are left in the reader.
FlashMixer readGatedDeltaMixer(ConfigReader &reader, const FlashConfig &model);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHDELTA_H
