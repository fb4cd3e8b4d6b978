#include "tools/effc-serve/api/ToolChoice.h"

#include <algorithm>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

/// The most calls of an answer that has to have some.
static constexpr int kMostCalls = 8;

static ApiError wrongChoice(const std::string &what) {
  return ApiError::invalid("tool_choice", what);
}

static void checkTools(const Json &tools) {
  for (const Json &tool : tools)
    if (!tool.is_object() || tool.value("type", Json()) != Json("function") ||
        !tool.value("function", Json()).is_object() ||
        !tool["function"].value("name", Json()).is_string())
      throw ApiError::invalid(
          "tools", "expects {\"type\": \"function\", \"function\": "
                   "{\"name\": ..., \"parameters\": ...}}, but got " +
                       shown(tool));
}

static bool isCalled(const Json &tool, const std::string &name) {
  return tool["function"]["name"].get_ref<const std::string &>() == name;
}

ToolChoice ToolChoice::read(const Fields &fields) {
  const Json *tools = fields.find("tools");
  bool hasTools = tools && !tools->empty();
  if (hasTools)
    checkTools(*tools);
  ToolChoice read;
  const Json *choice = fields.find("tool_choice");
  if (choice && *choice == Json("none")) {
    read.kind = Kind::None;
  } else if (choice && *choice == Json("required")) {
    read.kind = Kind::Required;
  } else if (choice && choice->is_object()) {
    Json function = choice->value("function", Json());
    if (choice->value("type", Json()) != Json("function") ||
        !function.is_object() || !function.value("name", Json()).is_string())
      throw wrongChoice("expects {\"type\": \"function\", \"function\": "
                        "{\"name\": ...}} where it is an object");
    read.kind = Kind::Required;
    read.name = function["name"].get<std::string>();
  } else if (choice && *choice != Json("auto")) {
    throw wrongChoice("expects \"none\", \"auto\", \"required\" or a function, "
                      "but got " +
                      shown(*choice));
  }
  if (read.kind == Kind::Required && !hasTools)
    throw wrongChoice("asks for a call, but there are no 'tools'");
  if (!read.name.empty() && std::ranges::none_of(*tools, [&](const Json &tool) {
        return isCalled(tool, read.name);
      }))
    throw wrongChoice("names '" + read.name +
                      "', which is none of the 'tools'");
  if (!hasTools)
    read.kind = Kind::None;
  return read;
}

/// A schema of calls of `tool`, its members in the order in which models write them.
static Json schemaOf(const Json &tool, const char *argumentsKey) {
  Json arguments = tool["function"].value("parameters", Json());
  if (!arguments.is_object() || arguments.empty())
    arguments = {{"type", "object"}};
  Json name = {{"const", tool["function"]["name"]}};
  return {{"type", "object"},
          {"properties", {{"name", name}, {argumentsKey, arguments}}},
          {"required", {"name", argumentsKey}},
          {"additionalProperties", false}};
}

ForcedCall serve::forceCall(const ToolChoice &choice, const Json &tools,
                            bool severalAtOnce, const ServedModel &model) {
  effc_chat_tool_manner_t manner = {};
  manner.size = sizeof manner;
  check(effc_chat_tool_manner(model.chat()->chatHandle(), &manner));
  std::string key = manner.arguments_key;
  if (key.empty())
    throw ApiError(400,
                   "'tool_choice' is possible as \"none\" or \"auto\" alone: "
                   "the template writes calls as '" +
                       std::string(manner.format) +
                       "', for which there is no grammar",
                   "tool_choice", "unsupported_parameter");
  Json calls = Json::array();
  for (const Json &tool : tools)
    if (choice.name.empty() || isCalled(tool, choice.name))
      calls.push_back(schemaOf(tool, key.c_str()));
  Json schema = calls.size() == 1 ? calls[0] : Json{{"anyOf", calls}};
  if (manner.is_list)
    schema = {
        {"type", "array"},
        {"items", schema},
        {"minItems", 1},
        {"maxItems", severalAtOnce && choice.name.empty() ? kMostCalls : 1}};
  std::string text = schema.dump();
  effc_grammar_t *grammar = nullptr;
  try {
    check(effc_grammar_create_from_schema(model.model().get(), text.data(),
                                          text.size(), &grammar));
  } catch (const Error &error) {
    throw ApiError(400,
                   std::string("a call cannot be asked for by 'tool_choice': "
                               "the parameters of a tool: ") +
                       error.what(),
                   "tools", "unsupported_parameter");
  }
  return {manner.lead, {grammar, effc_grammar_free}};
}
