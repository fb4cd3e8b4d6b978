//===- Pattern.h - Regular expressions over UTF-8 -------------------------===//
//
// A backtracking matcher with the semantics that the tokenizer library's
// expressions have: leftmost, first way that works. Its own, because the ids
// depend on which version of Unicode \p{L} speaks of (unicode/Unicode.h), and
// because words are cut with it. No pattern and no text can hang it or exhaust
// memory: steps are counted, of compiling and of searching (Budget.h). Texts are
// valid UTF-8; the caller has made sure.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_PATTERN_H
#define EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_PATTERN_H

#include "runtime/src/Error.h"
#include "runtime/src/tokenizer/Budget.h"
#include "runtime/src/tokenizer/TextSearch.h"
#include "runtime/src/tokenizer/pattern/CharacterSet.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

/// A compiled pattern; may be used by several threads at once.
class Pattern {
public:
  /// The syntax is in PatternParser.h. EFFC_BAD_DATA for what is none, and where
  /// that takes more than `budget` has.
  static Result<Pattern> compile(std::string_view text, Budget &budget);

  struct Match {
    size_t begin;
    size_t end;
  };
  /// All matches in `text` from left to right, none overlapping. An empty match
  /// does not stop the search; the next starts one character further.
  /// EFFC_BAD_DATA where that takes more than `budget` has.
  Result<std::vector<Match>> findAll(std::string_view text,
                                     Budget &budget) const;

  /// What it takes in memory.
  size_t bytes() const;

private:
  friend class PatternCompiler;
  friend class PatternSearch;

  enum class Op : uint8_t {
    Match,     // the whole, or the inside of Look and Atomic
    Set,       // one character of `set`
    Loop,      // `least` to `most` characters of `set`, greedily
    LazyLoop,  // the same, as few as work
    TightLoop, // as many as there are, never fewer
    Try,       // goes on here, or at `target` when that fails; at once at
               // `target` where the next byte is none of `set`'s
    Fork,      // goes on here, or at `target` when that fails
    LazyFork,  // the other way round
    Jump,      // to `target`
    Mark,      // remembers in slot `set` where a round starts
    Progress,  // another round at `target`, unless the last one took nothing
    Back,      // `least` characters to the left
    Look,      // the inside starts next and ends before `target`
    Atomic     // likewise
  };
  struct Instruction {
    Op op;
    bool negative = false;
    uint32_t set = 0;
    uint32_t least = 0, most = 0;
    uint32_t target = 0;
  };
  using Ascii = std::array<uint64_t, 2>;

  std::vector<Instruction> program;
  std::vector<CharacterSet> sets;
  std::vector<Ascii> firsts; // of Try
  uint32_t slots = 0;
  Ascii first = {~uint64_t(0), ~uint64_t(0)};
  bool mayBeEmpty = true;
  std::optional<TextSearch> exact; // instead of a program: this text alone
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_PATTERN_H
