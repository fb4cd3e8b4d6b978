#include "tools/effc/Windows.h"

#include <algorithm>

using namespace effc::cli;

Windows effc::cli::cutIntoWindows(const std::vector<Tokens> &sequences,
                                  uint64_t length, uint64_t stride) {
  Windows windows;
  if (length == 0) {
    windows.sequences = sequences;
    windows.firsts.assign(sequences.size(), 1);
    return windows;
  }
  for (const Tokens &sequence : sequences) {
    uint64_t counted = 0; // tokens of the sequence that a window has had
    for (uint64_t begin = 0; counted < sequence.size(); begin += stride) {
      uint64_t end = std::min<uint64_t>(begin + length, sequence.size());
      windows.sequences.emplace_back(
          sequence.begin() + static_cast<ptrdiff_t>(begin),
          sequence.begin() + static_cast<ptrdiff_t>(end));
      windows.firsts.push_back(std::max<uint64_t>(1, counted - begin));
      counted = end;
    }
  }
  return windows;
}
