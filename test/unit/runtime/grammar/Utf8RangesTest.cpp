// Ranges of bytes hold the characters of a set, each once: all code points are
// written and looked for.
#include "runtime/src/grammar/Utf8Ranges.h"

#include <gtest/gtest.h>

using namespace effc::rt::grammar;

static size_t timesIn(const std::vector<Utf8Range> &ranges,
                      const std::string &bytes) {
  size_t times = 0;
  for (const Utf8Range &range : ranges) {
    bool fits = range.size == bytes.size();
    for (size_t i = 0; fits && i < bytes.size(); ++i) {
      auto byte = static_cast<uint8_t>(bytes[i]);
      fits = range.low[i] <= byte && byte <= range.high[i];
    }
    times += fits;
  }
  return times;
}

TEST(Utf8Ranges, HoldExactlyTheCharactersOfASet) {
  const CharacterSet sets[] = {{{0, kMostCodePoint}},
                               {{'a', 'z'}, {0xE9, 0xE9}},
                               {{0x7F, 0x801}, {0xFFFD, 0x10001}},
                               {{0x3B1, 0x3C9}, {0x4E01, 0x9FA3}},
                               {{0x10FFFF, 0x10FFFF}, {0, 0}}};
  for (const CharacterSet &set : sets) {
    std::vector<CodeRange> wanted = set.ranges();
    std::vector<Utf8Range> ranges = utf8RangesOf(wanted);
    EXPECT_LE(ranges.size(), 24u);
    for (uint32_t code = 0; code <= kMostCodePoint; ++code) {
      if (code >= 0xD800 && code <= 0xDFFF)
        continue;
      bool isIn = false;
      for (const CodeRange &range : wanted)
        isIn |= range.first <= code && code <= range.last;
      std::string bytes;
      appendCharacter(bytes, code);
      ASSERT_EQ(timesIn(ranges, bytes), isIn) << code;
    }
    // Half a pair is no character.
    EXPECT_EQ(timesIn(ranges, "\xED\xA0\x80"), 0u);
  }
}
