// Models whose tokens are words and parts of words.

#include "runtime/src/tokenizer/TokenTrie.h"
#include "runtime/src/tokenizer/models/Model.h"

#include <algorithm>

using namespace effc::rt;

static Check appendUnknown(int32_t unknown, std::string_view piece,
                           std::vector<int32_t> &tokens) {
  if (unknown < 0)
    return badData("the vocabulary has no token for a word of ", piece.size(),
                   " bytes, and none for unknown ones");
  tokens.push_back(unknown);
  return {};
}

namespace {

class WordPiece : public TokenModel {
public:
  WordPiece(const Vocabulary &vocabulary, std::string_view prefix,
            uint32_t longest, int32_t unknown)
      : trie(vocabulary.listFound()),
        inWord(trie.walk(TokenTrie::kRoot, prefix)), longest(longest),
        unknown(unknown) {}

  Check encode(std::string_view piece, ModelWorkspace &, Budget &budget,
               std::vector<int32_t> &tokens) const override {
    auto isStart = [](char c) { return (uint8_t(c) & 0xC0) != 0x80; };
    size_t before = tokens.size();
    size_t characters = std::count_if(piece.begin(), piece.end(), isStart);
    if (characters > longest)
      return appendUnknown(unknown, piece, tokens);
    for (size_t begin = 0; begin < piece.size();) {
      // Tokens are whole characters, so the longest ends at one.
      uint32_t node = begin > 0 ? inWord : TokenTrie::kRoot;
      int32_t token = -1;
      size_t end = begin;
      size_t at = begin;
      while (at < piece.size() && node != TokenTrie::kNone) {
        node = trie.child(node, static_cast<uint8_t>(piece[at++]));
        if (node != TokenTrie::kNone && trie.tokenAt(node) >= 0) {
          token = trie.tokenAt(node);
          end = at;
        }
      }
      if (!budget.spend(at + 1 - begin))
        return budget.error();
      if (token < 0) {
        tokens.resize(before);
        return appendUnknown(unknown, piece, tokens);
      }
      tokens.push_back(token);
      begin = end;
    }
    return {};
  }

private:
  TokenTrie trie;
  uint32_t inWord; // the node of the prefix of what does not begin a word
  uint32_t longest;
  int32_t unknown;
};

class WordLevel : public TokenModel {
public:
  WordLevel(const Vocabulary &vocabulary, int32_t unknown)
      : vocabulary(vocabulary), unknown(unknown) {}

  Check encode(std::string_view piece, ModelWorkspace &, Budget &budget,
               std::vector<int32_t> &tokens) const override {
    if (!budget.spend(1 + piece.size()))
      return budget.error();
    int32_t token = vocabulary.find(piece);
    if (token < 0)
      return appendUnknown(unknown, piece, tokens);
    tokens.push_back(token);
    return {};
  }

private:
  const Vocabulary &vocabulary;
  int32_t unknown;
};

} // namespace

std::unique_ptr<TokenModel>
effc::rt::createWordPiece(const Vocabulary &vocabulary,
                          std::string subwordPrefix, uint32_t longest,
                          int32_t unknown) {
  return std::make_unique<WordPiece>(vocabulary, subwordPrefix, longest,
                                     unknown);
}

std::unique_ptr<TokenModel>
effc::rt::createWordLevel(const Vocabulary &vocabulary, int32_t unknown) {
  return std::make_unique<WordLevel>(vocabulary, unknown);
}
