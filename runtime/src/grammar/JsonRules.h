//===- JsonRules.h - JSON's own rules -------------------------------------===//
//
// White space may be one space or a new line with up to 20 spaces and tabs, at the
// places where people write some: without a bound a model could write nothing else.
// For the same reason numbers have at most 16 digits in each part.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_JSONRULES_H
#define EFFC_RUNTIME_SRC_GRAMMAR_JSONRULES_H

#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/grammar/Rules.h"

#include <map>

namespace effc::rt::grammar {

/// Adds rules to others as they are asked for, each once.
class JsonRules {
public:
  explicit JsonRules(Rules &rules) : rules(rules) {}

  Expression space();
  /// A character of a text as JSON has it: itself, or an escape.
  Expression character();
  /// Of `characters`, each as itself or, where JSON asks for that, escaped.
  Expression characters(const CharacterSet &set);
  Expression text();
  Expression integer();
  Expression number();
  Expression boolean();
  Expression null();
  Expression value();
  Expression object();
  Expression array();

  /// The key of a mapping and what stands between it and its value.
  Expression key(Expression name);
  /// A mapping, of members with what separates them.
  Expression braces(Expression members);
  Expression brackets(Expression items);
  Expression comma();
  /// `value` as it is.
  Expression constant(const jinja::Value &value);

private:
  uint32_t named(const char *name, Expression (JsonRules::*make)());
  Expression makeSpace();
  Expression makeCharacter();
  Expression makeText();
  Expression makeInteger();
  Expression makeNumber();
  Expression makeObject();
  Expression makeArray();
  Expression makeValue();

  Rules &rules;
  std::map<std::string, uint32_t> known;
};

/// A text in JSON, quotes included; characters beyond ASCII as they are.
std::string quoted(std::string_view text);

/// Digits without a sign, of a text of JSON or a number in it.
inline CharacterSet digits() { return {{'0', '9'}}; }

/// Whole numbers from `least` to `most`, without zeros in front.
Expression integersBetween(int64_t least, int64_t most);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_JSONRULES_H
