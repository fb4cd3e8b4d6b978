//===- HiddenRows.h - Hidden states of texts ------------------------------===//
#ifndef EFFC_TOOLS_EFFC_HIDDENROWS_H
#define EFFC_TOOLS_EFFC_HIDDENROWS_H

#include "tools/effc/Inputs.h"

#include <functional>
#include <span>

namespace effc::cli {

/// Feeds texts to a model that gives other rows than logits: hidden states, inner values
/// or what matrices are multiplied by. One thread at a time.
class HiddenRows {
public:
  /// `sessions`: as many texts are fed together, of the engine's.
  HiddenRows(const Model &model, Engine &engine, uint32_t sessions);

  /// Told of the rows of text `text`, from token `first` on.
  using Sink = std::function<void(size_t text, uint64_t first,
                                  std::span<const float> rows)>;
  /// Feeds each text from its start. `lastAlone`: of each the row of its last token
  /// alone. A text's rows are those that it has alone. Throws effc::Error.
  void feed(std::span<const Tokens> texts, bool lastAlone, const Sink &sink);

private:
  void feedTogether(std::span<const Tokens> texts, size_t number,
                    bool lastAlone, const Sink &sink);

  Engine &engine;
  const size_t width;
  std::vector<Session> sessions;
  std::vector<float> rows;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_HIDDENROWS_H
