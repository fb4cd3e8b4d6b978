// Levels of the host's instruction set in one file: one plan, and the code that
// each level has in a file of its own.
#include "compiler/Compiler.h"
#include "runtime/include/effc/effc.hpp"
#include "test/e2e/TemporaryFolder.h"

#include "gtest/gtest.h"

#include <cstring>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::test;

static constexpr const char *kLow = "x86-64-v3", *kHigh = "x86-64-v4";

namespace {
class HostLevels : public testing::Test {
protected:
  /// A small checkpoint, compiled for targets by their names.
  Model compileFor(const std::vector<std::string> &names) {
    CompileOptions options;
    options.model = EFFC_GOLDENS "/mamba2/f32_plain";
    options.output = folder.at(std::to_string(count++) + ".effc");
    options.pipeline.prefillRows = {8};
    options.pipeline.decodeRows = {1};
    options.targets.clear();
    for (const std::string &name : names)
      options.targets.push_back(findTarget(name));
    llvm::cantFail(compile(options, {}));
    return Model(options.output);
  }
  /// The code of a level; empty where the file has none.
  static std::vector<uint8_t> codeOf(const Model &model, const char *isa) {
    for (const effc_segment_info_t &segment : model.segments())
      if (std::strcmp(segment.kind, "host_code") == 0 &&
          std::strcmp(segment.isa, isa) == 0)
        return {segment.data, segment.data + segment.bytes};
    return {};
  }
  static nlohmann::json describe(const Model &model) {
    return nlohmann::json::parse(model.describe());
  }

  TemporaryFolder folder;
  int count = 0;
};
} // namespace

TEST(Targets, TheLowestLevelHasTwoNames) {
  EXPECT_EQ(findTarget("host"), &hostTarget());
  EXPECT_EQ(findTarget(kLow), &hostTarget());
  EXPECT_EQ(hostTarget().code, kLow);
  ASSERT_TRUE(findTarget(kHigh));
  EXPECT_EQ(findTarget(kHigh)->name, kHigh);
  EXPECT_FALSE(findTarget("x86-64-v9"));
  // A plan must not depend on the level.
  EXPECT_EQ(findTarget(kHigh)->stepRate, hostTarget().stepRate);
  EXPECT_EQ(findTarget(kHigh)->dotRate, hostTarget().dotRate);
  EXPECT_EQ(findTarget(kHigh)->stateBytes, hostTarget().stateBytes);
}

TEST_F(HostLevels, HaveTheCodeOfFilesOfTheirOwn) {
  Model low = compileFor({"host"}), high = compileFor({kHigh}),
        both = compileFor({"host", kHigh});
  EXPECT_TRUE(codeOf(low, kHigh).empty());
  EXPECT_TRUE(codeOf(high, kLow).empty());
  ASSERT_FALSE(codeOf(low, kLow).empty());
  EXPECT_EQ(codeOf(both, kLow), codeOf(low, kLow));
  EXPECT_EQ(codeOf(both, kHigh), codeOf(high, kHigh));
  EXPECT_NE(codeOf(both, kLow), codeOf(both, kHigh));
}

TEST_F(HostLevels, HaveOnePlan) {
  nlohmann::json low = describe(compileFor({"host"})),
                 high = describe(compileFor({kHigh})),
                 both = describe(compileFor({kHigh, "host"}));
  EXPECT_EQ(both["entries"], low["entries"]);
  EXPECT_EQ(both["entries"], high["entries"]);
  EXPECT_EQ(both["states"], low["states"]);
  EXPECT_EQ(both["layout_id"], low["layout_id"]);
  ASSERT_EQ(both["kernels"].size(), low["kernels"].size());
  bool differ = false;
  for (size_t i = 0; i < low["kernels"].size(); ++i) {
    // A call has room for either.
    uint64_t stacks[] = {low["kernels"][i]["stack_bytes"],
                         high["kernels"][i]["stack_bytes"]};
    EXPECT_EQ(both["kernels"][i]["stack_bytes"],
              std::max(stacks[0], stacks[1]));
    differ |= stacks[0] != stacks[1];
    EXPECT_EQ(both["kernels"][i]["name"], low["kernels"][i]["name"]);
    EXPECT_EQ(both["kernels"][i]["code"].size(), 2u);
  }
  EXPECT_TRUE(differ) << "no kernel shows which stack is taken";
}
