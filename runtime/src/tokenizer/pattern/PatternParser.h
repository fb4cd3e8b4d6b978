//===- PatternParser.h - Regular expressions as trees ---------------------===//
//
// The syntax is the part of PCRE2's that the frontend writes: characters and
// escapes, classes, properties (CharacterSet.h), groups, alternatives, greedy,
// lazy and possessive repetition, atomic groups, looks in both directions, and
// (?i).
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_PATTERNPARSER_H
#define EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_PATTERNPARSER_H

#include "runtime/src/Error.h"
#include "runtime/src/tokenizer/pattern/CharacterSet.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace effc::rt {

enum class Repetition : uint8_t { Greedy, Lazy, Possessive };

struct PatternNode {
  enum Kind : uint8_t {
    Set,         // one character of `set`
    Sequence,    // `children` one after another; none: nothing
    Alternation, // the first of `children` that leads to a match
    Repeat,      // children[0] `least` to `most` times
    Look,        // whether children[0] matches here
    Atomic       // children[0], first way only
  };
  static constexpr uint32_t kNoLimit = UINT32_MAX;

  Kind kind;
  uint32_t set = 0; // which of ParsedPattern::sets
  uint32_t least = 0, most = 0;
  Repetition repetition = Repetition::Greedy;
  bool behind = false, negative = false;
  uint16_t height = 1; // of the tree below: a bound of what walks it
  std::vector<PatternNode> children = {};

  void add(PatternNode child) {
    height = std::max<uint16_t>(height, child.height + 1);
    children.push_back(std::move(child));
  }
};

struct ParsedPattern {
  PatternNode root;
  std::vector<CharacterSet> sets;
};

/// A pattern in UTF-8 for messages: cut where it is long.
std::string startOfPattern(std::string_view text);

/// Parses UTF-8. Errors name the byte.
Result<ParsedPattern> parsePattern(std::string_view text);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_PATTERNPARSER_H
