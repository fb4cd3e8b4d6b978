#include "runtime/src/serving/Checkpoints.h"

#include <algorithm>

using namespace effc::rt;

/// A call and a copy more are worth so many tokens at least.
static constexpr uint64_t kLeast = 16;
/// Nor is the end of a prompt worth them that soon behind another checkpoint.
static constexpr uint64_t kLeastAtEnd = 64;

static uint64_t stepOf(const CheckpointRules &rules) {
  return (rules.every + rules.grid - 1) / rules.grid * rules.grid;
}

uint64_t effc::rt::mostCheckpoints(const CheckpointRules &rules,
                                   uint64_t tokens, uint64_t marks) {
  return marks + 2 + (rules.every ? tokens / stepOf(rules) : 0);
}

std::vector<uint64_t> effc::rt::checkpointsOf(const CheckpointRules &rules,
                                              uint64_t tokens, uint64_t from,
                                              uint64_t matched,
                                              std::span<const uint64_t> marks) {
  std::vector<uint64_t> places;
  auto onGrid = [&](uint64_t position) {
    return position - position % rules.grid;
  };
  auto isWorthIt = [&](uint64_t position, uint64_t least) {
    if (position < from + kLeast || (from > 0 && position < from + least))
      return false;
    return std::none_of(places.begin(), places.end(), [&](uint64_t other) {
      return other <= position && position - other < least;
    });
  };
  for (uint64_t mark : marks)
    if (uint64_t place = onGrid(mark); place > from && place <= tokens)
      places.push_back(place);
  uint64_t last = tokens > 0 ? tokens - 1 : 0;
  if (uint64_t branch = onGrid(std::min(matched, last));
      isWorthIt(branch, kLeast))
    places.push_back(branch);
  if (uint64_t step = rules.every ? stepOf(rules) : 0)
    for (uint64_t at = from - from % step + step; at < last; at += step)
      if (isWorthIt(at, kLeast))
        places.push_back(at);
  if (isWorthIt(onGrid(last), kLeastAtEnd))
    places.push_back(onGrid(last));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}
