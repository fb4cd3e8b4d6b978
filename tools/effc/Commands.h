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

/// For the list of subcommands only: see becomeCompiler().
void addCompileCommand(CLI::App &app);

/// Replaces this process by the compiler, `effc-compile` beside the running
/// executable, with the arguments that follow "compile". Returns only to throw:
/// the compiler is a program of its own because it links LLVM.
void becomeCompiler(char **argumentsAfterCompile);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_COMMANDS_H
