// Trained models that recall, found by listing goldens/recall: compiled, they
// get as many tokens right as the forward they were trained with, however they
// are fed.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;

class RecallTest : public testing::TestWithParam<std::string> {};

TEST_P(RecallTest, GetsAsManyTargetsRight) {
  std::string golden = EFFC_GOLDENS "/recall/" + GetParam();
  TemporaryFolder folder;
  std::string model = folder.at("model.effc");
  Finished done =
      runProgram({EFFC_PROGRAM, "compile", golden, "-o", model,
                  "--prefill-rows", "8,64", "--werror", "fallback"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json expected =
      nlohmann::json::parse(std::ifstream(golden + "/expected.json"));
  // Of values alone one in 16 is right by chance.
  EXPECT_GT(expected.at("right").get<int>() * 4,
            expected.at("targets").get<int>());
  for (const char *split : {"all", "1", "5,1,3", "7,2,1,1,1"})
    for (const char *batch : {"1", "5"}) {
      done = runProgram({EFFC_PROGRAM, "eval", model, "--tokens",
                         golden + "/tokens.json", "--targets",
                         golden + "/targets.json", "--split", split, "--batch",
                         batch, "--json"});
      ASSERT_EQ(done.status, 0) << done.err;
      nlohmann::json told = nlohmann::json::parse(done.out);
      EXPECT_EQ(told.at("targets"), expected.at("targets"));
      EXPECT_EQ(told.at("right"), expected.at("right"))
          << "--split " << split << " --batch " << batch;
    }
}

static std::vector<std::string> mixers() {
  std::vector<std::string> names;
  for (const auto &folder :
       std::filesystem::directory_iterator(EFFC_GOLDENS "/recall"))
    names.push_back(folder.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Mixers, RecallTest, testing::ValuesIn(mixers()),
                         [](const auto &info) { return info.param; });

// An empty list would run no test and say nothing.
TEST(RecallModels, AreThere) { EXPECT_EQ(mixers().size(), 5u); }
