// Which storage is rounded by which rule.
#include "dialects/storage/rounding/Rounding.h"

#include "dialects/storage/Formats.h"
#include "dialects/storage/rounding/RoundingRules.h"

using namespace effc;
using namespace effc::storage;

namespace {

using Numbers = llvm::ArrayRef<float>;

template <uint32_t half>
void signedCodes(BlockType, Numbers numbers, RoundedBlock &block) {
  roundSigned(numbers, half, block);
}

template <uint32_t most>
void range(BlockType, Numbers numbers, RoundedBlock &block) {
  roundRange(numbers, most, block);
}

constexpr GroupedRanges kTwoBits = {16, 3, 15, -0.5f, 0.1f, 15, true},
                        kFourBits = {32, 15, 63, -1.0f, 0.1f, 20, false},
                        kFiveBits = {32, 31, 63, -0.5f, 0.1f, 15, false};

template <const GroupedRanges &rule>
void groupedRanges(BlockType, Numbers numbers, RoundedBlock &block) {
  roundGroupedRanges(numbers, rule, block);
}

struct Rule {
  llvm::StringLiteral name; // of a row of Formats.cpp
  Rounding round;
};

// That of "q8_0" is the one of blocks without a name (BlockNumbers.h).
constexpr Rule kRules[] = {
    {"q4_0", signedCodes<8>},
    {"q4_1", range<15>},
    {"q5_0", signedCodes<16>},
    {"q5_1", range<31>},
    {"q2_k", groupedRanges<kTwoBits>},
    {"q3_k", [](BlockType, Numbers numbers,
                RoundedBlock &block) { roundByExchange(numbers, block); }},
    {"q4_k", groupedRanges<kFourBits>},
    {"q5_k", groupedRanges<kFiveBits>},
    {"q6_k", [](BlockType, Numbers numbers,
                RoundedBlock &block) { roundBySearch(numbers, block); }},
    {"iq4_nl", roundToTable},
    {"iq4_xs", roundToTable},
    {"mxfp4", roundToTableByExponent},
};

} // namespace

Rounding storage::roundingOf(BlockType type) {
  for (const Rule &rule : kRules)
    if (rule.name == type.getName())
      return formatOf(rule.name, type.getContext()) == type ? rule.round
                                                            : nullptr;
  return nullptr;
}
