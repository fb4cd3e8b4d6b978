//===- Model.h - From a piece of text to tokens ---------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_MODELS_MODEL_H
#define EFFC_RUNTIME_SRC_TOKENIZER_MODELS_MODEL_H

#include "runtime/src/Error.h"
#include "runtime/src/tokenizer/Budget.h"
#include "runtime/src/tokenizer/Vocabulary.h"
#include "runtime/src/tokenizer/models/BytePairMerger.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace effc::rt {

/// The way through a piece that Unigram searches, per position.
struct BestPath {
  double score;
  /// The other end of the token that ends here, or, searched from the end, of the one
  /// that begins here; kNone: none does.
  uint32_t other;
  int32_t token;
  static constexpr uint32_t kNone = UINT32_MAX;
};

/// Memory that calls reuse; one per thread.
struct ModelWorkspace {
  BytePairMerger::Workspace merger;
  std::vector<int32_t> symbols;
  std::vector<BestPath> paths;
};

/// Immutable; used by any number of threads.
class TokenModel {
public:
  virtual ~TokenModel() = default;
  /// Appends the tokens of a piece, which is not empty and valid UTF-8 but for
  /// byte-level models. EFFC_BAD_DATA where the model has no token to say so, and
  /// where that takes more than `budget` has.
  virtual Check encode(std::string_view piece, ModelWorkspace &workspace,
                       Budget &budget, std::vector<int32_t> &tokens) const = 0;

  /// Places taken in a row in a table of its own (TakenRow.h).
  virtual size_t longestRow() const { return 0; }
};

/// The tokens of all bytes.
using ByteTokens = std::array<int32_t, 256>;

struct BytePairOptions {
  bool ignoreMerges = false; // a piece that is a token is that token
  int32_t unknown = -1;
  bool fuseUnknown = false;
  std::string subwordPrefix, wordSuffix;
};

// Models keep a reference to the vocabulary; one that looks tokens up by text
// needs its index.

/// A piece is bytes; each must have a token, or encode() names it.
std::unique_ptr<TokenModel>
createByteBpe(const Vocabulary &vocabulary,
              std::vector<BytePairMerger::Merge> merges,
              const ByteTokens &bytes, bool ignoreMerges);

/// A piece is characters. One without a token becomes the tokens of its bytes
/// if there are `fallback` tokens for all of them, else the unknown token, else
/// nothing: as in the library.
std::unique_ptr<TokenModel>
createCharacterBpe(const Vocabulary &vocabulary,
                   std::vector<BytePairMerger::Merge> merges,
                   const ByteTokens *fallback, BytePairOptions options);

/// The tokens whose scores sum to the most. `scores` by id; NaN: no piece.
std::unique_ptr<TokenModel> createUnigram(const Vocabulary &vocabulary,
                                          std::vector<double> scores,
                                          const ByteTokens *fallback,
                                          int32_t unknown);

/// The same of a piece that is searched from its end: of ways of equal sums the one
/// whose first token is longer counts, then its second one. Any character may be the
/// tokens of its bytes, all of which there are, for `unknownScore`.
std::unique_ptr<TokenModel> createBackwardUnigram(const Vocabulary &vocabulary,
                                                  std::vector<double> scores,
                                                  const ByteTokens &bytes,
                                                  double unknownScore);

/// The longest token first; a piece that leaves a rest, or of more than
/// `longest` characters, is unknown.
std::unique_ptr<TokenModel> createWordPiece(const Vocabulary &vocabulary,
                                            std::string subwordPrefix,
                                            uint32_t longest, int32_t unknown);

/// A piece is a token or unknown.
std::unique_ptr<TokenModel> createWordLevel(const Vocabulary &vocabulary,
                                            int32_t unknown);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_MODELS_MODEL_H
