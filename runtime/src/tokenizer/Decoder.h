//===- Decoder.h - From tokens to text ------------------------------------===//
//
// The steps of a tokenizer's decoder, as a chain in which each passes on what
// is certain. The pieces of a stream are whole characters, and together they
// are the text of all its tokens at once.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_DECODER_H
#define EFFC_RUNTIME_SRC_TOKENIZER_DECODER_H

#include "runtime/schema/tokenizer_generated.h"
#include "runtime/src/Error.h"
#include "runtime/src/tokenizer/Budget.h"
#include "runtime/src/tokenizer/TextSearch.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace effc::rt {

/// One step of a stream. It is given tokens, and passes tokens on.
class DecodeStage {
public:
  virtual ~DecodeStage() = default;
  /// A token, or with `starts` false more of the one before.
  virtual void push(std::string_view text, bool starts) = 0;
  /// There are no more tokens. The stage is as new afterwards.
  virtual void finish() = 0;

  void setNext(DecodeStage *stage) { next = stage; }
  /// Of the stream; has to be set before the first token.
  void setBudget(Budget *ofStream) { budget = ofStream; }

protected:
  /// Whether `text` may be worked on.
  bool mayTake(std::string_view text) { return budget->spend(1 + text.size()); }

  DecodeStage *next = nullptr;
  Budget *budget = nullptr;
};

/// What one token adds to a text, where that does not depend on the others but for
/// being the first.
class TokenText {
public:
  std::string of(std::string_view token) const;
  /// A text's first token loses a space at its beginning.
  bool dropsFirstSpace() const { return dropsSpace; }

private:
  friend class Decoder;
  bool readsCharacters = false, readsBytes = false; // "é" or "<0xE9>" is a byte
  std::vector<std::pair<std::string, std::string>> replacements;
  bool dropsSpace = false;
  std::string
      mark; // a space, of which a first token has one at its beginning alone
};

class Decoder {
public:
  /// Checks each step and appends it.
  Check add(const artifact::DecoderStep &step);

  /// Whether tokens are bytes, not characters.
  bool takesBytes() const;

  /// EFFC_UNSUPPORTED: what a token adds depends on its neighbours.
  Result<TokenText> tokenText() const;

  /// New stages in order, linked; the last has no next one. They keep a reference
  /// to `budget`.
  std::vector<std::unique_ptr<DecodeStage>> createStages(Budget &budget) const;

private:
  struct Step {
    artifact::DecoderKind kind;
    std::string pattern, content;
    artifact::Prepend prepend;
    uint32_t start, stop;
    bool cleanup;
    std::shared_ptr<const TextSearch> search; // of what is looked for, if any
  };
  static std::unique_ptr<DecodeStage> createStage(const Step &step, bool fused);

  std::vector<Step> steps;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_DECODER_H
