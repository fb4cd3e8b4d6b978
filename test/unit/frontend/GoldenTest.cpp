// Imports the recorded checkpoints and evaluates them by the reference in
// double: frontend and dialect mean what the model's public implementation
// computes.
//
// The recorded logits are those of an independent recurrence in float64 on the
// same weights, every one of which a double holds exactly. What is left is the
// order of sums, some ten roundings of 1e-16 each: 4e-15 was found at most. The
// checkpoints of goldens/families are listed, not named; their logits are the
// public library's with everything in double.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Evaluate.h"
#include "frontend/Import.h"
#include "frontend/Weights.h"
#include "frontend/checkpoint/Json.h"
#include "test/unit/frontend/Outcome.h"

#include "mlir/IR/Verifier.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

using namespace effc;
using namespace effc::frontend;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

constexpr double kTolerance = 1e-13;

class GoldenTest : public testing::TestWithParam<std::string> {
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

/// The neutral value of each state argument, by its number; 0 where it is not
/// here.
std::map<unsigned, double> neutralStates(mlir::func::FuncOp forward) {
  std::map<unsigned, double> neutral;
  forward.walk([&](seq::StatefulOpInterface op) {
    for (const seq::StateDescriptor &state : op.getStates())
      if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(
              op->getOperand(state.operand)))
        neutral[argument.getArgNumber()] = state.neutral;
  });
  return neutral;
}

/// The numbers that the configuration gives, not rounded to f32.
std::vector<double> compute(seq::WeightOp weight, mlir::RankedTensorType type) {
  int64_t columns = type.getShape().back();
  std::vector<double> numbers;
  for (int64_t row = 0; row < type.getNumElements() / columns; ++row)
    llvm::append_range(numbers, weight.getComputed()->computeRow(row, columns));
  return numbers;
}

/// Runs @forward on `tokens` from neutral states and returns all logits.
llvm::Expected<std::vector<double>> evaluate(ImportedModel &model,
                                             llvm::ArrayRef<int32_t> tokens) {
  auto forward = model.module->lookupSymbol<mlir::func::FuncOp>("forward");
  std::vector<int32_t> rows(tokens.size());
  for (size_t row = 0; row < rows.size(); ++row)
    rows[row] = row;
  std::vector<Datum<double>> inputs = {toIndices(tokens), toIndices(rows)};
  std::map<unsigned, double> neutral = neutralStates(forward);
  for (unsigned i = 2; i < forward.getNumArguments(); ++i) {
    if (seq::isIndexTensor(forward.getArgument(i).getType())) {
      inputs.push_back(toIndices(rows)); // the positions, from 0 on
      continue;
    }
    Tensor<double> state(
        llvm::cast<mlir::RankedTensorType>(forward.getArgument(i).getType())
            .getShape());
    for (double &element : state.elements())
      element = neutral[i];
    inputs.push_back(std::move(state));
  }
  auto weights = [&](seq::WeightOp weight) -> llvm::Expected<Tensor<double>> {
    auto type = llvm::cast<mlir::RankedTensorType>(weight.getType());
    if (weight.getComputed())
      return Tensor<double>(type.getShape(), compute(weight, type));
    auto elements = readWeight<double>(weight, *model.checkpoint);
    if (!elements)
      return elements.takeError();
    return Tensor<double>(type.getShape(), std::move(*elements));
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
  if (std::filesystem::exists(directory + "/options.json")) {
    JsonValue values = llvm::cantFail(
        readJsonObject(directory + "/options.json", "options.json"));
    ConfigReader reader("options.json", *values.getObject());
    options.streamed.sinks = reader.getInteger("sinks", 1, 64, 0);
    options.streamed.window = reader.getInteger("window", 1, 64, 0);
    options.maxContext = reader.getInteger("max-context", 1, 64, 0);
    llvm::cantFail(reader.finish());
  }
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
  EXPECT_GE(index, 2u);
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

static std::vector<std::string> familyCases() {
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(EFFC_GOLDENS "/families"))
    if (entry.path().filename() == "golden.safetensors")
      names.push_back(
          std::filesystem::relative(entry.path().parent_path(), EFFC_GOLDENS)
              .string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(
    Families, GoldenTest, testing::ValuesIn(familyCases()),
    [](const auto &info) {
      std::string name = llvm::StringRef(info.param).split('/').second.str();
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    });
