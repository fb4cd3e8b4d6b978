//===- Split.h - The lengths in which `effc eval` feeds a sequence --------===//
#ifndef EFFC_TOOLS_EFFC_SPLIT_H
#define EFFC_TOOLS_EFFC_SPLIT_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace effc::cli {

/// "all", "1" or "5,1,1,64": piece i has the i-th length, the last one
/// repeated.
class Split {
public:
  /// Throws UsageError when `text` is no such list.
  static Split parse(std::string_view text);

  /// The length of piece `round` of a sequence with `remaining` tokens left.
  uint64_t length(uint64_t round, uint64_t remaining) const;

  /// Whether a piece of one token is a decode step: always, except that a whole
  /// sequence (`all`) is a prefill whatever its length.
  bool stepsDecode() const { return !lengths.empty(); }

private:
  std::vector<uint64_t> lengths; // empty: all at once
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_SPLIT_H
