//===- TokenTrie.h - Tokens by their bytes --------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_TOKENTRIE_H
#define EFFC_RUNTIME_SRC_TOKENIZER_TOKENTRIE_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace effc::rt {

/// The children of a node lie next to each other, and behind it.
class TokenTrie {
public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kRoot = 0;
  using Text = std::pair<std::string_view, int32_t>;

  TokenTrie() : TokenTrie(std::vector<Text>()) {}
  /// Tokens, not negative, by texts that are not empty. Of two with one text
  /// `keepsLast` says which counts, by number. Takes steps for each of their
  /// bytes; refers to none afterwards.
  explicit TokenTrie(std::vector<Text> tokens, bool keepsLast = true);

  uint32_t child(uint32_t node, uint8_t byte) const {
    const Node &parent = nodes[node];
    uint32_t low = parent.first, count = parent.count;
    while (count > 0) {
      uint32_t half = count / 2;
      if (nodes[low + half].byte < byte) {
        low += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    bool isThere = low < parent.first + parent.count && nodes[low].byte == byte;
    return isThere ? low : kNone;
  }
  /// The node of a text from `node` on.
  uint32_t walk(uint32_t node, std::string_view text) const {
    for (size_t i = 0; i < text.size() && node != kNone; ++i)
      node = child(node, static_cast<uint8_t>(text[i]));
    return node;
  }
  /// -1: none ends here.
  int32_t tokenAt(uint32_t node) const { return nodes[node].token; }

  size_t size() const { return nodes.size(); }
  uint8_t byteOf(uint32_t node) const { return nodes[node].byte; }
  /// The children of `node` are those from first to first + count.
  std::pair<uint32_t, uint32_t> childrenOf(uint32_t node) const {
    return {nodes[node].first, nodes[node].count};
  }

private:
  struct Node {
    uint32_t first;
    uint16_t count;
    uint8_t byte;
    int32_t token;
  };
  std::vector<Node> nodes;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_TOKENTRIE_H
