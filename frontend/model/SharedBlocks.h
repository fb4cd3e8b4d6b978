// Transformer blocks that several layers of mixers share, as Zamba and Zamba2
// have them.
#ifndef EFFC_FRONTEND_MODEL_SHAREDBLOCKS_H
#define EFFC_FRONTEND_MODEL_SHAREDBLOCKS_H

#include "frontend/model/Decoder.h"

namespace effc::frontend {

struct SharedBlocksConfig {
  DecoderConfig decoder;
  /// The layers that use a shared block, in their order.
  std::vector<int64_t> uses;
  /// Blocks, which the uses take in turn.
  int64_t blocks = 1;
  /// What a block is called in a layer, with a point at its end.
  std::string block;
  /// R: each use adds products of this rank to those of its block's MLP, whose
  /// gates and ups are then one matrix; none without.
  std::optional<int64_t> rank;
  /// Whether to those of queries, keys and values too.
  bool adaptsAttention = false;
};

/// Reads what models with shared blocks have in common: sizes, heads of twice
/// the model's width, the norm, `tie_word_embeddings`. Problems are left in the
/// reader.
DecoderConfig readSharedDecoder(ConfigReader &reader, int64_t vocabulary);

/// Reads which layers use a block: `layer_types` or `layers_block_type`, or
/// what `otherwise` says of a layer.
std::vector<int64_t>
readUses(ConfigReader &reader, int64_t layers,
         llvm::function_ref<bool(int64_t layer)> otherwise);

/// Checks keys that say once more what follows from others, where they are set.
void checkSizesSaidAgain(
    ConfigReader &reader,
    llvm::ArrayRef<std::pair<const char *, int64_t>> sizes);

/// The mixer of a layer, from a normalised token; names as those of
/// emitSelectiveMixer().
using EmitLayerMixer =
    llvm::function_ref<mlir::Value(ModelBuilder &model, const std::string &name,
                                   const std::string &source, mlir::Value x)>;

/// The module: layers x + mixer(norm(x + block)), with the block's part only in
/// layers that use one.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildSharedBlocks(const SharedBlocksConfig &config, FamilyInput &input,
                  EmitLayerMixer mixer);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_SHAREDBLOCKS_H
