// The sizes of Mamba-2's mixer and how configurations spell them; MLIR is not
// needed to read them.
#ifndef EFFC_FRONTEND_MODEL_STATESPACECONFIG_H
#define EFFC_FRONTEND_MODEL_STATESPACECONFIG_H

#include "frontend/checkpoint/ConfigReader.h"

#include <limits>

namespace effc::frontend {

/// Where the gate of a mixer stands: before its norm, behind it, or without
/// one.
enum class StateSpaceGate { BeforeNorm, BehindNorm, Alone };

/// What the parts of a projected token are multiplied with, before the
/// convolution and before the time step's bias.
struct StateSpaceFactors {
  double gate = 1, value = 1, key = 1, query = 1, step = 1;
};

struct StateSpaceConfig {
  int64_t heads = 1, values = 1, keys = 1, groups = 1; // H, V, K, G
  /// W, the convolution's taps.
  int64_t taps = 4;
  bool inputBias = false, outputBias = false, convolutionBias = true;
  double epsilon = 1e-5;
  StateSpaceGate gate = StateSpaceGate::BeforeNorm;
  /// Over how many groups of channels the norm takes its means.
  int64_t normGroups = 1;
  /// Whether the feed-through has a weight for each channel, not each head.
  bool feedsChannels = false;
  /// Channels beside the mixer's that are a gated layer of their own.
  int64_t beside = 0;
  /// Levels of log-linear attention, each with a state of its own and a weight
  /// for each head; 0: one state, and no weights.
  int64_t levels = 0;
  /// The time step is clamped to these after softplus.
  double dtMin = 0;
  double dtMax = std::numeric_limits<double>::infinity();
  StateSpaceFactors factors;

  /// Channels inside the mixer, H * V.
  int64_t inner() const { return heads * values; }
  /// Channels of all keys, and of all queries.
  int64_t groupKeys() const { return groups * keys; }
  /// Channels that are convolved: x, B and C.
  int64_t convolved() const { return inner() + 2 * groupKeys(); }
  /// Rows of in_proj: gates and values of what stands beside the mixer, then z,
  /// x, B, C, dt and the weights of levels.
  int64_t projected() const {
    return 2 * beside + inner() + convolved() + heads * (1 + levels);
  }
  /// Columns of out_proj.
  int64_t mixed() const { return beside + inner(); }
};

constexpr int64_t kMostStateSpaceDimension = 65536;

/// Reads [low, high] under `key`, of which high may be infinite in any
/// spelling; null stands for no bounds. Problems are left in the reader.
void readTimeStepLimit(ConfigReader &reader, llvm::StringRef key,
                       StateSpaceConfig &config);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_STATESPACECONFIG_H
