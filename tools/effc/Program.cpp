#include "tools/effc/Program.h"

#include "tools/effc/Commands.h"
#include "tools/effc/ForeignOptions.h"
#include "tools/effc/Version.h"
#include "tools/terminal/CommandLine.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Nearest.h"
#include "tools/terminal/StandardStreams.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>

using namespace effc::cli;

/// Where the help of what is asked for is to be found; longer as soon as the
/// command is known.
static std::string helpPlace = "effc --help";

/// `effc help`, `effc help run`, `effc version`: what others call --help and
/// --version.
static std::vector<std::string> spellOut(std::vector<std::string> arguments) {
  if (arguments.empty())
    throw UsageError("what is to be done? effc expects a command, such as "
                     "'effc run FILE.effc \"TEXT\"'");
  if (arguments[0] == "version")
    arguments[0] = "--version";
  if (arguments[0] != "help")
    return arguments;
  arguments.erase(arguments.begin());
  arguments.push_back("--help");
  return arguments;
}

/// Throws UsageError where the first argument is no command. CLI11 would say
/// that a subcommand is required, which is no help to somebody who mistyped one.
static void findCommand(const CLI::App &app,
                        const std::vector<std::string> &arguments) {
  if (arguments[0].starts_with("-"))
    return;
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), arguments[0]) != names.end()) {
    helpPlace = "effc " + arguments[0] + " --help";
    return;
  }
  auto near = nearest(arguments[0], names);
  throw UsageError("there is no command '" + arguments[0] + "'" +
                   (near ? " (did you mean '" + *near + "'?)" : "") +
                   "; commands are " + CLI::detail::join(names, ", "));
}

static int dispatch(int argc, char **argv) {
  std::vector<std::string> arguments =
      spellOut({argv + (argc > 0), argv + argc});
  becomeSibling(arguments);
  CLI::App app{"Compiles sequence models into one file and runs them", "effc"};
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText());
  app.footer("effc compile path/to/checkpoint -o model.effc\n"
             "effc run model.effc \"And it came to pass\" -n 100");
  addSiblingCommands(app);
  addRunCommand(app);
  addChatCommand(app);
  addSampleCommand(app);
  addEvalCommand(app);
  addBenchCommand(app);
  addInspectCommand(app);
  addTokenizeCommand(app);
  addDevicesCommand(app);
  addCompletionsCommand(app);
  addManualCommand(app);
  findCommand(app, arguments);
  readCommandLine(app, "effc", arguments, kForeignOptions);
  return kDone;
}

int effc::cli::runEffc(int argc, char **argv) {
  return runMain(helpPlace, dispatch, argc, argv);
}
