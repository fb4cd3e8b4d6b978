//===- Pieces.h - Text cut into what the model sees -----------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_PIECES_H
#define EFFC_RUNTIME_SRC_TOKENIZER_PIECES_H

#include "runtime/schema/tokenizer_generated.h"
#include "runtime/src/tokenizer/pattern/Pattern.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

/// Non-empty parts of a text, in order.
class Pieces {
public:
  /// `isFirst`: the text is the start of what is tokenized. Keeps a reference
  /// to `text`.
  Pieces(std::string_view text, bool isFirst) : isFirst(isFirst) {
    if (!text.empty())
      pieces.push_back(text);
  }
  Pieces(const Pieces &) = delete;
  Pieces &operator=(const Pieces &) = delete;

  const std::vector<std::string_view> &all() const { return pieces; }

private:
  friend class PieceSteps;
  std::vector<std::string_view> pieces;
  std::string storage; // of pieces that a step has rewritten
  bool isFirst;
};

/// The steps of a pre-tokenizer, in order.
class PieceSteps {
public:
  /// Checks each step and appends it.
  Check add(const artifact::PieceStep &step, Budget &budget);

  /// EFFC_BAD_DATA where that takes more than `budget` has.
  Check apply(Pieces &pieces, Budget &budget) const;

  /// What the steps take in memory.
  size_t bytes() const;

private:
  Check addSplit(const artifact::SplitStep &split, Budget &budget);

  struct Step {
    artifact::PieceKind kind;
    std::optional<Pattern> pattern;
    artifact::SplitBehavior behavior = artifact::SplitBehavior::Isolated;
    bool invert = false;
    std::string content = {};
    artifact::Prepend prepend = artifact::Prepend::Never;
  };
  static Check split(const Step &step, Pieces &pieces, Budget &budget);
  static void rewrite(const Step &step, Pieces &pieces);

  std::vector<Step> steps;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_PIECES_H
