//===- PlainReader.h - Rules by trying everything -------------------------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_GRAMMAR_PLAINREADER_H
#define EFFC_TEST_UNIT_RUNTIME_GRAMMAR_PLAINREADER_H

#include "runtime/src/grammar/Rules.h"

#include <string_view>

namespace effc::test {

/// How a text stands to rules.
struct PlainFit {
  bool isWhole = false;     // the text fits
  bool isBeginning = false; // one that goes on fits
};

/// What the rules say, by trying every choice on the text itself: no automaton, no
/// states, no ranges of bytes.
PlainFit plainFit(const rt::grammar::Rules &rules, std::string_view text);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_GRAMMAR_PLAINREADER_H
