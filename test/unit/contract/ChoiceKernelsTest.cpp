// The largest number of each row, found by the kernel that computes the rows,
// is the first of the largest by the formula; what an entry gives as choices is
// what its logits say, and what is drawn with noise is what the runtime's
// sampler draws from them.
//
// Tokens and weights are multiples of 1/4 up to 1, of which an f32 holds every
// sum of 40 products: results are exact on any device, and ties are plentiful.
#include "runtime/src/Sampler.h"
#include "test/unit/codegen/host/PlanRunner.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace effc;
using namespace effc::test;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTokens = 150; // rows of the table
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kMost = 1.25; // where logits end, in models that bound them

struct Case {
  int64_t width, vocabulary;
  bool isBounded = false, narrow = true;
  bool selects = true; // rows before the head, else it has all of them
};

// Below a tile, a tile and a bit, several; with a single row a GPU takes 64
// outputs an item, 32 at a time for 128 channels and all at once for 40. Of the
// last one's prefill four warps multiply together where they can.
constexpr Case kCases[] = {{40, 7},
                           {128, 70},
                           {40, 333, true},
                           {192, 97, true, false},
                           {128, 200, false, false},
                           {128, 331, true, true, false}};

std::string tensor(int64_t rows, int64_t columns, const char *type = "f32") {
  return "tensor<" + (rows < 0 ? "?" : std::to_string(rows)) + "x" +
         std::to_string(columns) + "x" + type + ">";
}

enum class Gives { Logits, Best, Drawn };

/// An embedding and a head, and the choice from its logits where it is wanted.
std::string modelText(const Case &c, Gives gives) {
  std::string x = tensor(-1, c.width), y = tensor(-1, c.vocabulary),
              table = tensor(kTokens, c.width),
              w = tensor(c.vocabulary, c.width, c.narrow ? "bf16" : "f32");
  std::string last = "%y", type = y, text, rows, head = "%e";
  if (c.selects) {
    rows = "  %x = seq.select_rows %e, %rows : (" + x + ", tensor<?xi32>) -> " +
           x + "\n";
    head = "%x";
  }
  if (c.isBounded) {
    text += "  %b = seq.clamp %y {upper = " + std::to_string(kMost) +
            " : f64} : " + y + "\n";
    last = "%b";
  }
  std::string draws, argument;
  if (gives == Gives::Drawn) {
    argument = ", %draws: tensor<?x4xi32>";
    draws = " draws(%draws : tensor<?x4xi32>)";
  }
  if (gives != Gives::Logits) {
    type = tensor(-1, 2);
    text +=
        "  %c = seq.best " + last + draws + " : " + y + " -> " + type + "\n";
    last = "%c";
  }
  return "seq.weight @table source(\"table\") : " + table +
         "\nseq.weight @w source(\"w\") : " + w +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>" +
         argument + ") -> " + type +
         " {\n  %table = seq.parameter @table : " + table +
         "\n  %w = seq.parameter @w : " + w +
         "\n  %e = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + x + "\n" + rows + "  %y = seq.lm_head " + head + ", %w : (" +
         x + ", " + w + ") -> " + y + "\n" + text + "  return " + last + " : " +
         type + "\n}\n";
}

class Chooser {
public:
  Chooser(const Case &c, Gives gives)
      : c(c), gives(gives), model(modelText(c, gives)) {
    std::mt19937_64 random(c.width * 1000 + c.vocabulary);
    std::uniform_int_distribution<int> quarters(-4, 4);
    auto fill = [&](int64_t rows) {
      std::vector<float> numbers(rows * c.width);
      for (float &number : numbers)
        number = quarters(random) / 4.0f;
      return numbers;
    };
    table = fill(kTokens);
    w = fill(c.vocabulary);
  }

  PlanRunner compile() {
    PipelineOptions options;
    options.prefillRows = {gives == Gives::Drawn ? 1 : kTokens};
    options.decodeRows = {1, 3, 20};
    PlanRunner runner(model, options, /*slots=*/1);
    runner.setWeight("table", table);
    runner.setWeight("w", w);
    return runner;
  }

  float logit(int64_t token, int64_t id) const {
    double sum = 0;
    for (int64_t i = 0; i < c.width; ++i)
      sum += double(table[token * c.width + i]) * w[id * c.width + i];
    return static_cast<float>(c.isBounded && sum > kMost ? kMost : sum);
  }

  /// The largest logit of each token, no number where one is, and its id; with
  /// draws, of each token one, the largest sum with noise.
  std::vector<float>
  expected(llvm::ArrayRef<int32_t> tokens,
           llvm::ArrayRef<artifact::DrawRecord> draws = {}) const {
    std::vector<float> choices;
    for (auto [i, token] : llvm::enumerate(tokens)) {
      float best = -kInfinity;
      int64_t number = 0;
      for (int64_t id = 0; id < c.vocabulary; ++id) {
        float y = logit(token, id);
        if (!draws.empty()) {
          rt::Noise noise = {draws[i].key(), draws[i].counter()};
          y = y * draws[i].scale() + draws[i].amount() * noise.at(id);
        }
        if (!std::isnan(best) && (y > best || std::isnan(y))) {
          best = y;
          number = id;
        }
      }
      choices.push_back(best);
      choices.push_back(static_cast<float>(number));
    }
    return choices;
  }

  Case c;
  Gives gives;
  TestModel model;
  std::vector<float> table, w;
};

void expectSame(llvm::ArrayRef<float> found, llvm::ArrayRef<float> expected,
                llvm::StringRef what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << what.str() << ", number " << i;
    else
      EXPECT_EQ(found[i], expected[i]) << what.str() << ", number " << i;
}

std::vector<int32_t> tokensFrom(int32_t first, int64_t count) {
  std::vector<int32_t> tokens(count);
  for (int64_t i = 0; i < count; ++i)
    tokens[i] = static_cast<int32_t>((first + 7 * i) % kTokens);
  return tokens;
}

// One token each of so many sequences; without states they share a slot.
std::vector<Segment> oneEach(llvm::ArrayRef<int32_t> tokens) {
  std::vector<Segment> call;
  for (int32_t token : tokens)
    call.push_back({.slot = 0, .tokens = {token}});
  return call;
}

/// Samplers of several temperatures, among them 0 in every third row, and of
/// seeds and numbers of draws that differ.
std::vector<rt::Sampler> samplersFor(int64_t rows, int64_t vocabulary) {
  std::vector<rt::Sampler> samplers;
  for (int64_t i = 0; i < rows; ++i) {
    effc_sampler_options_t options = effc_sampler_options_default();
    options.temperature = i % 3 == 1 ? 0 : 0.3f + 0.17f * i;
    options.seed = 1000003 * i + 7;
    auto made = rt::Sampler::create(options, vocabulary);
    rt::Sampler sampler = std::move(*made);
    for (int64_t draw = 0; draw < i % 4; ++draw)
      sampler.nextDraw();
    samplers.push_back(std::move(sampler));
  }
  return samplers;
}

std::vector<artifact::DrawRecord>
nextDraws(llvm::MutableArrayRef<rt::Sampler> samplers) {
  std::vector<artifact::DrawRecord> records;
  for (rt::Sampler &sampler : samplers) {
    rt::Draw draw = sampler.nextDraw();
    records.emplace_back(draw.scale, draw.amount, draw.noise.key,
                         draw.noise.counter);
  }
  return records;
}

class ChoiceKernels : public testing::TestWithParam<Case> {};

TEST_P(ChoiceKernels, AreTheFirstOfTheLargest) {
  Chooser chooser(GetParam(), Gives::Best);
  PlanRunner runner = chooser.compile();
  ASSERT_EQ(chooser.model.getErrors(), "");
  // 5 of an entry's 20 rows, and all of them.
  for (int64_t count : {1, 3, 5, 20}) {
    std::vector<int32_t> tokens = tokensFrom(11, count);
    expectSame(runner.decode(oneEach(tokens)), chooser.expected(tokens),
               "decode of " + std::to_string(count));
  }
  std::vector<int32_t> tokens = tokensFrom(2, 77);
  expectSame(runner.prefill({{.slot = 0, .tokens = tokens}}),
             chooser.expected(tokens), "prefill");
}

// Bit by bit, value and token: rounded as the runtime rounds.
TEST_P(ChoiceKernels, DrawWithNoise) {
  Chooser chooser(GetParam(), Gives::Drawn);
  PlanRunner runner = chooser.compile();
  ASSERT_EQ(chooser.model.getErrors(), "");
  bool differs = false; // from the likeliest
  for (int64_t count : {1, 3, 20}) {
    std::vector<int32_t> tokens = tokensFrom(11, count);
    runner.draws.clear();
    std::vector<float> best = chooser.expected(tokens);
    expectSame(runner.decode(oneEach(tokens)), best,
               "the likeliest of " + std::to_string(count));
    auto samplers = samplersFor(count, chooser.c.vocabulary);
    runner.draws = nextDraws(samplers);
    std::vector<float> drawn = chooser.expected(tokens, runner.draws);
    expectSame(runner.decode(oneEach(tokens)), drawn,
               "drawn of " + std::to_string(count));
    for (int64_t i = 0; i < count; ++i)
      differs |= best[2 * i + 1] != drawn[2 * i + 1];
  }
  EXPECT_TRUE(differs);
}

// No numbers among the weights: the first id of such a logit. Below minus
// infinity there is nothing to choose.
TEST_P(ChoiceKernels, ShowWhatIsNoNumber) {
  Chooser chooser(GetParam(), Gives::Best);
  int64_t width = chooser.c.width;
  for (int64_t id : {chooser.c.vocabulary - 1, int64_t(5)})
    chooser.w[id * width + 3] = std::nanf("");
  PlanRunner runner = chooser.compile();
  ASSERT_EQ(chooser.model.getErrors(), "");
  for (int64_t count : {1, 4}) {
    std::vector<int32_t> tokens = tokensFrom(31, count);
    std::vector<float> found = runner.decode(oneEach(tokens));
    expectSame(found, chooser.expected(tokens),
               "decode of " + std::to_string(count));
    EXPECT_EQ(found[1], 5);
  }
}

// What an entry computes of its own for callers that want no logits.
TEST_P(ChoiceKernels, AreWhatTheLogitsSay) {
  if (testTarget().device != tile::Device::Nvptx)
    GTEST_SKIP() << "the host's entries give logits alone";
  Chooser chooser(GetParam(), Gives::Logits);
  PlanRunner runner = chooser.compile();
  ASSERT_EQ(chooser.model.getErrors(), "");
  for (int64_t count : {1, 2, 20}) {
    std::vector<int32_t> tokens = tokensFrom(3, count);
    runner.draws.clear();
    expectSame(runner.choose(oneEach(tokens)), chooser.expected(tokens),
               "choices of " + std::to_string(count));
    std::vector<float> logits;
    for (int32_t token : tokens)
      for (int64_t id = 0; id < chooser.c.vocabulary; ++id)
        logits.push_back(chooser.logit(token, id));
    expectSame(runner.decode(oneEach(tokens)), logits,
               "logits of " + std::to_string(count));
    // The tokens that samplers draw from these are those drawn without them.
    auto samplers = samplersFor(count, chooser.c.vocabulary),
         same = samplersFor(count, chooser.c.vocabulary);
    runner.draws = nextDraws(same);
    std::vector<float> drawn = runner.choose(oneEach(tokens));
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(*samplers[i].sample(llvm::ArrayRef(logits).slice(
                    i * chooser.c.vocabulary, chooser.c.vocabulary)),
                drawn[2 * i + 1])
          << "row " << i << " of " << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, ChoiceKernels, testing::ValuesIn(kCases),
                         [](const auto &info) {
                           return std::to_string(info.param.width) + "to" +
                                  std::to_string(info.param.vocabulary);
                         });

// Rows that lie in memory, of which an item looks at 2048 numbers together.
TEST(BestOfRows, AreTheFirstOfTheLargest) {
  for (int64_t width : {5, 2048, 5000}) {
    std::string x = tensor(-1, width), table = tensor(3, width),
                y = tensor(-1, 2);
    TestModel model(
        "seq.weight @table source(\"table\") : " + table +
        "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, "
        "%draws: tensor<?x4xi32>) -> " +
        y + " {\n  %table = seq.parameter @table : " + table +
        "\n  %e = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
        ") -> " + x + "\n  %x = seq.select_rows %e, %rows : (" + x +
        ", tensor<?xi32>) -> " + x +
        "\n  %y = seq.best %x draws(%draws : tensor<?x4xi32>) : " + x + " -> " +
        y + "\n  return %y : " + y + "\n}\n");
    PipelineOptions options;
    options.prefillRows = {4};
    options.decodeRows = {1};
    PlanRunner runner(model, options, /*slots=*/1);
    ASSERT_EQ(model.getErrors(), "");
    // The largest number twice, at the end and before it; nothing but minus
    // infinity; no number twice.
    std::vector<float> rows(3 * width, -kInfinity);
    std::iota(rows.begin(), rows.begin() + width, -3.0f);
    rows[width - 3] = rows[width - 1];
    rows[2 * width + 1] = 7;
    rows[2 * width + 2] = rows[3 * width - 1] = std::nanf("");
    runner.setWeight("table", rows);
    float largest = rows[width - 1];
    expectSame(runner.prefill({{.slot = 0, .tokens = {2, 0, 1, 0}}}),
               {std::nanf(""), 2, largest, float(width - 3), -kInfinity, 0,
                largest, float(width - 3)},
               "rows of " + std::to_string(width));
    expectSame(runner.decode({{.slot = 0, .tokens = {2}}}), {std::nanf(""), 2},
               "a row of " + std::to_string(width));
    // With noise, whose sums are those of the largest at both ends.
    std::vector<float> drawn;
    for (uint32_t i = 0; i < 4; ++i) {
      const auto &draw = runner.draws.emplace_back(i == 2 ? 1.0f : 6.0f / width,
                                                   i != 2, 5 * i + 1, 77 - i);
      float best = -kInfinity, number = 0;
      for (int64_t id = 0; id < width; ++id)
        if (float sum =
                rows[id] * draw.scale() +
                draw.amount() * rt::Noise{draw.key(), draw.counter()}.at(id);
            sum > best) {
          best = sum;
          number = static_cast<float>(id);
        }
      drawn.insert(drawn.end(), {best, number});
    }
    expectSame(runner.prefill({{.slot = 0, .tokens = {0, 0, 0, 0}}}), drawn,
               "draws from rows of " + std::to_string(width));
  }
}

// Sums by an independent program in 30 digits (mpmath).
TEST(BestOfRows, AreDrawnByTheDefinition) {
  TestModel model(R"(
func.func @forward(%x: tensor<2x3xf32>, %d: tensor<2x4xi32>) -> tensor<2x2xf32> {
  %y = seq.best %x draws(%d : tensor<2x4xi32>) : tensor<2x3xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
})");
  using seq::reference::Tensor;
  // Scales of 0.5 and 2, noise once, and key and counter.
  auto results = model.evaluate(
      {Tensor<double>({2, 3}, {1, -2, 0.5, 0.25, 3, -1}),
       Tensor<int32_t>({2, 4}, {1056964608, 1065353216, 0, 0, 1073741824,
                                1065353216, 320440878, -2052912941})},
      {});
  const auto &y = std::get<Tensor<double>>(results.at(0));
  EXPECT_NEAR(y(0, 0), 0.87649257022482343, 1e-14);
  EXPECT_EQ(y(0, 1), 0);
  EXPECT_NEAR(y(1, 0), 6.0705851262770434, 1e-14);
  EXPECT_EQ(y(1, 1), 1);
}

} // namespace
