// Which storage is rounded by which rule.
#include "dialects/storage/rounding/Rounding.h"

#include "dialects/storage/Formats.h"
#include "dialects/storage/rounding/RoundingRules.h"

using namespace effc;
using namespace effc::storage;

namespace {

using Numbers = llvm::ArrayRef<float>;

template <uint32_t half>
void signedCodes(BlockType, Numbers numbers, const Importance &importance,
                 RoundedBlock &block) {
  if (importance.columns.empty())
    roundSigned(numbers, half, block);
  else
    roundImportantSigned(numbers, int(half), importance, block);
}

template <uint32_t most>
void range(BlockType, Numbers numbers, const Importance &importance,
           RoundedBlock &block) {
  if (importance.columns.empty())
    roundRange(numbers, most, block);
  else
    roundImportantRange(numbers, int(most), importance, block);
}

constexpr GroupedRanges kTwoBits = {16, 3, 15, -0.5f, 0.1f, 15, true},
                        kFourBits = {32, 15, 63, -1.0f, 0.1f, 20, false},
                        kFiveBits = {32, 31, 63, -0.5f, 0.1f, 15, false};

template <const GroupedRanges &rule>
void groupedRanges(BlockType, Numbers numbers, const Importance &importance,
                   RoundedBlock &block) {
  if (importance.columns.empty())
    roundGroupedRanges(numbers, rule, block);
  else
    roundImportantRanges(numbers, rule, importance, block);
}

struct Rule {
  llvm::StringLiteral name; // of a row of Formats.cpp
  Rounding round;
  bool heedsImportance = true;
};

// That of "q8_0" is the one of blocks without a name (BlockNumbers.h).
constexpr Rule kRules[] = {
    {"q4_0", signedCodes<8>},
    {"q4_1", range<15>},
    {"q5_0", signedCodes<16>},
    {"q5_1", range<31>},
    {"q2_k", groupedRanges<kTwoBits>},
    {"q3_k",
     [](BlockType, Numbers numbers, const Importance &importance,
        RoundedBlock &block) { roundByExchange(numbers, importance, block); }},
    {"q4_k", groupedRanges<kFourBits>},
    {"q5_k", groupedRanges<kFiveBits>},
    {"q6_k",
     [](BlockType, Numbers numbers, const Importance &importance,
        RoundedBlock &block) { roundBySearch(numbers, importance, block); }},
    {"iq4_nl", roundToTable},
    {"iq4_xs", roundToTable},
    {"mxfp4",
     [](BlockType type, Numbers numbers, const Importance &,
        RoundedBlock &block) { roundToTableByExponent(type, numbers, block); },
     /*heedsImportance=*/false},
};

} // namespace

static const Rule *ruleOf(BlockType type) {
  for (const Rule &rule : kRules)
    if (rule.name == type.getName())
      return formatOf(rule.name, type.getContext()) == type ? &rule : nullptr;
  return nullptr;
}

Rounding storage::roundingOf(BlockType type) {
  const Rule *rule = ruleOf(type);
  return rule ? rule->round : nullptr;
}

bool storage::heedsImportance(BlockType type) {
  const Rule *rule = ruleOf(type);
  return rule && rule->heedsImportance;
}
