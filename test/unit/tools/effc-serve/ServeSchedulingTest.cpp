// What requests may say of how they run: what they guess, who goes first, how long they
// may take, and what of them is kept for others. None of it changes a token.

#include "test/unit/tools/effc-serve/ServedToy.h"
#include "tools/effc-serve/api/Requests.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace effc::serve;
using namespace effc::test;
using Json = nlohmann::json;

namespace {
constexpr const char *kCompletions = "/v1/completions";
constexpr const char *kChat = "/v1/chat/completions";

/// Tokens that repeat themselves, so that there is something to guess.
Json repeating() {
  Json tokens = Json::array();
  for (int round = 0; round < 3; ++round)
    for (int token : {17, 201, 5, 88, 140, 9, 63, 222})
      tokens.push_back(token);
  return {{"prompt", tokens}, {"max_tokens", 60},
          {"temperature", 0}, {"ignore_eos", true},
          {"logprobs", 1},    {"return_tokens_as_token_ids", true}};
}

/// One whose bits are those of one token after another, wherever it is cut.
ToyOptions draftable() {
  ToyOptions options;
  options.chunk = 1;
  return options;
}

Json saying(std::initializer_list<std::pair<const char *, Json>> messages) {
  Json body = {{"messages", Json::array()}, {"max_tokens", 2}};
  for (const auto &[role, content] : messages)
    body["messages"].push_back({{"role", role}, {"content", content}});
  return body;
}

int64_t hitOf(ServedToy &toy, const char *path, const Json &body) {
  HttpAnswer answer = toy.post(path, body);
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.json()["effc"]["cache"]["hit"];
}
} // namespace

TEST(ServeScheduling, DraftsChangeNothing) {
  ServedToy plain({}, draftable()),
      drafting({"--draft-tokens", "8"}, draftable());
  Json body = repeating();
  Json expected = plain.post(kCompletions, body).json();
  EXPECT_FALSE(expected["effc"].contains("speculation"));
  Json guessed = drafting.post(kCompletions, body).json();
  EXPECT_EQ(guessed["choices"], expected["choices"]);
  int64_t drafted = guessed["effc"]["speculation"]["drafted"];
  int64_t accepted = guessed["effc"]["speculation"]["accepted"];
  EXPECT_GT(drafted, 0);
  EXPECT_LE(accepted, drafted);
  // An answer comes before its last step is counted.
  EXPECT_TRUE(
      drafting.waitFor("effc_speculation_drafted_tokens_total", drafted));
  EXPECT_EQ(drafting.metric("vllm:spec_decode_num_draft_tokens_total"),
            drafted);
  EXPECT_EQ(drafting.metric("vllm:spec_decode_num_accepted_tokens_total"),
            accepted);
  EXPECT_GT(drafting.metric("vllm:spec_decode_num_drafts_total"), 0);

  // A request says more than the server.
  body["speculative.n_max"] = 0;
  EXPECT_FALSE(
      drafting.post(kCompletions, body).json()["effc"].contains("speculation"));
  body["speculative.n_max"] = 4;
  guessed = plain.post(kCompletions, body).json();
  EXPECT_EQ(guessed["choices"], expected["choices"]);
  EXPECT_GT(guessed["effc"]["speculation"]["drafted"], 0);
  body["speculative.n_max"] = 65;
  EXPECT_EQ(plain.post(kCompletions, body).status, 400);
}

// A text that does not repeat itself, guessed by the toy itself.
TEST(ServeScheduling, ASecondModelChangesNothing) {
  TemporaryFile second(makeToyArtifact(draftable()));
  ServedToy plain({}, draftable()),
      drafting({"--draft-model", second.path()}, draftable());
  Json body = repeating();
  body["temperature"] = 1.2;
  body["seed"] = 4;
  Json expected = plain.post(kCompletions, body).json();
  Json guessed = drafting.post(kCompletions, body).json();
  EXPECT_EQ(guessed["choices"], expected["choices"]);
  int64_t drafted = guessed["effc"]["speculation"]["drafted"];
  EXPECT_GT(drafted, 20);
  // An answer comes before its last step is counted.
  EXPECT_TRUE(
      drafting.waitFor("effc_speculation_model_drafted_tokens_total", drafted));
  EXPECT_EQ(drafting.metric("effc_speculation_model_accepted_tokens_total"),
            drafted);
  EXPECT_EQ(drafting.metric("effc_speculation_model_failures_total"), 0);
}

TEST(ServeScheduling, SayWhyThereAreNoDrafts) {
  ServedToy toy({"--draft-tokens", "8"});
  EXPECT_NE(toy.said().find("; no drafts: the file's code for host may give "
                            "other bits"),
            std::string::npos)
      << toy.said();
  Json body = repeating();
  EXPECT_EQ(toy.post(kCompletions, body).status, 200);
  body["speculative.n_max"] = 4;
  Json error = toy.post(kCompletions, body).json()["error"];
  EXPECT_EQ(error["param"], "speculative.n_max");
  EXPECT_NE(error["message"].get<std::string>().find("other bits"),
            std::string::npos);
}

TEST(ServeScheduling, MetricsHaveVllmsNames) {
  ServedToy toy({"--cache-ram", "0"});
  Json body = repeating();
  body["max_tokens"] = 5;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(toy.post(kCompletions, body).status, 200);
  const std::pair<const char *, double> kExpected[] = {
      {"vllm:prompt_tokens_total{", 3 * 24},
      {"vllm:generation_tokens_total{model_name=\"toy\"}", 15},
      {"vllm:request_success_total{model_name=\"toy\",finished_reason="
       "\"length\"",
       3},
      {"vllm:request_success_total{model_name=\"toy\",finished_reason=\"stop\"",
       0},
      {"vllm:num_requests_running", 0},
      {"vllm:num_requests_waiting", 0},
      {"vllm:prefix_cache_hits_total", 0},
      {"vllm:time_to_first_token_seconds_count", 3},
      {"vllm:inter_token_latency_seconds_count", 12},
      {"vllm:e2e_request_latency_seconds_count", 3},
      {"vllm:request_queue_time_seconds_count", 3},
      {"vllm:request_prefill_time_seconds_count", 3},
      {"vllm:request_decode_time_seconds_count", 3},
      // Of each request a prompt and four tokens that are fed.
      {"vllm:iteration_tokens_total_count", 15},
      {"vllm:iteration_tokens_total_sum", 3 * 28},
      {"vllm:iteration_tokens_total_bucket{model_name=\"toy\",le=\"16\"}", 12},
      {"vllm:iteration_tokens_total_bucket{model_name=\"toy\",le=\"32\"}", 15},
      {"effc_prefill_calls_total", 3},
      {"effc_decode_calls_total", 12},
      {"effc_decode_rows_total", 12},
      {"effc_first_token_seconds_count{model=\"toy\"}", 3}};
  // An answer comes before its last step is counted.
  for (const auto &[name, value] : kExpected)
    EXPECT_TRUE(toy.waitFor(name, value)) << name << toy.metric(name);
  EXPECT_GT(toy.metric("effc_decode_seconds_total"), 0);
  EXPECT_GT(toy.metric("effc_prefill_seconds_total"), 0);
}

TEST(ServeScheduling, SaltsKeepTextsApart) {
  ServedToy toy;
  Json body = saying({{"user", std::string(200, 'x')}});
  body["cache_salt"] = "mine";
  EXPECT_EQ(hitOf(toy, kChat, body), 0);
  EXPECT_GT(hitOf(toy, kChat, body), 100);
  body["cache_salt"] = "yours";
  Json answer = toy.post(kChat, body).json();
  EXPECT_EQ(answer["effc"]["cache"]["hit"], 0);
  EXPECT_EQ(answer["effc"]["cache"]["reason"], "salt");
  body["cache_salt"] = std::string("a\0b", 3);
  EXPECT_EQ(toy.post(kChat, body).json()["error"]["param"], "cache_salt");
}

TEST(ServeScheduling, DeadlinesEndAnswers) {
  ServedToy toy({"--slots", "8", "--max-tokens-cap", "4096"});
  Json body = {{"prompt", {1, 2, 3}}, {"max_tokens", 4096}, {"n", 8},
               {"ignore_eos", true},  {"logprobs", 20},     {"seed", 1}};
  // Until there is a token in time.
  HttpAnswer answer;
  for (int milliseconds = 5; answer.status != 200; milliseconds *= 2) {
    body["deadline_ms"] = milliseconds;
    answer = toy.post(kCompletions, body);
    if (answer.status == 200)
      break;
    ASSERT_EQ(answer.status, 408) << answer.body;
    EXPECT_EQ(answer.json()["error"]["code"], "deadline_exceeded");
    ASSERT_LT(milliseconds, 1000);
  }
  Json whole = answer.json();
  EXPECT_LT(whole["usage"]["completion_tokens"], 8 * 4096);
  for (const Json &choice : whole["choices"])
    EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_GT(toy.metric("effc_requests_total{model=\"toy\",reason=\"deadline\""),
            0);
}

// As vLLM has it, the smaller goes first; the scheduler's classes are the other way
// round, and a request that says nothing is in the middle.
TEST(ServeScheduling, TheSmallerPriorityGoesFirst) {
  TemporaryFile file(makeToyArtifact());
  ServedModel model("toy", file.path(), ModelSettings());
  auto classOf = [&](const Json &priority) {
    nlohmann::ordered_json body = {{"prompt", "abc"}};
    if (!priority.is_null())
      body["priority"] = priority;
    return readCompletion(body, model, nullptr).plan.priority;
  };
  EXPECT_EQ(classOf(nullptr), 3u);
  EXPECT_EQ(classOf(0), 3u);
  EXPECT_EQ(classOf(3), 0u);
  EXPECT_EQ(classOf(-4), uint32_t(EFFC_PRIORITY_MOST));
  EXPECT_THROW(classOf(4), ApiError);
  EXPECT_THROW(classOf(-5), ApiError);
}

// The toy has states of a fixed size alone: nobody goes on from where none were kept.
TEST(ServeScheduling, MarksAreBehindTheSystemsTextAndEachMessage) {
  ServedToy toy;
  std::string system(100, 's'), one(60, 'a'), two(70, 'b'), three(80, 'c');
  EXPECT_EQ(hitOf(toy, kChat,
                  saying({{"system", system},
                          {"user", one},
                          {"assistant", two},
                          {"user", three}})),
            0);
  int64_t atSystem =
      hitOf(toy, kChat, saying({{"system", system}, {"user", "other"}}));
  EXPECT_GE(atSystem, 100);
  EXPECT_LT(atSystem, 130);
  int64_t atOne = hitOf(toy, kChat,
                        saying({{"system", system},
                                {"user", one},
                                {"assistant", "other"},
                                {"user", "more"}}));
  EXPECT_GE(atOne, 160);
  EXPECT_LT(atOne, 200);
  int64_t atTwo = hitOf(toy, kChat,
                        saying({{"system", system},
                                {"user", one},
                                {"assistant", two},
                                {"user", "else"}}));
  EXPECT_GE(atTwo, 230);
}

TEST(ServeScheduling, MarksAreWhereAClientSaysSo) {
  ServedToy toy;
  auto parts = [](const std::string &last) {
    return Json::array({{{"type", "text"},
                         {"text", std::string(100, 'p')},
                         {"prompt_cache_breakpoint", true}},
                        {{"type", "text"}, {"text", last}}});
  };
  Json body = saying({{"user", parts("first question")}});
  EXPECT_EQ(hitOf(toy, kChat, body), 0);
  body = saying({{"user", parts("another question")}});
  HttpAnswer answer = toy.post(kChat, body);
  EXPECT_GE(answer.json()["effc"]["cache"]["hit"], 96);
  EXPECT_EQ(answer.json()["effc"]["ignored"], Json::array());

  Json tokens = Json::array();
  for (int i = 0; i < 100; ++i)
    tokens.push_back(i * 7 % 250);
  Json asked = {{"prompt", tokens}, {"max_tokens", 1}, {"effc_marks", {52}}};
  EXPECT_EQ(hitOf(toy, kCompletions, asked), 0);
  tokens[60] = 251;
  asked["prompt"] = tokens;
  EXPECT_EQ(hitOf(toy, kCompletions, asked), 52);
  asked["effc_marks"] = {101};
  EXPECT_EQ(toy.post(kCompletions, asked).json()["error"]["param"],
            "effc_marks");
}

TEST(ServeScheduling, NamesWhatIsIgnoredWithin) {
  ServedToy toy;
  Json body = saying({{"user", Json::array({{{"type", "text"},
                                             {"text", "Hi"},
                                             {"cache_control", "x"}}})}});
  body["messages"][0]["strange"] = 1;
  body["stream_options"] = {{"include_usage", false}, {"other", true}};
  body["response_format"] = {{"type", "text"}, {"verbosity", "low"}};
  body["user"] = "me";
  Json ignored = toy.post(kChat, body).json()["effc"]["ignored"];
  for (const char *place :
       {"user", "stream_options.other", "response_format.verbosity",
        "messages[0].strange", "messages[0].content[0].cache_control"})
    EXPECT_NE(std::find(ignored.begin(), ignored.end(), place), ignored.end())
        << place << ignored;
  EXPECT_EQ(ignored.size(), 5u) << ignored;
  body = saying({{"user", "Hi"}});
  body["session"] = "s1";
  EXPECT_EQ(toy.post(kChat, body).json()["error"]["param"], "session");
}
