// Completions of the toy model over HTTP: tokens follow from the toy's reference.

#include "test/unit/tools/effc-serve/ServedToy.h"

#include "runtime/include/effc/effc.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

/// What greedy generation gives by the toy's own reference.
static Tokens greedy(const Tokens &prompt, size_t count) {
  ToyReference reference;
  std::vector<float> row;
  for (int32_t token : prompt)
    row = reference.step(token);
  Tokens made;
  while (made.size() < count) {
    int32_t token = likeliest(row);
    if (token == kToyEnd)
      break;
    made.push_back(token);
    row = reference.step(token);
  }
  return made;
}

/// The tokens of a choice that was asked for with logprobs and as ids.
static Tokens tokensOf(const Json &choice) {
  Tokens tokens;
  for (const Json &each : choice.at("logprobs").at("tokens"))
    tokens.push_back(std::stoi(
        each.get<std::string>().substr(std::string("token_id:").size())));
  return tokens;
}

static Json asking(Json prompt, int tokens) {
  return {{"prompt", std::move(prompt)},
          {"max_tokens", tokens},
          {"temperature", 0},
          {"logprobs", 1},
          {"return_tokens_as_token_ids", true}};
}

TEST(Serve, TellsWhatItServes) {
  ServedToy toy({"--slots", "3"});
  EXPECT_EQ(toy.get("/health").json(), Json({{"status", "ok"}}));
  for (const char *path : {"/v1/health", "/v2/health/live", "/v2/health/ready"})
    EXPECT_EQ(toy.get(path).status, 200) << path;
  Json models = toy.get("/v1/models").json();
  ASSERT_EQ(models["data"].size(), 1u);
  EXPECT_EQ(models["data"][0]["id"], "toy");
  EXPECT_EQ(models["data"][0]["meta"]["vocabulary"], kToyVocabulary);
  EXPECT_EQ(models["data"][0]["meta"]["slots"], 3);
  EXPECT_EQ(toy.get("/v1/models/toy").json(), models["data"][0]);
  EXPECT_EQ(toy.get("/v1/models/none").json()["error"]["code"],
            "model_not_found");
  EXPECT_EQ(toy.get("/tokenizer_info").json()["eos_token"], "<|end|>");
  EXPECT_EQ(toy.get("/openapi.json").json()["openapi"], "3.1.0");
  HttpAnswer page = toy.get("/");
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  std::string policy = page.header("Content-Security-Policy");
  EXPECT_TRUE(policy.starts_with("default-src 'none'"));
  std::string nonce = policy.substr(policy.find("nonce-") + 6, 32);
  EXPECT_NE(page.body.find("nonce=\"" + nonce + "\""), std::string::npos);
  EXPECT_EQ(page.body.find("NONCE"), std::string::npos);
}

TEST(Serve, TakesTextsTokensAndListsOfThem) {
  ServedToy toy;
  Tokens abc = {'a', 'b', 'c'}, xy = {'x', 'y'};
  Json answer = toy.post("/v1/completions", asking(abc, 7)).json();
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_EQ(answer["model"], "toy");
  EXPECT_EQ(tokensOf(answer["choices"][0]), greedy(abc, 7));
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 3);
  answer = toy.post("/v1/completions", asking(Json({abc, xy}), 7)).json();
  ASSERT_EQ(answer["choices"].size(), 2u);
  EXPECT_EQ(tokensOf(answer["choices"][1]), greedy(xy, 7));
  EXPECT_EQ(answer["choices"][1]["index"], 1);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 5);
  Tokens cut = toy.post("/tokenize", {{"prompt", "xyz"}}).json()["tokens"];
  answer = toy.post("/v1/completions", asking(Json({"xyz"}), 7)).json();
  EXPECT_EQ(tokensOf(answer["choices"][0]), greedy(cut, 7));
  EXPECT_EQ(toy.post("/detokenize", {{"tokens", cut}}).json()["prompt"], "xyz");
}

TEST(Serve, HasSeveralModels) {
  TemporaryFile other(makeToyArtifact());
  ServedToy toy({other.path(), "--name", "other"});
  Json models = toy.get("/v1/models").json()["data"];
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[1]["id"], "other");
  Json asked = asking(Tokens{'a'}, 4);
  HttpAnswer unnamed = toy.post("/v1/completions", asked);
  EXPECT_EQ(unnamed.status, 400);
  EXPECT_EQ(unnamed.json()["error"]["param"], "model");
  asked["model"] = "other";
  Json answer = toy.post("/v1/completions", asked).json();
  EXPECT_EQ(answer["model"], "other");
  EXPECT_EQ(tokensOf(answer["choices"][0]), greedy({'a'}, 4));
  EXPECT_EQ(toy.metric("effc_prompt_tokens_total{model=\"other\"}"), 1);
  EXPECT_EQ(toy.metric("effc_prompt_tokens_total{model=\"toy\"}"), 0);
}

// More prompts than slots and queue together: a list leaves room for others.
TEST(Serve, TakesLongListsAndManyChoices) {
  ServedToy toy({"--slots", "2", "--queue", "3"});
  Json prompts = Json::array();
  for (int i = 0; i < 50; ++i)
    prompts.push_back(Tokens{i, i + 1});
  Json answer = toy.post("/v1/completions", asking(prompts, 3)).json();
  ASSERT_EQ(answer["choices"].size(), 50u);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(tokensOf(answer["choices"][i]), greedy({i, i + 1}, 3)) << i;
  Json many = asking(Tokens{1, 2}, 3);
  many["temperature"] = 1;
  many["seed"] = 40;
  many["n"] = 5;
  answer = toy.post("/v1/completions", many).json();
  ASSERT_EQ(answer["choices"].size(), 5u);
  many["n"] = 1;
  many["seed"] = 44; // of choice 4
  EXPECT_EQ(tokensOf(answer["choices"][4]),
            tokensOf(toy.post("/v1/completions", many).json()["choices"][0]));
}

TEST(Serve, ScoresPrompts) {
  ServedToy toy;
  Tokens prompt = {'a', 'b', 'c', 7, 9};
  Json asked = asking(prompt, 1);
  asked["echo"] = true;
  Json choice = toy.post("/v1/completions", asked).json()["choices"][0];
  std::vector<float> rows = ToyReference().feed(prompt);
  Tokens all = prompt;
  all.push_back(greedy(prompt, 1)[0]);
  EXPECT_EQ(tokensOf(choice), all);
  Json found = choice["logprobs"]["token_logprobs"];
  ASSERT_EQ(found.size(), 6u);
  EXPECT_TRUE(found[0].is_null());
  EXPECT_TRUE(choice["logprobs"]["top_logprobs"][0].is_null());
  for (size_t i = 1; i < all.size(); ++i) {
    effc_logprob_t expected[2];
    effc::check(effc_logprobs(rows.data() + (i - 1) * kToyVocabulary,
                              kToyVocabulary, all[i], expected, 2));
    EXPECT_EQ(found[i].get<float>(), expected[0].logprob);
    std::string best = "token_id:" + std::to_string(expected[1].token);
    EXPECT_EQ(choice["logprobs"]["top_logprobs"][i][best].get<float>(),
              expected[1].logprob);
  }
  asked["max_tokens"] = 0;
  Json scored = toy.post("/v1/completions", asked).json();
  EXPECT_EQ(tokensOf(scored["choices"][0]), prompt);
  EXPECT_EQ(scored["usage"]["completion_tokens"], 0);
  asked.erase("logprobs");
  EXPECT_TRUE(toy.post("/v1/completions", asked)
                  .json()["choices"][0]["logprobs"]
                  .is_null());
}

TEST(Serve, Streams) {
  ServedToy toy;
  Json asked = asking(Tokens{'a', 'b'}, 6);
  Json whole = toy.post("/v1/completions", asked).json();
  asked["stream"] = true;
  asked["stream_options"] = {{"include_usage", true}};
  HttpAnswer answer = toy.post("/v1/completions", asked);
  EXPECT_EQ(answer.header("Content-Type"), "text/event-stream");
  std::vector<Json> events = answer.events();
  Tokens tokens;
  std::string text;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    const Json &choice = events[i]["choices"][0];
    EXPECT_TRUE(events[i]["usage"].is_null());
    EXPECT_EQ(events[i]["id"], events[0]["id"]);
    text += choice["text"].get<std::string>();
    if (!choice["logprobs"].is_null())
      for (int32_t token : tokensOf(choice))
        tokens.push_back(token);
    EXPECT_EQ(choice["finish_reason"].is_null(), i + 2 < events.size());
  }
  EXPECT_EQ(tokens, tokensOf(whole["choices"][0]));
  EXPECT_EQ(Json(text), whole["choices"][0]["text"]);
  EXPECT_TRUE(events.back()["choices"].empty());
  EXPECT_EQ(events.back()["usage"], whole["usage"]);
}

namespace {
/// A stream that goes on far longer than a test: the toy's end is ignored. What
/// comes is read and dropped, but for its last bytes.
class Endless {
public:
  explicit Endless(uint16_t port) : client(port) {
    std::string body = Json({{"prompt", Tokens{1}},
                             {"max_tokens", 1000000},
                             {"ignore_eos", true},
                             {"stream", true}})
                           .dump();
    client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                "Content-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    begin = client.readSome(100);
    reader = std::thread([this] {
      for (std::string some; !(some = client.readSome(1 << 20)).empty();) {
        last += some;
        last.erase(0, last.size() > 400 ? last.size() - 400 : 0);
      }
    });
  }
  ~Endless() {
    client.leave();
    if (reader.joinable())
      reader.join();
  }
  /// What it ended with.
  std::string end() {
    reader.join();
    return last;
  }
  std::string begin;

private:
  HttpClient client;
  std::string last;
  std::thread reader;
};
} // namespace

TEST(Serve, CancelsForClientsThatGo) {
  ServedToy toy({"--max-tokens-cap", "1000000"});
  {
    Endless stream(toy.port());
    EXPECT_NE(stream.begin.find("200 OK"), std::string::npos);
    EXPECT_TRUE(toy.waitFor("effc_requests_running", 1));
  }
  EXPECT_TRUE(toy.waitFor("effc_requests_running", 0));
  EXPECT_EQ(
      toy.metric("effc_requests_total{model=\"toy\",reason=\"cancelled\"}"), 1);
}

TEST(Serve, RefusesWhenItsQueueIsFull) {
  ServedToy toy(
      {"--max-tokens-cap", "1000000", "--slots", "1", "--queue", "1"});
  Endless runs(toy.port());
  EXPECT_TRUE(toy.waitFor("effc_requests_running", 1));
  Endless waits(toy.port());
  EXPECT_TRUE(toy.waitFor("effc_requests_queued", 1));
  HttpAnswer answer = toy.post("/v1/completions", asking(Tokens{1}, 3));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.header("Retry-After"), "1");
  EXPECT_EQ(answer.header("x-should-retry"), "");
  EXPECT_EQ(answer.json()["error"]["code"], "queue_full");
  EXPECT_EQ(answer.json()["error"]["type"], "rate_limit_error");
}

// Of a stream whose events come fast nothing is read: it waits, nobody else waits for
// it, and it goes on when it is read.
TEST(Serve, WaitsForReaders) {
  ServedToy toy({"--max-tokens-cap", "1000000"});
  HttpClient client(toy.port());
  std::string body = Json({{"prompt", Tokens{1}},
                           {"max_tokens", 1000000},
                           {"ignore_eos", true},
                           {"stream", true}})
                         .dump();
  client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
              "Content-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  auto drawn = [&] { return toy.metric("effc_generated_tokens_total"); };
  double before = -1;
  for (int i = 0; i < 100 && drawn() != before; ++i) {
    before = drawn();
    usleep(100000);
  }
  EXPECT_EQ(drawn(), before);
  EXPECT_GT(before, 1000);
  EXPECT_LT(before, 500000);
  EXPECT_EQ(toy.metric("effc_requests_running"), 1);
  Json answer = toy.post("/v1/completions", asking(Tokens{'a'}, 5)).json();
  EXPECT_EQ(tokensOf(answer["choices"][0]), greedy({'a'}, 5));
  size_t taken = 0;
  while (taken < (16u << 20)) {
    size_t some = client.readSome(1 << 20).size();
    ASSERT_GT(some, 0u);
    taken += some;
  }
  EXPECT_GT(drawn(), before);
}

TEST(Serve, EndsInOrder) {
  ServedToy toy({"--max-tokens-cap", "1000000", "--drain-seconds", "1"});
  HttpClient idle(toy.port());
  EXPECT_EQ(idle.ask("GET", "/health").status, 200);
  Endless stream(toy.port());
  EXPECT_TRUE(toy.waitFor("effc_requests_running", 1));
  toy.signal(SIGTERM);
  EXPECT_TRUE(idle.isEnded());
  EXPECT_NE(stream.end().find("data: {\"error\":{\"message\":\"the server is "
                              "ending\""),
            std::string::npos);
  EXPECT_EQ(toy.wait(), 0) << toy.said();
}

TEST(Serve, EndsAtOnceTheSecondTime) {
  ServedToy toy({"--max-tokens-cap", "1000000"});
  Endless stream(toy.port());
  EXPECT_TRUE(toy.waitFor("effc_requests_running", 1));
  toy.signal(SIGTERM);
  usleep(300000);
  toy.signal(SIGTERM);
  EXPECT_EQ(toy.wait(), 1);
}
