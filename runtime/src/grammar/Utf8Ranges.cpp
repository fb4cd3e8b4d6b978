#include "runtime/src/grammar/Utf8Ranges.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::grammar;

/// Splits a range until each byte of its first and last character tells which
/// bytes lie between.
static void split(uint32_t first, uint32_t last, std::vector<Utf8Range> &out) {
  for (uint32_t most : {0x7Fu, 0x7FFu, 0xFFFFu})
    if (first <= most && last > most) {
      split(first, most, out);
      return split(most + 1, last, out);
    }
  // Below the last byte everything has to vary, or nothing.
  for (uint32_t bits = 6; last > 0x7F && bits <= 18; bits += 6) {
    uint32_t below = (uint32_t(1) << bits) - 1;
    if ((first & ~below) == (last & ~below))
      break; // they differ in the bytes behind alone
    if ((first & below) != 0) {
      split(first, first | below, out);
      return split((first | below) + 1, last, out);
    }
    if ((last & below) != below) {
      split(first, (last & ~below) - 1, out);
      return split(last & ~below, last, out);
    }
  }
  std::string low, high;
  appendCharacter(low, first);
  appendCharacter(high, last);
  Utf8Range range = {low.size(), {}, {}};
  for (size_t i = 0; i < low.size(); ++i) {
    range.low[i] = static_cast<uint8_t>(low[i]);
    range.high[i] = static_cast<uint8_t>(high[i]);
  }
  out.push_back(range);
}

std::vector<Utf8Range>
grammar::utf8RangesOf(const std::vector<CodeRange> &ranges) {
  std::vector<Utf8Range> out;
  for (const CodeRange &range : ranges)
    split(range.first, range.last, out);
  return out;
}
