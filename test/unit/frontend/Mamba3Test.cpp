// Mamba-3's keys, in either layout: what is refused, and by which words.
#include "frontend/Import.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "mlir/IR/MLIRContext.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

/// The recorded checkpoint `name` with another configuration.
class Mamba3Test : public testing::Test {
protected:
  json read(const std::string &name) {
    golden = EFFC_GOLDENS "/families/mamba3/" + name;
    std::filesystem::copy_file(
        golden + "/model.safetensors", directory.path + "/model.safetensors",
        std::filesystem::copy_options::overwrite_existing);
    return json::parse(std::ifstream(golden + "/config.json"));
  }
  std::string importing(const json &config) {
    directory.write("config.json", config.dump());
    return outcome(importModel(context, directory.path));
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
  std::string golden;
};

TEST_F(Mamba3Test, TakesWhatIsRecorded) {
  EXPECT_EQ(importing(read("plain")), "success");
  EXPECT_EQ(importing(read("ssm_softplus")), "success");
}

TEST_F(Mamba3Test, RefusesStatesOfSeveralKeys) {
  json config = read("plain");
  config["is_mimo"] = true;
  EXPECT_EQ(importing(config),
            "config.json: expects 'is_mimo' to be false, but got true: states "
            "that take several keys and values per token are not supported");
}

TEST_F(Mamba3Test, RefusesOtherSharesOfTurnedChannels) {
  json config = read("plain");
  config["rope_fraction"] = 0.25;
  EXPECT_EQ(
      importing(config),
      "config.json: expects 'rope_fraction' to be 0.5 or 1, but got 0.25");
  config["rope_fraction"] = 0.5;
  config["state_size"] = 3;
  EXPECT_EQ(importing(config),
            "config.json: expects 'state_size' of at least 4 with "
            "'rope_fraction' 0.5, but got 3");
}

TEST_F(Mamba3Test, RefusesHeadsThatDoNotFit) {
  json config = read("plain"); // 48 inner channels of 6 heads
  config["head_dim"] = 7;
  EXPECT_EQ(importing(config),
            "config.json: expects 'head_dim' to divide 'expand' * "
            "'hidden_size' = 48 into at most 65536 heads, but got 7");
  config["head_dim"] = 8;
  config["n_groups"] = 4;
  EXPECT_EQ(importing(config),
            "config.json: expects the 6 heads to be a multiple of 'n_groups', "
            "but got 4");
}

TEST_F(Mamba3Test, AsksForTheActivationOfThePackage) {
  json config = read("ssm_softplus");
  const std::string why =
      ": mamba_ssm's Mamba3 made rates by softplus until 2026-06-02 and since "
      "then by 1 + x and 1 / (1 - x); add the key for the code that trained "
      "this checkpoint";
  const std::string expects =
      "config.json: ssm_cfg: expects 'A_activation' to be \"softplus\" or "
      "\"heavy_tail\", but ";
  config["ssm_cfg"]["A_activation"] = "relu";
  EXPECT_EQ(importing(config), expects + "got \"relu\"" + why);
  config["ssm_cfg"].erase("A_activation");
  EXPECT_EQ(importing(config), expects + "it is absent" + why);
}

} // namespace
