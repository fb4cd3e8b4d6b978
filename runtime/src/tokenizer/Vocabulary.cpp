#include "runtime/src/tokenizer/Vocabulary.h"

#include "runtime/src/tokenizer/TakenRow.h"

#include <algorithm>
#include <bit>
#include <functional>

using namespace effc::rt;

void Vocabulary::add(std::string_view text, bool hasText) {
  texts += text;
  ends.push_back(texts.size());
  known.push_back(hasText);
}

bool Vocabulary::index(const std::vector<bool> &outside, Budget &budget) {
  slots.assign(std::bit_ceil(2 * size() + 2), -1);
  for (size_t id = 0; id < size(); ++id) {
    if (!known[id] || outside[id])
      continue;
    std::string_view text = textOf(static_cast<int32_t>(id));
    size_t hash = std::hash<std::string_view>()(text);
    size_t at = slotOf(text, hash);
    // A comparison is of the bytes that two texts have in common.
    uint64_t looked = ((at - hash) & (slots.size() - 1)) + 1;
    if (!budget.spend(looked * (1 + text.size() / 16)))
      return false;
    slots[at] = static_cast<int32_t>(id);
    longestText = std::max(longestText, text.size());
  }
  return true;
}

std::vector<TokenTrie::Text> Vocabulary::listFound() const {
  std::vector<TokenTrie::Text> found;
  for (int32_t id : slots)
    if (id >= 0 && !textOf(id).empty())
      found.emplace_back(textOf(id), id);
  return found;
}

size_t Vocabulary::longestRow() const {
  return longestTakenRow(slots, [](int32_t id) { return id >= 0; });
}

std::string_view Vocabulary::textOf(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= size())
    return {};
  size_t begin = id == 0 ? 0 : ends[id - 1];
  return std::string_view(texts).substr(begin, ends[id] - begin);
}

/// Where the text is, or the empty slot where it would be.
size_t Vocabulary::slotOf(std::string_view text, size_t hash) const {
  size_t mask = slots.size() - 1;
  size_t at = hash & mask;
  while (slots[at] >= 0 && textOf(slots[at]) != text)
    at = (at + 1) & mask;
  return at;
}

int32_t Vocabulary::find(std::string_view text) const {
  if (text.size() > longestText)
    return -1;
  return slots[slotOf(text, std::hash<std::string_view>()(text))];
}
