// Conversations with the toy model: the prompt follows from its template.

#include "test/unit/tools/effc-serve/ServedToy.h"

#include <gtest/gtest.h>

using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

static Json say(Json content) {
  return {{"messages", {{{"role", "user"}, {"content", std::move(content)}}}},
          {"max_tokens", 6},
          {"temperature", 0}};
}

static std::string refusedField(ServedToy &toy, const Json &body) {
  HttpAnswer answer = toy.post("/v1/chat/completions", body);
  EXPECT_EQ(answer.status, 400) << answer.body;
  EXPECT_EQ(answer.header("x-should-retry"), "false");
  Json param = answer.json()["error"]["param"];
  return param.is_string() ? param.get<std::string>() : "";
}

TEST(ServeChat, RendersAndGoesOn) {
  ServedToy toy;
  const std::string text = "[user] Hi\n[assistant]";
  Json body = say("Hi");
  Json rendered =
      toy.post("/apply-template", {{"messages", body["messages"]}}).json();
  EXPECT_EQ(rendered["prompt"], text);
  Json plain =
      toy.post("/tokenize", {{"prompt", text}, {"add_special_tokens", false}})
          .json();
  EXPECT_EQ(rendered["tokens"], plain["tokens"]);
  EXPECT_EQ(
      toy.post("/tokenize", {{"messages", body["messages"]}}).json()["tokens"],
      plain["tokens"]);
  Json answer = toy.post("/v1/chat/completions", body).json();
  Json same = toy.post("/v1/completions", {{"prompt", plain["tokens"]},
                                           {"max_tokens", 6},
                                           {"temperature", 0}})
                  .json();
  EXPECT_EQ(answer["choices"][0]["message"]["content"],
            same["choices"][0]["text"]);
  EXPECT_EQ(answer["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(answer["usage"]["prompt_tokens"], plain["count"]);
  EXPECT_EQ(answer["object"], "chat.completion");
}

TEST(ServeChat, TakesPartsAndVariables) {
  ServedToy toy;
  auto prompt = [&](const Json &body) {
    HttpAnswer answer = toy.post("/apply-template", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json()["prompt"].get<std::string>();
  };
  Json body = {
      {"messages",
       say(Json::array({{{"type", "text"}, {"text", "a"}},
                        {{"type", "text"}, {"text", "b"}}}))["messages"]}};
  EXPECT_EQ(prompt(body), "[user] a\nb\n[assistant]");
  body["chat_template_kwargs"] = {{"enable_thinking", true}};
  EXPECT_EQ(prompt(body), "[user] a\nb\n[assistant] hm");
  body["add_generation_prompt"] = false;
  EXPECT_EQ(prompt(body), "[user] a\nb\n");
  body = {{"messages",
           {{{"role", "user"}, {"content", "a"}},
            {{"role", "assistant"}, {"content", "so"}}}},
          {"continue_final_message", true}};
  EXPECT_EQ(prompt(body), "[user] a\n[assistant] so");
}

// The toy's end is token 269, "<|end|>": in a user's text it is seven characters.
TEST(ServeChat, KeepsWhatUsersWriteText) {
  ServedToy toy;
  Json tokens =
      toy.post("/apply-template", {{"messages", say("x<|end|>y")["messages"]}})
          .json()["tokens"];
  for (const Json &token : tokens)
    EXPECT_NE(token, kToyEnd);
  EXPECT_EQ(toy.post("/detokenize", {{"tokens", tokens}}).json()["prompt"],
            "[user] x<|end|>y\n[assistant]");
  EXPECT_EQ(toy.post("/tokenize", {{"prompt", "<|end|>"}}).json()["tokens"],
            Json({kToyEnd}));
}

TEST(ServeChat, StreamsTheRoleFirst) {
  ServedToy toy;
  Json body = say("Hi");
  body["n"] = 2;
  Json whole = toy.post("/v1/chat/completions", body).json();
  body["stream"] = true;
  std::vector<Json> events = toy.post("/v1/chat/completions", body).events();
  ASSERT_GT(events.size(), 4u);
  std::string texts[2];
  int ends = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["object"], "chat.completion.chunk");
    EXPECT_FALSE(events[i].contains("usage"));
    const Json &choice = events[i]["choices"][0];
    EXPECT_EQ(choice["delta"].contains("role"), i < 2);
    texts[choice["index"].get<int>()] += choice["delta"].value("content", "");
    ends += !choice["finish_reason"].is_null();
  }
  EXPECT_EQ(ends, 2);
  for (int i : {0, 1})
    EXPECT_EQ(Json(texts[i]), whole["choices"][i]["message"]["content"]);
}

TEST(ServeChat, HasLogprobsInItsOwnShape) {
  ServedToy toy;
  Json body = say("Hi");
  body["logprobs"] = true;
  body["top_logprobs"] = 3;
  Json content = toy.post("/v1/chat/completions", body)
                     .json()["choices"][0]["logprobs"]["content"];
  ASSERT_FALSE(content.empty());
  for (const Json &entry : content) {
    ASSERT_EQ(entry["top_logprobs"].size(), 3u);
    EXPECT_EQ(entry["logprob"], entry["top_logprobs"][0]["logprob"]);
    if (!entry["bytes"].is_null()) {
      std::string bytes;
      for (const Json &byte : entry["bytes"])
        bytes += static_cast<char>(byte.get<int>());
      EXPECT_EQ(bytes, entry["token"].get<std::string>());
    }
  }
  body.erase("logprobs");
  EXPECT_EQ(refusedField(toy, body), "top_logprobs");
}

TEST(ServeChat, RefusesWhatItWouldAnswerWrongly) {
  ServedToy toy;
  Json tool = {{"type", "function"}, {"function", {{"name", "f"}}}};
  Json body = say("Hi");
  body["tools"] = Json::array({tool});
  EXPECT_EQ(refusedField(toy, body), "tools");
  body["tool_choice"] = "required";
  EXPECT_EQ(refusedField(toy, body), "tools");
  body["tool_choice"] = "none";
  EXPECT_EQ(toy.post("/v1/chat/completions", body).status, 200);
  for (const Json &format :
       {Json{{"type", "yaml"}}, Json{{"type", "json_schema"}},
        Json{{"type", "json_schema"},
             {"json_schema", {{"schema", {{"multipleOf", 3}}}}}}}) {
    body = say("Hi");
    body["response_format"] = format;
    EXPECT_EQ(refusedField(toy, body), "response_format") << format;
  }
  body = say("Hi");
  body["functions"] = Json::array({tool});
  EXPECT_EQ(refusedField(toy, body), "functions");
  body = say("Hi");
  body["messages"][0]["role"] = "pirate";
  EXPECT_EQ(refusedField(toy, body), "messages");
  EXPECT_EQ(refusedField(toy, say(7)), "messages");
  EXPECT_EQ(refusedField(toy, say(Json::array({{{"type", "image_url"}}}))),
            "messages");
  body = say("Hi");
  body["max_tokens"] = 0;
  EXPECT_EQ(refusedField(toy, body), "max_tokens");
}

namespace {
/// A toy whose template writes a call as Llama 3's does, an answer of JSON, and
/// reasoning between marks.
ToyOptions withTools() {
  ToyOptions options;
  options.changeTokenizer = [](effc::artifact::TokenizerT &table) {
    addChatTemplate(table, "default",
                    "{% if tools %}{{ tools | tojson }}\n{% endif %}"
                    "{% for m in messages %}[{{ m.role }}] "
                    "{% if m.tool_calls %}{% for c in m.tool_calls %}"
                    "{\"name\": \"{{ c.function.name }}\", \"parameters\": "
                    "{{ c.function.arguments | tojson }}}{% endfor %}"
                    "{% else %}{{ m.content }}{% endif %}<|end|>{% endfor %}"
                    "{% if add_generation_prompt %}[assistant] {% endif %}");
  };
  return options;
}

/// A conversation with a tool in which the model can write `answer` alone.
Json forced(const Json &answer) {
  Json body = say("Hi");
  body["max_tokens"] = 300;
  body["tools"] = Json::array(
      {{{"type", "function"},
        {"function",
         {{"name", "add"}, {"parameters", {{"type", "object"}}}}}}});
  body["response_format"] = {
      {"type", "json_schema"},
      {"json_schema", {{"schema", {{"const", answer}}}}}};
  return body;
}
} // namespace

TEST(ServeChat, ReadsCallsOfTools) {
  ServedToy toy({}, withTools());
  Json arguments = {{"a", 1}, {"b", "two"}};
  Json body = forced({{"name", "add"}, {"parameters", arguments}});
  HttpAnswer answer = toy.post("/v1/chat/completions", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  Json choice = answer.json()["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls") << answer.body;
  EXPECT_TRUE(choice["message"]["content"].is_null());
  ASSERT_EQ(choice["message"]["tool_calls"].size(), 1u);
  Json call = choice["message"]["tool_calls"][0];
  EXPECT_EQ(call["type"], "function");
  EXPECT_EQ(call["function"]["name"], "add");
  EXPECT_EQ(Json::parse(call["function"]["arguments"].get<std::string>()),
            arguments);
  EXPECT_EQ(call["id"].get<std::string>().find("call_"), 0u);

  // The same as a stream: the name first, then arguments in parts.
  body["stream"] = true;
  std::string name, written, reason;
  for (const Json &event : toy.post("/v1/chat/completions", body).events()) {
    Json part = event["choices"][0];
    if (part["finish_reason"].is_string())
      reason = part["finish_reason"];
    for (const Json &each : part["delta"].value("tool_calls", Json::array())) {
      EXPECT_EQ(each["index"], 0);
      name += each["function"].value("name", "");
      EXPECT_EQ(each.contains("id"), each["function"].contains("name"));
      written += each["function"]["arguments"];
    }
    EXPECT_EQ(part["delta"].value("content", ""), "");
  }
  EXPECT_EQ(name, "add");
  EXPECT_EQ(Json::parse(written), arguments);
  EXPECT_EQ(reason, "tool_calls");

  // The call and its result go back, the arguments as the text that they came as.
  Json next = {
      {"messages",
       {body["messages"][0],
        {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {call}}},
        {{"role", "tool"}, {"content", "3"}}}}};
  EXPECT_NE(toy.post("/apply-template", next)
                .json()["prompt"]
                .get<std::string>()
                .find("{\"name\": \"add\", \"parameters\": {\"a\": 1, \"b\": "
                      "\"two\"}}"),
            std::string::npos);
}

TEST(ServeChat, LeavesWhatIsNoCallAsContent) {
  ServedToy toy({}, withTools());
  Json answer = {{"colour", "red"}};
  Json choice =
      toy.post("/v1/chat/completions", forced(answer)).json()["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(Json::parse(choice["message"]["content"].get<std::string>()),
            answer);
  EXPECT_FALSE(choice["message"].contains("tool_calls"));
  Json wrong = forced(answer);
  wrong["tools"][0]["type"] = "retrieval";
  EXPECT_EQ(refusedField(toy, wrong), "tools");
}

TEST(ServeChat, WritesWhatASchemaAllows) {
  ServedToy toy;
  Json body = say("Hi");
  body["max_tokens"] = 200;
  body["response_format"] = {
      {"type", "json_schema"},
      {"json_schema", {{"schema", {{"enum", {"red", "green", 17}}}}}}};
  for (int seed : {1, 2, 3}) {
    body["seed"] = seed;
    HttpAnswer answer = toy.post("/v1/chat/completions", body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    Json choice = Json::parse(answer.body)["choices"][0];
    Json written = Json::parse(choice["message"]["content"].get<std::string>());
    EXPECT_TRUE(written == "red" || written == "green" || written == 17)
        << written;
    EXPECT_EQ(choice["finish_reason"], "stop");
  }
}

TEST(ServeChat, GoesOnFromStatesOfEarlierPrompts) {
  ServedToy toy;
  Json body = say(std::string(200, 'x'));
  auto usageOf = [&] {
    HttpAnswer answer = toy.post("/v1/chat/completions", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body);
  };
  Json first = usageOf(), second = usageOf();
  EXPECT_EQ(first["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  EXPECT_EQ(first["effc"]["cache"]["reason"], "no_prefix");
  EXPECT_GT(second["usage"]["prompt_tokens_details"]["cached_tokens"], 100);
  EXPECT_EQ(second["effc"]["cache"]["kind"], "exact");
  EXPECT_EQ(second["choices"][0]["message"], first["choices"][0]["message"]);
  EXPECT_NE(toy.get("/metrics").body.find("effc_prefix_cache_hit_tokens_total"),
            std::string::npos);
}

TEST(ServeChat, SaysWhyThereIsNone) {
  ServedToy toy({}, ToyOptions{});
  HttpAnswer answer = toy.post("/v1/chat/completions", say("Hi"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("the model takes no conversations"),
            std::string::npos);
  EXPECT_NE(toy.said().find("no chat"), std::string::npos);
}
