// What Ling, Ring and their relatives share (`bailing_*`): names, keys, and experts
// in groups behind a few layers with an MLP.
#ifndef EFFC_FRONTEND_FAMILIES_BAILING_H
#define EFFC_FRONTEND_FAMILIES_BAILING_H

#include "frontend/families/Family.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LatentAttention.h"

namespace effc::frontend {

struct BailingModel {
  /// Sizes, norms, experts and their names; attention is the caller's.
  DecoderConfig decoder;
  /// 1 for a layer with experts.
  std::vector<unsigned> routed;
  /// Layers behind the last, which guess further tokens.
  int64_t further = 0;
};

/// Reads all but the mixers. Problems are left in the reader.
BailingModel readBailing(FamilyInput &input, llvm::StringRef family);

/// Which layers attend, 1 for one: the last of each `layer_group_size`, unless
/// `layer_types` lists them.
std::vector<unsigned> readBailingKinds(ConfigReader &reader, int64_t layers);

/// Latent attention whose shared channels turn, in pairs of neighbours.
LatentConfig readBailingLatent(FamilyInput &input, int64_t context);

using EmitBailingMixer = llvm::function_ref<mlir::Value(
    ModelBuilder &model, int64_t layer, const std::string &name,
    const std::string &source, mlir::Value x)>;

/// The module, with the mixer of each layer; `source` ends with "attention.".
/// `grows`: whether any layer attends.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildBailing(FamilyInput &input, const BailingModel &bailing, bool grows,
             EmitBailingMixer mixer);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_BAILING_H
