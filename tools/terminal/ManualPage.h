// Manual pages, from the tables of commands.
#ifndef EFFC_TOOLS_TERMINAL_MANUALPAGE_H
#define EFFC_TOOLS_TERMINAL_MANUALPAGE_H

#include "tools/terminal/CommandTable.h"

#include <string>

namespace effc::cli {

/// The page of a command in section 1, as man(7) describes such pages.
/// `version` stands at the foot; `others` are the commands to see besides.
std::string manualPage(const CommandTable &table, const std::string &version,
                       const std::vector<std::string> &others);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_MANUALPAGE_H
