// Files whose products round what they multiply on a GPU.
#include "test/unit/tools/effc-verify/VerifyFixture.h"

using namespace effc;
using namespace effc::test;

namespace {
class RoundedOperands : public Verify {};
} // namespace

// A GPU rounds to bf16 unasked, and is held to what that loses.
TEST_F(RoundedOperands, AreHeldToWhatRoundingLoses) {
  double tolerance = 0;
  for (const char *products : {"usual", "f16", "f32"}) {
    std::string path = compile("mamba2/f32_groups2",
                               {"--target", "sim_90a", "--products", products});
    nlohmann::json file = fileOnSimulatedGpu(path, 0);
    double now = file["tolerance"].get<double>();
    if (std::string(products) == "usual") {
      EXPECT_GT(file["error"].get<double>(), 1e-4);
      EXPECT_GT(now, 1e-3);
      EXPECT_LT(now, 0.25);
    } else {
      EXPECT_LT(now, tolerance / 4) << products;
    }
    tolerance = now;
  }
}

// Experts of a router, keys of a window of which some are kept, and what a file
// without its module does not tell.
TEST_F(RoundedOperands, AreNotJudgedWhereTheyChoose) {
  const char *chooses = "the model may choose other experts, rows or keys";
  for (auto [model, strips, why] :
       {std::tuple("families/mixtral/plain", false, chooses),
        {"families/doge/dense", false, chooses},
        {"mamba2/f32_groups2", true,
         "whether the model chooses rows by their scores cannot be told"}}) {
    Arguments more = {"--target", "sim_90a"};
    if (strips)
      more.emplace_back("--strip-ir");
    Finished done = command({compile(model, more), "--device", "sim",
                             "--tokens", "9", "--no-compile", "--json"});
    EXPECT_EQ(done.status, 0) << done.err;
    nlohmann::json found = nlohmann::json::parse(done.out);
    for (const nlohmann::json &check : found["checks"]) {
      EXPECT_NE(check["name"], "this file") << model;
      EXPECT_NE(check["name"], "decode steps") << model;
    }
    EXPECT_NE(found["skipped"].dump().find(
                  why + std::string(": compiled with --products f32 it can be "
                                    "checked")),
              std::string::npos)
        << found["skipped"];
  }
}
