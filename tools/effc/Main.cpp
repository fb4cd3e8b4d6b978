// The effc executable: parses, dispatches, and turns whatever ends a subcommand
// into one line and an exit status.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Commands.h"
#include "tools/effc/Version.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>

using namespace effc::cli;

static int parseAndRun(int argc, char **argv) {
  CLI::App app{"Compiles sequence models into one file and runs them", "effc"};
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText());
  addSiblingCommands(app);
  addRunCommand(app);
  addEvalCommand(app);
  addBenchCommand(app);
  addInspectCommand(app);
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
  try {
    becomeSibling(argv);
    int status = parseAndRun(argc, argv);
    flushOutput();
    return status;
  } catch (const UsageError &error) {
    printError(error.what());
    printNote("see effc --help, or effc SUBCOMMAND --help");
    return kWrongUsage;
  } catch (const std::bad_alloc &) {
    printError("out of memory");
    return kFailed;
  } catch (const std::exception &error) {
    printError(error.what());
    return kFailed;
  }
}
