// What ends a text that `effc run` generates, and what is said of it.

#include "runtime/include/effc/effc.hpp"
#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

// The tokens that greedy generation gives, cut where each stop says.
TEST(RunEnd, SaysWhyATextEnded) {
  Tokens all = greedy({1, 2, 3}, 12);
  ASSERT_GE(all.size(), 6u);
  auto json = runJson(toyPath(), {"--tokens", "1,2,3", "-n", "5"});
  EXPECT_EQ(json["prompt_tokens"], Tokens({1, 2, 3}));
  ASSERT_EQ(json["samples"].size(), 1u);
  EXPECT_EQ(json["samples"][0]["tokens"], Tokens(all.begin(), all.begin() + 5));
  EXPECT_EQ(json["samples"][0]["stop_reason"], "length");
  EXPECT_TRUE(json["samples"][0]["stop"].is_null());
  EXPECT_EQ(json["prefill"]["tokens"], 3);

  // The fourth token where it first comes.
  auto first = std::find(all.begin(), all.end(), all[3]);
  json = runJson(toyPath(), {"--tokens", "1,2,3", "-n", "12", "--stop-token",
                             std::to_string(all[3])});
  EXPECT_EQ(json["samples"][0]["tokens"], Tokens(all.begin(), first));
  EXPECT_EQ(json["samples"][0]["stop_reason"], "stop");
}

/// A toy whose next token is always the end.
static std::vector<uint8_t> makeEndingToy(bool ends) {
  ToyOptions options;
  options.changeProgram = [=](artifact::ProgramT &program) {
    Tokens all = greedy({1, 2, 3}, 1);
    program.generation->eos = {};
    if (ends)
      program.generation->eos = {all.at(0)};
  };
  return makeToyArtifact(options);
}

TEST(RunEnd, GoesOnBehindTheEndWhereAsked) {
  TemporaryFile ending(makeEndingToy(true));
  Tokens all = greedy({1, 2, 3}, 4);
  ASSERT_EQ(all.size(), 4u);
  auto json = runJson(ending.path(), {"--tokens", "1,2,3", "-n", "4"});
  EXPECT_EQ(json["samples"][0]["tokens"], Tokens());
  EXPECT_EQ(json["samples"][0]["stop_reason"], "end");
  json =
      runJson(ending.path(), {"--tokens", "1,2,3", "-n", "4", "--ignore-eos"});
  EXPECT_EQ(json["samples"][0]["tokens"], all);
}

// A special token gives no text, so its text as a stop is the token.
TEST(RunEnd, StopsAtASpecialToken) {
  ToyOptions options;
  int32_t special = greedy({1, 2, 3}, 3).at(2);
  options.changeTokenizer = [=](artifact::TokenizerT &tokenizer) {
    auto added = std::make_unique<artifact::AddedTokenT>();
    added->id = special;
    added->content = "<|turn|>";
    added->special = true;
    tokenizer.added_tokens.push_back(std::move(added));
    constexpr std::string_view kText = "<|turn|>";
    tokenizer.tokens[static_cast<size_t>(special)]->data.assign(kText.begin(),
                                                                kText.end());
  };
  TemporaryFile file(makeToyArtifact(options));
  std::vector<std::string> arguments = {"--tokens", "1,2,3", "-n", "9"};
  Tokens all = greedy({1, 2, 3}, 9);
  Tokens before(all.begin(), std::find(all.begin(), all.end(), special));
  for (const char *option : {"--stop", "--stop-token"}) {
    std::vector<std::string> with = arguments;
    with.insert(with.end(), {option, "<|turn|>"});
    auto json = runJson(file.path(), with);
    EXPECT_EQ(json["samples"][0]["tokens"], before) << option;
    EXPECT_EQ(json["samples"][0]["stop"], "<|turn|>") << option;
  }
  arguments.insert(arguments.end(), {"--stop", "<|turn|>\n"});
  Finished never = run(file.path(), arguments);
  EXPECT_EQ(never.status, 2);
  EXPECT_NE(never.err.find("would never come: '<|turn|>' is a special token"),
            std::string::npos)
      << never.err;
}

// The model's stop texts count where the user names none.
TEST(RunEnd, StopsWhereTheModelAsks) {
  Tokens all = greedy({1, 2, 3}, 9);
  Model plain(toyPath());
  std::string text = plain.detokenize(all);
  ASSERT_GE(text.size(), 4u);
  ToyOptions options;
  std::string stop = text.substr(2, 2);
  options.changeProgram = [&](artifact::ProgramT &program) {
    program.generation->stops = {"never comes", stop};
  };
  TemporaryFile file(makeToyArtifact(options));
  auto json = runJson(file.path(), {"--tokens", "1,2,3", "-n", "9"});
  EXPECT_EQ(json["samples"][0]["stop_reason"], "stop");
  EXPECT_EQ(json["samples"][0]["text"], text.substr(0, text.find(stop)));
  json = runJson(file.path(),
                 {"--tokens", "1,2,3", "-n", "9", "--stop", "never comes"});
  EXPECT_EQ(json["samples"][0]["stop_reason"], "length");
}

TEST(RunEnd, RefusesStopsThatCannotBe) {
  auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--tokens", "1", "-n", "1"});
    Finished done = run(toyPath(), arguments);
    EXPECT_EQ(done.status, 2);
    return done.err.substr(0, done.err.find('\n'));
  };
  EXPECT_NE(error({"--stop", ""}).find("expects a text, but got an empty one"),
            std::string::npos);
  EXPECT_NE(error({"--stop-token", "271"})
                .find("--stop-token 271 is outside the vocabulary of 271"),
            std::string::npos);
  EXPECT_NE(error({"--stop-token", "hello world"}).find("is several"),
            std::string::npos);
}

// An interrupt ends the text, not the work: what was made is shown and saved.
TEST(RunEnd, KeepsWhatItHasWhenItIsInterrupted) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.generation->eos.clear();
    program.max_context = 0;
  };
  TemporaryFile file(makeToyArtifact(options));
  std::string state = file.path() + ".state", out = file.path() + ".out";
  // The shell waits until text has come, then interrupts.
  std::string command = std::string(EFFC_PROGRAM) + " run " + file.path() +
                        " --tokens 1,2,3 -n -1 --print-tokens --save-state " +
                        state + " > " + out;
  // In groups of their own: without job control a shell has its children
  // ignore the signal. Nothing runs longer than a minute, whatever happens.
  Finished done = runProgram(
      {"/bin/bash", "-c",
       "set -m; " + command +
           " & p=$!; (sleep 60; kill -KILL $p) 2>/dev/null & watch=$!; "
           "until [ $(stat -c %s " +
           out +
           ") -gt 20 ]; do sleep 0.05; done; kill -INT $p; wait $p; status=$?; "
           "kill -- -$watch; exit $status"});
  EXPECT_EQ(done.status, 130) << done.err;
  EXPECT_NE(done.err.find("ended by: interrupted"), std::string::npos);
  std::ifstream text(out);
  std::string line;
  ASSERT_TRUE(std::getline(text, line));
  size_t made =
      1 + static_cast<size_t>(std::count(line.begin(), line.end(), ','));
  EXPECT_GT(made, 3u);
  // The state holds the prompt and all that was shown.
  Model model(file.path());
  Engine engine(model, Device::host(1));
  Session session(engine);
  session.load(state);
  EXPECT_EQ(session.position(), 3 + made);
  unlink(state.c_str());
  unlink(out.c_str());
}
