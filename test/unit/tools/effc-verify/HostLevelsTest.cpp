// A file with code for several levels of the host: verify runs the best, tries
// each other one that the machine has, and says which is which.
#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace effc::test;
using Json = nlohmann::json;

namespace {
class VerifyLevels : public testing::Test {
protected:
  void SetUp() override {
    file = folder.at("model.effc");
    Finished done =
        runProgram({EFFC_PROGRAM, "compile", EFFC_GOLDENS "/mamba2/f32_groups2",
                    "-o", file, "--prefill-rows", "8,64", "--max-batch", "4",
                    "--target", "host,x86-64-v4"});
    ASSERT_EQ(done.status, 0) << done.err;
  }
  Json verify(const std::string &device) {
    Finished done =
        runProgram({EFFC_PROGRAM, "verify", file, "--device", device,
                    "--tokens", "12", "--seconds", "0", "--json"});
    EXPECT_EQ(done.status, 0) << done.err << done.out;
    return Json::parse(done.out);
  }
  static bool hasCheck(const Json &found, const std::string &name) {
    return std::any_of(
        found.at("checks").begin(), found.at("checks").end(),
        [&](const Json &check) { return check.at("name") == name; });
  }
  static std::string skipped(const Json &found) {
    return found.at("skipped").dump();
  }

  TemporaryFolder folder;
  std::string file;
};
} // namespace

TEST_F(VerifyLevels, TriesEachLevelThatTheMachineHas) {
  Json found = verify("host");
  bool hasHigher = found.at("isa") == "x86-64-v4";
  std::string other = hasHigher ? "x86-64-v3" : "x86-64-v4";
  bool tried = hasCheck(found, "this file's code of " + other) &&
               hasCheck(found, "decode steps by code of " + other);
  EXPECT_EQ(tried, hasHigher) << found;
  // What a machine lacks is said.
  EXPECT_EQ(skipped(found).find("code of x86-64-v4: 'isa' is x86-64-v4, but "
                                "this machine lacks ") == std::string::npos,
            hasHigher)
      << found;
  // Forms, feeding, the file, kernels, code and plan; and two of the level.
  EXPECT_EQ(found.at("checks").size(), 24u + (hasHigher ? 2 : 0));
}

TEST_F(VerifyLevels, ALevelThatIsAskedForIsTriedAlone) {
  Json found = verify("host:x86-64-v3");
  EXPECT_EQ(found.at("isa"), "x86-64-v3");
  EXPECT_EQ(found.at("checks").size(), 24u);
  EXPECT_NE(skipped(found).find("code of x86-64-v4: --device host:x86-64-v3 "
                                "leaves it out"),
            std::string::npos)
      << found;
}
