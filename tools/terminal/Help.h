// The text of --help.
#ifndef EFFC_TOOLS_TERMINAL_HELP_H
#define EFFC_TOOLS_TERMINAL_HELP_H

#include "tools/terminal/CommandTable.h"

#include <string>

namespace CLI {
class App;
}

namespace effc::cli {

/// The help of a command: usage, summary, arguments, options by group,
/// examples. No line is longer than `columns`, but for examples and for a word
/// that is longer by itself.
std::string helpText(const CommandTable &table, size_t columns);

/// The columns of the terminal that standard output is, else what COLUMNS says,
/// else 80; from 40 to 100, beyond which lines are hard to follow.
size_t helpColumns();

/// Has `app` print helpText() where --help asks for it, as for `name`.
void useHelpText(CLI::App &app, const std::string &name);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_HELP_H
