//===- ObjectRules.h - Members of objects and items of arrays -------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_OBJECTRULES_H
#define EFFC_RUNTIME_SRC_GRAMMAR_OBJECTRULES_H

#include "runtime/src/grammar/JsonRules.h"

#include <optional>

namespace effc::rt::grammar {

struct ObjectShape {
  struct Member {
    std::string name;
    Expression value;
    bool isRequired;
  };
  std::vector<Member> members; // in this order
  /// What members of other names are; none: there are none.
  std::optional<Expression> more;
};

/// An object of that shape. `place` is the name of the rules that are added.
Expression objectOf(const ObjectShape &shape, JsonRules &json, Rules &rules,
                    const std::string &place);

/// An array of `least` to `most` items: those of `first`, then `each`.
Expression arrayOf(std::vector<Expression> first, Expression each,
                   uint32_t least, uint32_t most, JsonRules &json, Rules &rules,
                   const std::string &place);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_OBJECTRULES_H
