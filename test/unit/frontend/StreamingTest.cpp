// --sinks and --window with every recorded checkpoint of the families: all
// layers follow them that see more keys, where the model turns its queries.
//
// N first and W last tokens are all tokens of a sequence of N + W. So what the
// library gives for sequences that are no longer is what has to come out,
// though queries from the W-th on find the first N among the tokens that stay.
// What happens behind is recorded in the cases called "streaming".
#include "dialects/seq/Seq.h"
#include "frontend/checkpoint/Json.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/RecordedModel.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "mlir/IR/Verifier.h"

#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

/// The recorded sequences have up to 48 tokens.
constexpr int64_t kSinks = 13, kWindow = 35;
/// As in GoldenTest.cpp.
constexpr double kTolerance = 1e-13;

/// What a module says of its attention.
struct Survey {
  /// The window of each, 0 where it sees all keys, and its first tokens.
  std::vector<std::pair<int64_t, int64_t>> windows;
  /// Whether one that sees all keys turns queries, and whether by angles that
  /// change with the length, or scales them by their positions.
  bool turns = false, stretches = false;
  /// Whether some see the blocks of keys that their queries choose.
  bool chooses = false;
};

Survey survey(mlir::ModuleOp module) {
  Survey found;
  module.walk([&](seq::AttentionOp op) {
    int64_t window = op.getWindow().value_or(0);
    int64_t sinks = 0;
    if (mlir::Value keys = op.getSinkKeys())
      sinks = llvm::cast<mlir::RankedTensorType>(keys.getType()).getDimSize(0);
    found.windows.push_back({window, sinks});
    found.chooses |= bool(op.getBlocks());
    auto turn = op.getQ().getDefiningOp<seq::RotaryOp>();
    if (window > 0 || !turn)
      return;
    found.turns = true;
    auto angles =
        llvm::cast<mlir::RankedTensorType>(turn.getFrequencies().getType());
    found.stretches |= angles.getRank() == 2;
  });
  for (auto weight : module.getOps<seq::WeightOp>())
    if (auto rule = weight.getComputed())
      found.stretches |= llvm::isa<seq::PositionScalesAttr>(*rule);
  return found;
}

class StreamingTest : public testing::TestWithParam<std::string> {
protected:
  llvm::Expected<ImportedModel> import(StreamedKeys streamed) {
    ImportOptions options = readRecordedOptions(directory);
    options.streamed = streamed;
    return importModel(context, directory, options);
  }

  std::string directory = std::string(EFFC_GOLDENS) + "/" + GetParam();
  mlir::MLIRContext context;
};

} // namespace

TEST_P(StreamingTest, ChangesNothingWhileAllTokensStay) {
  ImportedModel plain = llvm::cantFail(import({}));
  Survey before = survey(*plain.module);
  auto model = import({kSinks, kWindow});
  if (!model) {
    std::string reason = outcome(model.takeError());
    if (before.stretches)
      EXPECT_EQ(reason, "expects --sinks and --window within the context that "
                        "rotary positions are not stretched for, but got 13 "
                        "and 35");
    else if (before.chooses)
      EXPECT_EQ(reason, "expects positions that turn keys or lower their "
                        "scores beside --window, but got blocks of positions "
                        "that queries choose");
    else
      EXPECT_FALSE(before.turns) << reason;
    return;
  }
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*model->module)));
  Survey after = survey(*model->module);
  ASSERT_EQ(after.windows.size(), before.windows.size());
  bool follows = false;
  for (auto [was, is] : llvm::zip(before.windows, after.windows)) {
    bool sawMore = was.first == 0 || was.first >= kSinks + kWindow;
    follows |= sawMore;
    EXPECT_EQ(is, sawMore ? std::pair(kWindow, kSinks) : was);
  }
  EXPECT_TRUE(follows);
  for (const RecordedSequence &sequence : readRecordedSequences(directory)) {
    ASSERT_LE(int64_t(sequence.tokens.size()), kSinks + kWindow);
    std::vector<double> found =
        llvm::cantFail(evaluate(*model, sequence.tokens));
    ASSERT_EQ(found.size(), sequence.logits.size());
    EXPECT_LE(relativeDistance(found, sequence.logits), kTolerance)
        << "sequence of " << sequence.tokens.size() << " tokens";
  }
}

// Phi-4-mini's window is twice its context, and its rotations are stretched
// behind 4096 positions, which a cache of fewer never has.
TEST(Streaming, AWindowThatNoContextOutgrowsIsNone) {
  std::string text = llvm::cantFail(readTextFile(
      EFFC_GOLDENS "/configs/phi_4_mini.json", "phi_4_mini.json", 1 << 20));
  TemporaryDirectory directory;
  directory.write("config.json",
                  nlohmann::json::parse(text).at("config").dump());
  mlir::MLIRContext context;
  ImportOptions options;
  options.weights = WeightsNeeded::ShapesOnly;
  options.streamed = {/*sinks=*/4, /*window=*/2044};
  ImportedModel model =
      llvm::cantFail(importModel(context, directory.path, options));
  Survey found = survey(*model.module);
  EXPECT_EQ(found.windows,
            (std::vector<std::pair<int64_t, int64_t>>(32, {2044, 4})));
  model.module->walk([](seq::RotaryOp op) {
    EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(op.getFrequencies().getType())
                  .getRank(),
              1);
  });
}

/// Those that are not compiled with a window themselves.
static std::vector<std::string> wholeCases() {
  std::vector<std::string> names = listRecordedFamilies();
  llvm::erase_if(names, [](const std::string &name) {
    std::string directory = std::string(EFFC_GOLDENS) + "/" + name;
    return readRecordedOptions(directory).streamed.window > 0;
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Families, StreamingTest,
                         testing::ValuesIn(wholeCases()), [](const auto &info) {
                           return nameOfRecorded(info.param);
                         });
