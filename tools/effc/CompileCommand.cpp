// `effc compile`: the compiler is a program of its own, so that `effc` stays
// small and starts without loading LLVM.

#include "tools/effc/Commands.h"
#include "tools/effc/Failure.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <vector>

using namespace effc::cli;

void effc::cli::addCompileCommand(CLI::App &app) {
  app.add_subcommand("compile", "Compile a checkpoint into one .effc file")
      ->prefix_command();
}

void effc::cli::becomeCompiler(char **argumentsAfterCompile) {
  std::error_code failure;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", failure);
  std::string compiler = (self.parent_path() / "effc-compile").string();
  std::vector<char *> arguments = {compiler.data()};
  for (char **argument = argumentsAfterCompile; *argument; ++argument)
    arguments.push_back(*argument);
  arguments.push_back(nullptr);
  execv(compiler.c_str(), arguments.data());
  if (errno == ENOENT)
    throw Failure(
        "there is no compiler here: '" + compiler +
        "' does not exist (this build of effc only runs compiled models)");
  throw Failure("cannot start '" + compiler + "': " + std::strerror(errno));
}
