#include "tools/effc/Split.h"

#include "tools/terminal/Failure.h"

#include <algorithm>
#include <charconv>
#include <string>

using namespace effc::cli;

Split Split::parse(std::string_view text) {
  Split split;
  if (text == "all")
    return split;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    uint64_t length = 0;
    auto [next, failure] = std::from_chars(at, end, length);
    if (failure != std::errc() || length == 0 || (next != end && *next != ','))
      throw UsageError("'" + std::string(text) +
                       "' is no split: all, or lengths such as 5,1,1,64");
    split.lengths.push_back(length);
    if (next == end)
      return split;
    at = next + 1;
  }
}

uint64_t Split::length(uint64_t round, uint64_t remaining) const {
  if (lengths.empty())
    return remaining;
  return std::min(remaining,
                  lengths[std::min<uint64_t>(round, lengths.size() - 1)]);
}
