#include "tools/terminal/Help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace effc::cli;

/// Where explanations begin; what is longer has them on the next line.
static constexpr size_t kExplanation = 28;

/// `text`, wrapped; every line but the first, which begins in column `first`,
/// is indented by `indent`.
static std::string wrap(const std::string &text, size_t first, size_t indent,
                        size_t columns) {
  std::string wrapped;
  size_t column = first;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    bool begins = column == indent || column == first;
    if (!begins && column + 1 + word.size() > columns) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
      begins = true;
    }
    wrapped += (begins ? "" : " ") + word;
    column += word.size() + !begins;
  }
  return wrapped + "\n";
}

static std::string entry(const std::string &spelling,
                         const std::string &explanation, size_t columns) {
  std::string line = "  " + spelling;
  if (line.size() + 2 > kExplanation)
    line += "\n" + std::string(kExplanation, ' ');
  else
    line.resize(kExplanation, ' ');
  return line + wrap(explanation, kExplanation, kExplanation, columns);
}

/// The words of a command line; what stands in quotes is one.
static std::vector<std::string> wordsOf(const std::string &line) {
  std::vector<std::string> words = {""};
  char quote = 0;
  for (char c : line) {
    if (c == ' ' && !quote) {
      words.emplace_back();
      continue;
    }
    if (c == '"' || c == '\'')
      quote = quote == c ? 0 : quote ? quote : c;
    words.back() += c;
  }
  return words;
}

/// An example over as many lines as it takes, so that a shell reads them as one.
static std::string wrapExample(const std::string &example, size_t columns) {
  std::string text, line = " ";
  for (const std::string &word : wordsOf(example)) {
    if (line.size() + 1 + word.size() + 2 > columns &&
        line.find_first_not_of(' ') != line.npos) {
      text += line + " \\\n";
      line = "     ";
    }
    line += " " + word;
  }
  return text + line + "\n";
}

std::string effc::cli::helpText(const CommandTable &table, size_t columns) {
  std::string text = wrap("usage: " + usageOf(table), 0, 7, columns);
  text += "\n" + wrap(table.summary, 0, 0, columns);
  std::string arguments, commands;
  for (const OptionRow &option : table.options)
    if (!option.argument.empty())
      arguments += entry(option.argument, explanationOf(option), columns);
  for (const NamedCommand &command : table.commands)
    commands += entry(command.name, command.summary, columns);
  for (const auto &[heading, body] :
       {std::pair("Arguments", arguments), {"Commands", commands}})
    if (!body.empty())
      text += std::string("\n") + heading + ":\n" + body;
  for (const std::string &group : groupsOf(table)) {
    text += "\n" + group + ":\n";
    for (const OptionRow &option : table.options)
      if (!option.names.empty() && option.group == group)
        text += entry(spellingOf(option), explanationOf(option), columns);
  }
  if (!table.examples.empty())
    text += "\nExamples:\n";
  for (const std::string &example : table.examples)
    text += wrapExample(example, columns);
  return text;
}

size_t effc::cli::helpColumns() {
  constexpr size_t kFewest = 40, kMost = 100, kUsual = 80;
  size_t columns = 0;
  struct winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
    columns = window.ws_col;
  if (const char *said = std::getenv("COLUMNS"); columns == 0 && said)
    columns = std::strtoul(said, nullptr, 10);
  return columns == 0 ? kUsual : std::clamp(columns, kFewest, kMost);
}

namespace {
class HelpFormatter : public CLI::FormatterBase {
public:
  explicit HelpFormatter(std::string given) : name(std::move(given)) {}
  std::string make_help(const CLI::App *app, std::string,
                        CLI::AppFormatMode) const override {
    return helpText(tableOf(*app, name), helpColumns());
  }

private:
  std::string name;
};
} // namespace

void effc::cli::useHelpText(CLI::App &app, const std::string &name) {
  app.formatter(std::make_shared<HelpFormatter>(name));
  for (CLI::App *command : app.get_subcommands(nullptr))
    useHelpText(*command, name + " " + command->get_name());
}
