// What the package `mamba_ssm` puts around its mixers: norms, layers of
// attention in their places, and gated layers behind them all.
#ifndef EFFC_FRONTEND_FAMILIES_MAMBASSMLAYERS_H
#define EFFC_FRONTEND_FAMILIES_MAMBASSMLAYERS_H

#include "frontend/model/Attention.h"

#include <set>

namespace effc::frontend {

struct MambaSsmLayers {
  /// That of each layer, of the gated layers and of the end.
  NormConfig norm;
  /// The numbers of the layers that attend.
  std::set<int64_t> attends;
  AttentionConfig attention;
  LayerAttention turned;
  /// Taps of the convolution of queries, keys and values; 0: none.
  int64_t taps = 0;
  /// Hidden units of the gated layers; 0: there are none.
  int64_t hidden = 0;
  /// Positions that keys have room for; 0: no layer attends.
  int64_t context = 0;
};

/// Reads `rms_norm`, `attn_layer_idx`, `attn_cfg` and `d_intermediate` of a
/// model of `width`. Problems are left in the reader.
MambaSsmLayers readMambaSsmLayers(FamilyInput &input, int64_t width,
                                  int64_t layers);

/// What a layer's mixer makes of normalised tokens. `name` is the layer's and
/// `source` the mixer's, each with its dot.
using MambaSsmMixer = llvm::function_ref<mlir::Value(
    const std::string &name, const std::string &source, mlir::Value normed)>;

/// The layer of the number `index`, with its residuals: attention where
/// `config` has it, else `mixer`.
mlir::Value emitMambaSsmLayer(ModelBuilder &model, const MambaSsmLayers &config,
                              int64_t index, mlir::Value x,
                              MambaSsmMixer mixer);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBASSMLAYERS_H
