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
