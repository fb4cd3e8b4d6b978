// Matrix states kept as bf16 between calls (--state-dtype bf16), from a golden
// checkpoint to logits. A state is rounded where a call ends: not at all within
// one call, once per token when tokens come one by one.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {
class StateType : public testing::Test {
protected:
  static std::string golden(const std::string &name) {
    return EFFC_GOLDENS "/mamba2/f32_groups2/" + name;
  }

  void SetUp() override {
    Finished done =
        runProgram({EFFC_PROGRAM, "compile", golden(""), "-o",
                    folder.at("model.effc"), "--state-dtype", "bf16"});
    ASSERT_EQ(done.status, 0) << done.err;
  }

  Finished compare(const Arguments &split, const Arguments &how) {
    Arguments eval = {
        EFFC_PROGRAM,          "eval",     folder.at("model.effc"), "--tokens",
        golden("tokens.json"), "--logits", folder.at("logits")};
    eval.insert(eval.end(), split.begin(), split.end());
    Finished done = runProgram(eval);
    if (done.status != 0)
      return done;
    Arguments judge = {EFFC_COMPARE};
    judge.insert(judge.end(), how.begin(), how.end());
    judge.insert(judge.end(),
                 {folder.at("logits"), golden("golden.safetensors")});
    return runProgram(judge);
  }

  TemporaryFolder folder;
};
} // namespace

TEST_F(StateType, IsWhatTheFileSays) {
  Finished done =
      runProgram({EFFC_PROGRAM, "inspect", folder.at("model.effc"), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json document = nlohmann::json::parse(done.out);
  for (const nlohmann::json &state : document["states"])
    EXPECT_EQ(state["type"], state["kind"] == "matrix" ? "bf16" : "f32")
        << state;
}

TEST_F(StateType, DoesNotShowWithinACall) {
  Finished done = compare({"--split", "all"}, {});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

// Each token's rounding is at most 2^-9 of an element and decays with it, so a
// relative error of 2e-2 is generous; that the f32 bound is passed shows that
// rounding took place.
TEST_F(StateType, RoundsAtTheEndOfEachCall) {
  Finished done = compare({"--split", "1"}, {"--within", "2e-2"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  done = compare({"--split", "1"}, {});
  EXPECT_EQ(done.status, 1) << done.out;
  EXPECT_NE(done.out.find("too far"), std::string::npos) << done.out;
}
