#include "tools/terminal/CommandTable.h"

#include "tools/terminal/Failure.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace effc::cli;
using Json = nlohmann::ordered_json;

/// "a", "b" of "{a,b}"; none of anything else.
static std::vector<std::string> choicesIn(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}')
    return {};
  return CLI::detail::split(std::string(text.substr(1, text.size() - 2)), ',');
}

/// What stands for the value of an option of this type.
static std::string valueName(const std::string &type) {
  if (type == "UINT" || type == "INT" || type == "FLOAT")
    return "N";
  return type;
}

static OptionRow rowOf(const CLI::Option &option) {
  OptionRow row;
  if (option.get_positional())
    row.argument = option.get_name(/*positional=*/true);
  row.required = option.get_required();
  for (const std::string &name : option.get_snames())
    row.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    row.names.push_back("--" + name);
  // CLI11 has the type and what each check says of itself in one text: "UINT:1
  // to 4096", "TEXT:{auto,host}".
  std::string type = option.get_type_name();
  std::string checks;
  if (size_t colon = type.find(':'); colon != std::string::npos) {
    checks = type.substr(colon + 1);
    type.resize(colon);
  }
  row.choices = choicesIn(checks);
  if (row.choices.empty())
    row.range = checks;
  if (option.get_items_expected_max() > 0)
    row.value = valueName(type);
  row.initial = option.get_default_str();
  if (row.initial.size() >= 2 && row.initial.front() == '[')
    row.initial = row.initial.substr(1, row.initial.size() - 2);
  row.help = option.get_description();
  row.group = option.get_group();
  return row;
}

CommandTable effc::cli::tableOf(const CLI::App &app, std::string name) {
  CommandTable table;
  table.name = std::move(name);
  table.summary = app.get_description();
  for (const CLI::Option *option : app.get_options())
    if (!option->get_group().empty())
      table.options.push_back(rowOf(*option));
  for (const CLI::App *command : app.get_subcommands(nullptr))
    if (!command->get_group().empty())
      table.commands.push_back(
          {command->get_name(), command->get_description()});
  std::istringstream lines(app.get_footer());
  for (std::string line; std::getline(lines, line);)
    table.examples.push_back(line);
  return table;
}

std::string effc::cli::tableToJson(const CommandTable &table) {
  Json json;
  json["name"] = table.name;
  json["summary"] = table.summary;
  json["options"] = Json::array();
  for (const OptionRow &row : table.options)
    json["options"].push_back({{"names", row.names},
                               {"argument", row.argument},
                               {"required", row.required},
                               {"value", row.value},
                               {"choices", row.choices},
                               {"range", row.range},
                               {"default", row.initial},
                               {"help", row.help},
                               {"group", row.group}});
  json["commands"] = Json::array();
  for (const NamedCommand &command : table.commands)
    json["commands"].push_back(
        {{"name", command.name}, {"summary", command.summary}});
  json["examples"] = table.examples;
  return json.dump();
}

CommandTable effc::cli::tableFromJson(std::string_view text) {
  try {
    Json json = Json::parse(text);
    CommandTable table;
    table.name = json.at("name");
    table.summary = json.at("summary");
    for (const Json &row : json.at("options"))
      table.options.push_back({.names = row.at("names"),
                               .argument = row.at("argument"),
                               .required = row.at("required"),
                               .value = row.at("value"),
                               .choices = row.at("choices"),
                               .range = row.at("range"),
                               .initial = row.at("default"),
                               .help = row.at("help"),
                               .group = row.at("group")});
    for (const Json &command : json.at("commands"))
      table.commands.push_back({command.at("name"), command.at("summary")});
    table.examples = json.at("examples");
    return table;
  } catch (const Json::exception &error) {
    throw Failure(std::string("a program does not say what it takes: ") +
                  error.what());
  }
}

static std::string join(const std::vector<std::string> &parts,
                        const char *between) {
  return CLI::detail::join(parts, between);
}

std::string effc::cli::explanationOf(const OptionRow &option) {
  std::vector<std::string> limits;
  if (!option.choices.empty())
    limits.push_back(join(option.choices, ", "));
  if (!option.range.empty())
    limits.push_back(option.range);
  if (!option.initial.empty())
    limits.push_back("default: " + option.initial);
  return option.help + (limits.empty() ? "" : " (" + join(limits, "; ") + ")");
}

std::string effc::cli::spellingOf(const OptionRow &option) {
  if (option.names.empty())
    return option.argument;
  std::string text = join(option.names, ", ");
  if (!option.value.empty())
    text += " " + option.value;
  return text;
}

std::string effc::cli::usageOf(const CommandTable &table) {
  std::string text = table.name;
  if (!table.commands.empty())
    text += " COMMAND";
  for (const OptionRow &option : table.options)
    if (!option.argument.empty())
      text += option.required ? " " + option.argument
                              : " [" + option.argument + "]";
  return text + " [options]";
}

std::vector<std::string> effc::cli::groupsOf(const CommandTable &table) {
  constexpr const char *kLast = "Options";
  std::vector<std::string> groups;
  bool hasLast = false;
  for (const OptionRow &option : table.options) {
    if (option.names.empty())
      continue;
    if (option.group == kLast)
      hasLast = true;
    else if (std::find(groups.begin(), groups.end(), option.group) ==
             groups.end())
      groups.push_back(option.group);
  }
  if (hasLast)
    groups.push_back(kLast);
  return groups;
}
