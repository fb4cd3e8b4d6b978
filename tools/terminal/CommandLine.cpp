#include "tools/terminal/CommandLine.h"

#include "tools/terminal/CommandTable.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Help.h"
#include "tools/terminal/Nearest.h"
#include "tools/terminal/StandardStreams.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <new>
#include <sstream>

using namespace effc::cli;

/// What a command takes that is typed with a dash, its help included.
static std::vector<std::string> optionNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  return names;
}

namespace {
/// An argument that begins with a dash.
struct Typed {
  std::string name;          // without "=value"
  bool carriesValue;         // "--seed=1", "-n5"
  const CLI::Option *option; // null: there is none of this name
};
} // namespace

static Typed lookUp(const CLI::App &command, const std::string &argument) {
  Typed typed;
  typed.name = argument.substr(0, argument.find('='));
  typed.carriesValue = typed.name.size() < argument.size();
  typed.option = command.get_option_no_throw(typed.name);
  bool isShort = argument[1] != '-';
  if (typed.option || !isShort || argument.size() == 2)
    return typed;
  // "-n5": an option of one letter with its value behind it.
  const CLI::Option *letter =
      command.get_option_no_throw(argument.substr(0, 2));
  if (letter && letter->get_items_expected_max() > 0)
    return {argument.substr(0, 2), true, letter};
  return typed;
}

/// What is typed with a dash in `arguments` and does not exist, in that order.
static std::vector<std::string>
unknownOptions(const CLI::App &command,
               const std::vector<std::string> &arguments) {
  std::vector<std::string> unknown;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "--")
      break;
    bool isOption = argument.size() > 1 && argument[0] == '-' &&
                    !std::isdigit(static_cast<unsigned char>(argument[1]));
    if (!isOption)
      continue;
    Typed typed = lookUp(command, argument);
    if (!typed.option)
      unknown.push_back(typed.name);
    else if (!typed.carriesValue && typed.option->get_items_expected_min() > 0)
      ++i; // its value
  }
  return unknown;
}

/// What to say of an option that does not exist.
static std::string hintFor(const std::string &name, const CLI::App &command,
                           std::span<const ForeignOption> foreign) {
  for (const ForeignOption &other : foreign)
    if (name == other.name)
      return other.instead;
  if (auto near = nearest(name, optionNames(command)))
    return "did you mean " + *near + "?";
  std::vector<std::string> others;
  for (const ForeignOption &other : foreign)
    others.push_back(other.name);
  auto near = nearest(name, others);
  for (const ForeignOption &other : foreign)
    if (near && *near == other.name)
      return "for " + *near + ": " + other.instead;
  return "";
}

static void refuseUnknown(const CLI::App &command,
                          const std::vector<std::string> &arguments,
                          std::span<const ForeignOption> foreign) {
  std::vector<std::string> unknown = unknownOptions(command, arguments);
  if (unknown.empty())
    return;
  std::string list;
  for (const std::string &name : unknown) {
    std::string hint = hintFor(name, command, foreign);
    list += (list.empty() ? "" : ", ") + name +
            (hint.empty() ? "" : " (" + hint + ")");
  }
  throw UsageError(
      (unknown.size() == 1 ? "there is no option " : "there are no options ") +
      list);
}

/// The command that the line chooses, and what stands behind its name.
static CLI::App *chosenCommand(CLI::App &app,
                               std::vector<std::string> &arguments) {
  if (arguments.empty())
    return &app;
  for (CLI::App *command : app.get_subcommands(nullptr))
    if (command->get_name() == arguments[0]) {
      arguments.erase(arguments.begin());
      return command;
    }
  return &app;
}

bool effc::cli::readCommandLine(CLI::App &app, const std::string &name,
                                const std::vector<std::string> &arguments,
                                std::span<const ForeignOption> foreign) {
  useHelpText(app, name);
  if (arguments.size() == 1 && arguments[0] == kDescribeOptions) {
    print(tableToJson(tableOf(app, name)) + "\n");
    return false;
  }
  std::vector<std::string> rest = arguments;
  CLI::App *command = chosenCommand(app, rest);
  if (!command->get_prefix_command())
    refuseUnknown(*command, rest, foreign);
  try {
    // CLI11 takes them from the last to the first.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return true;
  } catch (const CLI::Success &shown) {
    // Through print(), which notices a full disk.
    std::ostringstream text;
    app.exit(shown, text, text);
    print(text.str());
    return false;
  } catch (const CLI::ExtrasError &) {
    std::string list;
    for (const std::string &extra : command->remaining())
      list += (list.empty() ? "'" : ", '") + extra + "'";
    throw UsageError("nothing takes " + list);
  } catch (const CLI::RequiredError &error) {
    for (const CLI::Option *option : command->get_options())
      if (option->get_required() && option->count() == 0)
        throw UsageError(option->get_name(option->get_positional()) +
                         " is required");
    throw UsageError(error.what());
  } catch (const CLI::ParseError &error) {
    throw UsageError(error.what());
  }
}

int effc::cli::runMain(const std::string &help, int (*body)(int, char **),
                       int argc, char **argv) {
  openStandardStreams();
  try {
    int status = body(argc, argv);
    flushOutput();
    return status;
  } catch (const UsageError &error) {
    printError(error.what());
    printNote("see " + help);
    return kWrongUsage;
  } catch (const Interrupted &interrupted) {
    if (*interrupted.what())
      printError(interrupted.what());
    return kInterrupted;
  } catch (const std::bad_alloc &) {
    printError("out of memory");
    return kFailed;
  } catch (const std::exception &error) {
    printError(error.what());
    return kFailed;
  }
}
