// `effc completions` and `effc manual`: what shells and man(1) read.

#include "tools/effc/Commands.h"
#include "tools/effc/Version.h"
#include "tools/terminal/Completions.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/ManualPage.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

using namespace effc::cli;

/// Those of every command that can be started here.
static std::vector<CommandTable> allTables(const CLI::App &app) {
  std::vector<CommandTable> tables = siblingTables();
  for (const CLI::App *command : app.get_subcommands(nullptr))
    if (!command->get_prefix_command())
      tables.push_back(tableOf(*command, "effc " + command->get_name()));
  return tables;
}

void effc::cli::addCompletionsCommand(CLI::App &app) {
  auto shell = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand(
      "completions", "Print a script that completes effc in a shell");
  command->add_option("SHELL", *shell, "Whose script")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "effc completions bash > "
      "~/.local/share/bash-completion/completions/effc\n"
      "effc completions fish > ~/.config/fish/completions/effc.fish");
  command->callback([&app, shell] {
    print(completionScript(*shell, "effc", allTables(app)));
  });
}

void effc::cli::addManualCommand(CLI::App &app) {
  auto name = std::make_shared<std::string>();
  CLI::App *command =
      app.add_subcommand("manual", "Print the manual page of a command");
  command->add_option("COMMAND", *name,
                      "A command of effc; without one, effc itself");
  command->footer("effc manual run | man -l -");
  command->callback([&app, name] {
    std::vector<CommandTable> tables = allTables(app);
    std::vector<std::string> names;
    for (const CommandTable &table : tables)
      names.push_back(table.name);
    if (name->empty())
      return print(manualPage(tableOf(app, "effc"), versionText(), names));
    auto table = std::find_if(tables.begin(), tables.end(),
                              [&](const CommandTable &table) {
                                return table.name == "effc " + *name;
                              });
    if (table == tables.end())
      throw UsageError("there is no command '" + *name + "' here");
    print(manualPage(*table, versionText(), {"effc"}));
  });
}
