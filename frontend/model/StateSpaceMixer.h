// The mixer of Mamba-2 (state-space duality, `seq.ssd`), which hybrids have
// too. Source: Dao and Gu, arXiv:2405.21060.
#ifndef EFFC_FRONTEND_MODEL_STATESPACEMIXER_H
#define EFFC_FRONTEND_MODEL_STATESPACEMIXER_H

#include "frontend/model/ModelBuilder.h"
#include "frontend/model/StateSpaceConfig.h"

namespace effc::frontend {

/// Reads what hybrids call `mamba_n_heads`, `mamba_d_head`, `mamba_n_groups`,
/// `mamba_d_state`, `mamba_d_conv`, `mamba_expand`, `mamba_conv_bias`,
/// `mamba_proj_bias` and `time_step_limit`, for a model of `width`. `inner` is
/// the key of the channels inside, where there is one: null there, and no key,
/// is `mamba_expand * hidden_size`. Problems are left in the reader.
StateSpaceConfig readStateSpaceMixer(ConfigReader &reader, FamilyInput &input,
                                     int64_t width, llvm::StringRef inner = "");

/// Over how many groups of channels the gated norm takes its means: as many as
/// there are of heads, unless the user asks for one. Says why in a remark.
int64_t chooseNormGroups(const StateSpaceConfig &config, FamilyInput &input);

/// in_proj, convolution, duality, gate, norm, out_proj; `name` and `source` end
/// with a point. `function` follows the convolution, and is not the gate's.
mlir::Value
emitStateSpaceMixer(ModelBuilder &model, const StateSpaceConfig &config,
                    const std::string &name, const std::string &source,
                    mlir::Value x,
                    seq::Nonlinearity function = seq::Nonlinearity::Silu);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_STATESPACEMIXER_H
