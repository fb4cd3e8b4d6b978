// Numbers as people read them.
#ifndef EFFC_TOOLS_TERMINAL_QUANTITIES_H
#define EFFC_TOOLS_TERMINAL_QUANTITIES_H

#include <cstdint>
#include <string>

namespace effc::cli {

/// "1.5 GiB": bytes with a binary unit.
std::string formatBytes(uint64_t bytes);
/// "1,234,567".
std::string formatCount(uint64_t count);
/// A number with `digits` significant digits at least.
std::string formatNumber(double number, int digits = 4);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_QUANTITIES_H
