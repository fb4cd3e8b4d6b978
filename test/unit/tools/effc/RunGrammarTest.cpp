// `effc run` under a grammar and a schema, on the toy model, which says nothing of
// itself.

#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <gtest/gtest.h>
#include <sstream>

using namespace effc::test;

static TemporaryFile fileOf(const std::string &text) {
  return TemporaryFile({text.begin(), text.end()});
}

TEST(RunGrammar, WritesWhatAGrammarSays) {
  TemporaryFile grammar = fileOf("root ::= [0-9]{2} (\"+\" [0-9]{2}){3}\n");
  for (const char *seed : {"1", "2"}) {
    nlohmann::json json =
        runJson(toyPath(), {"--tokens", "1,2,3", "--temp", "1", "--seed", seed,
                            "--samples", "3", "--grammar", grammar.path()});
    for (const auto &sample : json["samples"]) {
      std::string text = sample["text"];
      ASSERT_EQ(text.size(), 11u) << text;
      for (size_t i = 0; i < text.size(); ++i)
        EXPECT_EQ(text[i] == '+', i % 3 == 2) << text;
      EXPECT_EQ(sample["stop_reason"], "grammar");
    }
  }
  // As it streams, and by standard input.
  Finished shown = run(toyPath(), {"--tokens", "1,2,3", "--grammar", "-"},
                       "root ::= \"yes\" \"!\"");
  EXPECT_EQ(shown.out, "yes!\n") << shown.err;
  EXPECT_NE(shown.err.find("the grammar's end"), std::string::npos);
}

TEST(RunGrammar, WritesWhatASchemaSays) {
  std::string schema = R"({"type": "object", "required": ["a"], "properties":
      {"a": {"type": "integer", "minimum": 0, "maximum": 99},
       "b": {"type": "boolean"}}})";
  TemporaryFile file = fileOf(schema);
  for (const std::string &given : {schema, file.path()}) {
    nlohmann::json json =
        runJson(toyPath(), {"--tokens", "5", "-n", "200", "--temp", "2",
                            "--json-schema", given});
    nlohmann::json made =
        nlohmann::json::parse(std::string(json["samples"][0]["text"]));
    EXPECT_LE(made["a"], 99);
  }
}

TEST(RunGrammar, SaysWhatIsWrong) {
  TemporaryFile grammar = fileOf("root ::= root \"a\"\n");
  Finished wrong =
      run(toyPath(), {"--tokens", "1", "--grammar", grammar.path()});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.err.find("--grammar: the grammar is refused: line 1, column "
                           "1: rule 'root'"),
            std::string::npos)
      << wrong.err;
  wrong = run(toyPath(), {"--tokens", "1", "--json-schema", "{\"not\": {}}"});
  EXPECT_NE(wrong.err.find("the keyword 'not' is not understood"),
            std::string::npos)
      << wrong.err;
  wrong = run(toyPath(), {"--tokens", "1", "--json-schema", "{}", "--grammar",
                          grammar.path()});
  EXPECT_EQ(wrong.status, 2);
}

TEST(RunGrammar, IsThereForSamplesAndConversations) {
  TemporaryFile grammar = fileOf("root ::= [0-9]{2} \"!\"\n");
  TemporaryFile prompts = fileOf("{\"prompt\": \"a\"}\n{\"tokens\": [5]}\n");
  Finished done = runProgram({EFFC_PROGRAM, "sample", toyPath(), "--prompts",
                              prompts.path(), "--samples", "3", "--temp", "1",
                              "--grammar", grammar.path()});
  ASSERT_EQ(done.status, 0) << done.err;
  std::istringstream lines(done.out);
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json parsed = nlohmann::json::parse(line);
    for (const auto &sample : parsed["samples"]) {
      std::string text = sample["text"];
      EXPECT_EQ(text.size(), 3u) << text;
      EXPECT_EQ(text.back(), '!');
      EXPECT_EQ(sample["stop_reason"], "end");
      ++count;
    }
  }
  EXPECT_EQ(count, 6u);
  done = runProgram(
      {EFFC_PROGRAM, "sample", toyPath(), "--prompts", "-", "--grammar", "-"});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("cannot both read standard input"), std::string::npos)
      << done.err;

  ToyOptions options;
  options.changeTokenizer = [](effc::artifact::TokenizerT &table) {
    addChatTemplate(table, "default", "{{ messages[-1].content }}");
  };
  TemporaryFile chat(makeToyArtifact(options));
  done = runProgram({EFFC_PROGRAM, "chat", chat.path(), "--temp", "1",
                     "--json-schema", "{\"enum\": [\"red\", 17]}"},
                    "hello\nagain\n");
  ASSERT_EQ(done.status, 0) << done.err;
  lines = std::istringstream(done.out);
  count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(line == "\"red\"" || line == "17") << line;
  EXPECT_EQ(count, 2u);
  done = runProgram({EFFC_PROGRAM, "chat", chat.path(), "--grammar", "-"});
  EXPECT_EQ(done.status, 2);
}
