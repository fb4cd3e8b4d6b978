// The ways in which `effc run` is given a prompt.

#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc/RunToy.h"

#include <gtest/gtest.h>

using namespace effc::test;
using Tokens = std::vector<int32_t>;

// All the ways to give one prompt.
TEST(RunPrompt, TakesAPromptHoweverItIsGiven) {
  std::string expected =
      run(toyPath(), {"--prompt", "hello\nword", "-n", "4"}).out;
  std::string path = toyPath();
  for (const std::vector<std::string> &arguments :
       std::vector<std::vector<std::string>>{
           {"run", path, "hello\nword", "-n", "4"},
           {"run", path, "-e", "hello\\nword", "-n", "4"},
           {"run", "-m", path, "-e", "-p", "hello\\nword", "-n", "4"},
           {"run", path, "-f", "-", "-n", "4", "-t", "1", "-s", "7"}}) {
    std::vector<std::string> all = {EFFC_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    Finished done = runProgram(all, "hello\nword");
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.out, expected);
  }
  EXPECT_EQ(run(path, {"text", "-p", "another"}).status, 2);
}

// "<|end|>" in a text is the token unless the text is plain.
TEST(RunPrompt, TakesSpecialTokensForTextWhereAsked) {
  auto prompt = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-n", "0"});
    return runJson(toyPath(), arguments)["prompt_tokens"].get<Tokens>();
  };
  EXPECT_EQ(prompt({"a<|end|>"}), Tokens({'a', kToyEnd}));
  EXPECT_EQ(prompt({"a<|end|>", "--plain"}),
            Tokens({'a', '<', '|', 'e', 'n', 'd', '|', '>'}));
}
