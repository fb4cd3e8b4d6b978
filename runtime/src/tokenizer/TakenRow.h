//===- TakenRow.h - How far an open-addressed table is looked through -----===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_TAKENROW_H
#define EFFC_RUNTIME_SRC_TOKENIZER_TAKENROW_H

#include <algorithm>
#include <cstddef>
#include <vector>

namespace effc::rt {

/// No look-up in a table that goes on to the next place looks at more places than
/// are taken in a row. In a table that is half full, honest keys make rows of
/// ln(n) / 0.19: 87 for 2^24. Keys may be made so that all are in one.
constexpr size_t kMostTakenInARow = 1024;

/// The longest row of places for which `isTaken`, from the table's end on to its
/// start.
template <typename Slot, typename IsTaken>
size_t longestTakenRow(const std::vector<Slot> &table, IsTaken isTaken) {
  size_t first = 0; // at the table's start; some place is always free
  while (first < table.size() && isTaken(table[first]))
    ++first;
  size_t longest = first, row = 0;
  for (size_t i = first; i < table.size(); ++i) {
    row = isTaken(table[i]) ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  return std::max(longest, row + first);
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_TAKENROW_H
