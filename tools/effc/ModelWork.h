//===- ModelWork.h - What a model's calls must compute and move -----------===//
#ifndef EFFC_TOOLS_EFFC_MODELWORK_H
#define EFFC_TOOLS_EFFC_MODELWORK_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace effc::cli {

/// What no implementation of a call avoids.
struct Work {
  uint64_t flops = 0;
  /// Weights read once, states of a fixed size read and written, keys and
  /// values of the call's tokens written and those before them read.
  uint64_t bytes = 0;
};

/// Reads the document of effc_model_describe().
class ModelWork {
public:
  explicit ModelWork(const nlohmann::ordered_json &description);

  /// `sequences` prompts of `tokens` tokens each, behind `depth` tokens that
  /// each sequence holds, logits of the last of each.
  Work prefill(uint64_t tokens, uint64_t sequences, uint64_t depth = 0) const;
  /// One token for each of `sequences`, with its logits: the mean of `steps`
  /// steps, the first behind `depth` tokens.
  Work decode(uint64_t sequences, uint64_t depth = 0, uint64_t steps = 1) const;

  /// What the states of a sequence fill after so many tokens.
  uint64_t heldBytes(uint64_t tokens) const;
  /// How many sequences of so many tokens have room in `bytes`, up to those that an
  /// engine takes.
  uint64_t sequencesIn(uint64_t bytes, uint64_t tokens) const;
  uint64_t bytesOfWeights() const { return weightBytes; }

private:
  /// A state with a row for each token that it holds.
  struct Growing {
    uint64_t rows, rowBytes;
  };
  /// What a token takes for each token that it sees, of `window` at most; 0: of
  /// all there are.
  struct Keys {
    uint64_t window, flops;
  };
  /// The FLOPs of `tokens` tokens behind `depth` that depend on their places.
  uint64_t keyFlops(uint64_t tokens, uint64_t depth) const;

  std::vector<Keys> keys;
  uint64_t tokenFlops, headFlops, weightBytes, stateBytes;
  std::vector<Growing> growing;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MODELWORK_H
