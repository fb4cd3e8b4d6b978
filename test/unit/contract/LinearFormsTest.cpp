// Every form that the compiler derives for a mixer agrees with the mixer's own
// definition, on random shapes, gates, pieces and states.
//
// The reference evaluates the op from its definition, which stands beside the
// op and knows of no form; each form is what seq-expand-form makes of a copy.
// Dimensions all differ; states are not zero.
#include "passes/seq/Passes.h"
#include "test/unit/contract/LinearCases.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using namespace effc::test;

namespace {

constexpr int kShapes = 200;
constexpr int64_t kChunks[] = {1, 7, 16, 64, 100};

Extents pickExtents(Random &random, const LinearCase &mixer) {
  while (true) {
    Extents e;
    e.G = pick(random, 1, 4);
    e.H = mixer.grouped ? e.G * pick(random, 2, 4) : e.G;
    e.K = mixer.oneKey ? 1 : pick(random, 2, 9);
    e.V = mixer.square ? e.K : pick(random, 2, 9);
    // Some are longer than the longest chunk.
    e.T =
        pick(random, 0, 7) == 0 ? pick(random, 101, 130) : pick(random, 1, 40);
    std::set<int64_t> distinct = {e.T, e.H, e.V};
    size_t expected = 3;
    if (mixer.grouped)
      distinct.insert(e.G), ++expected;
    if (!mixer.oneKey && !mixer.square)
      distinct.insert(e.K), ++expected;
    if (distinct.size() == expected)
      return e;
  }
}

std::string programText(const LinearCase &mixer, const Extents &extents) {
  std::string arguments, results;
  for (auto [i, operand] : llvm::enumerate(mixer.operands()))
    arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": " +
                 tensorType(extents.of(operand->letters), operand->element());
  for (size_t i = 0; i <= mixer.states.size(); ++i)
    results += (i ? ", %r#" : "%r#") + std::to_string(i);
  std::string types = mixer.resultTypes(extents);
  return "func.func @mixer(" + arguments + ") -> (" + types + ") {\n  " +
         mixer.opText(extents) + "\n  return " + results + " : " + types +
         "\n}\n";
}

template <typename S>
std::vector<Datum<S>> convert(const LinearCase &mixer,
                              const std::vector<Tensor<double>> &inputs) {
  std::vector<Datum<S>> data;
  for (auto [operand, tensor] : llvm::zip_equal(mixer.operands(), inputs)) {
    if (operand->isPositions)
      data.push_back(castTo<int32_t>(tensor));
    else
      data.push_back(castTo<S>(tensor));
  }
  return data;
}

/// A mixer's program in one form.
class Derived {
public:
  Derived(const LinearCase &mixer, const Program &program, FormChoice form,
          int64_t chunk)
      : mixer(mixer), program(program) {
    PassManager manager(this->program.getContext());
    manager.addPass(createSplitStepsPass());
    manager.addPass(createExpandFormPass({form, chunk}));
    EXPECT_TRUE(succeeded(manager.run(this->program.getModule())))
        << this->program.getDiagnostics().str();
    EXPECT_FALSE(this->program.find<MixerOpInterface>()) << "a mixer was left";
  }
  template <typename S>
  std::vector<Datum<S>> evaluate(const std::vector<Tensor<double>> &inputs) {
    return program.evaluate<S>(convert<S>(mixer, inputs));
  }

private:
  const LinearCase &mixer;
  Program program;
};

/// Tokens [first, first + count) of the inputs, with the given states.
std::vector<Tensor<double>> piece(const LinearCase &mixer,
                                  const std::vector<Tensor<double>> &inputs,
                                  int64_t first, int64_t count,
                                  const std::vector<Tensor<double>> &states) {
  std::vector<Tensor<double>> part;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (i >= mixer.tokens.size()) {
      part.push_back(input);
      continue;
    }
    SmallVector<int64_t> shape(input.getShape());
    int64_t row = input.size() / shape.front();
    shape.front() = count;
    part.push_back(Tensor<double>(
        shape, input.elements().slice(first * row, count * row).vec()));
  }
  std::copy(states.begin(), states.end(), part.end() - states.size());
  return part;
}

/// All tokens in three calls, the first with one form, the next with another,
/// the state handed on.
std::vector<Datum<double>> inPieces(Random &random, const LinearCase &mixer,
                                    const Extents &extents,
                                    const std::vector<Tensor<double>> &inputs,
                                    int64_t chunk) {
  std::vector<Tensor<double>> states(inputs.end() - mixer.states.size(),
                                     inputs.end());
  std::vector<double> rows;
  int64_t first = 0;
  for (int part = 0; part < 3 && first < extents.T; ++part) {
    int64_t left = extents.T - first;
    int64_t count = part == 2 ? left : pick(random, 1, left);
    Extents cut = extents;
    cut.T = count;
    FormChoice form = part % 2 == 0 ? FormChoice::Chunkwise : FormChoice::Step;
    Program program(programText(mixer, cut));
    auto outputs =
        Derived(mixer, program, form, chunk)
            .evaluate<double>(piece(mixer, inputs, first, count, states));
    llvm::append_range(rows, numbers(outputs[0]).elements());
    for (auto [state, output] :
         llvm::zip_equal(states, llvm::drop_begin(outputs)))
      state = numbers(output);
    first += count;
  }
  std::vector<Datum<double>> results = {
      Tensor<double>(extents.of("THV"), std::move(rows))};
  for (const Tensor<double> &state : states)
    results.push_back(state);
  return results;
}

class LinearFormsContract : public testing::TestWithParam<size_t> {};

TEST_P(LinearFormsContract, AgreeWithTheDefinition) {
  const LinearCase &mixer = linearCases()[GetParam()];
  struct Form {
    const char *name;
    FormChoice choice;
    bool covered;
    double worst = 0, worstFloat = 0;
  } forms[] = {{"step", FormChoice::Step, true},
               {"quadratic", FormChoice::Quadratic, true},
               {"chunkwise", FormChoice::Chunkwise, true},
               {"scan", FormChoice::Scan, mixer.hasScan}};
  double worstPieces = 0, worstReference = 0;
  Random random(std::hash<std::string>()(mixer.title()));
  for (int test = 0; test < kShapes; ++test) {
    Extents extents = pickExtents(random, mixer);
    int64_t chunk = kChunks[test % std::size(kChunks)];
    Gates gates = test % 2 ? Gates::Adversarial : Gates::Mild;
    SCOPED_TRACE(extents.text() + ", C = " + std::to_string(chunk) +
                 (test % 2 ? ", adversarial gates" : ", mild gates"));
    std::vector<Tensor<double>> inputs;
    for (const LinearOperand *operand : mixer.operands())
      inputs.push_back(operand->pickTensor(random, gates, extents));
    Program program(programText(mixer, extents));
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    auto expected = program.evaluate<double>(convert<double>(mixer, inputs));
    worstReference = std::fmax(
        worstReference,
        worstError(program.evaluate<float>(convert<float>(mixer, inputs)),
                   expected));
    for (Form &form : forms) {
      if (!form.covered)
        continue;
      SCOPED_TRACE(form.name);
      Derived derived(mixer, program, form.choice, chunk);
      double error = worstError(derived.evaluate<double>(inputs), expected);
      double errorFloat = worstError(derived.evaluate<float>(inputs), expected);
      EXPECT_LE(error, 1e-12);
      EXPECT_LE(errorFloat, 1e-5);
      form.worst = std::fmax(form.worst, error);
      form.worstFloat = std::fmax(form.worstFloat, errorFloat);
    }
    double error =
        worstError(inPieces(random, mixer, extents, inputs, chunk), expected);
    EXPECT_LE(error, 1e-12);
    worstPieces = std::fmax(worstPieces, error);
  }
  std::printf("%s: largest relative error over %d shapes (double, float)\n",
              mixer.title().c_str(), kShapes);
  for (const Form &form : forms)
    if (form.covered)
      std::printf("  %-10s %.1e  %.1e\n", form.name, form.worst,
                  form.worstFloat);
  std::printf("  pieces     %.1e\n  definition          %.1e\n", worstPieces,
              worstReference);
}

// A correction of rate 6 turns a key's direction around and makes it 5 times as
// long, so that f32 overflows before 240 tokens, and double does not. In every
// form the numbers are right up to the first token without any, and behind it
// there are none; a chunk overflows as a whole.
TEST(LinearFormsExpanding, OverflowsAlikeInEveryForm) {
  LinearCase mixer = *llvm::find_if(
      linearCases(), [](auto &one) { return one.name == "delta_rule"; });
  for (LinearOperand &operand : mixer.tokens)
    if (operand.name == "beta")
      operand.draw = [](Random &, Gates) { return 6.0; };
  Extents extents{/*T=*/240, /*H=*/1, /*G=*/1, /*K=*/3, /*V=*/4};
  Random random(11);
  std::vector<Tensor<double>> inputs;
  for (const LinearOperand *operand : mixer.operands())
    inputs.push_back(operand->pickTensor(random, Gates::Mild, extents));
  Program program(programText(mixer, extents));
  auto exact = program.evaluate<double>(convert<double>(mixer, inputs));
  ArrayRef<double> expected = numbers(exact[0]).elements();
  int64_t width = extents.H * extents.V;
  // How many tokens have numbers, and how wrong the worst of them is, relative
  // to the largest number so far.
  auto judge = [&](const std::vector<Datum<float>> &found) {
    ArrayRef<float> y = numbers(found[0]).elements();
    double worst = 0, magnitude = 0;
    for (int64_t at = 0; at < extents.T * width; ++at) {
      if (!std::isfinite(y[at])) {
        for (float behind : y.drop_front((at / width + 1) * width))
          EXPECT_FALSE(std::isfinite(behind)) << "behind an overflow";
        return std::pair(at / width, worst);
      }
      magnitude = std::fmax(magnitude, std::fabs(expected[at]));
      worst = std::fmax(worst, std::fabs(y[at] - expected[at]) / magnitude);
    }
    return std::pair(extents.T, worst);
  };
  auto [tokens, error] =
      judge(program.evaluate<float>(convert<float>(mixer, inputs)));
  EXPECT_GT(tokens, 64);
  EXPECT_LT(tokens, extents.T);
  // Rounding grows as the numbers do; forms round in other places.
  EXPECT_LE(error, 1e-4);
  for (int64_t chunk : {1, 7, 16, 64, 240}) {
    SCOPED_TRACE(chunk);
    FormChoice form = chunk == 1           ? FormChoice::Step
                      : chunk == extents.T ? FormChoice::Quadratic
                                           : FormChoice::Chunkwise;
    auto [formTokens, formError] =
        judge(Derived(mixer, program, form, chunk).evaluate<float>(inputs));
    // Where the product before a sum is taken decides on the very token.
    if (chunk == 1)
      EXPECT_NEAR(formTokens, tokens, 1);
    else
      EXPECT_EQ(formTokens, tokens / chunk * chunk);
    EXPECT_LE(formError, 4 * error);
  }
}

INSTANTIATE_TEST_SUITE_P(Mixers, LinearFormsContract,
                         testing::Range<size_t>(0, linearCases().size()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return linearCases()[info.param].title();
                         });

} // namespace
