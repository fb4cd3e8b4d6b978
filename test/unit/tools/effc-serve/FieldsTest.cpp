// Fields of requests: types, bounds, what is refused and what is ignored.

#include "tools/effc-serve/api/Fields.h"

#include <gtest/gtest.h>

using namespace effc::serve;
using Json = nlohmann::ordered_json;

static constexpr Field kKnown[] = {
    {"count", FieldType::Integer, 2, 5},
    {"share", FieldType::Number, 0, 1},
    {"flag", FieldType::Boolean},
    {"word", FieldType::Text, 1, 3},
    {"list", FieldType::List, 0, 2},
    {"map", FieldType::Mapping, 0, 1},
    {"anything", FieldType::Any},
    {"large", FieldType::Integer, 0, 9007199254740992.0},
};
static constexpr RefusedField kRefused[] = {{"beams", "there are no beams"}};

/// What a client is told of `body`; "" where it is taken.
static std::string refusal(const std::string &body) {
  try {
    Json parsed = parseBody(body);
    Fields fields(parsed, kKnown, kRefused);
    return "";
  } catch (const ApiError &error) {
    EXPECT_EQ(error.status, 400);
    return error.param + ": " + error.message;
  }
}

TEST(Fields, HaveTypesAndBounds) {
  struct {
    const char *body, *refusal;
  } cases[] = {
      {R"({"count": 2, "share": 1, "flag": true, "word": "abc"})", ""},
      {R"({"count": null, "word": null, "anything": [{}]})", ""},
      {R"({"count": 3.0})", ""},
      {R"({"count": 1})",
       "count: 'count' expects a whole number from 2 to 5, but got 1"},
      {R"({"count": 6})",
       "count: 'count' expects a whole number from 2 to 5, but got 6"},
      {R"({"count": 2.5})",
       "count: 'count' expects a whole number, but got 2.5"},
      {R"({"count": "3"})",
       "count: 'count' expects a whole number, but got \"3\""},
      {R"({"share": 1e308})",
       "share: 'share' expects a number from 0 to 1, but got 1e+308"},
      {R"({"share": -0.5})",
       "share: 'share' expects a number from 0 to 1, but got -0.5"},
      {R"({"large": 9007199254740992})", ""},
      {R"({"large": 9007199254740993})",
       "large: 'large' expects a whole number from 0 to 9007199254740992, but "
       "got 9007199254740993"},
      {R"({"flag": 1})", "flag: 'flag' expects true or false, but got 1"},
      {R"({"word": ""})", "word: 'word' expects a text with a number of bytes "
                          "from 1 to 3, but got 0"},
      {R"({"word": "four"})", "word: 'word' expects a text with a number of "
                              "bytes from 1 to 3, but got 4"},
      {R"({"list": [1, 2, 3]})",
       "list: 'list' expects a number of entries from 0 to 2, but got 3"},
      {R"({"map": []})", "map: 'map' expects an object, but got a list of 0"},
  };
  for (const auto &each : cases)
    EXPECT_EQ(refusal(each.body), each.refusal) << each.body;
}

TEST(Fields, RefuseWhatIsAskedForAndLacking) {
  for (const char *neutral : {"null", "false", "0", "\"\"", "[]", "{}"})
    EXPECT_EQ(refusal("{\"beams\": " + std::string(neutral) + "}"), "");
  EXPECT_EQ(refusal(R"({"beams": 4})"),
            "beams: 'beams' is not possible: there are no beams");
}

TEST(Fields, NameWhatIsIgnored) {
  Json body = {{"count", 3}, {"strange", 1}, {"beams", nullptr}};
  EXPECT_EQ(Fields(body, kKnown, kRefused).ignored(),
            std::vector<std::string>{"strange"});
}

TEST(Fields, AreReadWithDefaults) {
  Json body = {{"count", 4.0}, {"share", nullptr}, {"word", "ab"}};
  Fields fields(body, kKnown, kRefused);
  EXPECT_EQ(fields.integer("count", 7), 4);
  EXPECT_EQ(fields.number("share", 0.25), 0.25);
  EXPECT_EQ(fields.text("word"), "ab");
  EXPECT_TRUE(fields.flag("flag", true));
  EXPECT_FALSE(fields.has("share"));
}

TEST(Bodies, AreJsonOfFewLevels) {
  EXPECT_EQ(refusal(""), ""); // without fields
  EXPECT_NE(refusal(" ").find("no JSON"), std::string::npos);
  EXPECT_NE(refusal("{\"a\": NaN}").find("no JSON"), std::string::npos);
  EXPECT_NE(refusal("{\"a\": 1e999}").find("no JSON"), std::string::npos);
  EXPECT_NE(refusal("{\"a\": \"\xff\"}").find("no JSON"), std::string::npos);
  EXPECT_NE(refusal("[1]").find("is to be a JSON object"), std::string::npos);
  auto nested = [](size_t levels) {
    return "{\"a\": " + std::string(levels - 1, '[') +
           std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(refusal(nested(64)), "");
  EXPECT_NE(refusal(nested(65)).find("65 levels"), std::string::npos);
  EXPECT_NE(refusal(nested(100000)).find("levels"), std::string::npos);
  auto wide = [](int members) {
    std::string body = "{\"a\": {";
    for (int i = 0; i < members; ++i)
      body += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 1";
    return body + "}}";
  };
  EXPECT_EQ(refusal(wide(2048)), "");
  EXPECT_NE(refusal(wide(2049)).find("2049 members, but 2048 are possible"),
            std::string::npos);
  // Brackets within a text open nothing.
  EXPECT_EQ(refusal("{\"a\": \"\\\"" + std::string(100, '[') + "\"}"), "");
}
