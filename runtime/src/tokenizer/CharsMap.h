//===- CharsMap.h - SentencePiece's table of replacements -----------------===//
//
// The binary form of a `Precompiled` normalizer: the size of a double-array
// trie (u32, little endian), the trie (u32 each), then the replacements, each
// ended by a NUL. The trie's value is where a replacement starts.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_CHARSMAP_H
#define EFFC_RUNTIME_SRC_TOKENIZER_CHARSMAP_H

#include "runtime/src/Error.h"
#include "runtime/src/tokenizer/Budget.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

class CharsMap {
public:
  /// Checks sizes and that replacements are UTF-8; copies `bytes`.
  static Result<CharsMap> create(std::span<const uint8_t> bytes);

  /// As the library applies it: whole grapheme clusters of up to five bytes
  /// first, character by character otherwise; of a cluster, the shortest prefix
  /// with a replacement replaces all of it. Where that takes more than `budget`
  /// has, the result is of no use.
  std::string apply(std::string_view text, Budget &budget) const;

  /// What it takes in memory.
  size_t bytes() const { return 4 * trie.size() + replacements.size(); }

private:
  /// The replacement of the shortest prefix of `chunk` that has one.
  bool find(std::string_view chunk, std::string_view &replacement) const;

  std::vector<uint32_t> trie;
  std::string replacements;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_CHARSMAP_H
