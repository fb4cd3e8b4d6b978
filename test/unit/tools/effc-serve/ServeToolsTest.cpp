// Calls of tools that a request demands, in each manner that has a grammar, of a
// model that by itself writes anything.

#include "test/unit/runtime/chat/AnswerTemplates.h"
#include "test/unit/tools/effc-serve/ServedToy.h"

#include <gtest/gtest.h>

using namespace effc::test;
using Json = nlohmann::ordered_json;

static ToyOptions toyWith(const char *source) {
  ToyOptions options;
  options.changeTokenizer = [source](effc::artifact::TokenizerT &table) {
    addChatTemplate(table, "default", source);
  };
  return options;
}

/// Two tools whose parameters are in no order of the alphabet.
static Json asking(Json choice) {
  Json tools = Json::parse(R"([
    {"type": "function", "function": {"name": "add", "parameters": {
      "type": "object", "properties": {"zeta": {"type": "boolean"},
      "alpha": {"enum": ["x", "y"]}}, "required": ["zeta", "alpha"],
      "additionalProperties": false}}},
    {"type": "function", "function": {"name": "now", "parameters": {
      "type": "object", "properties": {}, "additionalProperties": false}}}])");
  return {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
          {"tools", tools},
          {"tool_choice", choice},
          {"temperature", 1},
          {"max_tokens", 300}};
}

static const Json kAdd = {{"type", "function"},
                          {"function", {{"name", "add"}}}};

/// With its members in their order.
static Json post(ServedToy &toy, const Json &body) {
  return Json::parse(HttpClient(toy.port())
                         .ask("POST", "/v1/chat/completions", body.dump(),
                              "Content-Type: application/json\r\n")
                         .body);
}

TEST(ServeTools, CallsWhatARequestDemands) {
  for (const auto &[form, source] : kAnswerTemplates) {
    SCOPED_TRACE(form);
    ServedToy toy({}, toyWith(source));
    Json body = asking(kAdd);
    Json answer = post(toy, body);
    std::string name = form;
    if (name == "xml_tags" || name == "python") {
      EXPECT_EQ(answer["error"]["param"], "tool_choice") << answer;
      continue;
    }
    for (int seed : {1, 2}) {
      body["seed"] = seed;
      answer = post(toy, body);
      ASSERT_TRUE(answer.contains("choices")) << answer;
      Json choice = answer["choices"][0];
      EXPECT_EQ(choice["finish_reason"], "tool_calls") << choice;
      EXPECT_TRUE(choice["message"]["content"].is_null()) << choice;
      ASSERT_EQ(choice["message"]["tool_calls"].size(), 1u) << choice;
      Json called = choice["message"]["tool_calls"][0]["function"];
      EXPECT_EQ(called["name"], "add");
      Json arguments = Json::parse(called["arguments"].get<std::string>());
      // In the order of the schema.
      EXPECT_EQ(arguments.begin().key(), "zeta");
      EXPECT_EQ(arguments.size(), 2u);
    }
    body["tool_choice"] = "required";
    body["parallel_tool_calls"] = false;
    Json calls = post(toy, body)["choices"][0]["message"]["tool_calls"];
    EXPECT_EQ(calls.size(), 1u);
  }
}

TEST(ServeTools, RefusesChoicesThatCannotBe) {
  ServedToy toy({}, toyWith(kAnswerTemplates[0].source));
  Json other = kAdd;
  other["function"]["name"] = "subtract";
  for (const Json &choice :
       {Json("always"), Json({{"type", "custom"}}), other}) {
    EXPECT_EQ(post(toy, asking(choice))["error"]["param"], "tool_choice");
  }
  Json body = asking("required");
  body.erase("tools");
  EXPECT_EQ(post(toy, body)["error"]["param"], "tool_choice");
  body = asking("required");
  body["response_format"] = {{"type", "json_object"}};
  EXPECT_EQ(post(toy, body)["error"]["param"], "response_format");
  body = asking("required");
  body["tools"][0]["function"]["parameters"] = {{"type", "starfish"}};
  EXPECT_EQ(post(toy, body)["error"]["param"], "tools");
}

// A template that begins answers with reasoning has no call there.
TEST(ServeTools, RefusesCallsWithinReasoning) {
  std::string source = kAnswerTemplates[0].source;
  size_t at = source.rfind("assistant\n");
  source.insert(at + 10, "<think>\n");
  ServedToy toy({}, toyWith(source.c_str()));
  EXPECT_EQ(post(toy, asking("required"))["error"]["param"], "tool_choice");
}

TEST(ServeTools, WritesMembersInTheOrderOfASchema) {
  ServedToy toy;
  Json body = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
               {"max_tokens", 200}};
  body["response_format"] = Json::parse(R"({"type": "json_schema",
    "json_schema": {"name": "s", "schema": {"type": "object", "properties":
      {"z": {"const": 1}, "m": {"const": 2}, "a": {"const": 3}},
      "required": ["a", "m", "z"], "additionalProperties": false}}})");
  Json message = post(toy, body)["choices"][0]["message"];
  Json written = Json::parse(message["content"].get<std::string>());
  EXPECT_EQ(written, Json({{"z", 1}, {"m", 2}, {"a", 3}}));
  // What takes too long to look through is refused.
  for (int i = 0; i < 2049; ++i)
    body["logit_bias"]["k" + std::to_string(i)] = 1;
  EXPECT_NE(post(toy, body)["error"]["message"].get<std::string>().find(
                "members, but 2048 are possible"),
            std::string::npos);
}
