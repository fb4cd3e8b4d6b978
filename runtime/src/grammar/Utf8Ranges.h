//===- Utf8Ranges.h - Sets of characters as bytes -------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_UTF8RANGES_H
#define EFFC_RUNTIME_SRC_GRAMMAR_UTF8RANGES_H

#include "runtime/src/grammar/Rules.h"

namespace effc::rt::grammar {

/// All texts of `size` bytes whose byte i lies from low[i] to high[i].
struct Utf8Range {
  static constexpr size_t kMost = 4;
  size_t size;
  uint8_t low[kMost], high[kMost];
};

/// The characters of `ranges`, which are in order and have no surrogates, as UTF-8.
std::vector<Utf8Range> utf8RangesOf(const std::vector<CodeRange> &ranges);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_UTF8RANGES_H
