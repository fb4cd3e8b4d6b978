// `effc compile`, `effc verify`: programs of their own, because they link the
// compiler and with it LLVM; `effc` stays small and starts in milliseconds.

#include "tools/effc/Commands.h"
#include "tools/terminal/Failure.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace effc::cli;

namespace {
struct Sibling {
  const char *command;
  const char *program;
  const char *summary;
};
} // namespace

static constexpr Sibling kSiblings[] = {
    {"compile", "effc-compile", "Compile a checkpoint into one .effc file"},
    {"verify", "effc-verify", "Check a compiled model against its meaning"},
};

void effc::cli::addSiblingCommands(CLI::App &app) {
  for (const Sibling &sibling : kSiblings)
    app.add_subcommand(sibling.command, sibling.summary)->prefix_command();
}

/// Returns only to throw.
static void become(const char *program, char **argumentsAfterCommand) {
  std::error_code failure;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", failure);
  std::string path = (self.parent_path() / program).string();
  std::vector<char *> arguments = {path.data()};
  for (char **argument = argumentsAfterCommand; *argument; ++argument)
    arguments.push_back(*argument);
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  if (errno == ENOENT)
    throw Failure("there is no compiler here: '" + path +
                  "' does not exist (this build of effc only runs compiled "
                  "models)");
  throw Failure("cannot start '" + path + "': " + std::strerror(errno));
}

/// `inspect --flops=published`, which reads the model's module.
static bool asksForPublished(char **arguments) {
  if (std::string_view(arguments[1]) != "inspect")
    return false;
  for (char **argument = arguments + 2; *argument; ++argument) {
    std::string_view text = *argument;
    if (text == "--flops=published" ||
        (text == "--flops" && argument[1] &&
         std::string_view(argument[1]) == "published"))
      return true;
  }
  return false;
}

void effc::cli::becomeSibling(char **arguments) {
  if (!arguments[0] || !arguments[1])
    return;
  if (asksForPublished(arguments))
    become("effc-verify", arguments + 2);
  for (const Sibling &sibling : kSiblings)
    if (std::string_view(arguments[1]) == sibling.command)
      become(sibling.program, arguments + 2);
}
