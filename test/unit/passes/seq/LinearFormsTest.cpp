// The forms of a linear recurrence against values computed elsewhere.
//
// T, K, V = 6, 3, 2, one head, state 0:
//   q[t,i] = sin(0.3 + 0.7 t + 1.1 i), k[t,i] = cos(0.2 + 0.5 t + 0.9 i),
//   v[t,i] = sin(0.1 + 0.4 t - 0.6 i), log-decay g[t] = -0.1 (1 + t mod 3)
// with q scaled by K^-0.5. The expected numbers were computed in float64 from
// the recurrence by an independent program.
#include "passes/seq/LinearForms.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

using BuildForm =
    std::function<LinearResult(OpBuilder &, Location, const LinearTokens &)>;

constexpr int64_t T = 6, K = 3, V = 2;

// A function of query, key, value, log-decay and state that computes a form.
void buildFunction(Program &program, const BuildForm &buildForm) {
  OpBuilder builder(program.getModule().getBodyRegion());
  Location loc = builder.getUnknownLoc();
  auto tensor = [&](ArrayRef<int64_t> shape) -> Type {
    return RankedTensorType::get(shape, builder.getF32Type());
  };
  Type read = tensor({T, 1, 1, V}), state = tensor({1, 1, K, V});
  auto function = func::FuncOp::create(
      builder, loc, "form",
      builder.getFunctionType({tensor({T, 1, K}), tensor({T, 1, K}), read,
                               tensor({T, 1, 1}), state},
                              {read, state}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto arguments = function.getArguments();
  LinearResult result = buildForm(
      builder, loc,
      {arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]});
  func::ReturnOp::create(builder, loc, ValueRange{result.read, result.state});
  ASSERT_TRUE(succeeded(verify(program.getModule())))
      << program.getDiagnostics().str();
}

std::vector<Datum<double>> inputs(bool decays) {
  Tensor<double> query({T, 1, K}), key({T, 1, K}), value({T, 1, 1, V}),
      logDecay({T, 1, 1});
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t i = 0; i < K; ++i) {
      query(t, 0, i) = std::sin(0.3 + 0.7 * t + 1.1 * i) / std::sqrt(3.0);
      key(t, 0, i) = std::cos(0.2 + 0.5 * t + 0.9 * i);
    }
    for (int64_t i = 0; i < V; ++i)
      value(t, 0, 0, i) = std::sin(0.1 + 0.4 * t - 0.6 * i);
    logDecay(t, 0, 0) = decays ? -0.1 * (1 + t % 3) : 0.0;
  }
  return {query, key, value, logDecay, Tensor<double>({1, 1, K, V})};
}

struct Expected {
  const char *name;
  bool decays;
  double last[2]; ///< read of the last token
  double sum;     ///< of all elements of read
};
constexpr Expected kExpected[] = {
    {"linear attention", false, {2.410564129, 2.447517526}, 11.050459472},
    {"decay per head", true, {1.884262090, 1.849873587}, 9.400303142}};

void expectValues(const BuildForm &buildForm) {
  for (const Expected &expected : kExpected) {
    SCOPED_TRACE(expected.name);
    Program program;
    buildFunction(program, buildForm);
    auto outputs = program.evaluate<double>(inputs(expected.decays));
    ASSERT_EQ(outputs.size(), 2u);
    const Tensor<double> &read = numbers(outputs[0]);
    EXPECT_NEAR(read(T - 1, 0, 0, 0), expected.last[0], 5e-10);
    EXPECT_NEAR(read(T - 1, 0, 0, 1), expected.last[1], 5e-10);
    double sum = 0;
    for (double element : read.elements())
      sum += element;
    EXPECT_NEAR(sum, expected.sum, 5e-10);
  }
}

TEST(LinearForms, Step) { expectValues(buildStepForm); }

TEST(LinearForms, Quadratic) { expectValues(buildQuadraticForm); }

// Every chunk: whole chunks alone, with tokens left, and longer than the
// tokens.
TEST(LinearForms, ChunkwiseForEveryChunk) {
  for (int64_t chunk = 1; chunk <= T + 1; ++chunk) {
    SCOPED_TRACE(chunk);
    expectValues(
        [&](OpBuilder &builder, Location loc, const LinearTokens &tokens) {
          return buildChunkwiseForm(builder, loc, tokens, chunk);
        });
  }
}

} // namespace
