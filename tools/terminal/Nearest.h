// The name that somebody probably meant.
#ifndef EFFC_TOOLS_TERMINAL_NEAREST_H
#define EFFC_TOOLS_TERMINAL_NEAREST_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::cli {

/// The name of `known` that `typed` can be turned into with the fewest
/// insertions, deletions, replacements and exchanges of neighbours: at most one
/// for each three characters of `typed`; letters count as the same in either
/// case. One that `typed` begins, from three
/// characters on, counts as near, too. Of several the first; none where no name
/// is near.
std::optional<std::string> nearest(std::string_view typed,
                                   const std::vector<std::string> &known);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_NEAREST_H
