//===- Commands.h - The subcommands of effc -------------------------------===//
//
// Each function adds its subcommand to the application and what happens when it
// is chosen. A subcommand throws Failure, UsageError or effc::Error to end with
// another status than 0.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_COMMANDS_H
#define EFFC_TOOLS_EFFC_COMMANDS_H

#include "tools/terminal/CommandTable.h"

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace effc::cli {

void addRunCommand(CLI::App &app);
void addChatCommand(CLI::App &app);
void addSampleCommand(CLI::App &app);
void addEvalCommand(CLI::App &app);
void addInspectCommand(CLI::App &app);

void addBenchCommand(CLI::App &app);
void addTokenizeCommand(CLI::App &app);
void addDevicesCommand(CLI::App &app);

/// Print what shells and man(1) read, from the tables of all commands of `app`
/// and of those that are programs of their own. Added after the others.
void addCompletionsCommand(CLI::App &app);
void addManualCommand(CLI::App &app);

/// For the list of subcommands only: see becomeSibling().
void addSiblingCommands(CLI::App &app);

/// Where the first of `arguments`, which are not empty, is a subcommand that is
/// a program of its own, found beside the running executable, replaces this
/// process by that program with the arguments that follow. Then it returns only
/// to throw.
void becomeSibling(std::span<const std::string> arguments);

/// The tables of the subcommands that are programs of their own, as they tell
/// them; without those that are not installed.
std::vector<CommandTable> siblingTables();

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_COMMANDS_H
