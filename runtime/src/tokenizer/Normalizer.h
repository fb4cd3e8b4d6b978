//===- Normalizer.h - Text before it is cut -------------------------------===//
//
// The steps of a tokenizer's normalizer, in order. Each works on the whole text
// between two added tokens.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_NORMALIZER_H
#define EFFC_RUNTIME_SRC_TOKENIZER_NORMALIZER_H

#include "runtime/schema/tokenizer_generated.h"
#include "runtime/src/tokenizer/CharsMap.h"
#include "runtime/src/tokenizer/pattern/Pattern.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

class Normalizer {
public:
  /// Checks each step and appends it.
  Check add(const artifact::NormalizerStep &step, Budget &budget);
  bool isEmpty() const { return steps.empty(); }

  /// `text` is valid UTF-8, and so is the result. `movesStart` becomes whether
  /// characters at the start were dropped. EFFC_BAD_DATA where that takes more
  /// than `budget` has.
  Result<std::string> apply(std::string_view text, bool &movesStart,
                            Budget &budget) const;

  /// What the steps take in memory.
  size_t bytes() const;

private:
  struct Step {
    artifact::NormalizerKind kind;
    std::optional<Pattern> pattern;
    std::string content;
    std::optional<CharsMap> charsmap;
  };
  static Result<std::string> applyStep(const Step &step, std::string_view text,
                                       bool &movesStart, Budget &budget);

  std::vector<Step> steps;
};

/// `text` with each match of `pattern` replaced.
Result<std::string> replaceAll(const Pattern &pattern, std::string_view content,
                               std::string_view text, Budget &budget);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_NORMALIZER_H
