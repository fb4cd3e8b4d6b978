//===- Vocabulary.h - Tokens and their texts ------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_VOCABULARY_H
#define EFFC_RUNTIME_SRC_TOKENIZER_VOCABULARY_H

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
  void index(const std::vector<bool> &outside);

  size_t size() const { return ends.size(); }
  bool has(int32_t id) const {
    return id >= 0 && static_cast<size_t>(id) < size() && known[id];
  }
  /// Empty for an unknown id.
  std::string_view textOf(int32_t id) const;
  /// The token of exactly this text, or -1.
  int32_t find(std::string_view text) const;
  /// Of any token that find() may find, in bytes.
  size_t longest() const { return longestText; }

private:
  size_t slotOf(std::string_view text) const;

  std::string texts;
  std::vector<size_t> ends; // by id, in `texts`
  std::vector<bool> known;
  std::vector<int32_t> slots; // of an open-addressed table, a power of two
  size_t longestText = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_VOCABULARY_H
