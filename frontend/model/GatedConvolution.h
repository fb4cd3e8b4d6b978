// A short convolution between two gates: the mixer of LFM2 and LFM3.
#ifndef EFFC_FRONTEND_MODEL_GATEDCONVOLUTION_H
#define EFFC_FRONTEND_MODEL_GATEDCONVOLUTION_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct GatedConvolutionConfig {
  /// L, the taps, the present token's included.
  int64_t taps = 3;
  /// Of the convolution and of the products around it.
  bool bias = false;
};

/// Reads `conv_L_cache` and `conv_bias`. Problems are left in the reader.
GatedConvolutionConfig readGatedConvolution(ConfigReader &reader,
                                            int64_t tapsByDefault);

/// out_proj(C * conv(B * x)) of the rows [B; C; x] of in_proj: `name` and
/// `source` end with a point.
mlir::Value emitGatedConvolution(ModelBuilder &model,
                                 const GatedConvolutionConfig &config,
                                 const std::string &name,
                                 const std::string &source, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_GATEDCONVOLUTION_H
