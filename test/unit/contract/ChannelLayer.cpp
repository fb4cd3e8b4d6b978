#include "test/unit/contract/ChannelLayer.h"

#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/RelativeError.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

std::string effc::test::shapeOf(const std::vector<int64_t> &shape) {
  std::vector<std::string> text;
  for (int64_t size : shape)
    text.push_back(n(size));
  return tensorType(text);
}

namespace {

std::string modelText(const Layer &layer) {
  auto weights = layer.weights;
  weights.push_back({"table", {kTokens, layer.D}});
  std::string text, body, x = tensorType({"?", n(layer.D)});
  for (auto &[name, shape] : weights) {
    text += "seq.weight @" + name + " source(\"" + name +
            "\") : " + shapeOf(shape) + "\n";
    body += "  %" + name + " = seq.parameter @" + name + " : " +
            shapeOf(shape) + "\n";
  }
  std::string arguments, results = x, next;
  for (auto &[name, shape] : layer.states) {
    arguments += ", %" + name + ": " + shapeOf(shape) +
                 " {seq.state_name = \"" + name + "\"}";
    results += ", " + shapeOf(shape);
    next += ", %next_" + name;
  }
  return text +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>" +
         arguments + ") -> (" + results + ") {\n" + body +
         "  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " +
         shapeOf({kTokens, layer.D}) + ") -> " + x + "\n" + layer.body +
         "  %out = seq.select_rows %y, %rows : (" + x + ", tensor<?xi32>) -> " +
         x + "\n  return %out" + next + " : " + results + "\n}\n";
}

/// Sequences decoded side by side, which begin at tokens 0, 4 and 8: each has the
/// state of its own slot and rows of its own.
void checkTogether(PlanRunner &runner, TestModel &model,
                   std::vector<Datum<double>> inputs,
                   const llvm::StringMap<std::vector<float>> &weights,
                   int32_t sequences) {
  constexpr int32_t kApart = 4, kLength = 5;
  std::vector<double> expected;
  std::vector<std::vector<double>> ofSequence;
  for (int32_t s = 0; s < sequences; ++s) {
    std::vector<int32_t> tokens(kLength), rows(kLength);
    std::iota(tokens.begin(), tokens.end(), s * kApart);
    std::iota(rows.begin(), rows.end(), 0);
    inputs[0] = Tensor<int32_t>({kLength}, tokens);
    inputs[1] = Tensor<int32_t>({kLength}, rows);
    std::vector<Datum<double>> results = model.evaluate(inputs, weights);
    ofSequence.push_back(
        std::get<Tensor<double>>(results.front()).elements().vec());
  }
  size_t width = ofSequence.front().size() / kLength;
  std::vector<float> decoded;
  for (int32_t t = 0; t < kLength; ++t) {
    std::vector<Segment> call;
    for (int32_t s = 0; s < sequences; ++s) {
      call.push_back(Segment{.slot = 2 * s + 1,
                             .start = t,
                             .begins = t == 0,
                             .tokens = {s * kApart + t}});
      auto row = ofSequence[s].begin() + t * width;
      expected.insert(expected.end(), row, row + width);
    }
    llvm::append_range(decoded, runner.decode(call));
  }
  EXPECT_LE(errorOf(decoded, expected), 1e-5);
}

/// Rows together and one by one, in calls of so many, which have the same bits if they are to be
/// stable.
void checkKernels(TestModel &model, const Layer &layer, bool bitStable,
                  ArrayRef<int64_t> decodeRows) {
  PipelineOptions options;
  options.prefillRows = {kTokens};
  options.decodeRows.assign(decodeRows.begin(), decodeRows.end());
  options.bitStableOnGpu = bitStable;
  PlanRunner runner(model, options, /*slots=*/8);
  Random random(layer.D);
  llvm::StringMap<std::vector<float>> weights;
  for (int64_t i = 0; i < kTokens * layer.D; ++i)
    weights["table"].push_back(layer.offset + pickReal(random, -2, 2));
  for (auto &[name, shape] : layer.weights) {
    int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                   std::multiplies<>());
    for (int64_t i = 0; i < size; ++i)
      weights[name].push_back(pickReal(random, -1, 1));
  }
  for (const auto &[name, numbers] : layer.given)
    weights[name] = numbers;
  for (const auto &[name, elements] : weights)
    runner.setWeight(name, elements);
  std::vector<int32_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  Tensor<int32_t> all({kTokens}, tokens);
  std::vector<Datum<double>> inputs = {all, all};
  for (auto &[name, shape] : layer.states)
    inputs.push_back(Tensor<double>(shape));
  std::vector<Datum<double>> results = model.evaluate(inputs, weights);
  auto elementsOf = [&](size_t result) -> ArrayRef<double> {
    return std::get<Tensor<double>>(results[result]).elements();
  };
  ArrayRef<double> expected = elementsOf(0);
  auto checkStates = [&] {
    for (size_t i = 0; i < layer.states.size(); ++i)
      EXPECT_LE(errorOf(runner.readState(layer.states[i].first, /*slot=*/0),
                        elementsOf(1 + i)),
                1e-5);
  };
  std::vector<float> whole = runner.prefill(Segment{.tokens = tokens});
  EXPECT_LE(errorOf(whole, expected), 1e-5);
  checkStates();
  std::vector<float> decoded;
  for (auto [t, token] : llvm::enumerate(tokens))
    llvm::append_range(decoded, runner.decode(Segment{.start = int64_t(t),
                                                      .begins = t == 0,
                                                      .tokens = {token}}));
  EXPECT_LE(errorOf(decoded, expected), 1e-5);
  checkStates();
  if (bitStable)
    EXPECT_EQ(decoded, whole);
  for (int32_t sequences : {2, 3})
    checkTogether(runner, model, inputs, weights, sequences);
}

} // namespace

void effc::test::check(const Layer &layer) {
  SCOPED_TRACE(layer.name + ", D = " + n(layer.D));
  TestModel model(modelText(layer));
  checkKernels(model, layer, /*bitStable=*/true, {1, 8});
  if (testTarget().device == tile::Device::Host)
    return;
  checkKernels(model, layer, /*bitStable=*/false, {1, 8});
  // A row alone, and two, where a GPU takes two, one after the other.
  if (StringRef(layer.body).contains("seq.linear"))
    checkKernels(model, layer, /*bitStable=*/false, {2, 8});
}
