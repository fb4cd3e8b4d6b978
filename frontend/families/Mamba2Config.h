// What a Mamba-2 checkpoint's config.json says, in the project's letters, and
// the two layouts in which it is written.
#ifndef EFFC_FRONTEND_FAMILIES_MAMBA2CONFIG_H
#define EFFC_FRONTEND_FAMILIES_MAMBA2CONFIG_H

#include "frontend/checkpoint/ConfigReader.h"

#include <limits>

namespace effc::frontend {

/// Where the gate of a mixer stands: before its norm, behind it, or without
/// one.
enum class Mamba2Gate { BeforeNorm, BehindNorm, Alone };

struct Mamba2Config {
  int64_t vocabulary = 1, width = 1, layers = 1;       // D = width
  int64_t heads = 1, values = 1, keys = 1, groups = 1; // H, V, K, G
  int64_t window = 2; // W, the convolution's taps
  bool projectionBias = false, convolutionBias = true, tied = false;
  double epsilon = 1e-5;
  Mamba2Gate gate = Mamba2Gate::BeforeNorm;
  /// Whether the feed-through has a weight for each channel, not each head.
  bool feedsChannels = false;
  /// Channels beside the mixer's that are a gated layer of their own.
  int64_t beside = 0;
  /// The time step is clamped to these after softplus.
  double dtMin = 0;
  double dtMax = std::numeric_limits<double>::infinity();
  /// The tensor of embeddings; the others have the same names in both layouts.
  llvm::StringLiteral table = "";
  /// Whether a head of its own may stand beside `tied`, and is then used.
  bool headMayDiffer = false;

  /// Channels inside the mixer, H * V.
  int64_t inner() const { return heads * values; }
  /// Channels of all keys, and of all queries.
  int64_t groupKeys() const { return groups * keys; }
  /// Channels that are convolved: x, B and C.
  int64_t convolved() const { return inner() + 2 * groupKeys(); }
  /// Rows of in_proj: gates and values of what stands beside the mixer, then z,
  /// x, B, C and dt.
  int64_t projected() const {
    return 2 * beside + inner() + convolved() + heads;
  }
  /// Columns of out_proj.
  int64_t mixed() const { return beside + inner(); }
};

/// Reads the layout of the public library, `Mamba2ForCausalLM`, whose defaults
/// stand for missing keys, and finishes the reader.
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

// What both layouts share; `key` is what the layout calls the setting.
constexpr int64_t kMostMamba2Dimension = 65536;
constexpr int64_t kMostMamba2Layers = 1024;
/// [low, high], of which high may be infinite in any spelling.
void readTimeStepLimit(ConfigReader &reader, llvm::StringRef key,
                       Mamba2Config &config);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBA2CONFIG_H
