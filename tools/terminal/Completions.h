// Scripts that complete command lines in a shell, from the tables of commands.
#ifndef EFFC_TOOLS_TERMINAL_COMPLETIONS_H
#define EFFC_TOOLS_TERMINAL_COMPLETIONS_H

#include "tools/terminal/CommandTable.h"

#include <string>
#include <vector>

namespace effc::cli {

/// The script for `shell` ("bash", "zsh" or "fish") that completes `program`:
/// the names of `commands`, the options of each, the choices of an option, and
/// file names elsewhere.
std::string completionScript(const std::string &shell,
                             const std::string &program,
                             const std::vector<CommandTable> &commands);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_COMPLETIONS_H
