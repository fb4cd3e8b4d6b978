// Mixers against numbers computed elsewhere, in their own definition and in
// every form.
//
// T, K, V = 6, 3, 2, one head, state 0; with t and i from 0:
//   q[t,i] = sin(0.3 + 0.7 t + 1.1 i)
//   k[t,i] = cos(0.2 + 0.5 t + 0.9 i)
//   v[t,i] = sin(0.1 + 0.4 t - 0.6 i)
//   g[t] = -0.1 (1 + t mod 3), or g[t,i] = -0.05 (1 + (t + i) mod 4)
//   beta[t] = 0.5 + 0.1 (t mod 4)
//   u[i] = 0.3 - 0.2 i
//   al[t,i] = 0.2 + 0.1 ((t + 2 i) mod 5)
//   kn = k over the root of the sum of its squares and 1e-6, qn likewise
// The expected numbers were computed in float64 from the recurrences by an
// independent program.
#include "passes/seq/Passes.h"
#include "test/unit/contract/LinearCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using effc::test::tensorType;

namespace {

constexpr int64_t T = 6, K = 3, V = 2;

/// An element of an operand of shape T,1,N or, for parameters, 1,N or 1.
using Formula = std::function<double(int64_t t, int64_t i)>;

double q(int64_t t, int64_t i) { return std::sin(0.3 + 0.7 * t + 1.1 * i); }
double k(int64_t t, int64_t i) { return std::cos(0.2 + 0.5 * t + 0.9 * i); }
double v(int64_t t, int64_t i) { return std::sin(0.1 + 0.4 * t - 0.6 * i); }
double scalarDecay(int64_t t, int64_t) { return -0.1 * (1 + t % 3); }
double channelDecay(int64_t t, int64_t i) { return -0.05 * (1 + (t + i) % 4); }
double beta(int64_t t, int64_t) { return 0.5 + 0.1 * (t % 4); }
double bonus(int64_t, int64_t i) { return 0.3 - 0.2 * i; }
double rate(int64_t t, int64_t i) { return 0.2 + 0.1 * ((t + 2 * i) % 5); }
double unitKey(int64_t t, int64_t i) {
  double squares = 1e-6;
  for (int64_t j = 0; j < K; ++j)
    squares += k(t, j) * k(t, j);
  return k(t, i) / std::sqrt(squares);
}
double unitQuery(int64_t t, int64_t i) {
  double squares = 1e-6;
  for (int64_t j = 0; j < K; ++j)
    squares += q(t, j) * q(t, j);
  return q(t, i) / std::sqrt(squares);
}
double zero(int64_t, int64_t) { return 0; }
double weight(int64_t t, int64_t) { return 0.5 + 0.25 * t; }
double bias(int64_t t, int64_t) { return 0.01 * t; }
double inputGate(int64_t t, int64_t) { return 2 * std::sin(t); }
double forgetGate(int64_t t, int64_t) { return 1 + std::cos(t); }
Formula constant(double number) {
  return [=](int64_t, int64_t) { return number; };
}
Formula firstOf(Formula f) {
  return [=](int64_t t, int64_t) { return f(t, 0); };
}

/// Gates that give log-decays `g`.
Formula beforeSigmoid(Formula g, double scale = 1) {
  return [=](int64_t t, int64_t i) {
    double sigmoid = scale == 1 ? std::exp(g(t, i)) : g(t, i) / scale;
    return std::log(sigmoid / (1 - sigmoid));
  };
}
Formula beforeSoftplus(Formula g) {
  return [=](int64_t t, int64_t i) { return std::log(std::expm1(-g(t, i))); };
}
Formula logOfMinus(Formula g) {
  return [=](int64_t t, int64_t i) { return std::log(-g(t, i)); };
}

struct Operand {
  std::vector<int64_t> shape;
  Formula formula;
  bool isPositions = false; // i32: the token's number
};
const Operand positions = {{T}, nullptr, /*isPositions=*/true};
Operand keys(Formula f) { return {{T, 1, K}, f}; }
Operand values(Formula f) { return {{T, 1, V}, f}; }
Operand heads(Formula f) { return {{T, 1}, f}; }

struct Spot {
  std::string name, op, attributes;
  std::vector<Operand> operands; ///< without the states
  double last[2];                ///< y of the last token
  double sum;                    ///< of all elements of y
  /// Shapes of the states, all 0 before the first token.
  std::vector<std::vector<int64_t>> states = {{1, K, V}};
};

const std::vector<Spot> &spots() {
  static const std::string scale = "scale = 0.57735026918962573 : f64";
  static const std::vector<Spot> all = {
      {"LinearAttention",
       "linear_attention",
       scale,
       {keys(q), keys(k), values(v)},
       {2.410564129, 2.447517526},
       11.050459472},
      {"DecayPerHead",
       "gated_retention",
       scale + ", temperature = 1.0 : f64",
       {keys(q), keys(k), values(v), heads(beforeSigmoid(scalarDecay))},
       {1.884262090, 1.849873587},
       9.400303142},
      {"DecayPerKeyChannel",
       "gated_linear_attention",
       scale + ", temperature = 1.0 : f64, "
               "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>",
       {keys(q), keys(k), values(v), keys(beforeSigmoid(channelDecay))},
       {2.115118118, 2.090018829},
       10.025277568},
      {"Rwkv6",
       "rwkv6",
       "",
       {keys(q),
        keys(k),
        values(v),
        keys(logOfMinus(channelDecay)),
        {{1, K}, bonus}},
       {2.999523070, 2.711831625},
       10.848410592},
      {"DeltaNet",
       "delta_rule",
       scale,
       {keys(unitQuery), keys(unitKey), values(v), heads(beta)},
       {0.491410778, 0.515227877},
       3.010164261},
      {"GatedDeltaNet",
       "gated_delta_rule",
       scale,
       {keys(unitQuery),
        keys(unitKey),
        values(v),
        heads(beta),
        heads(beforeSoftplus(scalarDecay)),
        {{1}, zero},
        {{1}, zero}},
       {0.431110085, 0.456934946},
       2.778648183},
      {"KimiDeltaAttention",
       "kimi_delta_attention",
       scale,
       {keys(unitQuery),
        keys(unitKey),
        values(v),
        heads(beta),
        keys(beforeSoftplus(channelDecay)),
        {{1}, zero},
        {{1, K}, zero}},
       {0.455307005, 0.481215395},
       2.847548768},
      {"Rwkv7",
       "rwkv7",
       "",
       {keys(q), keys(beforeSigmoid(channelDecay, -std::exp(-0.5))), keys(k),
        values(v), keys(unitKey), keys(rate)},
       {2.422896611, 2.584559892},
       13.406389043},
      {"Hgrn2",
       "hgrn2",
       scale,
       {keys(q), keys(beforeSigmoid(channelDecay)), values(v), {{1, K}, zero}},
       {-0.423409382, -0.271818059},
       -1.053582393},
      // Gates by the first channels of q and k, rate softplus(-2), the state
      // forgotten at the first token.
      {"Hawk",
       "rg_lru",
       "",
       {values(v),
        values(firstOf(q)),
        values(firstOf(k)),
        positions,
        {{1, V}, constant(-2)}},
       {0.657101862, 0.501404301},
       3.636355843,
       {{1, 1, V}}},
      // A weight 0.5 + 0.25 t of sources or of targets, a bias 0.01 t, a decay
      // of 0.95 per token.
      {"RowRepeat",
       "structured_recurrence",
       "operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1, 1>",
       {values(v), heads(weight), heads(bias), {{1}, constant(std::log(0.95))}},
       {5.063853654, 3.799245053},
       19.081241804,
       {{1, 1, V}}},
      {"ColumnRepeat",
       "structured_recurrence",
       "operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 1, 1>",
       {values(v), heads(weight), heads(bias), {{1}, constant(std::log(0.95))}},
       {6.724939951, 3.946610890},
       21.705416503,
       {{1, 1, V}}},
      // Input gates 2 sin t and forget gates 1 + cos t before their functions.
      {"Mlstm",
       "mlstm",
       scale + ", eps = 1.0e-6 : f64",
       {keys(q), keys(k), values(v), heads(inputGate), heads(forgetGate)},
       {0.959737450, 0.703744750},
       4.546666488,
       {{1, K, V}, {1, K}, {1}}},
  };
  return all;
}

Tensor<double> tensorOf(const Operand &operand) {
  Tensor<double> tensor(operand.shape);
  int64_t channels = operand.shape.back();
  bool perToken = operand.shape.front() == T;
  // Of T,1 and of 1 the last dimension counts no channels.
  if (operand.shape.size() < 3 && perToken)
    channels = 1;
  for (int64_t at = 0; at < tensor.size(); ++at)
    tensor.elements()[at] =
        operand.formula(perToken ? at / channels : 0, at % channels);
  return tensor;
}

class SpotValues : public testing::TestWithParam<size_t> {};

void expectValues(const Spot &spot, Program &program,
                  const std::vector<Datum<double>> &inputs) {
  auto outputs = program.evaluate<double>(inputs);
  ASSERT_EQ(outputs.size(), 1 + spot.states.size());
  const Tensor<double> &y = numbers(outputs[0]);
  EXPECT_NEAR(y(T - 1, 0, 0), spot.last[0], 1e-9);
  EXPECT_NEAR(y(T - 1, 0, 1), spot.last[1], 1e-9);
  double sum = 0;
  for (double element : y.elements())
    sum += element;
  EXPECT_NEAR(sum, spot.sum, 1e-9);
}

TEST_P(SpotValues, HoldInEveryForm) {
  const Spot &spot = spots()[GetParam()];
  std::vector<Datum<double>> inputs;
  std::string arguments, names, types;
  auto take = [&](const std::vector<int64_t> &shape, Datum<double> datum,
                  const std::string &element = "f32") {
    std::string name = "%a" + std::to_string(inputs.size());
    std::string comma = inputs.empty() ? "" : ", ";
    arguments += comma + name + ": " + tensorType(shape, element);
    names += comma + name;
    types += comma + tensorType(shape, element);
    inputs.push_back(std::move(datum));
  };
  for (const Operand &operand : spot.operands) {
    if (operand.isPositions)
      take({T}, Tensor<int32_t>({T}, {0, 1, 2, 3, 4, 5}), "i32");
    else
      take(operand.shape, tensorOf(operand));
  }
  std::string results = tensorType({T, 1, V}), returned = "%r#0";
  for (auto [i, state] : llvm::enumerate(spot.states)) {
    take(state, Tensor<double>(state));
    results += ", " + tensorType(state);
    returned += ", %r#" + std::to_string(i + 1);
  }
  Program program("func.func @mixer(" + arguments + ") -> (" + results +
                  ") {\n  %r:" + std::to_string(1 + spot.states.size()) +
                  " = \"seq." + spot.op + "\"(" + names + ") {" +
                  spot.attributes + "} : (" + types + ") -> (" + results +
                  ")\n  return " + returned + " : " + results + "\n}\n");
  ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
  {
    SCOPED_TRACE("definition");
    expectValues(spot, program, inputs);
  }
  for (auto [form, chunk] : {std::pair(FormChoice::Step, 0),
                             {FormChoice::Quadratic, 0},
                             {FormChoice::Chunkwise, 1},
                             {FormChoice::Chunkwise, 4},
                             {FormChoice::Chunkwise, 7}}) {
    SCOPED_TRACE("form " + std::to_string(int(form)) +
                 ", C = " + std::to_string(chunk));
    Program derived(program);
    PassManager manager(derived.getContext());
    manager.addPass(createExpandFormPass({form, chunk}));
    ASSERT_TRUE(succeeded(manager.run(derived.getModule())));
    expectValues(spot, derived, inputs);
  }
}

INSTANTIATE_TEST_SUITE_P(Mixers, SpotValues,
                         testing::Range<size_t>(0, spots().size()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return spots()[info.param].name;
                         });

} // namespace
