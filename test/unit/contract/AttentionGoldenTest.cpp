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

// The library computes in f32: exponents of some 10 lose 1e-6.
TEST(AttentionGolden, FrequenciesAreWhatTheLibraryComputes) {
  int cases = 0;
  for (const llvm::json::Value &value : *goldens().getArray("frequencies")) {
    const llvm::json::Object &c = *value.getAsObject();
    std::string rule = c.getString("rule")->str();
    SCOPED_TRACE(rule);
    int64_t P = c.getArray("frequencies")->size();
    Program program("seq.weight @f computed(#seq.rotary_frequencies<" + rule +
                    ">) : " + WindowCase::type("", {P}) + "\n");
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    auto weights = program.getModule().getOps<WeightOp>();
    llvm::SmallVector<double> found =
        (*weights.begin()).getComputed()->compute(P);
    Tensor<double> expected = tensor(c, "frequencies", {P});
    ASSERT_EQ(int64_t(found.size()), P);
    for (int64_t i = 0; i < P; ++i)
      EXPECT_NEAR(found[i] / expected(i), 1, 2e-6) << "pair " << i;
    ++cases;
  }
  EXPECT_EQ(cases, 10);
}

} // namespace
