// The option -n: how long a text may become.
#ifndef EFFC_TOOLS_EFFC_TOKENLIMIT_H
#define EFFC_TOOLS_EFFC_TOKENLIMIT_H

#include <cstdint>

namespace CLI {
class App;
}

namespace effc::cli {

/// Declares -n, "-1" or a number of tokens; "-1" is GenerationOptions::kUnlimited.
/// What `limit` holds is the default.
void addTokenLimit(CLI::App &command, int64_t &limit);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_TOKENLIMIT_H
