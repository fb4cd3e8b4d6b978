// What a Mamba-2 checkpoint's config.json says, in the project's letters, and
// the two layouts in which it is written.
#ifndef EFFC_FRONTEND_FAMILIES_MAMBA2CONFIG_H
#define EFFC_FRONTEND_FAMILIES_MAMBA2CONFIG_H

#include "frontend/model/StateSpaceConfig.h"

namespace effc::frontend {

/// The mixer of all layers, and what stands around them.
struct Mamba2Config : StateSpaceConfig {
  int64_t vocabulary = 1, width = 1, layers = 1; // D = width
  bool tied = false;
  /// The tensor of embeddings; the others have the same names in both layouts.
  llvm::StringLiteral table = "";
  /// Whether a head of its own may stand beside `tied`, and is then used.
  bool headMayDiffer = false;
};

/// Reads the layout of the public library, `Mamba2ForCausalLM`, whose defaults
/// stand for missing keys, but for 'hidden_act', which is read before; finishes the
/// reader.
llvm::Expected<Mamba2Config>
readMamba2Config(ConfigReader &reader, int64_t vocabulary, Remarks &remarks);

/// Reads the layout of the original authors' package `mamba_ssm`, whose
/// `MambaConfig` and `Mamba2` give the defaults, but for the layers around the
/// mixers, which are read before (MambaSsmLayers.h); finishes the reader.
llvm::Expected<Mamba2Config>
readMambaSsmConfig(ConfigReader &reader, int64_t vocabulary, Remarks &remarks);

/// The rows of the table of embeddings in that layout: 'vocab_size' rounded up
/// to a multiple of 'pad_vocab_size_multiple'. Problems are left in the reader.
int64_t readMambaSsmVocabulary(ConfigReader &reader, int64_t most);

// What both layouts share.
constexpr int64_t kMostMamba2Dimension = kMostStateSpaceDimension;
constexpr int64_t kMostMamba2Layers = 1024;

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBA2CONFIG_H
