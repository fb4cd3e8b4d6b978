// Models whose tokens are words and parts of words.

#include "runtime/src/tokenizer/models/Model.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

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
  WordPiece(const Vocabulary &vocabulary, std::string prefix, uint32_t longest,
            int32_t unknown)
      : vocabulary(vocabulary), prefix(std::move(prefix)), longest(longest),
        unknown(unknown) {}

  Check encode(std::string_view piece, ModelWorkspace &,
               std::vector<int32_t> &tokens) const override {
    auto isStart = [](char c) { return (uint8_t(c) & 0xC0) != 0x80; };
    size_t before = tokens.size();
    size_t characters = std::count_if(piece.begin(), piece.end(), isStart);
    if (characters > longest)
      return appendUnknown(unknown, piece, tokens);
    std::string subword;
    for (size_t begin = 0; begin < piece.size();) {
      // No token is longer.
      size_t size = std::min(piece.size() - begin, vocabulary.longest());
      while (begin + size < piece.size() && !isStart(piece[begin + size]))
        --size;
      int32_t token = -1;
      while (size > 0) {
        std::string_view part = piece.substr(begin, size);
        subword = begin > 0 ? prefix : "";
        subword += part;
        token = vocabulary.find(subword);
        if (token >= 0)
          break;
        size = unicode::lastStart(part);
      }
      if (token < 0) {
        tokens.resize(before);
        return appendUnknown(unknown, piece, tokens);
      }
      tokens.push_back(token);
      begin += size;
    }
    return {};
  }

private:
  const Vocabulary &vocabulary;
  std::string prefix;
  uint32_t longest;
  int32_t unknown;
};

class WordLevel : public TokenModel {
public:
  WordLevel(const Vocabulary &vocabulary, int32_t unknown)
      : vocabulary(vocabulary), unknown(unknown) {}

  Check encode(std::string_view piece, ModelWorkspace &,
               std::vector<int32_t> &tokens) const override {
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
  return std::make_unique<WordPiece>(vocabulary, std::move(subwordPrefix),
                                     longest, unknown);
}

std::unique_ptr<TokenModel>
effc::rt::createWordLevel(const Vocabulary &vocabulary, int32_t unknown) {
  return std::make_unique<WordLevel>(vocabulary, unknown);
}
