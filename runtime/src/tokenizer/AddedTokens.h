//===- AddedTokens.h - Finds whole tokens spelled out in a text -----------===//
//
// Added tokens ("<|endoftext|>") are cut out before anything else looks at the
// text: leftmost first, the longest of those that start there, as the Hugging
// Face library does. Those that are not `normalized` are looked for in the text
// as it is, the others in what is left once it has been normalized.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_ADDEDTOKENS_H
#define EFFC_RUNTIME_SRC_TOKENIZER_ADDEDTOKENS_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace effc::rt {

struct AddedToken {
  int32_t id;
  std::string content;
  bool special;
  bool leftStrip;  // takes the white space before it
  bool rightStrip; // and after it
  bool singleWord; // only where no word character touches it
  bool normalized;
  std::string spelling = {}; // what is looked for; `content` if empty
};

/// A part of a text: an added token, or text still to be cut (`id` -1).
struct TextPart {
  std::string_view text;
  int32_t id = -1;
};

class AddedTokens {
public:
  /// No content is empty; of two with one content the lower id counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// Cuts valid UTF-8 at the tokens of one round. With `plain`, special tokens
  /// are text like any other.
  std::vector<TextPart> splitRaw(std::string_view text, bool plain) const {
    return split(text, raw, plain);
  }
  std::vector<TextPart> splitNormalized(std::string_view text,
                                        bool plain) const {
    return split(text, normalized, plain);
  }

  const std::vector<AddedToken> &all() const { return tokens; } // by id

private:
  /// All tokens of one round by their bytes.
  class Trie {
  public:
    void add(std::string_view content, uint32_t token);
    /// The longest content that `text` starts with: its token and length;
    /// length 0 when there is none.
    std::pair<uint32_t, size_t> longest(std::string_view text) const;
    bool mayStart(char c) const { return starts[static_cast<uint8_t>(c)]; }

  private:
    static constexpr uint32_t kNone = UINT32_MAX;
    struct Node {
      std::vector<std::pair<uint8_t, uint32_t>> children; // sorted by byte
      uint32_t token = kNone;
    };
    std::vector<Node> nodes = std::vector<Node>(1);
    std::array<bool, 256> starts = {}; // a content starts with this byte
  };

  std::vector<TextPart> split(std::string_view text, const Trie &trie,
                              bool plain) const;

  std::vector<AddedToken> tokens;
  Trie raw, normalized;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_ADDEDTOKENS_H
