// `effc sample` on the toy model: each sample is that of `effc run` with its seed,
// whatever runs beside it, and what was done is not done again.

#include "runtime/include/effc/effc.hpp"
#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace effc;
using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

namespace {
class SampleTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/effc-sample-XXXXXX";
    folder = mkdtemp(name);
    std::ofstream(at("prompts.jsonl"))
        << R"({"prompt": "hello", "id": 7})"
           "\n"
        << R"({"tokens": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]})"
        << "\n\n"
        << R"({"prompt": "word"})"
           "\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string at(const std::string &name) const { return folder + "/" + name; }
  Finished sample(std::vector<std::string> arguments,
                  const std::string &seed = "11") {
    std::vector<std::string> all = {
        EFFC_PROGRAM, "sample", toyPath(), "--prompts", at("prompts.jsonl"),
        "--samples",  "5",      "--seed",  seed,        "-n",
        "6",          "--temp", "0.9"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return runProgram(all);
  }
  static std::vector<Json> linesOf(const std::string &text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(Json::parse(line));
    return lines;
  }
  std::string contentOf(const std::string &name) {
    std::stringstream text;
    text << std::ifstream(at(name)).rdbuf();
    return text.str();
  }

  std::string folder;
};
} // namespace

TEST_F(SampleTest, DrawsAsRunDoes) {
  for (const char *batch : {"1", "3", "64"}) {
    Finished done = sample({"--batch", batch, "--logprobs"});
    ASSERT_EQ(done.status, 0) << done.err;
    std::vector<Json> lines = linesOf(done.out);
    ASSERT_EQ(lines.size(), 3u);
    const std::vector<std::vector<std::string>> prompts = {
        {"-p", "hello"},
        {"--tokens", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"},
        {"-p", "word"}};
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(lines[j]["index"], j);
      ASSERT_EQ(lines[j]["samples"].size(), 5u);
      for (size_t i = 0; i < 5; ++i) {
        size_t seed = 11 + 5 * j + i;
        std::vector<std::string> arguments = {
            "-n",         "6", "--temp", "0.9", "--seed", std::to_string(seed),
            "--logprobs", "0"};
        arguments.insert(arguments.end(), prompts[j].begin(), prompts[j].end());
        Json alone = runJson(toyPath(), arguments)["samples"][0];
        const Json &found = lines[j]["samples"][i];
        EXPECT_EQ(found["seed"], seed);
        EXPECT_EQ(found["tokens"], alone["tokens"]) << batch << " " << seed;
        EXPECT_EQ(found["text"], alone["text"]);
        EXPECT_EQ(found["stop_reason"], alone["stop_reason"]);
        for (size_t t = 0; t < found["tokens"].size(); ++t)
          EXPECT_EQ(found["logprobs"][t], alone["logprobs"][t]["logprob"]);
      }
    }
    EXPECT_EQ(lines[0]["id"], 7); // what a line has besides stays
    EXPECT_NE(done.err.find("15 samples of 3 prompts, "), std::string::npos);
  }
}

TEST_F(SampleTest, GoesOnWhereItWasEnded) {
  Finished whole = sample({"-o", at("whole.jsonl")});
  ASSERT_EQ(whole.status, 0) << whole.err;
  std::string all = contentOf("whole.jsonl");
  // Ended anywhere: behind nothing, in a line, behind a line, behind all.
  for (size_t size : {size_t(0), size_t(10), all.find('\n') + 1,
                      all.find('\n') + 20, all.size()}) {
    std::ofstream(at("part.jsonl")) << all.substr(0, size);
    Finished done = sample({"-o", at("part.jsonl"), "--resume"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(contentOf("part.jsonl"), all) << size;
  }
  Finished other = sample({"-o", at("whole.jsonl"), "--resume"}, "12");
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(
      other.err.find("line 1 is not of these samples: expects index 0 and "
                     "5 samples from seed 12 on"),
      std::string::npos)
      << other.err;
  EXPECT_EQ(contentOf("whole.jsonl"), all);
}

TEST_F(SampleTest, CountsWhatIsRight) {
  Finished plain = sample({"-o", at("plain.jsonl")});
  std::vector<Json> lines = linesOf(contentOf("plain.jsonl"));
  // The answer of the first prompt is the text of its second sample.
  std::string answer = lines[0]["samples"][1]["text"];
  uint64_t right = 0;
  for (const Json &one : lines[0]["samples"])
    right += one["text"] == answer;
  std::ofstream(at("prompts.jsonl"))
      << Json{{"prompt", "hello"}, {"answer", " " + answer + "\n"}} << "\n"
      << Json{{"prompt", "hello"}, {"answer", "nothing like it"}} << "\n";
  Finished done = sample({"-o", at("judged.jsonl"), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  Json summary = Json::parse(done.out);
  EXPECT_EQ(summary["judged"], 2);
  EXPECT_NEAR(summary["pass_at"]["1"], double(right) / 5 / 2, 1e-12);
  EXPECT_NEAR(summary["pass_at"]["5"], 0.5, 1e-12);

  // A command that wants an even number of tokens.
  done =
      sample({"-o", at("checked.jsonl"), "--check",
              "python3 -c 'import json,sys; "
              "sys.exit(len(json.loads(sys.stdin.read())[\"tokens\"]) % 2)'"});
  ASSERT_EQ(done.status, 0) << done.err;
  for (const Json &line : linesOf(contentOf("checked.jsonl")))
    for (const Json &one : line["samples"])
      EXPECT_EQ(one["right"], one["tokens"].size() % 2 == 0);
  EXPECT_NE(done.err.find("pass@1 "), std::string::npos) << done.err;
  done = sample({"-o", at("checked.jsonl"), "--check", "no-such-program"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("gave no judgement: exit status 127"),
            std::string::npos)
      << done.err;
}

TEST_F(SampleTest, RefusesWhatIsNoPrompt) {
  const std::pair<const char *, const char *> kCases[] = {
      {"[]", "line 1: expects {\"prompt\": TEXT}, {\"tokens\": [IDS]} or "
             "{\"messages\": [...]}"},
      {"{}",
       "expects one of \"prompt\", \"tokens\" and \"messages\", but got 0"},
      {R"({"prompt": "a", "tokens": [1]})", "but got 2"},
      {R"({"prompt": 3})", "\"prompt\" expects a text"},
      {R"({"tokens": [271]})",
       "\"tokens\" expects ids from 0 to 270, but got 271"},
      {R"({"tokens": []})", "the prompt is empty"},
      {R"({"prompt": "a", "answer": 4})", "\"answer\" expects a text"},
      {"", "has no prompt: expects a line of JSON for each"}};
  for (const auto &[lines, message] : kCases) {
    std::ofstream(at("prompts.jsonl")) << lines;
    Finished done = sample({});
    EXPECT_EQ(done.status, 1) << lines;
    EXPECT_NE(done.err.find(message), std::string::npos) << done.err;
  }
  EXPECT_EQ(sample({"--resume"}).status, 2);
  EXPECT_EQ(sample({"--json"}).status, 2);
}

// A toy whose bits are those of one token after another, wherever it is cut, and one
// whose are not.
TEST_F(SampleTest, DraftsChangeNothing) {
  ToyOptions options;
  options.chunk = 1;
  TemporaryFile exact(makeToyArtifact(options));
  auto drawn = [&](const std::string &file, const std::string &drafts) {
    return runProgram({EFFC_PROGRAM, "sample", file, "--prompts",
                       at("prompts.jsonl"), "--samples", "3", "-n", "40",
                       "--temp", "0", "--draft-tokens", drafts});
  };
  Finished plain = drawn(exact.path(), "0"), drafted = drawn(exact.path(), "8");
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(drafted.status, 0) << drafted.err;
  EXPECT_EQ(drafted.out, plain.out);
  Finished refused = drawn(toyPath(), "8");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("--draft-tokens is not possible: the file's code "
                             "for host may give other bits"),
            std::string::npos)
      << refused.err;
}

// A second model: the toy itself, which is right, and another one, which is not. Where it cannot guess, the option is named.
TEST_F(SampleTest, ASecondModelChangesNothing) {
  ToyOptions options;
  options.chunk = 1;
  TemporaryFile exact(makeToyArtifact(options));
  TemporaryFile other(makeOtherToy(options, 1));
  auto drawn = [&](const std::string &file, const std::string &drafter,
                   std::vector<std::string> more = {}) {
    std::vector<std::string> all = {
        EFFC_PROGRAM, "sample", file, "--prompts", at("prompts.jsonl"),
        "--samples",  "3",      "-n", "40",        "--temp",
        "0.8",        "--seed", "5"};
    if (!drafter.empty())
      all.insert(all.end(), {"--draft-model", drafter});
    all.insert(all.end(), more.begin(), more.end());
    return runProgram(all);
  };
  Finished plain = drawn(exact.path(), "");
  EXPECT_EQ(plain.status, 0) << plain.err;
  for (const std::string &drafter : {exact.path(), other.path()}) {
    Finished drafted = drawn(exact.path(), drafter);
    EXPECT_EQ(drafted.status, 0) << drafted.err;
    EXPECT_EQ(drafted.out, plain.out);
  }
  Finished refused = drawn(toyPath(), exact.path());
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("--draft-model '" + exact.path() +
                             "': 'draft_engine' is set, but the file's code "
                             "for host may give other bits"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(drawn(exact.path(), exact.path(), {"--draft-tokens", "0"}).status,
            2);
}
