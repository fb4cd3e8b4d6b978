#include "runtime/src/HeldStates.h"

#include "runtime/abi/FileHeader.h"
#include "runtime/src/StateRows.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

HeldStates::HeldStates(const artifact::Program &program) {
  for (const artifact::State *state : *program.states()) {
    if (!growsWithSequence(*state)) {
      parts.push_back({state->slot_offset(), 0, state->size()});
      fixed += state->size();
      continue;
    }
    uint64_t rows = state->shape()->Get(0), rowBytes = state->size() / rows;
    parts.push_back({state->slot_offset(), rows, rowBytes});
    auto known =
        std::find_if(growths.begin(), growths.end(),
                     [&](const Growth &growth) { return growth.rows == rows; });
    if (known == growths.end())
      growths.push_back({rows, rowBytes});
    else
      known->rowBytes += rowBytes;
  }
  // In the order of their places, neighbours become one stretch.
  std::sort(parts.begin(), parts.end(),
            [](const Part &a, const Part &b) { return a.offset < b.offset; });
  found.reserve(parts.size());
}

uint64_t HeldStates::bytesUntil(uint64_t tokens) const {
  uint64_t sum = 0;
  for (const Growth &growth : growths)
    sum += std::min(tokens, growth.rows) * growth.rowBytes;
  return sum;
}

uint64_t HeldStates::bytes(uint64_t position) const {
  return position == 0 ? 0 : fixed + bytesUntil(position);
}

uint64_t HeldStates::Part::used(uint64_t tokens) const {
  if (tokens == 0)
    return 0;
  return rows == 0 ? bytes : std::min(tokens, rows) * bytes;
}

void HeldStates::add(const Part &part, uint64_t fewer, uint64_t more) {
  uint64_t begin = part.offset + part.used(fewer);
  uint64_t end = part.offset + part.used(more);
  if (begin == end)
    return;
  // What lies between two states is padding, which may be copied as well.
  if (!found.empty() && begin == part.offset) {
    SlotRange &last = found.back();
    if (begin - (last.offset + last.size) < FileHeader::kSegmentAlignment) {
      last.size = end - last.offset;
      return;
    }
  }
  found.push_back({begin, end - begin});
}

std::span<const SlotRange> HeldStates::ranges(uint64_t position) {
  return rangesBetween(0, position);
}

std::span<const SlotRange> HeldStates::rangesBetween(uint64_t fewer,
                                                     uint64_t more) {
  found.clear();
  for (const Part &part : parts)
    add(part, fewer, more);
  return found;
}
