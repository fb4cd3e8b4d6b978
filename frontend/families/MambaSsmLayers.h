// What the package `mamba_ssm` puts around its mixers: layers of attention in
// their places, and gated layers behind them all.
#ifndef EFFC_FRONTEND_FAMILIES_MAMBASSMLAYERS_H
#define EFFC_FRONTEND_FAMILIES_MAMBASSMLAYERS_H

#include "frontend/model/Attention.h"

#include <set>

namespace effc::frontend {

struct MambaSsmLayers {
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

/// Reads `attn_layer_idx`, `attn_cfg` and `d_intermediate` of a model of
/// `width`. Problems are left in the reader.
MambaSsmLayers readMambaSsmLayers(FamilyInput &input, int64_t width,
                                  int64_t layers);

/// A layer's attention, from a normalised token to what the residual gets.
/// `source` is the layer's, with its dot.
mlir::Value emitMambaSsmAttention(ModelBuilder &model,
                                  const MambaSsmLayers &config,
                                  const std::string &name,
                                  const std::string &source, mlir::Value x);

/// The same of a gated layer.
mlir::Value emitMambaSsmMlp(ModelBuilder &model, const MambaSsmLayers &config,
                            const std::string &name, const std::string &source,
                            mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBASSMLAYERS_H
