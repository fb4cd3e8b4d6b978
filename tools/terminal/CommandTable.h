//===- CommandTable.h - What a command takes, as data ---------------------===//
//
// Help, manual pages and completions are printed from these tables, and the
// tables are read from what parses the command line: no option is listed twice.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_TERMINAL_COMMANDTABLE_H
#define EFFC_TOOLS_TERMINAL_COMMANDTABLE_H

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace effc::cli {

/// One option, flag or positional argument.
struct OptionRow {
  std::vector<std::string> names; // "-n", "--temp"
  std::string argument; // "FILE": what it is called where it needs no name
  bool required = false;
  std::string value;                // stands for what it takes; "" for a flag
  std::vector<std::string> choices; // empty: any value
  std::string range;                // "1 to 4096"; empty: not a range
  std::string initial;              // the default; empty: none to speak of
  std::string help;
  std::string group;
};

struct NamedCommand {
  std::string name, summary;
};

struct CommandTable {
  std::string name; // "effc run"
  std::string summary;
  std::vector<OptionRow> options;
  std::vector<NamedCommand> commands; // below this one
  std::vector<std::string> examples;  // command lines
};

/// The table of `app`, which users start by `name`. Examples are the lines of
/// its footer. Options without a group are hidden and left out.
CommandTable tableOf(const CLI::App &app, std::string name);

/// The table as JSON, and back: how a program that is started by another tells
/// what it takes. tableFromJson() throws Failure where `json` is no table.
std::string tableToJson(const CommandTable &table);
CommandTable tableFromJson(std::string_view json);

/// The help of an option with its choices, range and default in brackets.
std::string explanationOf(const OptionRow &option);

/// "-n, --new-tokens N". Of an argument without a name its own: "FILE".
std::string spellingOf(const OptionRow &option);

/// "effc run FILE [PROMPT] [options]".
std::string usageOf(const CommandTable &table);

/// The groups of the options that have names, in the order in which they first
/// stand; last CLI11's own, which has --help.
std::vector<std::string> groupsOf(const CommandTable &table);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_COMMANDTABLE_H
