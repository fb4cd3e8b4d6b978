// Compiled rotations agree with the reference in double at positions up to a
// million, and their bits do not depend on the call.
//
// The model is one op between an embedding, whose table holds every token's
// operand, and a choice of rows, which leads its result out.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/WindowCase.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

/// H heads of K channels, P frequencies; `pairs` empty: cosine_sine, whose
/// frequencies are H x K.
struct Shape {
  std::string pairs;
  int64_t H, K, P;
  double amplitude = 1;
  int64_t last = 0; // 0: none
  int64_t rows =
      0; // positions with frequencies of their own; 0: all share them

  bool doubles() const { return pairs.empty(); }
  std::vector<int64_t> frequencies() const {
    return doubles() ? std::vector{H, K}
           : rows    ? std::vector{rows, P}
                     : std::vector{P};
  }
  int64_t outputs() const { return H * K * (doubles() ? 2 : 1); }
};

/// Pairs below, at and above the lanes of vectors; all channels or some; one
/// head and several.
const Shape kShapes[] = {{"half", 3, 10, 5},
                         {"half", 1, 16, 8},
                         {"half", 5, 20, 8, 1.25},
                         {"half", 2, 128, 64},
                         {"half", 4, 67, 33},
                         {"half", 2, 10, 4, 1, 1003},
                         {"half", 3, 12, 5, 1.5, 0, 1011},
                         {"interleaved", 3, 10, 5},
                         {"interleaved", 1, 33, 16},
                         {"interleaved", 6, 24, 9, 0.75},
                         {"interleaved", 2, 130, 65},
                         {"interleaved", 3, 8, 4, 1, 131075},
                         {"interleaved", 2, 14, 7, 1, 1004, 1005},
                         {"", 3, 5, 0},
                         {"", 1, 8, 0},
                         {"", 4, 33, 0}};
constexpr int64_t kTableRows = 23;

std::string modelText(const Shape &s) {
  int64_t width = s.H * s.K;
  std::string table = WindowCase::type("", {kTableRows, width}),
              frequencies = WindowCase::type("", s.frequencies()),
              flat = WindowCase::type("?", {width}),
              x = WindowCase::type("?", {s.H, s.K}),
              y = WindowCase::type("?", {s.H, s.outputs() / s.H}),
              out = WindowCase::type("?", {s.outputs()});
  std::string op =
      s.doubles()
          ? "seq.cosine_sine %x at(%p), %f : (" + x + ", tensor<?xi32>, " +
                frequencies + ") -> " + y
          : "seq.rotary " + s.pairs +
                " %x at(%p), %f {amplitude = " + std::to_string(s.amplitude) +
                " : f64" +
                (s.last ? ", last = " + std::to_string(s.last) + " : i64"
                        : "") +
                "} : " + x + ", tensor<?xi32>, " + frequencies;
  return "seq.weight @table source(\"table\") : " + table +
         "\nseq.weight @f source(\"f\") : " + frequencies +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, "
         "%p: tensor<?xi32>) -> " +
         out + " {\n  %table = seq.parameter @table : " + table +
         "\n  %f = seq.parameter @f : " + frequencies +
         "\n  %in = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + flat + "\n  %x = seq.reshape %in : " + flat + " -> " + x +
         "\n  %y = " + op + "\n  %z = seq.reshape %y : " + y + " -> " + out +
         "\n  %sum = seq.scale %z by 2.0 : " + out +
         "\n  %out = seq.select_rows %sum, %rows : (" + out +
         ", tensor<?xi32>) -> " + out + "\n  return %out : " + out + "\n}\n";
}

TEST(RotaryKernels, AgreeWithTheReferenceAndHaveTheSameBitsInAnyCall) {
  double worst = 0;
  for (auto [seed, s] : llvm::enumerate(kShapes)) {
    SCOPED_TRACE(s.pairs + " H,K,P = " + std::to_string(s.H) + "," +
                 std::to_string(s.K) + "," + std::to_string(s.P));
    Random random(seed);
    TestModel model(modelText(s));
    llvm::StringMap<std::vector<float>> weights;
    for (int64_t i = 0; i < kTableRows * s.H * s.K; ++i)
      weights["table"].push_back(pickReal(random, -2, 2));
    for (int64_t i = 0; i < seq::reference::countElements(s.frequencies()); ++i)
      weights["f"].push_back(
          std::pow(10000.0, -pickReal(random, 0, 1))); // 1 to 1e-4
    weights["f"][0] = 1;
    PipelineOptions options;
    options.prefillRows = {32};
    options.decodeRows = {4};
    PlanRunner runner(model, options, /*slots=*/4);
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
    for (int64_t start : {0, 1000, 131071, 999990}) {
      if (s.rows && !s.last && start + 11 > s.rows)
        continue; // what the model's context rules out
      Segment segment{2, start, start == 0, {}};
      std::vector<int32_t> rows, positions;
      for (int64_t t = 0; t < 11; ++t) {
        segment.tokens.push_back(pick(random, 0, kTableRows - 1));
        rows.push_back(t);
        positions.push_back(start + t);
      }
      std::vector<float> found = runner.prefill(segment);
      auto results = model.evaluate({Tensor<int32_t>({11}, segment.tokens),
                                     Tensor<int32_t>({11}, rows),
                                     Tensor<int32_t>({11}, positions)},
                                    weights);
      auto expected = std::get<Tensor<double>>(results[0]).elements();
      ASSERT_EQ(found.size(), expected.size());
      for (auto [a, b] : llvm::zip(found, expected))
        worst = std::fmax(worst, std::isnan(a) ? INFINITY : std::fabs(a - b));
      std::vector<float> stepped;
      for (int64_t t = 0; t < 11; ++t)
        llvm::append_range(
            stepped,
            runner.decode(Segment{1, start + t, false, {segment.tokens[t]}}));
      EXPECT_TRUE(stepped == found) << "from " << start;
    }
    // Numbers of at most 2, turned, times at most 1.25 and 2.
    EXPECT_LE(worst, 1e-5);
  }
  std::printf("largest distance %.1e\n", worst);
}

} // namespace
