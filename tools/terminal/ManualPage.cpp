#include "tools/terminal/ManualPage.h"

#include <algorithm>
#include <cctype>

using namespace effc::cli;

/// `text` as roff prints it: no dash becomes a hyphen, no line a request.
static std::string plain(const std::string &text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  if (!escaped.empty() && (escaped[0] == '.' || escaped[0] == '\''))
    escaped.insert(0, "\\&");
  return escaped;
}

/// "effc run" is the page effc-run.
static std::string pageName(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

static std::string upper(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

static std::string item(const std::string &term, const std::string &text) {
  return ".TP\n.B " + plain(term) + "\n" + plain(text) + "\n";
}

std::string effc::cli::manualPage(const CommandTable &table,
                                  const std::string &version,
                                  const std::vector<std::string> &others) {
  std::string page = ".TH " + upper(plain(pageName(table.name))) +
                     " 1 \"\" \"" + plain(version) + "\"\n";
  page += ".SH NAME\n" + plain(pageName(table.name)) + " \\- " +
          plain(table.summary) + "\n";
  page += ".SH SYNOPSIS\n.B " + plain(usageOf(table)) + "\n";
  if (!table.commands.empty())
    page += ".SH COMMANDS\n";
  for (const NamedCommand &command : table.commands)
    page += item(command.name, command.summary);
  bool hasArguments = std::any_of(
      table.options.begin(), table.options.end(),
      [](const OptionRow &option) { return !option.argument.empty(); });
  if (hasArguments)
    page += ".SH ARGUMENTS\n";
  for (const OptionRow &option : table.options)
    if (!option.argument.empty())
      page += item(option.argument, explanationOf(option));
  page += ".SH OPTIONS\n";
  for (const std::string &group : groupsOf(table)) {
    page += ".SS " + plain(group) + "\n";
    for (const OptionRow &option : table.options)
      if (!option.names.empty() && option.group == group)
        page += item(spellingOf(option), explanationOf(option));
  }
  page += ".SH EXIT STATUS\n0: done; 1: failed, with one line that says why; "
          "2: wrong usage.\n";
  if (!table.examples.empty())
    page += ".SH EXAMPLES\n.nf\n";
  for (const std::string &example : table.examples)
    page += plain(example) + "\n";
  if (!table.examples.empty())
    page += ".fi\n";
  if (!others.empty())
    page += ".SH SEE ALSO\n";
  for (size_t i = 0; i < others.size(); ++i)
    page += ".BR " + plain(pageName(others[i])) + " (1)" +
            (i + 1 < others.size() ? "," : "") + "\n";
  return page;
}
