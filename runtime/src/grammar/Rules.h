//===- Rules.h - A grammar as data ----------------------------------------===//
//
// What GBNF and JSON Schema are read to. Rules call each other by index, so that
// they may be recursive; within a rule there is a tree.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_RULES_H
#define EFFC_RUNTIME_SRC_GRAMMAR_RULES_H

#include "runtime/src/Error.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace effc::rt::grammar {

/// Of a grammar's or a schema's text: a hundred times what people write.
constexpr size_t kMostTextBytes = size_t(1) << 20;
/// Brackets in each other.
constexpr unsigned kMostNesting = 64;
/// Of one repetition, where there is an end; the automaton has a bound of its own.
constexpr uint32_t kMostRepeats = 65536;
constexpr uint32_t kMostRules = 65536;

constexpr uint32_t kMostCodePoint = 0x10FFFF;
constexpr uint32_t kNoLimit = UINT32_MAX;

/// Code points from `first` to `last`.
struct CodeRange {
  uint32_t first, last;
  bool operator==(const CodeRange &) const = default;
};

/// A set of characters.
class CharacterSet {
public:
  // Out of line, as those of Expression: they are made and copied in many places.
  CharacterSet();
  CharacterSet(std::initializer_list<CodeRange> given);
  CharacterSet(const CharacterSet &);
  CharacterSet(CharacterSet &&) noexcept;
  CharacterSet &operator=(const CharacterSet &);
  CharacterSet &operator=(CharacterSet &&) noexcept;
  ~CharacterSet();

  void add(uint32_t first, uint32_t last) { all.push_back({first, last}); }
  void add(const CharacterSet &other) {
    all.insert(all.end(), other.all.begin(), other.all.end());
  }
  /// In order, apart from each other, without surrogates, which are no characters.
  std::vector<CodeRange> ranges() const;
  /// All others.
  CharacterSet complement() const;
  /// Those of both.
  CharacterSet common(const CharacterSet &other) const;
  bool has(uint32_t code) const;

private:
  std::vector<CodeRange> all;
};

struct Expression {
  enum class Kind : uint8_t {
    Text,       // `text`, bytes of UTF-8
    Characters, // one of `characters`
    Call,       // what rule `rule` is
    Sequence,   // `parts` one after another; none: nothing
    Choice,     // one of `parts`
    Repeat      // the one part, `least` to `most` times
  };
  Kind kind = Kind::Sequence;
  std::string text;
  CharacterSet characters;
  uint32_t rule = 0, least = 0, most = 0;
  std::vector<Expression> parts;

  Expression();
  Expression(const Expression &);
  Expression(Expression &&) noexcept;
  Expression &operator=(const Expression &);
  Expression &operator=(Expression &&) noexcept;
  ~Expression();
};

Expression textOf(std::string text);
Expression oneOf(CharacterSet characters);
Expression call(uint32_t rule);
Expression sequence(std::vector<Expression> parts);
Expression sequence(std::initializer_list<Expression> parts);
Expression choice(std::vector<Expression> parts);
Expression choice(std::initializer_list<Expression> parts);
Expression repeat(Expression part, uint32_t least, uint32_t most = kNoLimit);
Expression optional(Expression part);

struct Rule {
  std::string name;
  Expression body;
  /// Where it is found, for messages: "line 3" or a place in a schema.
  std::string place;
};

struct Rules {
  std::vector<Rule> all;
  uint32_t root = 0;

  uint32_t add(std::string name, Expression body, std::string place = "");
};

/// Refuses what a text cannot be written by: a rule that comes to itself before any
/// character (left recursion), one that no text of an end fits, an empty set of
/// characters. EFFC_INVALID_ARGUMENT; the message names rule and place.
Check checkRules(const Rules &rules);

/// Appends a character in UTF-8.
void appendCharacter(std::string &text, uint32_t code);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_RULES_H
