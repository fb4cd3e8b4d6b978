//===- Tokenizer.h - Text to tokens and back ------------------------------===//
//
// The steps, each in a file of its own:
//
//   1. the text is made valid UTF-8 (Utf8.h)
//   2. added tokens are cut out (AddedTokens.h)
//   3. each text between them is normalized (Normalizer.h), and those added
//      tokens that are normalized too are cut out of it
//   4. each text is cut into pieces (Pieces.h)
//   5. the model turns each piece into tokens (models/Model.h)
//   6. the post-processor's tokens go before and after
//
// and back: tokens to their texts, and those through the decoder (Decoder.h). Each
// way has one budget for all its steps (Budget.h).
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_TOKENIZER_H
#define EFFC_RUNTIME_SRC_TOKENIZER_TOKENIZER_H

#include "runtime/src/Error.h"
#include "runtime/src/tokenizer/AddedTokens.h"
#include "runtime/src/tokenizer/Decoder.h"
#include "runtime/src/tokenizer/Normalizer.h"
#include "runtime/src/tokenizer/Pieces.h"
#include "runtime/src/tokenizer/TokenTexts.h"
#include "runtime/src/tokenizer/Vocabulary.h"
#include "runtime/src/tokenizer/models/Model.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace effc::rt {

class PieceCache;

/// A way to write a conversation as a text, in Jinja.
struct ChatTemplate {
  std::string name, source;
};

/// Immutable once created; used by any number of threads.
class Tokenizer {
public:
  /// Reads a Tokenizer segment (schema/tokenizer.fbs) and checks all it says;
  /// keeps no reference to `bytes`.
  static Result<std::unique_ptr<Tokenizer>>
  create(std::span<const uint8_t> bytes);

  struct Options {
    bool addSpecial = true; // step 6
    /// Where special tokens spelled out are text; empty, unless it is all of it,
    /// for a text that is not valid UTF-8.
    PlainSpans plain = {};
  };
  /// EFFC_INVALID_ARGUMENT, before anything is allocated, for a text that is
  /// too long; EFFC_BAD_DATA where a model has no token for what the text
  /// holds, or where the text takes more than Budget::ofEncoding() has.
  Result<std::vector<int32_t>> tokenize(std::string_view text,
                                        Options options) const;

  /// The text of all tokens at once, valid UTF-8. Ids that are no token have
  /// none. EFFC_BAD_DATA where they take more than Budget::ofDecoding() has.
  Result<std::string> detokenize(std::span<const int32_t> tokens,
                                 bool skipSpecial) const;

  /// Whether `token` is one of those that stand for no text of their own.
  bool isSpecial(int32_t token) const {
    auto found = exceptions.find(token);
    return found != exceptions.end() && found->second.isSpecial;
  }
  /// What each token adds to a text that is decoded without special tokens; made
  /// when it is first asked for, and the tokenizer's. Special tokens have none.
  /// EFFC_UNSUPPORTED: the text of a token depends on those beside it.
  Result<const TokenTexts *> tokenTexts() const;

  const std::vector<ChatTemplate> &templates() const { return chatTemplates; }
  /// The text of a token that templates call `name`; null where none is called so.
  const std::string *namedToken(std::string_view name) const {
    auto found = namedTokens.find(name);
    return found == namedTokens.end() ? nullptr : &found->second;
  }

  /// What templates call tokens, and the texts of these.
  const std::map<std::string, std::string, std::less<>> &
  allNamedTokens() const {
    return namedTokens;
  }

private:
  friend class TokenizerReader;
  friend class DecodeStream;
  struct Encoding;

  Tokenizer() = default;
  Check encodeParts(std::string_view text, bool isFirst,
                    const PlainSpans &plain, Encoding &encoding) const;
  Check encodeApart(std::string_view text, bool isFirst,
                    const PlainSpans &plain, Encoding &encoding) const;
  Check encodeText(std::string_view text, bool isFirst,
                   Encoding &encoding) const;
  Check encodePiece(std::string_view piece, Encoding &encoding) const;

  Vocabulary vocabulary;
  AddedTokens addedTokens{{}};
  Normalizer normalizer;
  PieceSteps pieceSteps;
  std::unique_ptr<TokenModel> model;
  Decoder decoder;
  std::vector<ChatTemplate> chatTemplates;
  std::map<std::string, std::string, std::less<>> namedTokens;
  /// What decoding does not do with a token's text: none for what is skipped.
  struct Exception {
    std::string text;
    bool isSpecial;
  };
  std::unordered_map<int32_t, Exception> exceptions;
  std::vector<int32_t> prepend, append;
  mutable std::mutex textsLock;
  mutable std::unique_ptr<const TokenTexts> texts;
};

/// Tokens to text as they come.
class DecodeStream {
public:
  /// Keeps a reference to the tokenizer.
  DecodeStream(const Tokenizer &tokenizer, bool skipSpecial);
  ~DecodeStream();
  DecodeStream(DecodeStream &&) noexcept;

  /// The text that is certain now: whole characters, valid until the next call.
  /// EFFC_BAD_DATA where the tokens so far take more than Budget::ofDecoding()
  /// has; then the stream has to be finished.
  Result<std::string_view> push(int32_t token);
  /// The rest; the stream can be used anew, after an error too.
  Result<std::string_view> finish();

private:
  class Output;
  void begin();
  const Tokenizer *tokenizer;
  bool skipSpecial;
  std::vector<std::unique_ptr<DecodeStage>> stages;
  std::unique_ptr<Output> output;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_TOKENIZER_H
