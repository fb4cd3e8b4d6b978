// Sessions of the toy model over HTTP: what is generated within one is what the same
// text alone gives.

#include "test/unit/tools/effc-serve/ServedToy.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

static Json within(const std::string &session, Json prompt, int tokens) {
  Json asked = {{"prompt", std::move(prompt)},
                {"max_tokens", tokens},
                {"temperature", 1},
                {"seed", 5},
                {"logprobs", 1},
                {"return_tokens_as_token_ids", true}};
  if (!session.empty())
    asked["session"] = session;
  return asked;
}

static Tokens tokensOf(const Json &answer) {
  Tokens tokens;
  for (const Json &each :
       answer.at("choices").at(0).at("logprobs").at("tokens"))
    tokens.push_back(std::stoi(
        each.get<std::string>().substr(std::string("token_id:").size())));
  return tokens;
}

/// One whose states of drawn tokens have the bits of fed ones, as the compiler makes
/// them by default.
static ToyOptions exact() {
  ToyOptions options = ServedToy::withChat();
  options.chunk = 1;
  return options;
}

namespace {
/// A folder that goes with the test.
struct Folder {
  Folder() {
    char name[] = "/tmp/effc-sessions-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

/// A session, and the text that it should have.
struct Talk {
  ServedToy &toy;
  std::string id;
  Tokens text = {};

  void append(const Tokens &more) {
    HttpAnswer answer =
        toy.post("/v1/sessions/" + id + "/append", {{"prompt", more}});
    ASSERT_EQ(answer.status, 200) << answer.body;
    text.insert(text.end(), more.begin(), more.end());
    EXPECT_EQ(answer.json()["tokens"], text.size());
    EXPECT_EQ(answer.json()["state"]["tokens"], text.size() - 1);
  }
  /// Has the bits of a completion alone, and feeds what is new.
  void generate(const Tokens &more, int count) {
    Json answer = toy.post("/v1/completions", within(id, more, count)).json();
    text.insert(text.end(), more.begin(), more.end());
    ASSERT_TRUE(answer.contains("choices")) << answer;
    Json alone = toy.post("/v1/completions", within("", text, count)).json();
    EXPECT_EQ(answer["choices"], alone["choices"]);
    EXPECT_EQ(answer["usage"]["prompt_tokens"], text.size());
    for (int32_t token : tokensOf(answer))
      text.push_back(token);
    EXPECT_EQ(answer["effc"]["session"],
              Json({{"id", id}, {"tokens", text.size()}}));
    cached = answer["usage"]["prompt_tokens_details"]["cached_tokens"];
  }
  uint64_t cached = 0; // tokens of the last prompt
};
} // namespace

static std::string codeOf(const HttpAnswer &answer) {
  return answer.json()["error"]["code"];
}

TEST(ServeSessions, GoOnAsTheSameTextAlone) {
  ServedToy toy({"--cache-ram", "0"}, exact());
  HttpAnswer made =
      toy.post("/v1/sessions", {{"id", "a"}, {"prompt", {1, 2, 3}}});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.json()["state"]["tokens"], 2);
  EXPECT_EQ(made.json()["state"]["kind"], "exact");
  Talk talk = {toy, "a", {1, 2, 3}};
  talk.generate({}, 4);
  EXPECT_EQ(talk.cached, 2u);
  talk.append({9, 8, 7});
  for (int turn = 0; turn < 3; ++turn) {
    uint64_t before = talk.text.size();
    talk.generate({4, 5}, 5);
    EXPECT_EQ(talk.cached, before - 1);
  }
  // Streams as well, and what they leave is there when they have ended.
  Json asked = within("a", Tokens{6}, 3);
  asked["stream"] = true;
  EXPECT_EQ(toy.post("/v1/completions", asked).status, 200);
  EXPECT_EQ(toy.get("/v1/sessions/a").json()["tokens"], talk.text.size() + 4);
  EXPECT_EQ(toy.metric("effc_sessions"), 1);
  EXPECT_GT(toy.metric("effc_session_state_bytes"), 0);
}

// Of the other toy, states of drawn tokens would lead to other bits.
TEST(ServeSessions, ComputeAnewWhereOtherBitsWouldFollow) {
  ServedToy toy({"--cache-ram", "0"});
  toy.post("/v1/sessions", {{"id", "a"}, {"prompt", {1, 2, 3}}});
  Talk talk = {toy, "a", {1, 2, 3}};
  talk.generate({4}, 4);
  talk.generate({5}, 4);
  EXPECT_EQ(talk.cached, 0u);
}

TEST(ServeSessions, AreForkedListedAndDeleted) {
  ServedToy toy;
  Json made = toy.post("/v1/sessions", {{"prompt", {1, 2, 3, 4}}}).json();
  Talk one = {toy, made["id"], {1, 2, 3, 4}};
  HttpAnswer forked =
      toy.post("/v1/sessions/" + one.id + "/fork", {{"id", "b"}, {"ttl", 7}});
  ASSERT_EQ(forked.status, 201) << forked.body;
  EXPECT_EQ(forked.json()["ttl"], 7);
  Talk other = {toy, "b", one.text};
  one.generate({5}, 4);
  other.generate({6}, 4);
  Json all = toy.get("/v1/sessions").json();
  EXPECT_EQ(all["data"].size(), 2u);
  EXPECT_EQ(HttpClient(toy.port()).ask("DELETE", "/v1/sessions/b").json(),
            Json({{"id", "b"}, {"object", "session"}, {"deleted", true}}));
  HttpAnswer gone = toy.get("/v1/sessions/b");
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(codeOf(gone), "session_not_found");
  EXPECT_EQ(HttpClient(toy.port()).ask("DELETE", "/v1/sessions/b").status, 404);
  EXPECT_EQ(toy.post("/v1/sessions/b/append", {{"prompt", {1}}}).status, 404);
}

// Saved, ended, and read back by another process; and by an end in order.
TEST(ServeSessions, OutliveTheProcess) {
  Folder folder;
  Tokens text = {1, 2, 3, 4, 5};
  {
    ServedToy toy({"--session-dir", folder.path, "--cache-ram", "0"}, exact());
    toy.post("/v1/sessions", {{"id", "kept"}, {"prompt", text}});
    HttpAnswer saved = toy.post("/v1/sessions/kept/save", {{"unload", true}});
    ASSERT_EQ(saved.status, 200) << saved.body;
    EXPECT_TRUE(saved.json()["saved"]);
    EXPECT_EQ(toy.get("/v1/sessions/kept").status, 404);
    EXPECT_EQ(toy.get("/v1/sessions").json()["saved"], Json({"kept"}));
    toy.post("/v1/sessions", {{"id", "live"}, {"prompt", text}});
    EXPECT_EQ(toy.get("/v1/sessions/live").json()["saved"], false);
  }
  ServedToy toy({"--session-dir", folder.path, "--cache-ram", "0"}, exact());
  for (const char *id : {"kept", "live"}) {
    HttpAnswer read = toy.post("/v1/sessions/" + std::string(id) + "/restore",
                               Json::object());
    ASSERT_EQ(read.status, 200) << read.body;
    EXPECT_EQ(read.json()["state"]["tokens"], 4);
    Talk talk = {toy, id, text};
    talk.generate({8}, 5);
    EXPECT_EQ(talk.cached, 4u);
  }
  HttpAnswer again = toy.post("/v1/sessions/kept/restore", Json::object());
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(codeOf(again), "session_exists");
  EXPECT_EQ(again.header("x-should-retry"), "false");
  HttpClient(toy.port()).ask("DELETE", "/v1/sessions/kept");
  EXPECT_EQ(toy.post("/v1/sessions/kept/restore", Json::object()).status, 404);
  // Two files of the other one.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}),
            2);
}

// Both workers save at once, again and again: SIGTERM still ends the server.
TEST(ServeSessions, SavingLeavesSignalsAlone) {
  Folder folder;
  ServedToy toy({"--session-dir", folder.path});
  std::vector<std::thread> clients;
  for (const char *id : {"a", "b", "c", "d"})
    clients.emplace_back([&toy, id] {
      std::string path = "/v1/sessions/" + std::string(id);
      toy.post("/v1/sessions", {{"id", id}, {"prompt", {1, 2, 3}}});
      for (int i = 0; i < 50; ++i)
        EXPECT_EQ(toy.post(path + "/save", Json::object()).status, 200);
    });
  for (std::thread &client : clients)
    client.join();
  toy.signal(SIGTERM);
  EXPECT_EQ(toy.wait(), 0);
}

TEST(ServeSessions, AreBusyWhileARequestHasThem) {
  ServedToy toy({"--max-tokens-cap", "1000000"});
  toy.post("/v1/sessions", {{"id", "a"}, {"prompt", {1, 2}}});
  HttpClient client(toy.port());
  Json asked = {{"session", "a"},
                {"prompt", Tokens{3}},
                {"max_tokens", 100000},
                {"ignore_eos", true},
                {"stream", true}};
  std::string body = asked.dump();
  client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
              "Content-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  client.readSome(100);
  HttpAnswer busy = toy.post("/v1/completions", within("a", Tokens{1}, 2));
  EXPECT_EQ(busy.status, 409);
  EXPECT_EQ(codeOf(busy), "session_busy");
  EXPECT_EQ(HttpClient(toy.port()).ask("DELETE", "/v1/sessions/a").status, 409);
  EXPECT_EQ(toy.get("/v1/sessions/a").json()["tokens"], 2);
  client.leave();
  EXPECT_TRUE(toy.waitFor("effc_requests_running", 0));
  // The request that was given up has left nothing.
  Talk talk = {toy, "a", {1, 2}};
  talk.generate({3}, 3);
}

TEST(ServeSessions, HaveBounds) {
  ServedToy toy({"--max-sessions", "2", "--session-ttl", "1"});
  HttpAnswer twice = toy.post("/v1/sessions", {{"id", "a"}});
  EXPECT_EQ(twice.status, 201);
  EXPECT_EQ(codeOf(toy.post("/v1/sessions", {{"id", "a"}})), "session_exists");
  EXPECT_EQ(toy.post("/v1/sessions", {{"id", "b"}, {"ttl", 60}}).status, 201);
  HttpAnswer many = toy.post("/v1/sessions", Json::object());
  EXPECT_EQ(many.status, 413);
  EXPECT_EQ(codeOf(many), "too_many_sessions");
  sleep(2);
  EXPECT_EQ(toy.get("/v1/sessions/a").status, 404);
  EXPECT_EQ(toy.get("/v1/sessions/b").status, 200);
  struct {
    Json body;
    const char *param;
  } wrong[] = {{{{"id", "../x"}}, "id"},
               {{{"ttl", 0}}, "ttl"},
               {{{"prompt", Json::object()}}, "prompt"}};
  for (const auto &each : wrong) {
    HttpAnswer answer = toy.post("/v1/sessions", each.body);
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(answer.json()["error"]["param"], each.param);
  }
  Json asked = within("b", "", 3);
  EXPECT_EQ(toy.post("/v1/completions", asked).json()["error"]["param"],
            "prompt"); // it has no token
  asked["prompt"] = Tokens{1};
  for (auto [field, value] : {std::pair<const char *, Json>{"n", 2},
                              {"echo", true},
                              {"max_tokens", 0},
                              {"prompt", Json({{1}, {2}})}}) {
    Json refused = asked;
    refused[field] = value;
    HttpAnswer answer = toy.post("/v1/completions", refused);
    EXPECT_EQ(answer.status, 400) << field;
    EXPECT_EQ(answer.json()["error"]["param"], field);
  }
  EXPECT_EQ(codeOf(toy.post("/v1/sessions/b/save", Json::object())),
            "no_session_dir");
  HttpAnswer method = toy.post("/v1/sessions/b", Json::object());
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.header("Allow"), "GET, HEAD, DELETE");
}

TEST(ServeSessions, HaveMemoryOfTheirOwn) {
  ServedToy toy({"--session-ram", "30"});
  toy.post("/v1/sessions", {{"id", "a"}, {"prompt", {1, 2}}});
  HttpAnswer full = toy.post("/v1/sessions", {{"id", "b"}, {"prompt", {1, 2}}});
  EXPECT_EQ(full.status, 413) << full.body;
  EXPECT_EQ(codeOf(full), "session_memory");
  EXPECT_EQ(toy.get("/v1/sessions/b").status, 404);
  HttpClient(toy.port()).ask("DELETE", "/v1/sessions/a");
  EXPECT_EQ(toy.post("/v1/sessions", {{"id", "b"}, {"prompt", {1, 2}}}).status,
            201);
  ServedToy none({"--session-ram", "0"});
  EXPECT_EQ(codeOf(none.post("/v1/sessions", Json::object())), "no_sessions");
}
