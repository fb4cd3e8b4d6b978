// Imports the recorded checkpoints and evaluates them by the reference in
// double: frontend and dialect mean what the model's public implementation
// computes.
//
// The recorded logits are those of an independent recurrence in float64 on the
// same weights, every one of which a double holds exactly. What is left is the
// order of sums, some ten roundings of 1e-16 each: 4e-15 was found at most.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Evaluate.h"
#include "frontend/Import.h"
#include "frontend/Weights.h"
#include "frontend/checkpoint/Json.h"
#include "test/unit/frontend/Outcome.h"

#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

constexpr double kTolerance = 1e-13;

class GoldenTest : public testing::TestWithParam<const char *> {
protected:
  std::string directory = std::string(EFFC_GOLDENS) + "/" + GetParam();
};

/// The float64 logits [T, vocabulary] of sequence `index`.
std::vector<double> readLogits(const Safetensors &golden, size_t index) {
  const SafetensorsEntry *entry =
      golden.find("logits_f64." + std::to_string(index));
  return decode<double>(entry->type, llvm::cantFail(golden.view(*entry)));
}

Tensor<int32_t> toIndices(llvm::ArrayRef<int32_t> values) {
  return Tensor<int32_t>({int64_t(values.size())},
                         std::vector<int32_t>(values.begin(), values.end()));
}

/// Runs @forward on `tokens` from neutral states and returns all logits.
llvm::Expected<std::vector<double>> evaluate(ImportedModel &model,
                                             llvm::ArrayRef<int32_t> tokens) {
  auto forward = model.module->lookupSymbol<mlir::func::FuncOp>("forward");
  std::vector<int32_t> rows(tokens.size());
  for (size_t row = 0; row < rows.size(); ++row)
    rows[row] = row;
  std::vector<Datum<double>> inputs = {toIndices(tokens), toIndices(rows)};
  for (mlir::Type type : forward.getArgumentTypes().drop_front(2))
    inputs.push_back(
        Tensor<double>(llvm::cast<mlir::RankedTensorType>(type).getShape()));
  auto weights = [&](seq::WeightOp weight) -> llvm::Expected<Tensor<double>> {
    auto elements = readWeight<double>(weight, *model.checkpoint);
    if (!elements)
      return elements.takeError();
    return Tensor<double>(
        llvm::cast<mlir::RankedTensorType>(weight.getType()).getShape(),
        std::move(*elements));
  };
  auto results =
      seq::reference::evaluate<double>(forward, std::move(inputs), weights);
  if (!results)
    return results.takeError();
  return std::get<Tensor<double>>(results->front()).elements().vec();
}

double relativeDistance(llvm::ArrayRef<double> found,
                        llvm::ArrayRef<double> expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(found[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  return std::sqrt(difference / norm);
}

} // namespace

TEST_P(GoldenTest, MeansWhatWasRecorded) {
  mlir::MLIRContext context;
  ImportOptions options;
  options.ungroupedNorm = llvm::StringRef(GetParam()).contains("ungrouped");
  ImportedModel model =
      llvm::cantFail(importModel(context, directory, options));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*model.module)));
  auto golden = llvm::cantFail(
      Safetensors::open(directory + "/golden.safetensors", "golden"));
  std::string text = llvm::cantFail(
      readTextFile(directory + "/tokens.json", "tokens.json", 1 << 20));
  JsonValue sequences = llvm::cantFail(parseJson(text, "tokens.json"));
  size_t index = 0;
  for (const JsonValue &sequence : *sequences.getArray()) {
    std::vector<int32_t> tokens;
    for (const JsonValue &id : *sequence.getArray())
      tokens.push_back(*id.getInteger());
    std::vector<double> expected = readLogits(*golden, index);
    std::vector<double> found = llvm::cantFail(evaluate(model, tokens));
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_LE(relativeDistance(found, expected), kTolerance)
        << "sequence " << index << " of " << tokens.size() << " tokens";
    ++index;
  }
  EXPECT_GE(index, 4u);
  EXPECT_EQ(effc::test::outcome(model.checkpoint->checkUnchanged()), "success");
}

INSTANTIATE_TEST_SUITE_P(
    Mamba2, GoldenTest,
    testing::Values("mamba2/bf16_biases_groups2", "mamba2/bf16_conv2",
                    "mamba2/bf16_four_layers_long", "mamba2/bf16_groups3",
                    "mamba2/bf16_limit_groups2", "mamba2/bf16_tied",
                    "mamba2/bf16_wide_vocabulary", "mamba2/f32_biases",
                    "mamba2/f32_conv3", "mamba2/f32_extreme_decays",
                    "mamba2/f32_groups2", "mamba2/f32_limit",
                    "mamba2/f32_plain", "layouts/f16_groups2",
                    "layouts/mamba_ssm_f16_padded",
                    "layouts/mamba_ssm_f32_groups2", "layouts/sharded_bf16",
                    "layouts/ungrouped_f32_groups3"),
    [](const auto &info) {
      return llvm::StringRef(info.param).split('/').second.str();
    });
