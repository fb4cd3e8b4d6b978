// The forms of a retrieval agree with its definition, on random shapes.
//
// The reference evaluates each mixer from its definition, by scoring all rows;
// each form is what seq-expand-form makes of a copy.
#include "passes/seq/Passes.h"
#include "test/unit/contract/RetrievalCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using namespace effc::test;

namespace {

std::string programText(const RetrievalCase &c, int64_t tokens) {
  std::string t = std::to_string(tokens), d = std::to_string(c.D);
  std::string arguments = "%scores: " + c.scoresType(t);
  if (c.ordered)
    arguments += ", %order: " + c.scoresType(t);
  if (c.readsTokens())
    arguments += ", %x: " + tensorType({t, d});
  for (auto [i, table] : llvm::enumerate(c.tables()))
    arguments +=
        ", %p" + std::to_string(i) + ": " +
        tensorType({std::to_string(table.first), std::to_string(table.second)});
  return "func.func @f(" + arguments + ") -> " + tensorType({t, d}) +
         " {\n  %y = " + c.opText(t, "f32") +
         "\n  return %y : " + tensorType({t, d}) + "\n}\n";
}

Tensor<double> pickTensor(std::vector<int64_t> shape,
                          const std::function<float()> &number) {
  Tensor<double> tensor(shape);
  for (double &element : tensor.elements())
    element = number();
  return tensor;
}

std::vector<Datum<double>> pickInputs(Random &random, const RetrievalCase &c) {
  auto score = [&] { return c.drawScore(random); };
  auto real = [&] { return float(pickReal(random, -1, 1)); };
  std::vector<Datum<double>> inputs;
  for (int i = 0; i < (c.ordered ? 2 : 1); ++i)
    inputs.push_back(c.mixer == RetrievalMixer::Networks
                         ? pickTensor({c.T, c.S}, score)
                         : pickTensor({c.T, 2, c.H, c.S}, score));
  if (c.readsTokens())
    inputs.push_back(pickTensor({c.T, c.D}, real));
  for (auto [rows, columns] : c.tables())
    inputs.push_back(pickTensor({rows, columns}, real));
  return inputs;
}

/// The inputs with tokens [from, to) of those that have any.
std::vector<Datum<double>> piece(const RetrievalCase &c,
                                 std::vector<Datum<double>> inputs,
                                 int64_t from, int64_t to) {
  for (int i = 0; i < 1 + c.readsTokens() + c.ordered; ++i) {
    const Tensor<double> &whole = numbers(inputs[i]);
    SmallVector<int64_t> shape(whole.getShape());
    int64_t width = whole.size() / shape[0];
    shape[0] = to - from;
    inputs[i] = Tensor<double>(
        shape, whole.elements().slice(from * width, (to - from) * width).vec());
  }
  return inputs;
}

std::vector<Datum<float>> toFloat(const std::vector<Datum<double>> &inputs) {
  std::vector<Datum<float>> floats;
  for (const Datum<double> &input : inputs) {
    const Tensor<double> &tensor = numbers(input);
    floats.push_back(Tensor<float>(
        tensor.getShape(), std::vector<float>(tensor.elements().begin(),
                                              tensor.elements().end())));
  }
  return floats;
}

Program expanded(const Program &program, FormChoice form, int64_t chunk) {
  Program copy(program);
  PassManager manager(copy.getContext());
  manager.addPass(createExpandFormPass({form, chunk}));
  EXPECT_TRUE(succeeded(manager.run(copy.getModule())))
      << copy.getDiagnostics().str();
  EXPECT_FALSE(copy.find<MixerOpInterface>()) << "a mixer was left";
  return copy;
}

struct Form {
  const char *name;
  FormChoice choice;
  int64_t chunk;
};
constexpr Form kForms[] = {{"pairs", FormChoice::Quadratic, 1},
                           {"candidates", FormChoice::Step, 1},
                           {"chunks of 1", FormChoice::Chunkwise, 1},
                           {"chunks of 7", FormChoice::Chunkwise, 7},
                           {"chunks of 100", FormChoice::Chunkwise, 100}};

TEST(RetrievalForms, AgreeWithTheDefinition) {
  Random random(1907'05242);
  std::map<std::string, int> met;
  double worst[std::size(kForms)] = {}, worstFloat[std::size(kForms)] = {};
  for (int test = 0; test < 400; ++test) {
    RetrievalCase c = pickCase(random);
    SCOPED_TRACE(c.text());
    ++met[c.text().substr(0, c.text().find(','))];
    ++met[c.weighting];
    Program program(programText(c, c.T));
    ASSERT_TRUE(program.isValid());
    std::vector<Datum<double>> inputs = pickInputs(random, c);
    std::vector<Datum<double>> expected = program.evaluate<double>(inputs);
    for (auto [index, form] : llvm::enumerate(kForms)) {
      SCOPED_TRACE(form.name);
      Program derived = expanded(program, form.choice, form.chunk);
      double error = relativeError(numbers(derived.evaluate<double>(inputs)[0]),
                                   numbers(expected[0]));
      double errorFloat =
          relativeError(numbers(derived.evaluate<float>(toFloat(inputs))[0]),
                        numbers(expected[0]));
      EXPECT_LE(error, 1e-12);
      EXPECT_LE(errorFloat, 1e-5);
      worst[index] = std::fmax(worst[index], error);
      worstFloat[index] = std::fmax(worstFloat[index], errorFloat);
    }
    // Tokens do not meet: in pieces they give the same numbers.
    int64_t cut = pick(random, 0, c.T);
    std::vector<double> joined;
    for (auto [from, to] : {std::pair(int64_t(0), cut), {cut, c.T}}) {
      if (from == to)
        continue;
      Program part(programText(c, to - from));
      llvm::append_range(
          joined, numbers(part.evaluate<double>(piece(c, inputs, from, to))[0])
                      .elements());
    }
    EXPECT_EQ(ArrayRef(joined), numbers(expected[0]).elements());
  }
  EXPECT_EQ(met.size(), 9u) << "3 mixers and 6 weightings";
  std::printf("largest relative error over 400 shapes (double, float):\n");
  for (auto [index, form] : llvm::enumerate(kForms))
    std::printf("  %-13s %.2e  %.2e\n", form.name, worst[index],
                worstFloat[index]);
}

//===- ties, NaN ----------------------------------------------------------===//

// Every row of the table is its own number, every weight 1/2 (the logistic
// function of 0), so that the sum tells which rows were chosen.
constexpr StringLiteral kTies = R"(
func.func @f(%scores: tensor<1x2x1x3xf32>, %p0: tensor<9x1xf32>) -> tensor<1x1xf32> {
  %y = seq.product_key_memory %scores parameters(%p0)
      {top_k = 3 : i64, weighting = #seq.weighting<sigmoid>}
      : tensor<1x2x1x3xf32>, (tensor<9x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
)";

double chosenOf(Program &program, std::vector<double> scores) {
  std::vector<double> rows = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  return numbers(
      program.evaluate<double>({Tensor<double>({1, 2, 1, 3}, std::move(scores)),
                                Tensor<double>({9, 1}, rows)})[0])(0, 0);
}

TEST(RetrievalForms, TiesGoToTheLowestNumber) {
  Program program(kTies);
  Program pairs = expanded(program, FormChoice::Quadratic, 1);
  Program candidates = expanded(program, FormChoice::Step, 1);
  for (Program *p : {&program, &pairs, &candidates}) {
    // All 0: rows 0, 1, 2 of 9.
    EXPECT_EQ(chosenOf(*p, {0, 0, 0, 0, 0, 0}), (1 + 2 + 4) / 2.0);
    // Rows 0, 3 and 6 have a score of -1, the others of 0: rows 1, 2 and 4.
    EXPECT_NEAR(chosenOf(*p, {0, 0, 0, -1, 0, 0}), (2 + 4 + 16) / 2.0, 1e-12);
  }
}

TEST(RetrievalForms, ANanMakesItsTokenNan) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  Program program(kTies);
  Program pairs = expanded(program, FormChoice::Quadratic, 1);
  Program candidates = expanded(program, FormChoice::Step, 1);
  for (Program *p : {&program, &pairs, &candidates})
    for (int at = 0; at < 6; ++at) {
      std::vector<double> scores = {3, 2, 1, 1, 2, 3};
      scores[at] = nan;
      EXPECT_TRUE(std::isnan(chosenOf(*p, scores))) << at;
    }
}

//===- an order of its own ------------------------------------------------===//

// Expert e of one unit gives its weight times e + 1 in the only channel.
constexpr StringLiteral kOrdered = R"(
func.func @f(%scores: tensor<1x4xf32>, %order: tensor<1x4xf32>, %x: tensor<1x1xf32>,
             %gate_up: tensor<8x1xf32>, %down: tensor<4x1xf32>) -> tensor<1x1xf32> {
  %y = seq.routed_experts %x, %scores order(%order : tensor<1x4xf32>) parameters(%gate_up, %down)
      {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<identity>, weighting = #seq.weighting<share>}
      : (tensor<1x1xf32>, tensor<1x4xf32>), (tensor<8x1xf32>, tensor<4x1xf32>)
  return %y : tensor<1x1xf32>
}
)";

TEST(RetrievalForms, AnOrderChoosesAndDoesNotWeigh) {
  Program program(kOrdered);
  Program pairs = expanded(program, FormChoice::Quadratic, 1);
  Program candidates = expanded(program, FormChoice::Step, 1);
  auto run = [](Program &p, std::vector<double> order) {
    return numbers(p.evaluate<double>(
        {Tensor<double>({1, 4}, {0.5, 0.25, 0.125, 0.75}),
         Tensor<double>({1, 4}, std::move(order)), Tensor<double>({1, 1}, {1}),
         Tensor<double>({8, 1}, std::vector<double>(8, 1)),
         Tensor<double>({4, 1}, {1, 2, 3, 4})})[0])(0, 0);
  };
  for (Program *p : {&program, &pairs, &candidates}) {
    // Experts 2 and 1, of the scores 1/8 and 1/4: a third of 3 and two of 2.
    EXPECT_NEAR(run(*p, {-1, 3, 9, 2}), 7.0 / 3, 1e-12);
    // All equal: experts 0 and 1, of 1/2 and 1/4.
    EXPECT_NEAR(run(*p, {5, 5, 5, 5}), 4.0 / 3, 1e-12);
  }
}

} // namespace
