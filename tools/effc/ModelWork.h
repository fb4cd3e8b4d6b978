//===- ModelWork.h - What a model's calls must compute and move -----------===//
#ifndef EFFC_TOOLS_EFFC_MODELWORK_H
#define EFFC_TOOLS_EFFC_MODELWORK_H

#include <cstdint>
#include <nlohmann/json.hpp>

namespace effc::cli {

/// What no implementation of a call avoids.
struct Work {
  uint64_t flops = 0;
  uint64_t bytes = 0; // weights read once, states read and written
};

/// Reads the document of effc_model_describe().
class ModelWork {
public:
  explicit ModelWork(const nlohmann::ordered_json &description);

  /// `sequences` prompts of `tokens` tokens each, logits of the last of each.
  Work prefill(uint64_t tokens, uint64_t sequences) const;
  /// One token for each of `sequences`, with its logits.
  Work decode(uint64_t sequences) const;
  /// Whether the FLOPs are those of the matrices alone (completeWork()).
  bool isEstimate() const { return estimate; }

private:
  uint64_t tokenFlops, headFlops, weightBytes, stateBytes;
  bool estimate;
};

/// Fills "flops_per_token" and "head_flops_per_row" where the file does not
/// say: two for every element of a matrix, one of which is the head. An
/// embedding table that is not the head is looked up, not multiplied, and what
/// mixers compute besides is left out. "flops_estimated" says whether it did.
void completeWork(nlohmann::ordered_json &description);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MODELWORK_H
