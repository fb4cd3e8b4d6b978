// Products of a step whose items share the terms of their sums: few outputs of many terms.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/NarrowNumbers.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// y = b + W x + r, where rows of x and r are a token's. Of each shape an H100's 132 cores
/// have fewer tiles than they could, and a tile's terms are many steps:
///
///   rows  outputs  terms
///   70    72       2,560   two tiles of rows, the second with 6 of them; 72 outputs
///   35    2,056    1,280   rows of sums that are longer than a block's
struct Shape {
  int64_t rows, outputs, terms;
  Products products;
  const char *name;
};

constexpr int64_t kTokens = 7;

std::string modelText(const Shape &shape) {
  std::string n = std::to_string(shape.outputs),
              k = std::to_string(shape.terms);
  std::string x = "tensor<?x" + k + "xf32>", y = "tensor<?x" + n + "xf32>",
              w = "tensor<" + n + "x" + k + "xbf16>",
              b = "tensor<" + n + "xf32>", tableX = "tensor<7x" + k + "xf32>",
              tableR = "tensor<7x" + n + "xf32>";
  return "seq.weight @x source(\"x\") : " + tableX +
         "\nseq.weight @r source(\"r\") : " + tableR +
         "\nseq.weight @w source(\"w\") : " + w +
         "\nseq.weight @b source(\"b\") : " + b +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         y + " {\n  %tx = seq.parameter @x : " + tableX +
         "\n  %tr = seq.parameter @r : " + tableR +
         "\n  %w = seq.parameter @w : " + w +
         "\n  %b = seq.parameter @b : " + b +
         "\n  %x = seq.embedding %tokens, %tx : (tensor<?xi32>, " + tableX +
         ") -> " + x +
         "\n  %r = seq.embedding %tokens, %tr : (tensor<?xi32>, " + tableR +
         ") -> " + y + "\n  %p = seq.linear %x, %w bias(%b) : (" + x + ", " +
         w + ", " + b + ") -> " + y + "\n  %y = seq.add %p, %r : " + y +
         "\n  %out = seq.select_rows %y, %rows : (" + y +
         ", tensor<?xi32>) -> " + y + "\n  return %out : " + y + "\n}\n";
}

/// Numbers that bf16 holds, so that rounded products are exact as well.
std::vector<float> pick(Random &random, int64_t size) {
  std::vector<float> elements;
  for (int64_t i = 0; i < size; ++i)
    elements.push_back(roundToBf16(pickReal(random, -1, 1)));
  return elements;
}

class DepthParts : public testing::TestWithParam<Shape> {};

// Against sums in double: f32 sums of n terms, whatever their order, differ from them by
// at most n units of 2^-24 of the sum of the terms' sizes.
TEST_P(DepthParts, AreSumsOfProducts) {
  const Shape &shape = GetParam();
  TestModel model(modelText(shape));
  PipelineOptions options;
  options.prefillRows = {16};
  options.decodeRows = {shape.rows};
  options.products = shape.products;
  int64_t launchesOfSums = 0;
  PlanRunner runner(model, options, /*slots=*/shape.rows, [&](ModuleOp module) {
    module.walk([&](plan::LaunchOp launch) {
      launchesOfSums += launch.getKernel().ends_with("_sum");
    });
  });
  ASSERT_EQ(model.getErrors(), "");
  // Of the step, where items share terms at all.
  EXPECT_EQ(launchesOfSums, testTarget().device == tile::Device::Host ? 0 : 1);
  Random random(11);
  std::vector<float> x = pick(random, kTokens * shape.terms),
                     r = pick(random, kTokens * shape.outputs),
                     w = pick(random, shape.outputs * shape.terms),
                     b = pick(random, shape.outputs);
  runner.setWeight("x", x);
  runner.setWeight("r", r);
  runner.setWeight("w", w);
  runner.setWeight("b", b);
  std::vector<PlanRunner::Segment> call;
  for (int64_t i = 0; i < shape.rows; ++i)
    call.push_back({.slot = int32_t(i),
                    .start = 0,
                    .begins = true,
                    .tokens = {int32_t(i * 3 % kTokens)}});
  std::vector<float> found = runner.decode(call);
  ASSERT_EQ(int64_t(found.size()), shape.rows * shape.outputs);
  for (int64_t token = 0; token < kTokens; ++token)
    for (int64_t output = 0; output < shape.outputs; ++output) {
      double sum = double(b[output]) + r[token * shape.outputs + output];
      double sizes = std::abs(double(b[output])) +
                     std::abs(double(r[token * shape.outputs + output]));
      for (int64_t term = 0; term < shape.terms; ++term) {
        double product = double(x[token * shape.terms + term]) *
                         w[output * shape.terms + term];
        sum += product;
        sizes += std::abs(product);
      }
      for (int64_t row = 0; row < shape.rows; ++row)
        if (call[row].tokens.front() == token)
          ASSERT_NEAR(found[row * shape.outputs + output], sum,
                      double(shape.terms + 2) * std::ldexp(sizes, -24))
              << "row " << row << ", output " << output;
    }
}

const Shape kShapes[] = {
    {70, 72, 2560, Products::Exact, "of_70_rows_exact"},
    {70, 72, 2560, Products::BF16, "of_70_rows_bf16"},
    {35, 2056, 1280, Products::BF16, "of_35_long_rows_bf16"}};

INSTANTIATE_TEST_SUITE_P(Shapes, DepthParts, testing::ValuesIn(kShapes),
                         [](const auto &info) { return info.param.name; });

} // namespace
