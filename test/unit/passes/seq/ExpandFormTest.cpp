// The forms of SSD agree with its recurrence, on random shapes and data.
//
// The reference evaluates the op itself from its recurrence; each form is what
// seq-expand-form makes of a copy. Dimensions all differ, heads share keys in
// groups, states are not zero, and every chunk mixes log-decays of 0, mild
// ones, -20 and -1e4.
#include "passes/seq/Passes.h"
#include "test/unit/dialects/seq/Program.h"
#include "test/unit/dialects/seq/TestMixer.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

using Random = std::mt19937_64;

int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}
double pickReal(Random &random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Dimensions of a case; no two are equal.
struct Shape {
  int64_t T, H, G, K, V, C;
};

Shape pickShape(Random &random) {
  while (true) {
    Shape s;
    s.G = pick(random, 1, 4);
    s.H = s.G * pick(random, 2, 4);
    s.K = pick(random, 1, 9);
    s.V = pick(random, 1, 9);
    s.T = pick(random, 1, 40);
    s.C = pick(random, 1, 20);
    if (std::set<int64_t>{s.T, s.H, s.G, s.K, s.V, s.C}.size() == 6)
      return s;
  }
}

std::string type(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

/// A function of one ssd op.
std::string programText(const Shape &s) {
  std::string x = type({s.T, s.H, s.V}), dt = type({s.T, s.H}),
              b = type({s.T, s.G, s.K}), h = type({s.H}),
              state = type({s.H, s.K, s.V});
  return "func.func @ssd(%x: " + x + ", %dt: " + dt + ", %b: " + b +
         ", %c: " + b + ", %a_log: " + h + ", %dt_bias: " + h + ", %d: " + h +
         ", %s: " + state + ") -> (" + x + ", " + state +
         ") {\n"
         "  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, "
         "%d) state(%s) : (" +
         x + ", " + dt + ", " + b + ", " + b + "), (" + h + ", " + h + ", " +
         h + "), " + state + "\n  return %y, %next : " + x + ", " + state +
         "\n}\n";
}

/// Numbers that f32 holds exactly, so that both precisions see the same.
Tensor<double> pickTensor(Random &random, std::initializer_list<int64_t> shape,
                          function_ref<double()> number) {
  Tensor<double> tensor(shape);
  for (double &element : tensor.elements())
    element = float(number());
  return tensor;
}

/// The `dt` whose softplus, after the bias, is `step`.
double beforeSoftplus(double step, double bias) {
  double x = step == 0 ? -2000 : step > 30 ? step : std::log(std::expm1(step));
  return x - bias;
}

std::vector<Datum<double>> pickInputs(Random &random, const Shape &s) {
  auto normal = [&] { return pickReal(random, -1, 1); };
  // Rates of decay per head: with a rate of 1e4 a log-decay of -1e4 comes from
  // a step of 1, and with a rate of 0 every log-decay is 0.
  Tensor<double> aLog = pickTensor(random, {s.H}, [&] {
    static constexpr double rates[] = {0, 1, 100, 1e4};
    double rate = rates[pick(random, 0, 3)];
    return rate == 0 ? -2000 : std::log(rate);
  });
  Tensor<double> bias = pickTensor(random, {s.H}, normal);
  Tensor<double> dt({s.T, s.H});
  for (int64_t t = 0; t < s.T; ++t)
    for (int64_t h = 0; h < s.H; ++h) {
      double decays[] = {0, pickReal(random, 0.01, 1), 20, 1e4};
      double rate = std::exp(aLog(h));
      double step = rate == 0 ? pickReal(random, 0, 2)
                              : decays[pick(random, 0, 3)] / rate;
      dt(t, h) = float(beforeSoftplus(step, bias(h)));
    }
  return {pickTensor(random, {s.T, s.H, s.V}, normal),
          std::move(dt),
          pickTensor(random, {s.T, s.G, s.K}, normal),
          pickTensor(random, {s.T, s.G, s.K}, normal),
          std::move(aLog),
          std::move(bias),
          pickTensor(random, {s.H}, normal),
          pickTensor(random, {s.H, s.K, s.V}, normal)};
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

/// The larger of the errors of the outputs and of the states.
template <typename S>
double worstError(const std::vector<Datum<S>> &found,
                  const std::vector<Datum<double>> &expected) {
  return std::fmax(relativeError(numbers(found[0]), numbers(expected[0])),
                   relativeError(numbers(found[1]), numbers(expected[1])));
}

struct Form {
  const char *name;
  FormChoice choice;
};
constexpr Form kForms[] = {{"step", FormChoice::Step},
                           {"quadratic", FormChoice::Quadratic},
                           {"chunkwise", FormChoice::Chunkwise}};

TEST(ExpandForm, FormsOfSsdAgreeWithItsRecurrence) {
  Random random(2405'21060);
  double worst[3] = {}, worstFloat[3] = {}, worstReferenceFloat = 0;
  for (int test = 0; test < 200; ++test) {
    Shape s = pickShape(random);
    SCOPED_TRACE("T,H,G,K,V,C = " + std::to_string(s.T) + "," +
                 std::to_string(s.H) + "," + std::to_string(s.G) + "," +
                 std::to_string(s.K) + "," + std::to_string(s.V) + "," +
                 std::to_string(s.C));
    Program program(programText(s));
    ASSERT_TRUE(program.isValid());
    std::vector<Datum<double>> inputs = pickInputs(random, s);
    std::vector<Datum<double>> expected = program.evaluate<double>(inputs);
    worstReferenceFloat = std::fmax(
        worstReferenceFloat,
        worstError(program.evaluate<float>(toFloat(inputs)), expected));
    for (auto [index, form] : llvm::enumerate(kForms)) {
      SCOPED_TRACE(form.name);
      Program derived = expanded(program, form.choice, s.C);
      double error = worstError(derived.evaluate<double>(inputs), expected);
      double errorFloat =
          worstError(derived.evaluate<float>(toFloat(inputs)), expected);
      EXPECT_LE(error, 1e-12);
      // 40 tokens and at most 9 channels in f32: some 1e-6 are to be expected,
      // while a difference of cumulative sums would lose 1e-3 after -1e4.
      EXPECT_LE(errorFloat, 1e-5);
      worst[index] = std::fmax(worst[index], error);
      worstFloat[index] = std::fmax(worstFloat[index], errorFloat);
    }
  }
  std::printf("largest relative error over 200 shapes (double, float):\n");
  for (auto [index, form] : llvm::enumerate(kForms))
    std::printf("  %-10s %.2e  %.2e\n", form.name, worst[index],
                worstFloat[index]);
  std::printf("  recurrence           %.2e\n", worstReferenceFloat);
}

//===- what has no derived form -------------------------------------------===//

// The pass's diagnostic about a mixer of the given structure.
std::string refusal(StringRef structure) {
  Program program;
  program.getContext()->loadDialect<TestDialect>();
  program.parse(
      ("func.func @f(%x: tensor<7x6xf32>, %s: tensor<6x5xf32>) {\n"
       "  %y, %next = \"test.mixer\"(%x, %s) {form = #seq.form<kind = step>, "
       "structure = #seq.structure<" +
       structure +
       ">} : (tensor<7x6xf32>, tensor<6x5xf32>) -> (tensor<7x6xf32>, "
       "tensor<6x5xf32>)\n  return\n}")
          .str());
  PassManager manager(program.getContext());
  manager.addPass(createExpandFormPass());
  EXPECT_TRUE(failed(manager.run(program.getModule())));
  return program.getDiagnostics().split('\n').first.str();
}

TEST(ExpandForm, RefusesOtherClassesByName) {
  for (std::string name : {"window", "opaque"})
    EXPECT_EQ(refusal("class = " + name),
              "'test.mixer' op has no derived form: expects the class "
              "'linear' or 'retrieval', but got '" +
                  name + "'");
}

// A record that has a form, but for one field.
std::string refusalOf(std::string field, std::string value) {
  std::pair<std::string, std::string> fields[] = {
      {"decay", "head"},        {"field", "real"},       {"input_gate", "none"},
      {"low_rank", "none"},     {"read", "after_write"}, {"bonus", "false"},
      {"feed_through", "true"}, {"normaliser", "none"},  {"stabiliser", "none"},
      {"heads_per_group", "1"}};
  std::string record;
  for (auto &[name, usual] : fields)
    record += (record.empty() ? "" : ", ") + name + " = " +
              (name == field ? value : usual);
  return refusal("class = linear, linear = <" + record + ">");
}

TEST(ExpandForm, RefusesRecordsByField) {
  auto message = [](std::string field, std::string expected,
                    std::string found) {
    return "'test.mixer' op has no derived form: expects '" + field +
           "' to be " + expected + ", but got '" + found + "'";
  };
  EXPECT_EQ(refusalOf("decay", "key"),
            message("decay", "'head' or 'head_constant'", "key"));
  EXPECT_EQ(refusalOf("field", "complex"),
            message("field", "'real'", "complex"));
  EXPECT_EQ(refusalOf("low_rank", "decayed_state"),
            message("low_rank", "'none'", "decayed_state"));
  EXPECT_EQ(refusalOf("read", "before_write"),
            message("read", "'after_write'", "before_write"));
  EXPECT_EQ(refusalOf("bonus", "true"), message("bonus", "'false'", "true"));
  EXPECT_EQ(refusalOf("normaliser", "key_sum"),
            message("normaliser", "'none'", "key_sum"));
  EXPECT_EQ(refusalOf("stabiliser", "max_plus"),
            message("stabiliser", "'none'", "max_plus"));
}

} // namespace
