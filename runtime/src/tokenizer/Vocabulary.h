//===- Vocabulary.h - Tokens and their texts ------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_VOCABULARY_H
#define EFFC_RUNTIME_SRC_TOKENIZER_VOCABULARY_H

#include "runtime/src/tokenizer/Budget.h"
#include "runtime/src/tokenizer/TokenTrie.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

class Vocabulary {
public:
  /// Adds the next id; no text for an id that is skipped.
  void add(std::string_view text, bool hasText);
  /// Makes find() possible; `outside` has a flag for each id that it does not
  /// find. Of two ids with one text the higher one counts.
  /// Takes a step of `budget` for each place of the table that is looked at; false
  /// where there are too few.
  bool index(const std::vector<bool> &outside, Budget &budget);

  size_t size() const { return ends.size(); }
  /// Of all texts.
  size_t bytes() const { return texts.size(); }
  bool has(int32_t id) const {
    return id >= 0 && static_cast<size_t>(id) < size() && known[id];
  }
  /// Empty for an unknown id.
  std::string_view textOf(int32_t id) const;
  /// The token of exactly this text, or -1.
  int32_t find(std::string_view text) const;
  /// The tokens that find() may find and that have a text.
  std::vector<TokenTrie::Text> listFound() const;

  /// Of the table, places that are taken in a row: what find() may look at. 71 are
  /// expected of a million texts that are not made to fall together.
  size_t longestRow() const;

private:
  size_t slotOf(std::string_view text, size_t hash) const;

  std::string texts;
  std::vector<size_t> ends; // by id, in `texts`
  std::vector<bool> known;
  std::vector<int32_t> slots; // of an open-addressed table, a power of two
  size_t longestText = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_VOCABULARY_H
