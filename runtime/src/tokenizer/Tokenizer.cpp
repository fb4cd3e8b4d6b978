#include "runtime/src/tokenizer/Tokenizer.h"

#include "runtime/src/Limits.h"
#include "runtime/src/tokenizer/Utf8.h"

#include <cstdio>

using namespace effc::rt;

/// What one call of tokenize() works with.
struct Tokenizer::Encoding {
  std::vector<int32_t> tokens;
  std::vector<int32_t> piece;
  BytePairMerger::Workspace workspace;
};

/// Cuts each of `pieces` where `pattern` matches. The delimiters are the
/// matches, or with `invert` what lies between them; `removed` drops them.
static Check cut(const Pattern &pattern, bool removed, bool invert,
                 std::vector<std::string_view> &pieces) {
  std::vector<std::string_view> finer;
  for (std::string_view piece : pieces) {
    Result<std::vector<Pattern::Match>> matches = pattern.findAll(piece);
    if (!matches)
      return matches.error();
    size_t at = 0;
    auto take = [&](size_t end, bool isMatch) {
      bool isDelimiter = isMatch != invert;
      if (end > at && !(removed && isDelimiter))
        finer.push_back(piece.substr(at, end - at));
      at = end;
    };
    for (const Pattern::Match &match : *matches) {
      take(match.begin, false);
      take(match.end, true);
    }
    take(piece.size(), false);
  }
  pieces = std::move(finer);
  return {};
}

Result<std::vector<std::string_view>>
Tokenizer::splitPieces(std::string_view text) const {
  std::vector<std::string_view> pieces = {text};
  for (const Split &split : splits)
    if (Check error = cut(split.pattern, split.removed, split.invert, pieces))
      return *error;
  return pieces;
}

static std::string byteName(uint8_t byte) {
  char name[8];
  std::snprintf(name, sizeof name, "0x%02X", byte);
  return name;
}

Check Tokenizer::encodePiece(std::string_view piece, Encoding &encoding) const {
  if (ignoreMerges)
    if (auto found = whole.find(piece); found != whole.end()) {
      encoding.tokens.push_back(found->second);
      return {};
    }
  encoding.piece.clear();
  for (char c : piece) {
    auto byte = static_cast<uint8_t>(c);
    if (byteTokens[byte] < 0)
      return badData("the vocabulary has no token for byte ", byteName(byte));
    encoding.piece.push_back(byteTokens[byte]);
  }
  merger.merge(encoding.piece, encoding.workspace);
  encoding.tokens.insert(encoding.tokens.end(), encoding.piece.begin(),
                         encoding.piece.end());
  return {};
}

Check Tokenizer::encodeText(std::string_view text, Encoding &encoding) const {
  std::string spaced;
  if (addPrefixSpace && !text.starts_with(' ')) {
    spaced = " ";
    spaced += text;
    text = spaced;
  }
  Result<std::vector<std::string_view>> pieces = splitPieces(text);
  if (!pieces)
    return pieces.error();
  for (std::string_view piece : *pieces)
    if (Check error = encodePiece(piece, encoding))
      return error;
  return {};
}

Result<std::vector<int32_t>> Tokenizer::tokenize(std::string_view text,
                                                 Options options) const {
  if (text.size() > kMaxTextBytes)
    return invalidArgument("a text of ", text.size(), " bytes is longer than ",
                           kMaxTextBytes);
  std::string valid = makeValidUtf8(text);
  Encoding encoding;
  if (options.addSpecial)
    encoding.tokens = prepend;
  for (const TextPart &part : addedTokens.split(valid, options.plain)) {
    if (part.id >= 0)
      encoding.tokens.push_back(part.id);
    else if (Check error = encodeText(part.text, encoding))
      return *error;
  }
  if (options.addSpecial)
    encoding.tokens.insert(encoding.tokens.end(), append.begin(), append.end());
  return std::move(encoding.tokens);
}

std::string_view Tokenizer::bytesOf(int32_t token, bool skipSpecial) const {
  if (const AddedToken *added = addedTokens.find(token))
    return skipSpecial && added->special ? std::string_view() : added->content;
  if (token < 0 || static_cast<size_t>(token) >= vocabulary.size())
    return {};
  return vocabulary[token];
}
