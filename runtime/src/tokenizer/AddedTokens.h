//===- AddedTokens.h - Finds whole tokens spelled out in a text -----------===//
//
// Added tokens ("<|endoftext|>") are cut out before anything else looks at the
// text: leftmost first, the longest of those that start there, as the Hugging
// Face library does. Those that are not `normalized` are looked for in the text
// as it is, the others in what is left once it has been normalized.
//
// A text is looked through once, from its end: the automaton of Aho and Corasick,
// built of the tokens backwards, says of each place the longest token that starts
// there, whatever the tokens have in common.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_ADDEDTOKENS_H
#define EFFC_RUNTIME_SRC_TOKENIZER_ADDEDTOKENS_H

#include "runtime/src/tokenizer/Budget.h"
#include "runtime/src/tokenizer/PlainSpans.h"
#include "runtime/src/tokenizer/TokenTrie.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace effc::rt {

struct AddedToken {
  int32_t id;
  std::string content;
  bool special;
  bool leftStrip;  // takes the white space before it
  bool rightStrip; // and after it
  bool singleWord; // only where no word character touches it
  bool normalized;
  std::string spelling = {}; // what is looked for; `content` if empty
};

/// A part of a text: an added token, or text still to be cut (`id` -1).
struct TextPart {
  std::string_view text;
  int32_t id = -1;
  bool isSpecial = false;
};

class AddedTokens {
public:
  /// No content is empty; of two with one content the lower id counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// Cuts valid UTF-8, less than 4 GiB of it, at the tokens of one round. Special
  /// tokens that touch `plain` are text like any other. Where that takes more than
  /// `budget` has, the parts are of no use.
  std::vector<TextPart> splitRaw(std::string_view text, const PlainSpans &plain,
                                 Budget &budget) const {
    return split(text, raw, plain, budget);
  }
  std::vector<TextPart> splitNormalized(std::string_view text,
                                        const PlainSpans &plain,
                                        Budget &budget) const {
    return split(text, normalized, plain, budget);
  }

  const std::vector<AddedToken> &all() const { return tokens; } // by id

private:
  /// What starts at a place of a text.
  struct Found {
    uint32_t begin;
    uint32_t token; // an index
  };

  /// All tokens of one round.
  class Automaton {
  public:
    Automaton() = default;
    /// Texts that are not empty, by the indices of their tokens. Of two with one
    /// text the lower index counts.
    explicit Automaton(
        const std::vector<std::pair<std::string_view, uint32_t>> &texts);

    /// The longest token at each place where one starts, from the last place on.
    std::vector<Found> findAll(std::string_view text) const;
    bool isEmpty() const { return trie.size() <= 1; }

  private:
    TokenTrie trie; // of the texts backwards
    /// By node: that of the longest end of its text that is in the trie too.
    std::vector<uint32_t> shorter;
    /// By node: the longest token that its text ends with; -1 for none.
    std::vector<int32_t> longest;
    std::array<bool, 256> ends = {}; // a text ends with this byte
  };

  std::vector<TextPart> split(std::string_view text, const Automaton &automaton,
                              const PlainSpans &plain, Budget &budget) const;
  void cut(std::string_view text, const std::vector<Found> &found,
           const PlainSpans &plain, std::vector<TextPart> &parts) const;
  std::string_view spellingOf(const AddedToken &token) const {
    return token.spelling.empty() ? token.content : token.spelling;
  }

  std::vector<AddedToken> tokens;
  Automaton raw, normalized;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_ADDEDTOKENS_H
