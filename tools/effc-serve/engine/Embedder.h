//===- Embedder.h - Texts to vectors --------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_EMBEDDER_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_EMBEDDER_H

#include "tools/effc/HiddenRows.h"

#include <mutex>

namespace effc::serve {

/// What a text's vector is made of: the hidden state of its last token, or the mean
/// of all.
enum class Pooling { Last, Mean };

/// Makes vectors of texts by a model that was compiled with --hidden. Any thread;
/// several wait for each other.
class Embedder {
public:
  /// Both outlive this.
  Embedder(const Model &model, Engine &engine, uint32_t sessions)
      : width(model.rowWidth()), rows(model, engine, sessions) {}

  /// A vector for each text, of length 1 where `normalises`. Throws effc::Error, and
  /// ApiError where a number is none.
  std::vector<std::vector<float>>
  embed(std::span<const std::vector<int32_t>> texts, Pooling pooling,
        bool normalises);

  /// `device_failures` and `device_lost_now`, as a scheduler counts them, and else 0;
  /// what the last failure said, or "". Any thread.
  effc_scheduler_stats_t stats() const;
  std::string deviceFailure() const;

private:
  void noteDevice(const char *failure);

  const size_t width;
  std::mutex lock;
  cli::HiddenRows rows;
  mutable std::mutex failureLock;
  uint64_t failures = 0;
  bool isLost = false; // the last texts failed
  std::string lastFailure;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_EMBEDDER_H
