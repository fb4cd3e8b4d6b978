//===- PatternReader.h - Regular expressions as rules ---------------------===//
//
// Of the regular expressions of ECMA-262: characters, sets, \d \w \s and their
// opposites within ASCII, escapes, groups, choices and repetitions; `^` and `$` at
// the ends of a choice. What is read is what ECMA-262, Python and RE2 agree on.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_PATTERNREADER_H
#define EFFC_RUNTIME_SRC_GRAMMAR_PATTERNREADER_H

#include "runtime/src/grammar/JsonRules.h"
#include "runtime/src/grammar/Rules.h"

namespace effc::rt::grammar {

/// The inner part of a text of JSON, without quotes, that `pattern`, valid UTF-8,
/// fits: where a choice has no `^` or no `$`, any text may stand there.
/// EFFC_UNSUPPORTED: it has what is not understood; EFFC_INVALID_ARGUMENT: it is no
/// pattern. Messages have the place in it.
Result<Expression> readPattern(std::string_view pattern, JsonRules &json);

/// Texts that `pattern` fits as a whole. Errors as above; EFFC_INVALID_ARGUMENT: it is
/// not UTF-8, or nothing fits it.
Result<Rules> rulesOfPattern(std::string_view pattern);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_PATTERNREADER_H
