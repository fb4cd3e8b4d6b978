// What PLaMo-2 and PLaMo-3 share: where norms and residuals stand, the gated
// MLP, and names around the layers.
#ifndef EFFC_FRONTEND_FAMILIES_PLAMODECODER_H
#define EFFC_FRONTEND_FAMILIES_PLAMODECODER_H

#include "frontend/families/Family.h"
#include "frontend/model/Decoder.h"

namespace effc::frontend {

/// What a layer does with a normalised token, of the tensors behind
/// `names.source`.
using PlamoMixer =
    llvm::function_ref<mlir::Value(ModelBuilder &model, const LayerNames &names,
                                   int64_t layer, mlir::Value x)>;

/// What stands before the names of a layer: another module of the same name
/// lies around the layers.
inline constexpr llvm::StringLiteral kPlamoPrefix = "model.layers.";

/// Keys of a part that sees, and of products that are stored in another form:
/// refused. Problems are left in the reader.
void checkPlamoIsPlainText(ConfigReader &reader);

/// The model whose layers are x + norm(mixer(norm(x))), then the same with an
/// MLP for the mixer. With `norm.unitOffset` the stored weights are less than
/// what norms multiply with: by 1 before a part, by 1/5 behind a mixer and by
/// 1/5^1.5 behind an MLP; without it they are whole.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildPlamo(const DecoderConfig &config, FamilyInput &input, PlamoMixer mixer);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_PLAMODECODER_H
