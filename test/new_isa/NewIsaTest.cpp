// Files with code for levels that rows alone have added (NewRows.txt): the
// compiler makes it by their names; the runtime takes the one that the machine
// runs by its rank or as it is told, and refuses the one that no machine runs.
#include "compiler/CanonicalOptions.h"
#include "compiler/Compiler.h"
#include "runtime/include/effc/effc.hpp"
#include "test/e2e/TemporaryFolder.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace effc;

static constexpr const char *kLow = "x86-64-v3", *kNew = "x86-64-v3-narrow",
                            *kAbsent = "x86-64-v3-absent";

namespace {
class NewIsa : public testing::Test {
protected:
  void compileFor(const std::vector<std::string> &names) {
    CompileOptions options;
    options.model = EFFC_GOLDENS "/mamba2/f32_plain";
    options.output = folder.at("model.effc");
    options.pipeline.prefillRows = {8};
    options.pipeline.decodeRows = {1};
    options.targets.clear();
    for (const std::string &name : names) {
      options.targets.push_back(findTarget(name));
      ASSERT_TRUE(options.targets.back()) << "no target " << name;
    }
    written = writeCanonicalOptions(options);
    llvm::cantFail(compile(options, {}));
    model.emplace(options.output);
  }

  /// The logits of eight tokens by the code of a level; empty: of the best.
  std::vector<float> logits(const std::string &isa) {
    Engine engine(*model, Device::host(1, isa));
    ran = engine.isa();
    Session session(engine);
    return engine.prefill(session, {3, 1, 4, 1, 5, 9, 2, 6}, EFFC_LOGITS_ALL);
  }
  /// Why there are none.
  std::string refusal(const std::string &isa) {
    try {
      logits(isa);
      return "";
    } catch (const Error &error) {
      return error.what();
    }
  }

  test::TemporaryFolder folder;
  std::vector<std::string> written;
  std::optional<Model> model;
  std::string ran;
};
} // namespace

TEST_F(NewIsa, IsInTheFileAndAmongItsOptions) {
  compileFor({"host", kNew});
  EXPECT_EQ(written.front(), "--target=host,x86-64-v3-narrow");
  std::vector<std::string> isas;
  for (const effc_segment_info_t &segment : model->segments())
    if (std::strcmp(segment.kind, "host_code") == 0)
      isas.push_back(segment.isa);
  EXPECT_EQ(isas, (std::vector<std::string>{kLow, kNew}));
}

TEST_F(NewIsa, RunsByItsRankAndByItsName) {
  compileFor({"host", kNew});
  std::vector<float> best = logits("");
  EXPECT_EQ(ran, kNew); // its rank is the highest of what runs
  EXPECT_EQ(logits(kNew), best);
  std::vector<float> low = logits(kLow);
  EXPECT_EQ(ran, kLow);
  // Sums are added up in another order, each of at most some hundred f32 terms.
  ASSERT_EQ(low.size(), best.size());
  double largest = 0, difference = 0;
  for (size_t i = 0; i < low.size(); ++i) {
    largest = std::max(largest, std::fabs(double(low[i])));
    difference =
        std::max(difference, std::fabs(double(low[i]) - double(best[i])));
  }
  EXPECT_GT(difference, 0) << "the levels have the same code";
  EXPECT_LT(difference, 1e-5 * largest);
}

TEST_F(NewIsa, IsPassedOverWhereTheMachineLacksIt) {
  compileFor({kAbsent, "host"});
  logits("");
  EXPECT_EQ(ran, kLow);
  EXPECT_EQ(refusal(kAbsent), "'isa' is x86-64-v3-absent, but this machine "
                              "lacks what_none_has");
}

TEST_F(NewIsa, IsRefusedWhereTheMachineLacksItAndNothingElseIsThere) {
  compileFor({kAbsent});
  EXPECT_EQ(refusal(""),
            "the file's code does not run here (x86-64-v3-absent: this machine "
            "lacks what_none_has); this machine runs x86-64-v3-narrow: effc "
            "compile --target x86-64-v3-narrow makes code for it");
}
