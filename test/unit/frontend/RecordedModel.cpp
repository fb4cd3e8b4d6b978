#include "test/unit/frontend/RecordedModel.h"

#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Evaluate.h"
#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/Safetensors.h"
#include "frontend/weights/Weights.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

std::vector<std::string> effc::test::listRecordedFamilies() {
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

std::string effc::test::nameOfRecorded(const std::string &folder) {
  std::string name = llvm::StringRef(folder).split('/').second.str();
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

ImportOptions effc::test::readRecordedOptions(const std::string &directory) {
  ImportOptions options;
  if (!std::filesystem::exists(directory + "/options.json"))
    return options;
  JsonValue values = llvm::cantFail(
      readJsonObject(directory + "/options.json", "options.json"));
  ConfigReader reader("options.json", *values.getObject());
  options.streamed.sinks = reader.getInteger("sinks", 1, 64, 0);
  options.streamed.window = reader.getInteger("window", 1, 64, 0);
  options.maxContext = reader.getInteger("max-context", 1, 64, 0);
  llvm::cantFail(reader.finish());
  return options;
}

namespace {

/// The float64 logits [T, vocabulary] of sequence `index`.
std::vector<double> readLogits(const TensorFile &golden, size_t index) {
  const TensorEntry *entry = golden.find("logits_f64." + std::to_string(index));
  return decode<double>(entry->type.getElement(),
                        llvm::cantFail(golden.view(*entry)));
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

} // namespace

std::vector<RecordedSequence>
effc::test::readRecordedSequences(const std::string &directory) {
  auto golden = llvm::cantFail(
      openSafetensors(directory + "/golden.safetensors", "golden"));
  std::string text = llvm::cantFail(
      readTextFile(directory + "/tokens.json", "tokens.json", 1 << 20));
  JsonValue sequences = llvm::cantFail(parseJson(text, "tokens.json"));
  std::vector<RecordedSequence> recorded;
  for (const JsonValue &sequence : *sequences.getArray()) {
    RecordedSequence &one = recorded.emplace_back();
    for (const JsonValue &id : *sequence.getArray())
      one.tokens.push_back(*id.getInteger());
    one.logits = readLogits(*golden, recorded.size() - 1);
  }
  return recorded;
}

llvm::Expected<std::vector<double>>
effc::test::evaluate(ImportedModel &model, llvm::ArrayRef<int32_t> tokens) {
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

double effc::test::relativeDistance(llvm::ArrayRef<double> found,
                                    llvm::ArrayRef<double> expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(found[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  return std::sqrt(difference / norm);
}
