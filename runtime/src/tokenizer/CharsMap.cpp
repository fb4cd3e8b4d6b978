#include "runtime/src/tokenizer/CharsMap.h"

#include "runtime/src/tokenizer/Utf8.h"
#include "runtime/src/tokenizer/unicode/Graphemes.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

using namespace effc::rt;

static uint32_t read(std::span<const uint8_t> bytes, size_t at) {
  return uint32_t(bytes[at]) | uint32_t(bytes[at + 1]) << 8 |
         uint32_t(bytes[at + 2]) << 16 | uint32_t(bytes[at + 3]) << 24;
}

Result<CharsMap> CharsMap::create(std::span<const uint8_t> bytes) {
  uint32_t size = bytes.size() < 4 ? 0 : read(bytes, 0);
  if (bytes.size() < 4 || size % 4 != 0 || size > bytes.size() - 4)
    return badData("a charsmap of ", bytes.size(),
                   " bytes says that its trie has ", size);
  CharsMap map;
  for (size_t at = 0; at < size; at += 4)
    map.trie.push_back(read(bytes, 4 + at));
  map.replacements.assign(bytes.begin() + 4 + size, bytes.end());
  if (makeValidUtf8(map.replacements) != map.replacements)
    return badData("a charsmap's replacements are not UTF-8");
  return map;
}

bool CharsMap::find(std::string_view chunk,
                    std::string_view &replacement) const {
  // The units of a Darts double array: label, offset, and whether a value
  // follows.
  auto offsetOf = [](uint32_t unit) {
    return unit >> 10 << ((unit & (1u << 9)) >> 6);
  };
  if (trie.empty())
    return false;
  size_t node = offsetOf(trie[0]);
  for (char c : chunk) {
    auto byte = static_cast<uint8_t>(c);
    if (byte == 0)
      return false;
    node ^= byte;
    if (node >= trie.size())
      return false;
    uint32_t unit = trie[node];
    if ((unit & (1u << 31 | 0xFF)) != byte)
      return false;
    node ^= offsetOf(unit);
    if (!(unit >> 8 & 1))
      continue;
    if (node >= trie.size())
      return false;
    size_t begin = trie[node] & 0x7FFFFFFF;
    if (begin > replacements.size())
      return false;
    replacement = std::string_view(replacements).substr(begin);
    // A start inside a character would give what is no UTF-8.
    if (!replacement.empty() &&
        (static_cast<uint8_t>(replacement[0]) & 0xC0) == 0x80)
      return false;
    replacement = replacement.substr(0, replacement.find('\0'));
    return true;
  }
  return false;
}

std::string CharsMap::apply(std::string_view text, Budget &budget) const {
  constexpr size_t kLongestWhole = 5;
  std::string out;
  out.reserve(text.size());
  std::string_view replacement;
  while (!text.empty() && budget.admits(out.size())) {
    size_t bytes = unicode::firstCluster(text);
    std::string_view cluster = text.substr(0, bytes);
    text.remove_prefix(bytes);
    if (bytes <= kLongestWhole && find(cluster, replacement)) {
      out += replacement;
      continue;
    }
    while (!cluster.empty() && budget.admits(out.size())) {
      size_t length = unicode::decode(cluster).bytes;
      std::string_view character = cluster.substr(0, length);
      out += find(character, replacement) ? replacement : character;
      cluster.remove_prefix(length);
    }
  }
  return out;
}
