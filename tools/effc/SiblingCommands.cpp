// `effc compile`, `effc rebind`, `effc verify`, `effc serve`: programs of their own,
// because the first three link the compiler and with it LLVM, and the last a server;
// `effc` stays small and starts in milliseconds.

#include "tools/effc/Commands.h"
#include "tools/terminal/CommandLine.h"
#include "tools/terminal/Failure.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <unistd.h>
#include <vector>

using namespace effc::cli;

namespace {
struct Sibling {
  const char *command;
  const char *program;
  const char *summary;
  const char *lacking, *reason; // what is said where it is not there
};
} // namespace

static constexpr const char *kOnlyRuns =
    "this build of effc only runs compiled models";
#ifdef EFFC_HAS_SERVER
static constexpr const char *kNoServer =
    "'tools/build release effc-serve' builds it";
#else
static constexpr const char *kNoServer =
    "this build of effc was made without Boost's headers";
#endif
static constexpr Sibling kSiblings[] = {
    {"compile", "effc-compile", "Compile a checkpoint into one .effc file",
     "compiler", kOnlyRuns},
    {"rebind", "effc-rebind", "Give a compiled model other weights", "compiler",
     kOnlyRuns},
    {"verify", "effc-verify", "Check a compiled model against its meaning",
     "compiler", kOnlyRuns},
    {"serve", "effc-serve", "Serve compiled models over OpenAI's API", "server",
     kNoServer},
};

void effc::cli::addSiblingCommands(CLI::App &app) {
  for (const Sibling &sibling : kSiblings)
    app.add_subcommand(sibling.command, sibling.summary)->prefix_command();
}

/// Where the program lies: beside this one.
static std::string pathOf(const char *program) {
  std::error_code failure;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", failure);
  return (self.parent_path() / program).string();
}

/// Returns only to throw.
static void become(const char *program,
                   std::span<const std::string> arguments) {
  std::string path = pathOf(program);
  std::vector<std::string> owned = {path};
  owned.insert(owned.end(), arguments.begin(), arguments.end());
  std::vector<char *> pointers;
  for (std::string &argument : owned)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(path.c_str(), pointers.data());
  if (errno == ENOENT) {
    const Sibling *sibling =
        std::ranges::find_if(kSiblings, [&](const Sibling &each) {
          return each.program == std::string(program);
        });
    throw Failure("there is no " + std::string(sibling->lacking) + " here: '" +
                  path + "' does not exist (" + sibling->reason + ")");
  }
  throw Failure("cannot start '" + path + "': " + std::strerror(errno));
}

/// `inspect --flops=published`, which reads the model's module.
static bool asksForPublished(std::span<const std::string> arguments) {
  if (arguments[0] != "inspect")
    return false;
  for (size_t i = 1; i < arguments.size(); ++i)
    if (arguments[i] == "--flops=published" ||
        (arguments[i] == "--flops" && i + 1 < arguments.size() &&
         arguments[i + 1] == "published"))
      return true;
  return false;
}

static bool isGguf(const std::string &file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return false;
  char start[4] = {};
  std::ifstream(file, std::ios::binary).read(start, sizeof start);
  return std::string_view(start, sizeof start) == "GGUF";
}

/// Throws where `inspect` is asked of `file`, which is yet to be compiled, what only a
/// compiled model has.
static void refuseOptionsOfModels(const std::string &file,
                                  std::span<const std::string> arguments) {
  static constexpr std::string_view kOfModels[] = {
      "--kernels",        "--chip",  "--state",    "--check",
      "--budget",         "--flops", "--sequence", "--chunk",
      "--weights-folder", "--copy",  "--sha256"};
  std::string list;
  unsigned count = 0;
  for (const std::string &argument : arguments) {
    std::string name = argument.substr(0, argument.find('='));
    if (std::ranges::find(kOfModels, name) != std::end(kOfModels))
      list += (count++ > 0 ? ", " : "") + name;
  }
  if (count > 0)
    throw Failure("'" + file +
                  "' is a GGUF file, not a compiled model, which " + list +
                  (count == 1 ? " is" : " are") + " for: effc compile " + file +
                  " -o FILE.effc makes one");
}

/// The file of `inspect FILE` that is yet to be compiled, which the compiler reads;
/// null: it is none.
static const std::string *
inspectedGguf(std::span<const std::string> arguments) {
  if (arguments[0] != "inspect")
    return nullptr;
  auto file = std::ranges::find_if(arguments.subspan(1), isGguf);
  return file == arguments.end() ? nullptr : &*file;
}

void effc::cli::becomeSibling(std::span<const std::string> arguments) {
  if (const std::string *file = inspectedGguf(arguments)) {
    refuseOptionsOfModels(*file, arguments.subspan(1));
    std::vector<std::string> line = {"--gguf"};
    line.insert(line.end(), arguments.begin() + 1, arguments.end());
    become("effc-verify", line);
  }
  if (asksForPublished(arguments))
    become("effc-verify", arguments.subspan(1));
  for (const Sibling &sibling : kSiblings)
    if (arguments[0] == sibling.command)
      become(sibling.program, arguments.subspan(1));
}

/// What the program prints when it is started with `option`; nothing where it
/// cannot be started or fails.
static std::optional<std::string> outputOf(const char *program,
                                           const char *option) {
  // Between single quotes, within which a shell takes all else as it is.
  std::string path = "'";
  for (char c : pathOf(program))
    path += c == '\'' ? std::string("'\\''") : std::string(1, c);
  std::FILE *pipe =
      popen((path + "' " + option + " 2>/dev/null").c_str(), "re");
  if (!pipe)
    return std::nullopt;
  std::string output;
  char buffer[4096];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    output.append(buffer, count);
  if (pclose(pipe) != 0)
    return std::nullopt;
  return output;
}

std::vector<CommandTable> effc::cli::siblingTables() {
  std::vector<CommandTable> tables;
  for (const Sibling &sibling : kSiblings)
    if (auto output = outputOf(sibling.program, kDescribeOptions))
      tables.push_back(tableFromJson(*output));
  return tables;
}
