// What absent keys of DeepSeek's configurations stand for: the library's defaults,
// which differ between its model types.
#include "frontend/Import.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

class DeepSeekTest : public testing::Test {
protected:
  json read(const std::string &name) {
    std::string golden = EFFC_GOLDENS "/families/" + name;
    std::filesystem::copy_file(
        golden + "/model.safetensors", directory.path + "/model.safetensors",
        std::filesystem::copy_options::overwrite_existing);
    return json::parse(std::ifstream(golden + "/config.json"));
  }
  /// The module's text, or why there is none.
  std::string importing(const json &config) {
    directory.write("config.json", config.dump());
    auto model = importModel(context, directory.path);
    if (!model)
      return outcome(model.takeError());
    std::string text;
    llvm::raw_string_ostream(text) << *model->module;
    return text;
  }
  void expectDefault(const std::string &name, const std::string &key,
                     const json &value) {
    json config = read(name);
    config[key] = value;
    std::string said = importing(config);
    EXPECT_NE(said.find("func.func"), std::string::npos) << said;
    config.erase(key);
    EXPECT_EQ(importing(config), said) << name << " " << key;
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
};

TEST_F(DeepSeekTest, AbsentKeysAreTheLibrarysDefaults) {
  expectDefault("deepseek_v2/plain", "routed_scaling_factor", 1.0);
  expectDefault("deepseek_v3/plain", "routed_scaling_factor", 2.5);
  expectDefault("glm4_moe_lite/listed", "routed_scaling_factor", 1.8);
  expectDefault("deepseek_v2/plain", "n_shared_experts", 2);
  expectDefault("deepseek_v3/plain", "n_shared_experts", 1);
  expectDefault("glm4_moe_lite/listed", "n_shared_experts", 1);
  expectDefault("deepseek_v3/plain", "rms_norm_eps", 1e-6);
  expectDefault("glm4_moe_lite/listed", "rms_norm_eps", 1e-5);
}

TEST_F(DeepSeekTest, AbsentGroupsAreEight) {
  json config = read("deepseek_v3/plain");
  config.erase("n_group");
  config.erase("topk_group");
  std::string experts = std::to_string(config["n_routed_experts"].get<int>());
  EXPECT_EQ(
      importing(config),
      "config.json: expects 'n_group' to share the experts evenly, two or "
      "more in each, but got 8 for " +
          experts);
}

// Without groups nothing is asked of how they would share.
TEST_F(DeepSeekTest, GreedyRoutersReadNoGroups) {
  json config = read("deepseek_v2/plain");
  config["topk_method"] = "greedy";
  config.erase("n_group");
  config.erase("topk_group");
  std::string said = importing(config);
  EXPECT_NE(said.find("func.func"), std::string::npos) << said;
  config["n_group"] = 5;
  config["topk_group"] = 9;
  EXPECT_EQ(importing(config), said);
}

} // namespace
