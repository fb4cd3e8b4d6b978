// Both C examples give what `effc run` gives. The same test on a compiled model
// is test/e2e's.

#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>

using namespace effc::test;

TEST(Examples, GenerateWhatTheCommandGenerates) {
  TemporaryFile file(makeToyArtifact());
  for (const char *example : {EFFC_EXAMPLE, EFFC_EXAMPLE_EXPLAINED}) {
    Finished ids = runProgram({EFFC_PROGRAM, "run", file.path(), "--prompt",
                               "hello world", "-n", "24", "--print-tokens"});
    Finished text = runProgram({EFFC_PROGRAM, "run", file.path(), "--prompt",
                                "hello world", "-n", "24"});
    EXPECT_EQ(
        runProgram({example, file.path(), "hello world", "24", "ids"}).out,
        ids.out);
    Finished shown = runProgram({example, file.path(), "hello world", "24"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    // The examples do not flush the last unfinished character.
    EXPECT_EQ(text.out.find(shown.out.substr(0, shown.out.size() - 1)), 0u);
    EXPECT_EQ(runProgram({example}).status, 2);
    for (const char *count : {"", "many", "3x", "-1", "99999999999999999999"}) {
      Finished wrong = runProgram({example, file.path(), "hello", count});
      EXPECT_EQ(wrong.status, 2);
      EXPECT_NE(wrong.err.find("expects a number for COUNT, but got '" +
                               std::string(count) + "'\n"),
                std::string::npos)
          << wrong.err;
    }
    EXPECT_EQ(runProgram({example, "/nonexistent", "x", "1"}).status, 1);
  }
}

// More prompts than run at once; each text is that of the command.
TEST(Examples, ServeWhatTheCommandGenerates) {
  TemporaryFile file(makeToyArtifact());
  std::vector<std::string> arguments = {EFFC_EXAMPLE_SERVE, file.path(), "6"},
                           prompts;
  for (int i = 0; i < 11; ++i)
    prompts.push_back("hello" + std::string(static_cast<size_t>(i), 'x'));
  arguments.insert(arguments.end(), prompts.begin(), prompts.end());
  Finished served = runProgram(arguments);
  EXPECT_EQ(served.status, 0) << served.err;
  for (size_t i = 0; i < prompts.size(); ++i) {
    Finished one = runProgram(
        {EFFC_PROGRAM, "run", file.path(), "--prompt", prompts[i], "-n", "6"});
    EXPECT_NE(served.out.find(std::to_string(i + 1) + "\t" + one.out),
              std::string::npos)
        << i << ": " << one.out << served.out;
  }
  EXPECT_EQ(runProgram({EFFC_EXAMPLE_SERVE, file.path(), "0", "x"}).status, 2);
  EXPECT_EQ(runProgram({EFFC_EXAMPLE_SERVE, file.path(), "5", ""}).err,
            "serve: error: the prompt has no tokens\n");
}
