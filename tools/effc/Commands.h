//===- Commands.h - The subcommands of effc -------------------------------===//
//
// Each function adds its subcommand to the application and what happens when it
// is chosen. A subcommand throws Failure, UsageError or effc::Error to end with
// another status than 0.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_COMMANDS_H
#define EFFC_TOOLS_EFFC_COMMANDS_H

namespace CLI {
class App;
}

namespace effc::cli {

void addRunCommand(CLI::App &app);
void addEvalCommand(CLI::App &app);
void addInspectCommand(CLI::App &app);

void addBenchCommand(CLI::App &app);

/// For the list of subcommands only: see becomeSibling().
void addSiblingCommands(CLI::App &app);

/// Where `arguments[1]` is a subcommand that is a program of its own, found
/// beside the running executable, replaces this process by that program with
/// the arguments that follow. Then it returns only to throw.
void becomeSibling(char **arguments);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_COMMANDS_H
