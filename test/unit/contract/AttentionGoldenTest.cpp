// seq.attention and seq.rotary mean what a public library or an independent
// program computes (test/goldens/make_attention_goldens.py says which).
#include "test/unit/contract/WindowCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace effc::seq;
using namespace effc::seq::test;
using effc::test::WindowCase;

namespace {

const llvm::json::Object &goldens() {
  static llvm::json::Value value = [] {
    auto buffer =
        llvm::MemoryBuffer::getFile(EFFC_GOLDENS "/attention/cases.json");
    auto parsed = llvm::json::parse((*buffer)->getBuffer());
    return parsed ? std::move(*parsed) : llvm::json::Value(nullptr);
  }();
  return *value.getAsObject();
}

int64_t integer(const llvm::json::Object &c, llvm::StringRef key) {
  return c.getInteger(key).value_or(0);
}

Tensor<double> tensor(const llvm::json::Object &c, llvm::StringRef key,
                      llvm::ArrayRef<int64_t> shape) {
  std::vector<double> elements;
  for (const llvm::json::Value &element : *c.getArray(key))
    elements.push_back(*element.getAsNumber());
  return Tensor<double>(shape, elements);
}

TEST(AttentionGolden, IsWhatTheLibraryComputes) {
  int cases = 0;
  for (const llvm::json::Value &value : *goldens().getArray("attention")) {
    const llvm::json::Object &c = *value.getAsObject();
    std::string name = c.getString("name")->str();
    SCOPED_TRACE(name);
    int64_t T = integer(c, "tokens");
    WindowCase s;
    s.H = integer(c, "H"), s.G = integer(c, "G"), s.J = integer(c, "J");
    s.K = integer(c, "K"), s.V = integer(c, "V"), s.W = T;
    s.window = integer(c, "window"), s.keep = integer(c, "keep");
    s.scale = *c.getNumber("scale");
    s.softCap = *c.getNumber("soft_cap");
    s.sinks = c.get("sinks"), s.slopes = c.get("slopes");
    if (auto kind = c.getString("key_score"))
      s.keyScore = kind->str(), s.N = s.G;
    std::vector<Datum<double>> inputs = {tensor(c, "q", {T, s.H, s.K}),
                                         tensor(c, "k", {T, s.G, s.K}),
                                         tensor(c, "v", {T, s.J, s.V})};
    if (s.N)
      inputs.push_back(tensor(c, "d", {T, s.N}));
    std::vector<int32_t> positions(T);
    std::iota(positions.begin(), positions.end(), 0);
    inputs.push_back(Tensor<int32_t>({T}, positions));
    for (const std::string &parameter : s.parameters())
      inputs.push_back(tensor(c, parameter, {s.H}));
    for (auto &[state, shape] : s.states())
      inputs.push_back(Tensor<double>(shape));
    Program program(s.functionText(T));
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    auto results = program.evaluate<double>(inputs);
    ASSERT_FALSE(results.empty());
    // Two of the library's functions take the softmax in f32.
    EXPECT_LE(relativeError(numbers(results[0]), tensor(c, "y", {T, s.H, s.V})),
              3e-7);
    ++cases;
  }
  EXPECT_EQ(cases, 14);
}

// A cache whose keys are turned where they lie at each read, as ring and first
// rows whose keys are turned once: queries are turned at their position for the
// ring, and at their place, which is at most S + window - 1, for the first
// rows.
TEST(AttentionGolden, FirstTokensStayAsInACacheTurnedByPlaces) {
  int cases = 0;
  for (const llvm::json::Value &value : *goldens().getArray("sink_cache")) {
    const llvm::json::Object &c = *value.getAsObject();
    SCOPED_TRACE(c.getString("name")->str());
    int64_t T = integer(c, "tokens"), P = c.getArray("frequencies")->size();
    WindowCase s;
    s.H = integer(c, "H"), s.G = s.J = integer(c, "G");
    s.K = integer(c, "K"), s.V = integer(c, "V");
    s.S = integer(c, "first"), s.window = integer(c, "window");
    s.W = s.window + 2; // a ring may be longer than its window
    s.scale = *c.getNumber("scale"), s.slopes = c.get("slopes");
    std::string rows = std::to_string(T), f = WindowCase::type("", {P}),
                p = WindowCase::type("", {T}, "i32"),
                last = std::to_string(s.S + s.window - 1);
    std::string text = "func.func @f(%p: " + p + ", %f: " + f;
    for (auto &[name, shape] : s.tokens())
      if (name != "sink_query")
        text += ", %" + std::string(name == "v" ? "" : "raw_") + name + ": " +
                WindowCase::type(rows, shape);
    if (s.slopes)
      text += ", %slopes: " + WindowCase::type("", {s.H});
    for (auto &[name, shape] : s.states())
      text += ", %" + name + ": " + WindowCase::type("", shape);
    text += ") -> " + WindowCase::type(rows, {s.H, s.V}) + " {\n";
    for (auto &[name, shape] : s.tokens()) {
      bool sinks = name == "sink_query";
      if (name != "v")
        text += "  %" + name + " = seq.rotary half %raw_" +
                (sinks ? "q" : name) + " at(%p), %f " +
                (sinks ? "{last = " + last + " : i64} : " : ": ") +
                WindowCase::type(rows, shape) + ", " + p + ", " + f + "\n";
    }
    text += s.opText(rows) +
            "  return %y : " + WindowCase::type(rows, {s.H, s.V}) + "\n}\n";
    std::vector<int32_t> positions(T);
    std::iota(positions.begin(), positions.end(), 0);
    std::vector<Datum<double>> inputs = {
        Tensor<int32_t>({T}, positions), tensor(c, "frequencies", {P}),
        tensor(c, "q", {T, s.H, s.K}), tensor(c, "k", {T, s.G, s.K}),
        tensor(c, "v", {T, s.J, s.V})};
    if (s.slopes)
      inputs.push_back(tensor(c, "slopes", {s.H}));
    for (auto &[state, shape] : s.states())
      inputs.push_back(Tensor<double>(shape));
    Program program(text);
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    auto results = program.evaluate<double>(inputs);
    ASSERT_FALSE(results.empty());
    EXPECT_LE(relativeError(numbers(results[0]), tensor(c, "y", {T, s.H, s.V})),
              1e-12);
    ++cases;
  }
  EXPECT_EQ(cases, 5);
}

TEST(AttentionGolden, RotationsAreWhatTheLibraryComputes) {
  int cases = 0;
  for (const llvm::json::Value &value : *goldens().getArray("rotary")) {
    const llvm::json::Object &c = *value.getAsObject();
    SCOPED_TRACE(c.getString("name")->str());
    int64_t T = integer(c, "tokens"), H = integer(c, "H"), K = integer(c, "K");
    int64_t P = c.getArray("frequencies")->size();
    std::string x = WindowCase::type(std::to_string(T), {H, K}),
                p = WindowCase::type("", {T}, "i32"),
                f = WindowCase::type("", {P});
    char amplitude[40];
    std::snprintf(amplitude, sizeof amplitude, "%.17e",
                  *c.getNumber("amplitude"));
    Program program(
        "func.func @f(%x: " + x + ", %p: " + p + ", %f: " + f + ") -> " + x +
        " {\n  %y = seq.rotary " + c.getString("pairs")->str() +
        " %x at(%p), %f {amplitude = " + amplitude + " : f64} : " + x + ", " +
        p + ", " + f + "\n  return %y : " + x + "\n}\n");
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    std::vector<int32_t> positions(T);
    std::iota(positions.begin(), positions.end(), integer(c, "start"));
    auto results = program.evaluate<double>({tensor(c, "x", {T, H, K}),
                                             Tensor<int32_t>({T}, positions),
                                             tensor(c, "frequencies", {P})});
    ASSERT_FALSE(results.empty());
    // The library's tables are f32, at positions up to 13.
    EXPECT_LE(relativeError(numbers(results[0]), tensor(c, "y", {T, H, K})),
              2e-6);
    ++cases;
  }
  EXPECT_EQ(cases, 7);
}

// Numbers by a rule, for all positions or with a row for each.
Tensor<double> computed(const std::string &rule,
                        llvm::ArrayRef<int64_t> shape) {
  Program program("seq.weight @f computed(#seq.rotary_frequencies<" + rule +
                  ">) : " + WindowCase::type("", shape.vec()) + "\n");
  EXPECT_TRUE(program.isValid()) << program.getDiagnostics().str();
  std::vector<double> all;
  for (WeightOp op : program.getModule().getOps<WeightOp>())
    for (int64_t row = 0; row < (shape.size() == 2 ? shape[0] : 1); ++row)
      llvm::append_range(all, op.getComputed()->computeRow(row, shape.back()));
  return Tensor<double>(shape, all);
}

// Rotations and attention over all keys, as a public library generates one
// token a call: keys stay as the length of their call has turned them.
TEST(AttentionGolden, DynamicRotationsAreThoseOfOneTokenACall) {
  int cases = 0;
  for (const llvm::json::Value &value : *goldens().getArray("dynamic_steps")) {
    const llvm::json::Object &c = *value.getAsObject();
    SCOPED_TRACE(c.getString("name")->str());
    int64_t T = integer(c, "tokens"), P = integer(c, "K") / 2;
    WindowCase s;
    s.H = integer(c, "H"), s.G = s.J = integer(c, "G");
    s.K = integer(c, "K"), s.V = integer(c, "V"), s.W = T;
    s.scale = *c.getNumber("scale");
    std::string rows = std::to_string(T), p = WindowCase::type("", {T}, "i32"),
                q = WindowCase::type(rows, {s.H, s.K}),
                k = WindowCase::type(rows, {s.G, s.K}),
                v = WindowCase::type(rows, {s.J, s.V}),
                y = WindowCase::type(rows, {s.H, s.V});
    std::vector<int32_t> positions(T);
    std::iota(positions.begin(), positions.end(), 0);
    auto errorWith = [&](Tensor<double> frequencies) {
      std::string f = WindowCase::type("", frequencies.getShape().vec());
      Program program(
          "func.func @f(%p: " + p + ", %f: " + f + ", %q0: " + q + ", %k0: " +
          k + ", %v: " + v + ", %keys: " + k + ", %values: " + v + ") -> " + y +
          " {\n  %q = seq.rotary half %q0 at(%p), %f : " + q + ", " + p + ", " +
          f + "\n  %k = seq.rotary half %k0 at(%p), %f : " + k + ", " + p +
          ", " + f + "\n" + s.opText(rows) + "  return %y : " + y + "\n}\n");
      EXPECT_TRUE(program.isValid()) << program.getDiagnostics().str();
      auto results = program.evaluate<double>(
          {Tensor<int32_t>({T}, positions), frequencies,
           tensor(c, "q", {T, s.H, s.K}), tensor(c, "k", {T, s.G, s.K}),
           tensor(c, "v", {T, s.J, s.V}), Tensor<double>({T, s.G, s.K}),
           Tensor<double>({T, s.J, s.V})});
      return results.empty() ? INFINITY
                             : relativeError(numbers(results[0]),
                                             tensor(c, "y", {T, s.H, s.V}));
    };
    std::string rule = c.getString("rule")->str();
    Tensor<double> steps = computed("scaling = dynamic_steps, " + rule, {T, P});
    Tensor<double> expected = tensor(c, "frequencies", {T, P});
    for (auto [a, b] : llvm::zip(steps.elements(), expected.elements()))
      EXPECT_NEAR(a / b, 1, 2e-6);
    // The library's frequencies, cosines and softmax are f32.
    EXPECT_LE(errorWith(steps), 2e-6);
    // The case is one in which the length matters, or none where it does not.
    double whole = errorWith(computed(
        "scaling = dynamic, planned_context = " + rows + ", " + rule, {P}));
    EXPECT_EQ(whole > 1e-2, c.getString("name") == "long_after_seven");
    ++cases;
  }
  EXPECT_EQ(cases, 2);
}

// The library computes in f32: exponents of some 10 lose 1e-6.
TEST(AttentionGolden, FrequenciesAreWhatTheLibraryComputes) {
  int cases = 0;
  for (const llvm::json::Value &value : *goldens().getArray("frequencies")) {
    const llvm::json::Object &c = *value.getAsObject();
    std::string rule = c.getString("rule")->str();
    SCOPED_TRACE(rule);
    int64_t P = c.getArray("frequencies")->size();
    Tensor<double> found = computed(rule, {P});
    Tensor<double> expected = tensor(c, "frequencies", {P});
    for (int64_t i = 0; i < P; ++i)
      EXPECT_NEAR(found(i) / expected(i), 1, 2e-6) << "pair " << i;
    ++cases;
  }
  EXPECT_EQ(cases, 10);
}

} // namespace
