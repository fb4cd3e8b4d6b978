// What a server is sent that is no request, too much, or from somebody else.

#include "test/unit/tools/effc-serve/ServedToy.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>

using namespace effc::test;
using Json = nlohmann::json;

static const std::string kJson = "Content-Type: application/json\r\n";

/// What raw bytes are answered with; the connection ends or can be used on.
static HttpAnswer raw(uint16_t port, const std::string &bytes) {
  HttpClient client(port);
  client.send(bytes);
  return client.read();
}

static std::string typeOf(const HttpAnswer &answer) {
  return answer.json()["error"]["type"];
}

TEST(ServeHttp, KeepsConnections) {
  ServedToy toy;
  HttpClient client(toy.port());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.ask("GET", "/health").status, 200);
    EXPECT_EQ(client.post("/tokenize", {{"prompt", "ab"}}).status, 200);
    EXPECT_EQ(client.post("/v1/completions", {{"n", 0}}).status, 400);
    HttpAnswer stream =
        client.post("/v1/completions",
                    {{"prompt", {1, 2}}, {"max_tokens", 3}, {"stream", true}});
    EXPECT_FALSE(stream.events().empty());
  }
  // Two requests at once are answered in order.
  client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
              "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(client.read().status, 404);
  // And one asks to end.
  EXPECT_EQ(client.ask("GET", "/health", "", "Connection: close\r\n").status,
            200);
  EXPECT_TRUE(client.isEnded());
}

TEST(ServeHttp, TakesOldAndHeadRequests) {
  ServedToy toy;
  HttpAnswer old = raw(toy.port(), "GET /health HTTP/1.0\r\n"
                                   "Host: localhost\r\n\r\n");
  EXPECT_EQ(old.status, 200);
  HttpClient client(toy.port());
  client.send("HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
              "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(client.readSome(4096).find("Content-Length: 15"),
            std::string::npos);
}

TEST(ServeHttp, RefusesWhatIsNoRequest) {
  ServedToy toy;
  const std::string post =
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\n" + kJson;
  struct {
    std::string bytes;
    int status;
  } cases[] = {
      {"nonsense\r\n\r\n", 400},
      {"GET /health HTTP/1.1\r\n\r\n", 400}, // no Host
      {"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET /health HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n", 400},
      {post + "Content-Length: x\r\n\r\n", 400},
      {post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
      {post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400},
      {post + "Content-Length: 99999999\r\n\r\n", 413},
      {"GET /" + std::string(3000, 'a') +
           " HTTP/1.1\r\nHost: localhost\r\n\r\n",
       414},
      {"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " +
           std::string(20000, 'a') + "\r\n\r\n",
       431},
      {"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
      {"GET /tokenize HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"DELETE /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
       "Content-Type: text/plain\r\n\r\n{}",
       415},
      {"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
       "2\r\n\r\n{}",
       415},
      {"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
      {"GET /health HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil\r\n\r\n",
       403},
  };
  for (const auto &each : cases) {
    HttpAnswer answer = raw(toy.port(), each.bytes);
    EXPECT_EQ(answer.status, each.status) << each.bytes.substr(0, 200);
    if (answer.status != 0) {
      EXPECT_FALSE(typeOf(answer).empty());
      EXPECT_EQ(answer.header("x-should-retry"), "false");
    }
  }
  EXPECT_EQ(raw(toy.port(), "GET /tokenize HTTP/1.1\r\nHost: a\r\n\r\n").status,
            403);
  EXPECT_EQ(toy.get("/tokenize").header("Allow"), "POST");
  EXPECT_NE(toy.get("/v1/messages").body.find("/v1/chat/completions"),
            std::string::npos);
  EXPECT_EQ(toy.get("/health").status, 200);
}

TEST(ServeHttp, TakesBodiesInPieces) {
  ServedToy toy;
  std::string body = R"({"prompt": "abc"})";
  std::string head = "POST /tokenize HTTP/1.1\r\nHost: localhost\r\n" + kJson;
  HttpAnswer chunked =
      raw(toy.port(), head + "Transfer-Encoding: chunked\r\n\r\n4\r\n" +
                          body.substr(0, 4) + "\r\nd\r\n" + body.substr(4) +
                          "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.status, 200) << chunked.body;
  HttpClient client(toy.port());
  client.send(head + "Expect: 100-continue\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(client.readSome(25), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(body);
  EXPECT_EQ(client.read().status, 200);
  // Cut anywhere, nothing is answered and nothing is left behind.
  std::string all = head + "Content-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n" + body;
  for (size_t end = 1; end < all.size(); end += 7)
    HttpClient(toy.port()).send(all.substr(0, end));
  EXPECT_TRUE(toy.waitFor("effc_http_connections", 2));
}

TEST(ServeHttp, HoldsBoundsOfConnections) {
  ServedToy toy({"--max-connections", "3", "--max-body", "100"});
  EXPECT_EQ(toy.post("/tokenize", {{"prompt", std::string(200, 'a')}}).status,
            413);
  std::vector<std::unique_ptr<HttpClient>> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(std::make_unique<HttpClient>(toy.port()));
    EXPECT_EQ(held[i]->ask("GET", "/health").status, 200);
  }
  HttpAnswer answer = toy.get("/health");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("Retry-After"), "2");
  held.pop_back();
  for (int i = 0; i < 100 && toy.get("/health").status != 200; ++i)
    usleep(20000);
  EXPECT_EQ(toy.get("/health").status, 200);
}

TEST(ServeHttp, WaitsForRequestsSoLong) {
  ServedToy toy(
      {"--header-seconds", "1", "--body-seconds", "1", "--idle-seconds", "1"});
  HttpClient header(toy.port()), body(toy.port()), idle(toy.port()),
      silent(toy.port());
  header.send("GET /health HTTP/1.1\r\nHost: loc");
  body.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\n" + kJson +
            "Content-Length: 9\r\n\r\n{");
  EXPECT_EQ(idle.ask("GET", "/health").status, 200);
  for (HttpClient *client : {&header, &body}) {
    HttpAnswer answer = client->read();
    EXPECT_EQ(answer.status, 408);
    EXPECT_EQ(answer.header("Connection"), "close");
  }
  EXPECT_TRUE(idle.isEnded());
  EXPECT_TRUE(silent.isEnded());
}

TEST(ServeHttp, AsksForKeys) {
  TemporaryFile keys({'k', 'e', 'y', '1', '\n', '\n', 'k', 'e', 'y', '2'});
  ServedToy toy({"--api-key-file", keys.path()});
  EXPECT_EQ(toy.get("/health").status, 200);
  for (const char *path : {"/v1/models", "/metrics", "/tokenizer_info"}) {
    HttpAnswer answer = toy.get(path);
    EXPECT_EQ(answer.status, 401) << path;
    EXPECT_EQ(typeOf(answer), "authentication_error");
    EXPECT_EQ(HttpClient(toy.port())
                  .ask("GET", path, "", "Authorization: Bearer key2\r\n")
                  .status,
              200);
  }
  EXPECT_EQ(toy.post("/tokenize", {{"prompt", "a"}}).status, 401);
}

TEST(ServeHttp, LetsNamedPagesAsk) {
  ServedToy toy({"--cors-origin", "https://chat.example"});
  HttpClient client(toy.port());
  std::string origin = "Origin: https://chat.example\r\n";
  HttpAnswer before = client.ask("OPTIONS", "/v1/completions", "", origin);
  EXPECT_EQ(before.status, 204);
  EXPECT_EQ(before.header("Access-Control-Allow-Methods"), "POST, OPTIONS");
  HttpAnswer answer =
      client.ask("POST", "/tokenize", R"({"prompt":"a"})", kJson + origin);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Access-Control-Allow-Origin"),
            "https://chat.example");
  EXPECT_EQ(toy.get("/health").header("Access-Control-Allow-Origin"), "");
}

TEST(ServeHttp, ListensAtASocketOfTheFileSystem) {
  std::string path;
  {
    TemporaryFile place({});
    path = place.path();
  }
  {
    ServedToy toy({"--listen", "unix:" + path});
    HttpClient client(path);
    // No name can be forged there.
    client.send("GET /v1/models HTTP/1.1\r\nHost: anything\r\n\r\n");
    EXPECT_EQ(client.read().status, 200);
  }
  EXPECT_FALSE(std::ifstream(path).good());
}

TEST(ServeHttp, CarriesErrorsOfRequests) {
  ServedToy toy;
  struct {
    Json body;
    const char *param;
  } cases[] = {
      {Json::object(), "prompt"},
      {{{"prompt", 7}}, "prompt"},
      {{{"prompt", Json::array()}}, "prompt"},
      {{{"prompt", {"a", 1}}}, "prompt"},
      {{{"prompt", {1, "a"}}}, "prompt"},
      {{{"prompt", {kToyVocabulary}}}, "prompt"},
      {{{"prompt", {-1}}}, "prompt"},
      {{{"prompt", {1}}, {"model", 3}}, "model"},
      {{{"prompt", {1}}, {"max_tokens", -1}}, "max_tokens"},
      {{{"prompt", {1}}, {"max_tokens", 5000}}, "max_tokens"},
      {{{"prompt", {1}}, {"temperature", 1e308}}, "temperature"},
      {{{"prompt", {1}}, {"top_p", -0.1}}, "top_p"},
      {{{"prompt", {1}}, {"logprobs", 21}}, "logprobs"},
      {{{"prompt", {1}}, {"best_of", 2}}, "best_of"},
      {{{"prompt", {1}}, {"stop", {{"a", 1}}}}, "stop"},
      {{{"prompt", {1}}, {"stop", std::string(1025, 'a')}}, "stop"},
      {{{"prompt", {1}}, {"stop", Json(std::vector<std::string>(17, "a"))}},
       "stop"},
      {{{"prompt", {1}}, {"stop", ""}}, "stop"},
      {{{"prompt", {1}}, {"logit_bias", {{"x", 1}}}}, "logit_bias"},
      {{{"prompt", {1}}, {"logit_bias", {{"1", 101}}}}, "logit_bias"},
      {{{"prompt", {1}}, {"stop_token_ids", {999}}}, "stop_token_ids"},
      {{{"prompt", {1}}, {"suffix", "a"}}, "suffix"},
      {{{"prompt", {1}}, {"stream_options", {{"include_usage", 1}}}},
       "stream_options"},
      {{{"prompt", {1}}, {"use_beam_search", true}}, "use_beam_search"},
  };
  for (const auto &each : cases) {
    HttpAnswer answer = toy.post("/v1/completions", each.body);
    EXPECT_EQ(answer.status, 400) << each.body;
    EXPECT_EQ(answer.json()["error"]["param"], each.param) << each.body;
  }
  // What a client sent stands in the message, and is made UTF-8.
  HttpAnswer strange =
      HttpClient(toy.port()).ask("POST", "/tokenize", "\xe9[", kJson);
  EXPECT_EQ(strange.status, 400);
  EXPECT_NE(
      strange.json()["error"]["message"].get<std::string>().find("no JSON"),
      std::string::npos);
  EXPECT_EQ(toy.post("/v1/embeddings", {{"input", "a"}}).status, 400);
  EXPECT_EQ(toy.metric("effc_http_responses_total{path=\"/v1/completions\","
                       "status=\"400\"}"),
            double(std::size(cases)));
}
