#include "frontend/checkpoint/ConfigReader.h"

#include "test/unit/frontend/Outcome.h"

#include <functional>

using namespace effc::frontend;
using effc::test::outcome;

static std::string reading(llvm::StringRef text,
                           std::function<void(ConfigReader &)> read) {
  JsonValue value = llvm::cantFail(parseJson(text, "c.json"));
  ConfigReader reader("c.json", *value.getObject());
  read(reader);
  return outcome(reader.finish());
}

TEST(ConfigReader, ReadsValues) {
  std::string found =
      reading(R"({"i": 8, "n": 2, "f": 0.5, "b": true, "s": "x", "u": null})",
              [](ConfigReader &reader) {
                EXPECT_EQ(reader.requireInteger("i", 1, 8), 8);
                EXPECT_EQ(reader.getInteger("missing", 1, 8, 5), 5);
                EXPECT_EQ(reader.getNumber("n", 0, 3, 1), 2.0);
                EXPECT_EQ(reader.getNumber("f", 0, 1, 1), 0.5);
                EXPECT_EQ(reader.getNumber("missing", 0, 1, 0.25), 0.25);
                EXPECT_TRUE(reader.getBoolean("b", false));
                EXPECT_TRUE(reader.getBoolean("missing", true));
                EXPECT_EQ(*reader.getString("s"), "x");
                EXPECT_EQ(reader.getString("missing"), nullptr);
                // Neither what is missing nor what has been asked for.
                EXPECT_EQ(reader.ignore({"u", "missing", "i"}),
                          std::vector<llvm::StringRef>{"u"});
                EXPECT_TRUE(reader.ignore({"u"}).empty());
                EXPECT_EQ(reader.getFile(), "c.json");
              });
  EXPECT_EQ(found, "success");
}

TEST(ConfigReader, NamesKeyExpectedAndFound) {
  auto integer = [](ConfigReader &reader) { reader.requireInteger("i", 1, 9); };
  auto refusal = [](llvm::StringRef found) {
    return "c.json: expects 'i' to be an integer in 1..9, but got " +
           found.str();
  };
  EXPECT_EQ(reading("{}", integer), "c.json: lacks 'i'");
  EXPECT_EQ(reading(R"({"i": 0})", integer), refusal("0"));
  EXPECT_EQ(reading(R"({"i": -1})", integer), refusal("-1"));
  EXPECT_EQ(reading(R"({"i": 10})", integer), refusal("10"));
  EXPECT_EQ(reading(R"({"i": 2147483648})", integer), refusal("2147483648"));
  EXPECT_EQ(reading(R"({"i": 18446744073709551615})", integer),
            refusal("18446744073709551615"));
  EXPECT_EQ(reading(R"({"i": 8.0})", integer), refusal("8.0"));
  EXPECT_EQ(reading(R"({"i": "8"})", integer), refusal("\"8\""));
  EXPECT_EQ(reading(R"({"i": null})", integer), refusal("null"));
  EXPECT_EQ(reading(R"({"i": true})", integer), refusal("true"));
  EXPECT_EQ(reading(R"({"i": [8]})", integer), refusal("an array of 1"));

  auto number = [](ConfigReader &reader) { reader.getNumber("f", 0, 1, 0); };
  EXPECT_EQ(reading(R"({"f": NaN})", number),
            "c.json: expects 'f' to be a number in 0..1, but got NaN");
  EXPECT_EQ(reading(R"({"f": {"__float__": "Infinity"}})", number),
            "c.json: expects 'f' to be a number in 0..1, but got Infinity");
  EXPECT_EQ(reading(R"({"f": "0.5"})", number),
            "c.json: expects 'f' to be a number in 0..1, but got \"0.5\"");

  EXPECT_EQ(
      reading(R"({"b": 1})",
              [](ConfigReader &reader) { reader.getBoolean("b", false); }),
      "c.json: expects 'b' to be true or false, but got 1");
  EXPECT_EQ(reading(R"({"s": 1})",
                    [](ConfigReader &reader) { reader.getString("s"); }),
            "c.json: expects 's' to be a string, but got 1");
}

// What has one right value is asked for by it.
TEST(ConfigReader, ExpectsOneValue) {
  auto seven = [](ConfigReader &reader) { reader.requireInteger("i", 7, 7); };
  EXPECT_EQ(reading(R"({"i": 7})", seven), "success");
  EXPECT_EQ(reading(R"({"i": 8})", seven),
            "c.json: expects 'i' to be 7, but got 8");

  auto flags = [](ConfigReader &reader) {
    reader.expectAlways({"a", "b"}, true);
    reader.expectAlways({"c"}, false);
  };
  EXPECT_EQ(reading(R"({"a": true, "c": false})", flags), "success");
  EXPECT_EQ(reading(R"({"b": false})", flags),
            "c.json: expects 'b' to be true, but got false");
  EXPECT_EQ(reading(R"({"c": true})", flags),
            "c.json: expects 'c' to be false, but got true");

  auto name = [](ConfigReader &reader) { reader.expectString("s", "sigmoid"); };
  EXPECT_EQ(reading("{}", name), "success");
  EXPECT_EQ(reading(R"({"s": "sigmoid"})", name), "success");
  EXPECT_EQ(reading(R"({"s": "softmax"})", name),
            "c.json: expects 's' to be sigmoid, but got \"softmax\"");
}

TEST(ConfigReader, ReadsAKeyByEitherName) {
  auto either = [](ConfigReader &reader) {
    EXPECT_EQ(reader.getInteger(reader.spelled("new", "old"), 1, 9, 5), 3);
  };
  EXPECT_EQ(reading(R"({"new": 3})", either), "success");
  EXPECT_EQ(reading(R"({"old": 3})", either), "success");
  EXPECT_EQ(reading(R"({"new": null, "old": 3})", either), "success");
}

TEST(ConfigReader, RefusesUnknownKeys) {
  EXPECT_EQ(
      reading(R"({"i": 1, "rope_theta": 1e4})",
              [](ConfigReader &reader) { reader.requireInteger("i", 1, 9); }),
      "c.json: unknown key 'rope_theta' is refused: it may change the model");
}

// Of numbers the first, since bounds may follow from what was guessed.
TEST(ConfigReader, DropsWhatMayFollowFromAGuess) {
  EXPECT_EQ(
      reading(R"({"a": 0, "b": 0, "c": 0})",
              [](ConfigReader &reader) {
                reader.requireInteger("b", 1, 9);
                reader.requireInteger("a", 1, 9);
                reader.report("something else");
                EXPECT_TRUE(reader.hasProblem());
              }),
      "c.json: expects 'b' to be an integer in 1..9, but got 0; keys that "
      "were not asked for so far: 'c'");
}

TEST(ConfigReader, GivesAllProblemsByOneMessage) {
  EXPECT_EQ(
      reading(R"({"a": "x", "b": null, "c": true, "d": 1})",
              [](ConfigReader &reader) {
                reader.reportBeside("is of the checkpoint's own");
                EXPECT_FALSE(reader.hasProblem());
                reader.requireInteger("a", 1, 9);
                reader.getNumber("b", 0, 1, 1);
                reader.getString("c");
                reader.getString("c");
              }),
      "c.json: is of the checkpoint's own; expects 'a' to be an integer in "
      "1..9, but got \"x\"; expects 'b' to be a number in 0..1, but got "
      "null; expects 'c' to be a string, but got true; keys that were not "
      "asked for so far: 'd'");
  EXPECT_EQ(
      reading(R"({"a": 1, "d": 1})",
              [](ConfigReader &reader) {
                reader.reportBeside("is of the checkpoint's own");
                reader.requireInteger("a", 1, 9);
              }),
      "c.json: is of the checkpoint's own; unknown key 'd' is refused: it "
      "may change the model");
}
