#include "tools/terminal/Nearest.h"

#include <gtest/gtest.h>

using namespace effc::cli;

TEST(Nearest, FindsWhatAFewKeysMake) {
  std::vector<std::string> commands = {"compile", "verify", "run", "bench"};
  EXPECT_EQ(nearest("comple", commands), "compile");   // one is missing
  EXPECT_EQ(nearest("compiile", commands), "compile"); // one too many
  EXPECT_EQ(nearest("vreify", commands), "verify");    // two changed places
  EXPECT_EQ(nearest("rum", commands), "run");
  EXPECT_EQ(nearest("serve", commands), std::nullopt);
  EXPECT_EQ(nearest("", commands), std::nullopt);
}

TEST(Nearest, TakesLettersInEitherCase) {
  std::vector<std::string> names = {"compile", "run", "--List", "-n"};
  EXPECT_EQ(nearest("RUN", names), "run");
  EXPECT_EQ(nearest("Comple", names), "compile");
  EXPECT_EQ(nearest("--lsit", names), "--List");
  EXPECT_EQ(nearest("-N", names), "-n");
  EXPECT_EQ(nearest("COM", names), "compile");
}

TEST(Nearest, TakesABeginningForTheWhole) {
  std::vector<std::string> options = {"--temperature", "--top-k", "--threads"};
  EXPECT_EQ(nearest("--temp", options), "--temperature");
  EXPECT_EQ(nearest("--t", options), std::nullopt);
  EXPECT_EQ(nearest("--top-q", options), "--top-k");
}

// A third of what was typed may be wrong: of five characters one.
TEST(Nearest, StopsWhereItWouldBeAGuess) {
  EXPECT_EQ(nearest("abcde", {"abcdx"}), "abcdx");
  EXPECT_EQ(nearest("abcde", {"abcxx"}), std::nullopt);
  EXPECT_EQ(nearest(std::string(1000, 'a'), {std::string(1000, 'a')}),
            std::nullopt);
}
