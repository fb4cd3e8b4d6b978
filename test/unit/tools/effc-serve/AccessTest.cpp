// Who may ask: names in Host, pages of other origins, keys. And pieces of JSON.

#include "tools/effc-serve/Gate.h"
#include "tools/effc-serve/wire/JsonText.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::serve;

static int statusOf(const GateSettings &settings, std::vector<Header> headers,
                    bool isPublic = false, bool isLocal = false) {
  HttpRequest request{"POST", "/v1/completions", std::move(headers), "",
                      isLocal};
  auto error = Gate(settings).refuse(request, isPublic);
  return error ? error->status : 200;
}

TEST(Gate, KnowsItsNames) {
  GateSettings settings;
  for (const char *host : {"localhost", "LocalHost:80", "127.0.0.1:8080",
                           "[::1]:9", "192.168.7.3"})
    EXPECT_EQ(statusOf(settings, {{"host", host}}), 200) << host;
  for (const char *host :
       {"evil.example", "127.0.0.1.evil.example:8080", "", "localhost.evil"})
    EXPECT_EQ(statusOf(settings, {{"host", host}}), 403) << host;
  EXPECT_EQ(statusOf(settings, {{"host", ""}}, false, /*isLocal=*/true), 200);
  settings.hosts = {"models.example"};
  EXPECT_EQ(statusOf(settings, {{"host", "Models.example:1"}}), 200);
  settings.anyHost = true;
  EXPECT_EQ(statusOf(settings, {{"host", "evil.example"}}), 200);
}

TEST(Gate, KnowsPagesOfItsOwnAndThoseThatWereNamed) {
  GateSettings settings;
  auto with = [&](const char *origin) {
    return statusOf(settings, {{"host", "localhost:8080"}, {"origin", origin}});
  };
  EXPECT_EQ(with("http://localhost:8080"), 200);
  EXPECT_EQ(with("http://localhost:8081"), 403);
  EXPECT_EQ(with("null"), 403);
  settings.origins = {"https://chat.example"};
  EXPECT_EQ(with("https://chat.example"), 200);
  EXPECT_EQ(with("https://chat.example.evil"), 403);
  HttpRequest request{"POST", "/", {{"origin", "https://chat.example"}}, ""};
  EXPECT_EQ(Gate(settings).corsHeaders(request)[0].second,
            "https://chat.example");
  EXPECT_TRUE(Gate({}).corsHeaders(request).empty());
}

TEST(Gate, AsksForOneOfItsKeys) {
  GateSettings settings;
  Header host = {"host", "localhost"};
  EXPECT_EQ(statusOf(settings, {host, {"authorization", "Bearer "}}), 200);
  settings.keys = {"alpha", "beta-and-longer"};
  EXPECT_EQ(statusOf(settings, {host}), 401);
  EXPECT_EQ(statusOf(settings, {host}, /*isPublic=*/true), 200);
  struct {
    const char *header;
    int status;
  } cases[] = {{"Bearer alpha", 200}, {"bearer beta-and-longer", 200},
               {"Bearer alph", 401},  {"Bearer alphaa", 401},
               {"Bearer ", 401},      {"Bearer alphaalpha", 401},
               {"alpha", 401},        {"Basic alpha", 401}};
  for (const auto &each : cases)
    EXPECT_EQ(statusOf(settings, {host, {"authorization", each.header}}),
              each.status)
        << each.header;
}

TEST(JsonText, ReadsBackAsItWas) {
  std::string text = "a\"b\\c\n\r\t\x01\x1f\x7f \xc3\xa9 \xe2\x80\xa8";
  text += std::string(1, '\0') + "z";
  std::string out;
  appendQuoted(out, text);
  EXPECT_EQ(nlohmann::json::parse(out).get<std::string>(), text);
  for (float value : {0.0f, -0.25808197f, 1e-30f, -3.4e38f, 1.0f / 3}) {
    std::string number;
    appendNumber(number, value);
    EXPECT_EQ(std::strtof(number.c_str(), nullptr), value);
  }
  std::string none;
  appendNumber(none, -INFINITY);
  appendNumber(none, NAN);
  EXPECT_EQ(none, "nullnull");
}
