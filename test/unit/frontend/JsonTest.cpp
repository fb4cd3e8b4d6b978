#include "frontend/checkpoint/Json.h"

#include "frontend/checkpoint/Refusal.h"
#include "test/unit/frontend/Outcome.h"

#include <cmath>

using namespace effc::frontend;
using effc::test::outcome;

static JsonValue parse(llvm::StringRef text) {
  return llvm::cantFail(parseJson(text, "f.json"));
}

static std::string refusal(llvm::StringRef text, JsonLimits limits = {}) {
  return outcome(parseJson(text, "f.json", limits));
}

TEST(Json, ReadsEveryKind) {
  JsonValue value = parse(R"({"a": null, "b": true, "c": 7, "d": -7, "e": 0.5,
                              "f": "x\u00e9", "g": [1, 2], "h": {}})");
  const JsonObject *object = value.getObject();
  ASSERT_TRUE(object);
  EXPECT_TRUE(object->find("a")->isNull());
  EXPECT_EQ(object->find("b")->getBoolean(), true);
  EXPECT_EQ(object->find("c")->getUnsigned(), 7u);
  EXPECT_EQ(object->find("c")->getInteger(), 7);
  EXPECT_EQ(object->find("d")->getInteger(), -7);
  EXPECT_EQ(object->find("d")->getUnsigned(), std::nullopt);
  EXPECT_EQ(object->find("e")->getNumber(), 0.5);
  EXPECT_EQ(object->find("e")->getInteger(), std::nullopt);
  EXPECT_EQ(*object->find("f")->getString(), "x\xc3\xa9");
  EXPECT_EQ(object->find("g")->getArray()->size(), 2u);
  EXPECT_TRUE(object->find("h")->getObject());
  EXPECT_EQ(object->find("i"), nullptr);
}

TEST(Json, KeepsTheOrderOfMembers) {
  JsonValue value = parse(R"({"z": 1, "a": 2, "m": 3})");
  std::string keys;
  for (const JsonMember &member : value.getObject()->getMembers())
    keys += member.key;
  EXPECT_EQ(keys, "zam");
}

TEST(Json, DescribesWhatItFound) {
  JsonValue value = parse(
      R"([8, "8", 8.0, null, [1, 2, 3], {"a": 1}, false, 18446744073709551616,
          -Infinity, "a\nb"])");
  std::vector<std::string> found;
  for (const JsonValue &element : *value.getArray())
    found.push_back(element.describe());
  EXPECT_EQ(found, (std::vector<std::string>{"8", "\"8\"", "8.0", "null",
                                             "an array of 3", "an object",
                                             "false", "1.8446744073709552e+19",
                                             "-Infinity", "\"a\\x0ab\""}));
}

TEST(Json, ReadsBareNonFiniteNumbers) {
  JsonValue value = parse(R"({"Infinity": [Infinity, -Infinity,NaN],
                              "text": "say \"NaN, Infinity\""})");
  const JsonArray &array = *value.getObject()->find("Infinity")->getArray();
  ASSERT_EQ(array.size(), 3u);
  EXPECT_EQ(array[0].getNumber(), INFINITY);
  EXPECT_EQ(array[1].getNumber(), -INFINITY);
  EXPECT_TRUE(std::isnan(*array[2].getNumber()));
  EXPECT_EQ(*value.getObject()->find("text")->getString(),
            "say \"NaN, Infinity\"");
}

TEST(Json, ReadsTaggedNonFiniteNumbers) {
  JsonValue value = parse(R"([{"__float__": "Infinity"},
                              {"__float__": "-Infinity"}, {"__float__": "NaN"}])");
  const JsonArray &array = *value.getArray();
  EXPECT_EQ(array[0].getNumber(), INFINITY);
  EXPECT_EQ(array[1].getNumber(), -INFINITY);
  EXPECT_TRUE(std::isnan(*array[2].getNumber()));
}

TEST(Json, RefusesOtherTaggedFloats) {
  EXPECT_EQ(refusal(R"({"a": {"__float__": "1e5"}})"),
            "f.json: expects '__float__' to be \"Infinity\", \"-Infinity\" or "
            "\"NaN\", but got \"1e5\"");
}

TEST(Json, RefusesNonFiniteNumbersWhereTheyAreNotWanted) {
  JsonLimits limits;
  limits.nonFinite = false;
  EXPECT_EQ(refusal("{\"a\": NaN}", limits).substr(0, 23),
            "f.json: line 1, column ");
}

TEST(Json, RefusesWordsThatOnlyStartLikeNumbers) {
  EXPECT_NE(refusal("[Infinit]"), "success");
  EXPECT_NE(refusal("[InfinityX]"), "success");
  EXPECT_NE(refusal("[+Infinity]"), "success");
  EXPECT_NE(refusal("[nan]"), "success");
  EXPECT_NE(refusal("[--Infinity]"), "success");
}

// The bad word is at line 3, column 8, though a bare number that is rewritten
// stands before it on the same line.
TEST(Json, GivesThePositionInTheOriginalText) {
  std::string message = refusal("{\n\"a\": 1,\n[NaN], x}");
  EXPECT_EQ(message.substr(0, 25), "f.json: line 3, column 1:");
  message = refusal("[\n1,\n[NaN], x]");
  EXPECT_EQ(message.substr(0, 25), "f.json: line 3, column 8:");
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_EQ(refusal(R"({"a": {"b": 1, "c": 2, "b": 1}})"),
            "f.json: key 'b' occurs twice in one object");
}

TEST(Json, RefusesAByteOrderMark) {
  EXPECT_EQ(refusal("\xef\xbb\xbf{}"),
            "f.json: starts with a byte order mark; expects plain UTF-8");
}

TEST(Json, RefusesNul) {
  EXPECT_EQ(refusal(llvm::StringRef("{}\0{", 4)),
            "f.json: expects text, but got a NUL at byte 2");
  EXPECT_EQ(refusal(llvm::StringRef("[\"a\0\"]", 6)),
            "f.json: expects text, but got a NUL at byte 3");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (llvm::StringRef text :
       {"", " ", "{", "[1,", "[1]2", "{'a': 1}", "{\"a\" 1}", "[01]", "[.5]",
        "// c\n1", "[\"\\ud800\"]", "[\"\xff\"]", "[\"\xc0\xaf\"]", "[1e400]",
        "[\"a", "tru", "\"\t\""})
    EXPECT_EQ(refusal(text).substr(0, 13), "f.json: line ") << text.str();
}

TEST(Json, LimitsDepth) {
  JsonLimits limits;
  limits.depth = 3;
  EXPECT_EQ(refusal("[[[1]]]", limits), "success");
  EXPECT_EQ(refusal("[[[[1]]]]", limits),
            "f.json: expects at most 3 levels of nesting, but got more");
  EXPECT_EQ(refusal(std::string(100'000, '[')),
            "f.json: expects at most 64 levels of nesting, but got more");
  std::string nested;
  for (int i = 0; i < 100'000; ++i)
    nested += "{\"a\":";
  EXPECT_EQ(refusal(nested),
            "f.json: expects at most 64 levels of nesting, but got more");
}

TEST(Json, LimitsBytes) {
  JsonLimits limits;
  limits.bytes = 4;
  EXPECT_EQ(refusal("[12]", limits), "success");
  EXPECT_EQ(refusal("[123]", limits),
            "f.json: expects at most 4 bytes of JSON, but got 5");
}

// Lists and objects count as what they hold does; keys do not.
TEST(Json, LimitsValues) {
  JsonLimits limits;
  limits.values = 6;
  EXPECT_EQ(refusal("{\"a\": [1, 2], \"b\": {\"c\": 3}}", limits), "success");
  EXPECT_EQ(refusal("{\"a\": [1, 2], \"b\": {\"c\": []}, \"d\": 4}", limits),
            "f.json: expects at most 6 values of JSON, but got more");
  // What a text of few bytes would take gigabytes for.
  std::string list = "[0";
  for (int i = 1; i < 4'194'303; ++i)
    list += ",0";
  EXPECT_EQ(refusal(list + "]"), "success");
  EXPECT_EQ(refusal(list + ",0]"),
            "f.json: expects at most 4194304 values of JSON, but got more");
}

TEST(Quote, EscapesAndShortens) {
  EXPECT_EQ(quote("a\xc3\xa9\n\xff"), "'a\xc3\xa9\\x0a\\xff'");
  EXPECT_EQ(quote("x", '"'), "\"x\"");
  std::string text = quote(std::string(1'000'000, 'a'));
  EXPECT_LT(text.size(), 130u);
  EXPECT_EQ(text.substr(text.size() - 4), "...'");
}
