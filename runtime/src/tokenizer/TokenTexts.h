//===- TokenTexts.h - What each token adds to a text ----------------------===//
//
// Bytes, since a token may end within a character. Together with a walk over all
// of them at once: tokens lie in the order of their bytes, as the nodes of a trie
// that is walked in depth, so that a walk which ends at a byte leaves out all that
// begin like that.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_TOKENTEXTS_H
#define EFFC_RUNTIME_SRC_TOKENIZER_TOKENTEXTS_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

/// Immutable.
class TokenTexts {
public:
  /// `texts` by id; those that are empty stand for tokens that add nothing, or no
  /// text of their own. With `dropsFirstSpace` a text's first token loses a space
  /// at its beginning.
  TokenTexts(std::span<const std::string> texts, bool dropsFirstSpace);

  size_t size() const { return ends.size(); }
  std::string_view of(int32_t id) const {
    if (id < 0 || static_cast<size_t>(id) >= size())
      return {};
    auto at = static_cast<size_t>(id);
    size_t begin = at == 0 ? 0 : ends[at - 1];
    return std::string_view(bytes).substr(begin, ends[at] - begin);
  }
  /// Likewise, where the token is the first of a text.
  std::string_view ofFirst(int32_t id) const {
    std::string_view text = of(id);
    if (dropsSpace && text.starts_with(' '))
      text.remove_prefix(1);
    return text;
  }

  /// A byte of a token. Nodes follow their parents; what follows a node, up to
  /// `end`, lies below it.
  struct Node {
    uint32_t end;
    uint32_t tokens; // the place of its tokens in tokensAt()
    uint16_t depth;  // 1 for the first byte of a token
    uint8_t byte;
  };
  std::span<const Node> nodes() const { return {all.data(), all.size() - 1}; }
  size_t mostDepth() const { return deepest; }
  /// The tokens whose last byte is node `index`.
  std::span<const int32_t> tokensAt(size_t index) const {
    return std::span(order).subspan(all[index].tokens,
                                    all[index + 1].tokens - all[index].tokens);
  }

  bool dropsFirstSpace() const { return dropsSpace; }
  /// The node of a token that begins with a space; nodes().size() for none.
  size_t spaceNode() const { return space; }

private:
  std::string bytes;
  std::vector<size_t> ends; // by id
  bool dropsSpace;
  std::vector<int32_t> order; // of tokens, by their bytes
  std::vector<Node> all;      // and one behind the last
  size_t deepest = 0, space = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_TOKENTEXTS_H
