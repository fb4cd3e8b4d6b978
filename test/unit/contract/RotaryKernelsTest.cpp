// Compiled rotations agree with the reference in double at positions up to a
// million, with exact angles at any position, and their bits do not depend on
// the call.
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

/// A model's table and frequencies by chance, and a runner that has them.
struct Compiled {
  Compiled(const Shape &s, uint64_t seed)
      : random(seed), model(modelText(s)), runner(model, options(), 4) {
    for (int64_t i = 0; i < kTableRows * s.H * s.K; ++i)
      weights["table"].push_back(pickReal(random, -2, 2));
    for (int64_t i = 0; i < seq::reference::countElements(s.frequencies()); ++i)
      weights["f"].push_back(
          std::pow(10000.0, -pickReal(random, 0, 1))); // 1 to 1e-4
    weights["f"][0] = 1;
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
  }
  static PipelineOptions options() {
    PipelineOptions options;
    options.prefillRows = {32};
    options.decodeRows = {4};
    return options;
  }
  std::vector<int32_t> pickTokens(int64_t count) {
    std::vector<int32_t> tokens;
    for (int64_t t = 0; t < count; ++t)
      tokens.push_back(pick(random, 0, kTableRows - 1));
    return tokens;
  }
  /// The rows of some tokens from `start` on, as one call; the same token by
  /// token must have the same bits.
  std::vector<float> outputs(const std::vector<int32_t> &tokens,
                             int64_t start) {
    std::vector<float> found =
        runner.prefill(Segment{2, start, start == 0, tokens});
    std::vector<float> stepped;
    for (auto [t, token] : llvm::enumerate(tokens))
      llvm::append_range(stepped, runner.decode(Segment{
                                      1, start + int64_t(t), false, {token}}));
    EXPECT_TRUE(stepped == found) << "from " << start;
    return found;
  }

  Random random;
  TestModel model;
  llvm::StringMap<std::vector<float>> weights;
  PlanRunner runner;
};

std::string nameOf(const Shape &s) {
  return s.pairs + " H,K,P = " + std::to_string(s.H) + "," +
         std::to_string(s.K) + "," + std::to_string(s.P);
}

TEST(RotaryKernels, AgreeWithTheReferenceAndHaveTheSameBitsInAnyCall) {
  double worst = 0;
  for (auto [seed, s] : llvm::enumerate(kShapes)) {
    SCOPED_TRACE(nameOf(s));
    Compiled c(s, seed);
    for (int64_t start : {0, 1000, 131071, 999990}) {
      if (s.rows && !s.last && start + 11 > s.rows)
        continue; // what the model's context rules out
      std::vector<int32_t> tokens = c.pickTokens(11), rows, positions;
      for (int64_t t = 0; t < 11; ++t) {
        rows.push_back(t);
        positions.push_back(start + t);
      }
      std::vector<float> found = c.outputs(tokens, start);
      auto results = c.model.evaluate({Tensor<int32_t>({11}, tokens),
                                       Tensor<int32_t>({11}, rows),
                                       Tensor<int32_t>({11}, positions)},
                                      c.weights);
      auto expected = std::get<Tensor<double>>(results[0]).elements();
      ASSERT_EQ(found.size(), expected.size());
      for (auto [a, b] : llvm::zip(found, expected))
        worst = std::fmax(worst, std::isnan(a) ? INFINITY : std::fabs(a - b));
    }
    // Numbers of at most 2, turned, times at most 1.25 and 2.
    EXPECT_LE(worst, 1e-5);
  }
  std::printf("largest distance %.1e\n", worst);
}

/// The angle of a position, rounded once. A position of 48 bits times a frequency
/// of 24 is exact in the 113 of a quadruple, as is its number of whole turns.
double angleOf(int64_t position, float frequency) {
  // 1 / 2 pi in three parts.
  const __float128 turn = __float128(0x1.45f306dc9c883p-3) +
                          __float128(-0x1.6b01ec5417056p-57) +
                          __float128(-0x1.6447e493ad4cep-111);
  __float128 turns = __float128(position) * frequency * turn;
  return double((turns - __float128(int64_t(turns))) / turn);
}

/// What `s` makes of a token's row of the table at a position.
std::vector<double> turned(const Shape &s, const float *row,
                           const std::vector<float> &frequencies,
                           int64_t position) {
  std::vector<double> y(row, row + s.H * s.K);
  if (s.doubles())
    y.resize(s.outputs());
  for (int64_t h = 0; h < s.H; ++h)
    for (int64_t i = 0; i < (s.doubles() ? s.K : s.P); ++i) {
      double a = angleOf(position, frequencies[s.doubles() ? h * s.K + i : i]);
      if (s.doubles()) {
        y[h * 2 * s.K + i] = row[h * s.K + i] * std::cos(a);
        y[h * 2 * s.K + s.K + i] = row[h * s.K + i] * std::sin(a);
        continue;
      }
      int64_t b = h * s.K + (s.pairs == "half" ? i : 2 * i),
              c = b + (s.pairs == "half" ? s.P : 1);
      y[b] = s.amplitude * (row[b] * std::cos(a) - row[c] * std::sin(a));
      y[c] = s.amplitude * (row[c] * std::cos(a) + row[b] * std::sin(a));
    }
  for (double &element : y)
    element *= 2; // the model's last op
  return y;
}

// Eight tokens before and eight after what f32 counts one by one, what i32
// counts, what u32 counts, and up to the last position.
TEST(RotaryKernels, TurnByExactAnglesAtAnyPosition) {
  double worst = 0, worstOfAll = 0;
  for (auto [seed, s] : llvm::enumerate(kShapes)) {
    SCOPED_TRACE(nameOf(s));
    if (s.rows)
      continue; // frequencies for some positions alone
    Compiled c(s, 100 + seed);
    for (int64_t far :
         {int64_t(1000), int64_t(1) << 24, int64_t(3) << 25, int64_t(1) << 31,
          int64_t(1) << 32, (int64_t(1) << 44) - 8, (int64_t(1) << 48) - 8}) {
      int64_t start = far - 8;
      std::vector<int32_t> tokens = c.pickTokens(16);
      std::vector<float> found = c.outputs(tokens, start);
      ASSERT_EQ(found.size(), size_t(16 * s.outputs()));
      double largest = 0;
      for (int64_t t = 0; t < 16; ++t) {
        int64_t position = s.last ? std::min(start + t, s.last) : start + t;
        std::vector<double> expected =
            turned(s, &c.weights["table"][tokens[t] * s.H * s.K],
                   c.weights["f"], position);
        for (int64_t i = 0; i < s.outputs(); ++i)
          largest =
              std::fmax(largest, std::isnan(found[t * s.outputs() + i])
                                     ? INFINITY
                                     : std::fabs(found[t * s.outputs() + i] -
                                                 expected[i]));
      }
      // Numbers of at most 2, turned, times at most 1.5 and 2: an angle that is
      // off by 6e-7 moves them by 5e-6.
      EXPECT_LE(largest, far <= int64_t(1) << 44 ? 1e-5 : 2e-5) << "at " << far;
      (far <= int64_t(1) << 44 ? worst : worstOfAll) =
          std::fmax(far <= int64_t(1) << 44 ? worst : worstOfAll, largest);
    }
  }
  std::printf("largest distance %.1e, at the last positions %.1e\n", worst,
              worstOfAll);
}

} // namespace
