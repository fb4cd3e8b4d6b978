//===- GbnfReader.h - Rules from GBNF -------------------------------------===//
//
// The form that llama.cpp has made common (its grammars/README.md), and XGrammar
// reads too:
//
//   root   ::= "yes" | number        # the text is one `root`
//   number ::= "-"? [0-9]{1,3} ("." [0-9]+)?
//
// Texts and sets of characters with the escapes \n \r \t \\ \" \[ \] \- \^, \xHH,
// \uHHHH and \UHHHHHHHH; `.` is any character; `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}`
// follow what they repeat; brackets group, `|` separates choices. Names have
// letters, digits, `-` and `_`. A rule ends where the next begins, so that it may
// go over lines. Tokens by number or name, `<...>`, are refused.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_GBNFREADER_H
#define EFFC_RUNTIME_SRC_GRAMMAR_GBNFREADER_H

#include "runtime/src/grammar/Rules.h"

#include <string_view>

namespace effc::rt::grammar {

/// EFFC_INVALID_ARGUMENT: it is no grammar (the message has line and column), or
/// one that checkRules() refuses; EFFC_UNSUPPORTED: it is too long, or has more than
/// the limits of Rules.h.
Result<Rules> readGbnf(std::string_view text);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_GBNFREADER_H
