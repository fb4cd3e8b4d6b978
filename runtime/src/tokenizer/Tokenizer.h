//===- Tokenizer.h - Byte-level byte-pair encoding of a text --------------===//
//
// The steps, each in a file of its own:
//
//   1. the text is made valid UTF-8 (Utf8.h)
//   2. added tokens are cut out (AddedTokens.h)
//   3. a space is put before each text between them, if the tokenizer says so
//   4. the split steps cut each text into pieces (Pattern.h)
//   5. each piece becomes the tokens of its bytes, which merge by rank
//      (BytePairMerger.h)
//   6. the post-processor's tokens go before and after
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_TOKENIZER_H
#define EFFC_RUNTIME_SRC_TOKENIZER_TOKENIZER_H

#include "runtime/src/Error.h"
#include "runtime/src/tokenizer/AddedTokens.h"
#include "runtime/src/tokenizer/BytePairMerger.h"
#include "runtime/src/tokenizer/Pattern.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace effc::rt {

/// Immutable once created; used by any number of threads.
class Tokenizer {
public:
  /// Reads a Tokenizer segment (schema/tokenizer.fbs) and checks all it says;
  /// keeps no reference to `bytes`.
  static Result<std::unique_ptr<Tokenizer>>
  create(std::span<const uint8_t> bytes);

  struct Options {
    bool addSpecial = true; // step 6
    bool plain = false;     // special tokens spelled out are text
  };
  Result<std::vector<int32_t>> tokenize(std::string_view text,
                                        Options options) const;

  /// The bytes of one token: none for an id without data, or for a special
  /// token when those are skipped.
  std::string_view bytesOf(int32_t token, bool skipSpecial) const;

private:
  struct Split {
    Pattern pattern;
    bool removed; // the delimiters are dropped, else pieces of their own
    bool invert;  // the delimiters are what lies between the matches
  };
  struct Encoding;

  explicit Tokenizer(std::vector<BytePairMerger::Merge> merges,
                     std::vector<AddedToken> added)
      : merger(merges), addedTokens(std::move(added)) {}
  Result<std::vector<std::string_view>>
  splitPieces(std::string_view text) const;
  Check encodeText(std::string_view text, Encoding &encoding) const;
  Check encodePiece(std::string_view piece, Encoding &encoding) const;

  std::vector<std::string> vocabulary; // id -> bytes
  std::array<int32_t, 256> byteTokens;
  BytePairMerger merger;
  AddedTokens addedTokens;
  std::vector<Split> splits;
  std::unordered_map<std::string_view, int32_t> whole; // for ignoreMerges
  bool addPrefixSpace = false;
  bool ignoreMerges = false;
  std::vector<int32_t> prepend, append;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_TOKENIZER_H
