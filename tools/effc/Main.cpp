// The effc executable: parses, dispatches, and turns whatever ends a subcommand
// into one line and an exit status.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Commands.h"
#include "tools/effc/Version.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>

using namespace effc::cli;

/// The command that is asked for, if any. CLI11 would say that a subcommand is
/// required, which is no help to somebody who mistyped one.
static std::string findCommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2)
    return "";
  if (argv[1][0] == '-') {
    std::string name(argv[1]);
    if (!app.get_option_no_throw(name.substr(0, name.find('='))))
      throw UsageError("the following argument was not expected: " + name);
    return "";
  }
  std::string known;
  for (const CLI::App *command : app.get_subcommands(nullptr)) {
    if (command->get_name() == argv[1])
      return argv[1];
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw UsageError("there is no command '" + std::string(argv[1]) +
                   "'; commands are " + known);
}

/// Sets `command` as soon as it is known.
static int parseAndRun(int argc, char **argv, std::string &command) {
  CLI::App app{"Compiles sequence models into one file and runs them", "effc"};
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText());
  addSiblingCommands(app);
  addRunCommand(app);
  addEvalCommand(app);
  addBenchCommand(app);
  addInspectCommand(app);
  command = findCommand(app, argc, argv);
  try {
    app.parse(argc, argv);
    return kDone;
  } catch (const CLI::ParseError &error) {
    // --help and --version come this way too, with status 0.
    if (error.get_exit_code() == 0)
      return app.exit(error);
    throw UsageError(error.what());
  }
}

int main(int argc, char **argv) {
  std::string command;
  try {
    becomeSibling(argv);
    int status = parseAndRun(argc, argv, command);
    flushOutput();
    return status;
  } catch (const UsageError &error) {
    printError(error.what());
    printNote("see effc " + (command.empty() ? "" : command + " ") + "--help");
    return kWrongUsage;
  } catch (const std::bad_alloc &) {
    printError("out of memory");
    return kFailed;
  } catch (const std::exception &error) {
    printError(error.what());
    return kFailed;
  }
}
