// Byte-pair encoding of bytes and of characters.

#include "runtime/src/tokenizer/models/Model.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <bit>
#include <cstdio>

using namespace effc::rt;

namespace {

std::string nameByte(uint8_t byte) {
  char name[8];
  std::snprintf(name, sizeof name, "0x%02X", byte);
  return name;
}

/// Of symbols, each of which is pushed on a heap and taken off it twice at most.
uint64_t stepsOfMerging(size_t symbols) {
  return symbols * (4 + std::bit_width(symbols));
}

class ByteBpe : public TokenModel {
public:
  ByteBpe(const Vocabulary &vocabulary,
          std::vector<BytePairMerger::Merge> merges, const ByteTokens &bytes,
          bool ignoreMerges)
      : vocabulary(vocabulary), merger(merges), bytes(bytes),
        ignoreMerges(ignoreMerges) {}

  size_t longestRow() const override { return merger.longestRow(); }

  Check encode(std::string_view piece, ModelWorkspace &workspace,
               Budget &budget, std::vector<int32_t> &tokens) const override {
    if (ignoreMerges)
      if (int32_t whole = vocabulary.find(piece); whole >= 0) {
        tokens.push_back(whole);
        return {};
      }
    std::vector<int32_t> &symbols = workspace.symbols;
    symbols.clear();
    for (char c : piece) {
      auto byte = static_cast<uint8_t>(c);
      if (bytes[byte] < 0)
        return badData("the vocabulary has no token for byte ", nameByte(byte));
      symbols.push_back(bytes[byte]);
    }
    if (!budget.spend(stepsOfMerging(symbols.size())))
      return budget.error();
    merger.merge(symbols, workspace.merger);
    tokens.insert(tokens.end(), symbols.begin(), symbols.end());
    return {};
  }

private:
  const Vocabulary &vocabulary;
  BytePairMerger merger;
  ByteTokens bytes;
  bool ignoreMerges;
};

class CharacterBpe : public TokenModel {
public:
  CharacterBpe(const Vocabulary &vocabulary,
               std::vector<BytePairMerger::Merge> merges,
               const ByteTokens *fallback, BytePairOptions given)
      : vocabulary(vocabulary), merger(merges), options(std::move(given)) {
    if (fallback)
      bytes = *fallback;
    else
      bytes.fill(-1);
  }

  size_t longestRow() const override { return merger.longestRow(); }

  Check encode(std::string_view piece, ModelWorkspace &workspace,
               Budget &budget, std::vector<int32_t> &tokens) const override {
    if (options.ignoreMerges)
      if (int32_t whole = vocabulary.find(piece); whole >= 0) {
        tokens.push_back(whole);
        return {};
      }
    if (!listSymbols(piece, budget, workspace.symbols) ||
        !budget.spend(stepsOfMerging(workspace.symbols.size())))
      return budget.error();
    merger.merge(workspace.symbols, workspace.merger);
    tokens.insert(tokens.end(), workspace.symbols.begin(),
                  workspace.symbols.end());
    return {};
  }

private:
  /// False where that takes more than `budget` has.
  bool listSymbols(std::string_view piece, Budget &budget,
                   std::vector<int32_t> &symbols) const {
    symbols.clear();
    // Spelled twice for each character, in the worst case.
    const uint64_t each =
        2 * (4 + options.subwordPrefix.size() + options.wordSuffix.size());
    // An unknown token waits for the next character that is known; the tokens
    // of bytes go before it. That is how the library orders them.
    bool waits = false;
    for (size_t at = 0; at < piece.size();) {
      if (!budget.spend(each) || !budget.admits(symbols.size()))
        return false;
      size_t size = unicode::decode(piece.substr(at)).bytes;
      std::string_view character = piece.substr(at, size);
      bool isFirst = at == 0, isLast = at + size == piece.size();
      at += size;
      int32_t token = findSymbol(character, isFirst, isLast);
      if (token >= 0) {
        if (waits)
          symbols.push_back(options.unknown);
        waits = false;
        symbols.push_back(token);
        continue;
      }
      if (appendBytes(character, isFirst, isLast, symbols) ||
          options.unknown < 0)
        continue;
      if (waits && !options.fuseUnknown)
        symbols.push_back(options.unknown);
      waits = true;
    }
    if (waits)
      symbols.push_back(options.unknown);
    return true;
  }

  /// The text of a character as a token has it.
  std::string spell(std::string_view character, bool isFirst,
                    bool isLast) const {
    std::string text = isFirst ? "" : options.subwordPrefix;
    text += character;
    return isLast ? text + options.wordSuffix : text;
  }

  int32_t findSymbol(std::string_view character, bool isFirst,
                     bool isLast) const {
    bool isPlain = (isFirst || options.subwordPrefix.empty()) &&
                   (!isLast || options.wordSuffix.empty());
    return vocabulary.find(isPlain ? character
                                   : spell(character, isFirst, isLast));
  }

  bool appendBytes(std::string_view character, bool isFirst, bool isLast,
                   std::vector<int32_t> &symbols) const {
    std::string text = spell(character, isFirst, isLast);
    for (char c : text)
      if (bytes[static_cast<uint8_t>(c)] < 0)
        return false;
    for (char c : text)
      symbols.push_back(bytes[static_cast<uint8_t>(c)]);
    return true;
  }

  const Vocabulary &vocabulary;
  BytePairMerger merger;
  ByteTokens bytes;
  BytePairOptions options;
};

} // namespace

std::unique_ptr<TokenModel>
effc::rt::createByteBpe(const Vocabulary &vocabulary,
                        std::vector<BytePairMerger::Merge> merges,
                        const ByteTokens &bytes, bool ignoreMerges) {
  return std::make_unique<ByteBpe>(vocabulary, std::move(merges), bytes,
                                   ignoreMerges);
}

std::unique_ptr<TokenModel> effc::rt::createCharacterBpe(
    const Vocabulary &vocabulary, std::vector<BytePairMerger::Merge> merges,
    const ByteTokens *fallback, BytePairOptions options) {
  return std::make_unique<CharacterBpe>(vocabulary, std::move(merges), fallback,
                                        std::move(options));
}
