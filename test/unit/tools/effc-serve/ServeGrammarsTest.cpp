// Answers that follow what a request asks for, by the fields of OpenAI's API, of vLLM
// and of llama.cpp. The toy says nothing of itself, so whatever fits comes of the mask.

#include "test/unit/tools/effc-serve/ServedToy.h"

#include <gtest/gtest.h>
#include <regex>

using namespace effc::test;
using Json = nlohmann::json;

namespace {
struct Endpoint {
  const char *path;
  Json body;
  std::string text(const Json &answer) const {
    const Json &choice = answer.at("choices").at(0);
    return choice.contains("text") ? choice["text"]
                                   : choice.at("message").at("content");
  }
};

Endpoint completions() {
  return {"/v1/completions", {{"prompt", "abc"}, {"max_tokens", 200}}};
}
Endpoint chat() {
  return {"/v1/chat/completions",
          {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
           {"max_tokens", 200}}};
}

struct Kind {
  Json fields;
  const char *expected; // an expression that the whole text fits
};
} // namespace

TEST(ServeGrammars, AreThoseOfTheNeighbours) {
  const char *integer = R"({"type": "integer", "minimum": 0, "maximum": 99})";
  Json schema = Json::parse(integer);
  const char *gbnf = "root ::= \"x\" [0-9]{2}";
  const Kind kinds[] = {
      {{{"response_format",
         {{"type", "json_schema"}, {"json_schema", {{"schema", schema}}}}}},
       "[0-9]{1,2}"},
      {{{"response_format", {{"type", "json_object"}, {"schema", schema}}}},
       "[0-9]{1,2}"},
      {{{"guided_json", schema}}, "[0-9]{1,2}"},
      {{{"guided_json", integer}}, "[0-9]{1,2}"},
      {{{"json_schema", schema}}, "[0-9]{1,2}"},
      {{{"guided_regex", "(up|down) [1-9]\\d"}}, "(up|down) [1-9]\\d"},
      {{{"guided_choice", {"red", "say \"\\\"", "two\nlines\t"}}},
       "red|say \"\\\\\"|two\\nlines\\t"},
      {{{"guided_grammar", gbnf}}, "x[0-9]{2}"},
      {{{"grammar", gbnf}}, "x[0-9]{2}"},
      {{{"structured_outputs", {{"json", schema}}}}, "[0-9]{1,2}"},
      {{{"structured_outputs", {{"regex", "^a+b$"}, {"json", nullptr}}}},
       "a+b"},
      {{{"structured_outputs", {{"choice", {"yes", "no"}}}}}, "yes|no"},
      {{{"structured_outputs", {{"grammar", gbnf}, {"json_object", false}}}},
       "x[0-9]{2}"},
  };
  ServedToy toy;
  for (const Endpoint &endpoint : {completions(), chat()})
    for (const Kind &kind : kinds)
      for (int seed : {1, 2}) {
        Json body = endpoint.body;
        body.update(kind.fields);
        body["seed"] = seed;
        HttpAnswer answer = toy.post(endpoint.path, body);
        ASSERT_EQ(answer.status, 200) << kind.fields << answer.body;
        EXPECT_EQ(answer.json()["effc"]["ignored"], Json::array());
        std::string text = endpoint.text(answer.json());
        EXPECT_TRUE(std::regex_match(text, std::regex(kind.expected)))
            << endpoint.path << kind.fields << text;
      }
}

TEST(ServeGrammars, AskForNothingWhereTheyAreEmpty) {
  ServedToy toy;
  for (const Json &fields :
       {Json{{"grammar", ""}}, Json{{"guided_json", nullptr}},
        Json{{"structured_outputs", Json::object()}},
        Json{{"response_format", {{"type", "text"}}}},
        Json{{"guided_regex", ""}, {"guided_choice", {"a"}}}}) {
    Json body = completions().body;
    body["max_tokens"] = 3;
    body.update(fields);
    EXPECT_EQ(toy.post("/v1/completions", body).status, 200) << fields;
  }
}

TEST(ServeGrammars, AreRefusedByTheTrueReason) {
  struct {
    Json fields;
    const char *param, *reason;
  } const kinds[] = {
      {{{"guided_regex", "(?=a)b"}},
       "guided_regex",
       "the pattern '(?=a)b' has a group of another kind"},
      {{{"guided_grammar", "root ::= root"}},
       "guided_grammar",
       "the grammar is refused: line 1"},
      {{{"guided_json", {{"not", Json::object()}}}},
       "guided_json",
       "the keyword 'not' is not understood"},
      {{{"guided_json", 3}}, "guided_json", "expects a schema, but got 3"},
      {{{"guided_choice", {"a", 3}}},
       "guided_choice",
       "expects a text, but got 3"},
      {{{"guided_choice", {"a"}}, {"guided_regex", "a"}},
       "guided_choice",
       "is not possible with 'guided_regex'"},
      {{{"structured_outputs", {{"regex", "a"}, {"choice", {"a"}}}}},
       "structured_outputs",
       "has two of"},
      {{{"structured_outputs", {{"structural_tag", "{}"}}}},
       "structured_outputs",
       "has 'structural_tag', but 'json', 'regex'"},
      {{{"response_format", {{"type", "structural_tag"}}}},
       "response_format",
       "expects the type \"text\""},
      {{{"grammar", "root ::= \"a\""}, {"grammar_lazy", true}},
       "grammar_lazy",
       "a grammar is followed from the first token on"},
  };
  ServedToy toy;
  for (const Endpoint &endpoint : {completions(), chat()})
    for (const auto &kind : kinds) {
      Json body = endpoint.body;
      body.update(kind.fields);
      HttpAnswer answer = toy.post(endpoint.path, body);
      EXPECT_EQ(answer.status, 400) << kind.fields;
      Json error = answer.json()["error"];
      std::string message = error["message"];
      // Which of two comes first is no matter.
      if (kind.fields.size() == 1)
        EXPECT_EQ(error["param"], kind.param);
      EXPECT_TRUE(message.find(kind.reason) != message.npos ||
                  message.find("is not possible with") != message.npos)
          << kind.fields << message;
    }
}

// The template has answers begin within reasoning. A schema's text is an answer all the
// same.
TEST(ServeGrammars, AreContentWhereATemplateReasons) {
  ToyOptions options;
  options.changeTokenizer = [](effc::artifact::TokenizerT &table) {
    addChatTemplate(table, "default",
                    "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n"
                    "{% endfor %}{% if add_generation_prompt %}[assistant] "
                    "<think>\n{% endif %}{# </think> #}");
  };
  ServedToy toy({}, options);
  Json body = chat().body;
  Json message =
      toy.post("/v1/chat/completions", body).json()["choices"][0]["message"];
  EXPECT_TRUE(message.contains("reasoning_content")) << message;
  body["response_format"] = {{"type", "json_schema"},
                             {"json_schema", {{"schema", {{"const", "yes"}}}}}};
  message =
      toy.post("/v1/chat/completions", body).json()["choices"][0]["message"];
  EXPECT_EQ(message["content"], "\"yes\"");
  EXPECT_FALSE(message.contains("reasoning_content")) << message;
}
