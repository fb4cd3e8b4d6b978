// Compiled retrievals agree with the reference in double, and their bits do not
// depend on how tokens are packed, cut and dealt out.
//
// The model is one mixer between an embedding, whose table holds the operands
// of every token of the test, and a choice of rows, which leads its result out.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/MoreShapes.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTokens = 29;

using enum RetrievalMixer;

RetrievalCase memory(const char *weighting, int64_t H, int64_t S, int64_t D,
                     int64_t K) {
  return {Memory, weighting, "identity", false, kTokens, H, S, D, K, 0};
}
RetrievalCase experts(const char *weighting, const char *f, bool inside,
                      int64_t H, int64_t S, int64_t D, int64_t K) {
  return {Experts, weighting, f, inside, kTokens, H, S, D, K, 0};
}
RetrievalCase networks(const char *weighting, const char *f, int64_t S,
                       int64_t D, int64_t K, int64_t F) {
  return {Networks, weighting, f, false, kTokens, 1, S, D, K, F};
}

RetrievalCase inOrder(RetrievalCase c) {
  c.ordered = true;
  return c;
}

/// Keys, channels and choices below, at and above the 8 lanes of a vector, the
/// 16 experts, 24 units and 256 channels of an item; lists that a row of keys
/// does not fill, and rows of scores that are no whole vectors.
const RetrievalCase kListed[] = {
    memory("softmax", 3, 7, 5, 4),
    memory("softmax_all", 1, 8, 16, 9),
    memory("sigmoid", 2, 3, 257, 5),
    memory("relu", 5, 16, 33, 1),
    memory("score", 4, 20, 512, 17),
    memory("softmax", 1, 64, 300, 33),
    memory("softmax_all", 2, 100, 64, 8),
    memory("softmax", 3, 4, 20, 16),
    experts("softmax", "gelu", false, 3, 7, 5, 4),
    experts("score", "silu", true, 4, 9, 16, 8),
    experts("softmax", "silu", false, 1, 20, 100, 33),
    experts("relu", "gelu", false, 8, 16, 20, 1),
    experts("softmax_all", "gelu_tanh", false, 2, 3, 257, 8),
    experts("sigmoid", "relu", false, 5, 8, 64, 3),
    experts("softmax", "squared_relu", true, 2, 33, 12, 16),
    experts("score", "identity", false, 3, 2, 7, 4),
    networks("softmax", "silu", 7, 5, 2, 3),
    networks("softmax_all", "silu", 8, 16, 3, 24),
    networks("sigmoid", "gelu", 5, 25, 5, 8),
    networks("softmax", "gelu_tanh", 16, 48, 1, 33),
    networks("softmax", "relu", 3, 100, 2, 65),
    networks("score", "identity", 33, 20, 4, 16),
    networks("softmax_all", "sigmoid", 64, 7, 8, 1),
    networks("softmax", "squared_relu", 4, 257, 3, 20),
    networks("share", "silu", 9, 12, 4, 5),
    inOrder(networks("share", "silu", 7, 5, 2, 3)),
    inOrder(networks("share", "silu", 256, 16, 8, 24)),
    inOrder(networks("score", "silu", 33, 20, 1, 9)),
    inOrder(networks("softmax", "gelu", 5, 25, 5, 8)),
    inOrder(networks("softmax_all", "silu", 20, 11, 3, 4)),
};

std::vector<RetrievalCase> cases() {
  std::vector<RetrievalCase> all(std::begin(kListed), std::end(kListed));
  Random random(20261124);
  for (int64_t i = moreShapes(); i > 0; --i) {
    all.push_back(pickCase(random));
    all.back().T = kTokens;
  }
  return all;
}

std::string n(int64_t number) { return std::to_string(number); }

/// The model with tables of `element`.
std::string modelText(const RetrievalCase &c, const std::string &element) {
  int64_t width = c.scoresPerToken() + c.D;
  std::string table = tensorType({n(kTokens), n(width)}),
              packed = tensorType({"?", n(width)}),
              flat = tensorType({"?", n(c.scoresPerToken())}),
              out = tensorType({"?", n(c.D)});
  std::string text = "seq.weight @table source(\"table\") : " + table + "\n";
  std::string body = "  %table = seq.parameter @table : " + table + "\n";
  for (auto [i, shape] : llvm::enumerate(c.tables())) {
    std::string name = "p" + n(i),
                type = tensorType({n(shape.first), n(shape.second)}, element);
    text +=
        "seq.weight @" + name + " source(\"" + name + "\") : " + type + "\n";
    body += "  %" + name + " = seq.parameter @" + name + " : " + type + "\n";
  }
  auto slice = [&](int64_t offset, int64_t size) {
    return " = seq.slice %in {axis = 1 : i64, offset = " + n(offset) +
           " : i64, size = " + n(size) + " : i64} : " + packed + " -> " +
           tensorType({"?", n(size)}) + "\n";
  };
  body += "  %in = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
          ") -> " + packed + "\n  %x" + slice(c.scoresPerToken(), c.D);
  if (c.mixer == Networks)
    body += "  %scores" + slice(0, c.S) +
            (c.ordered ? "  %order" + slice(c.S, c.S) : "");
  else
    body += "  %flat" + slice(0, c.scoresPerToken()) +
            "  %scores = seq.reshape %flat : " + flat + " -> " +
            c.scoresType("?") + "\n";
  return text +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         out + " {\n" + body + "  %y = " + c.opText("?", element) +
         "\n  %out = seq.select_rows %y, %rows : (" + out +
         ", tensor<?xi32>) -> " + out + "\n  return %out : " + out + "\n}\n";
}

PipelineOptions smallEntries() {
  PipelineOptions options;
  options.prefillRows = {kTokens};
  options.decodeRows = {1, 8};
  return options;
}

class Retrieval {
public:
  Retrieval(const RetrievalCase &shape, const std::string &element,
            uint64_t seed)
      : shape(shape), model(modelText(shape, element)),
        runner(model, smallEntries(), /*slots=*/8) {
    Random random(seed);
    std::vector<float> &table = weights["table"];
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t i = 0; i < shape.scoresPerToken(); ++i)
        table.push_back(shape.drawScore(random));
      for (int64_t d = 0; d < shape.D; ++d)
        table.push_back(pickReal(random, -1, 1));
    }
    for (auto [i, size] : llvm::enumerate(shape.tables()))
      for (int64_t e = 0; e < size.first * size.second; ++e)
        weights["p" + n(i)].push_back(pickWeight(random));
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
  }

  std::vector<int32_t> allTokens() const {
    std::vector<int32_t> tokens(kTokens);
    std::iota(tokens.begin(), tokens.end(), 0);
    return tokens;
  }

  std::vector<double> expected() const {
    Tensor<int32_t> tokens({kTokens}, allTokens());
    std::vector<Datum<double>> results =
        model.evaluate({tokens, tokens}, weights);
    return std::get<Tensor<double>>(results[0]).elements().vec();
  }

  RetrievalCase shape;
  TestModel model;
  PlanRunner runner;
  llvm::StringMap<std::vector<float>> weights;
};

/// The largest difference in a token, relative to its largest number.
double worstError(ArrayRef<float> found, ArrayRef<double> expected,
                  int64_t width) {
  double worst = 0;
  for (size_t t = 0; t < expected.size(); t += width) {
    double difference = 0, magnitude = 0;
    for (int64_t d = 0; d < width; ++d) {
      double distance = std::fabs(found[t + d] - expected[t + d]);
      difference =
          std::isnan(distance) ? INFINITY : std::fmax(difference, distance);
      magnitude = std::fmax(magnitude, std::fabs(expected[t + d]));
    }
    if (difference > 0)
      worst = std::fmax(worst, difference / magnitude);
  }
  return worst;
}

TEST(RetrievalKernels, AgreeWithTheReferenceInEveryCall) {
  for (std::string element : {"f32", "bf16"}) {
    double worst = 0;
    const std::vector<RetrievalCase> all = cases();
    for (auto [seed, shape] : llvm::enumerate(all)) {
      SCOPED_TRACE(element + " tables, " + shape.text());
      Retrieval r(shape, element, seed);
      std::vector<int32_t> tokens = r.allTokens();
      std::vector<float> whole = r.runner.prefill(Segment{.tokens = tokens});
      double error = worstError(whole, r.expected(), shape.D);
      // Tables of bf16 hold numbers that bf16 has, and are computed with as
      // f32.
      EXPECT_LE(error, 1e-5);
      worst = std::fmax(worst, error);

      // The same bits in pieces, packed with others, dealt out, and decoded.
      auto rows = [&](int64_t from, int64_t to) {
        return std::vector<int32_t>(tokens.begin() + from, tokens.begin() + to);
      };
      std::vector<Segment> packed = {{.slot = 2, .tokens = rows(0, 1)},
                                     {.slot = 0, .tokens = rows(1, 9)},
                                     {.slot = 5, .tokens = rows(9, kTokens)}};
      EXPECT_EQ(r.runner.prefill(packed), whole);
      r.runner.parts = 7;
      EXPECT_EQ(r.runner.prefill(packed), whole);
      r.runner.parts = 1;
      std::vector<float> pieces =
          r.runner.prefill(Segment{.tokens = rows(0, 3)});
      llvm::append_range(pieces,
                         r.runner.prefill(Segment{.tokens = rows(3, 20)}));
      for (int64_t t = 20; t < 24; ++t)
        llvm::append_range(pieces,
                           r.runner.decode(Segment{.tokens = rows(t, t + 1)}));
      std::vector<Segment> batch;
      for (int32_t t = 24; t < kTokens; ++t)
        batch.push_back({.slot = t - 24, .tokens = rows(t, t + 1)});
      llvm::append_range(pieces, r.runner.decode(batch));
      EXPECT_EQ(pieces, whole);
    }
    std::printf("%s tables: largest relative error over %zu cases %.1e\n",
                element.c_str(), all.size(), worst);
  }
}

// A NaN score makes its token NaN and leaves the others as they are; the rows
// that are read stay inside of the table, which ends at a guard page.
TEST(RetrievalKernels, ANanStaysInItsToken) {
  for (RetrievalCase shape : {memory("sigmoid", 2, 11, 9, 5),
                              experts("softmax", "silu", false, 2, 9, 16, 10),
                              networks("softmax_all", "silu", 17, 8, 3, 4),
                              networks("share", "silu", 11, 7, 3, 5)}) {
    SCOPED_TRACE(shape.text());
    Retrieval r(shape, "f32", 1);
    std::vector<int32_t> tokens = r.allTokens();
    std::vector<float> before = r.runner.prefill(Segment{.tokens = tokens});
    int64_t width = shape.scoresPerToken() + shape.D;
    for (int64_t t : {3, 4})
      for (int64_t i = t == 3 ? 0 : shape.scoresPerToken() - 1;
           i < (t == 3 ? 1 : shape.scoresPerToken()); ++i)
        r.weights["table"][t * width + i] =
            std::numeric_limits<float>::quiet_NaN();
    r.runner.setWeight("table", r.weights["table"]);
    std::vector<float> after = r.runner.prefill(Segment{.tokens = tokens});
    for (int64_t t = 0; t < kTokens; ++t)
      for (int64_t d = 0; d < shape.D; ++d) {
        float found = after[t * shape.D + d];
        if (t == 3 || t == 4)
          EXPECT_TRUE(std::isnan(found)) << t << ", " << d;
        else
          EXPECT_EQ(found, before[t * shape.D + d]) << t << ", " << d;
      }
  }
}

//===- product keys -------------------------------------------------------===//

/// Heads, keys of a half and channels of half a query: below, at and above the
/// lanes of a vector and the outputs of an item.
struct KeyShape {
  int64_t H, S, K;
};
constexpr KeyShape kKeyShapes[] = {{1, 5, 3},   {3, 7, 5},  {2, 12, 8},
                                   {4, 24, 16}, {2, 25, 9}, {5, 13, 33},
                                   {1, 64, 20}, {8, 11, 4}};

/// Of whole calls and single rows, which have the same bits where `bitStable`;
/// the largest error.
double checkKeyScores(const KeyShape &s, const std::string &layout,
                      const std::string &element, bool bitStable) {
  int64_t Q = 2 * s.H * s.K, width = 2 * s.H * s.S;
  bool apart = layout == "head_half";
  std::string keys = tensorType(
      {n(apart ? width : s.H * s.S), n(apart ? s.K : 2 * s.K)}, element);
  std::string q = tensorType({"?", n(Q)}),
              table = tensorType({n(kTokens), n(Q)}),
              scores = tensorType({"?", "2", n(s.H), n(s.S)}),
              out = tensorType({"?", n(width)});
  TestModel model(
      "seq.weight @table source(\"table\") : " + table +
      "\nseq.weight @keys source(\"keys\") : " + keys +
      "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: "
      "tensor<?xi32>) -> " +
      out + " {\n  %table = seq.parameter @table : " + table +
      "\n  %keys = seq.parameter @keys : " + keys +
      "\n  %q = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
      ") -> " + q +
      "\n  %s = seq.key_scores %q, %keys {layout = #seq.key_layout<" + layout +
      ">} : (" + q + ", " + keys + ") -> " + scores +
      "\n  %flat = seq.reshape %s : " + scores + " -> " + out +
      "\n  %out = seq.select_rows %flat, %rows : (" + out +
      ", tensor<?xi32>) -> " + out + "\n  return %out : " + out + "\n}\n");
  PipelineOptions options = smallEntries();
  // A case that is written for a GPU keeps the default.
  options.bitStableOnGpu = bitStable && testTarget().simulated;
  PlanRunner runner(model, options, /*slots=*/8);
  Random random(s.S);
  llvm::StringMap<std::vector<float>> weights;
  for (int64_t i = 0; i < kTokens * Q; ++i)
    weights["table"].push_back(pickReal(random, -1, 1));
  for (int64_t i = 0; i < Q * s.S; ++i)
    weights["keys"].push_back(pickWeight(random));
  for (const auto &[name, elements] : weights)
    runner.setWeight(name, elements);
  std::vector<int32_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  Tensor<int32_t> all({kTokens}, tokens);
  std::vector<Datum<double>> results = model.evaluate({all, all}, weights);
  std::vector<float> whole = runner.prefill(Segment{.tokens = tokens});
  auto errorOf = [&](ArrayRef<float> found) {
    return worstError(found, std::get<Tensor<double>>(results[0]).elements(),
                      width);
  };
  std::vector<float> decoded;
  for (int32_t token : tokens)
    llvm::append_range(decoded, runner.decode(Segment{.tokens = {token}}));
  double error = std::fmax(errorOf(whole), errorOf(decoded));
  EXPECT_LE(error, 1e-5);
  // On a GPU a single row is added up in another order, if it may be.
  if (bitStable)
    EXPECT_EQ(decoded, whole);
  return error;
}

TEST(RetrievalKernels, KeyScoresAgreeInBothLayouts) {
  double worst = 0;
  for (const KeyShape &s : kKeyShapes)
    for (std::string layout : {"head_half", "half_head"})
      for (std::string element : {"f32", "bf16"}) {
        SCOPED_TRACE(layout + ", " + element + ", H,S,K = " + n(s.H) + "," +
                     n(s.S) + "," + n(s.K));
        worst = std::fmax(worst, checkKeyScores(s, layout, element, true));
        if (testTarget().simulated)
          worst = std::fmax(worst, checkKeyScores(s, layout, element, false));
      }
  std::printf("largest relative error %.1e\n", worst);
}

} // namespace
