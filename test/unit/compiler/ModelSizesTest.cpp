// Models that no artifact can hold are refused before they are lowered, with
// what is expected and what was found.
#include "compiler/ModelSizes.h"

#include "compiler/Compiler.h"
#include "dialects/plan/Plan.h"
#include "dialects/seq/Seq.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <fstream>

using namespace effc;

namespace {

/// What compiling `text`, for calls of up to 256 rows, says.
std::string compilingText(const std::string &text) {
  std::string path = testing::TempDir() + "/large.mlir";
  std::ofstream(path) << text;
  CompileOptions options;
  options.model = path;
  options.output = testing::TempDir() + "/large.txt";
  options.weights = codegen::WeightsMode::None;
  options.compileTo = Phase::Import;
  llvm::Error error = compile(options, CompileEvents());
  std::remove(path.c_str());
  std::remove(options.output.c_str());
  std::string said = llvm::toString(std::move(error));
  if (size_t at = said.find("expects"); at != std::string::npos)
    said.erase(0, at);
  return said.substr(0, said.find('\n'));
}

/// A vocabulary of 11, `width` channels and a state of `state`.
std::string compiling(const std::string &width, const std::string &state) {
  std::string text = R"(module attributes {seq.model = #seq.model<
    family = "large", vocabulary = 11, width = W, max_context = 0>} {
  seq.weight @table source("table") : tensor<11xWxf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
                     %s: tensor<Sxf32> {seq.state_name = "s"})
      -> (tensor<?x11xf32>, tensor<Sxf32>) {
    %table = seq.parameter @table : tensor<11xWxf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11xWxf32>) -> tensor<?xWxf32>
    %last = seq.select_rows %x, %rows : (tensor<?xWxf32>, tensor<?xi32>) -> tensor<?xWxf32>
    %logits = seq.lm_head %last, %table : (tensor<?xWxf32>, tensor<11xWxf32>) -> tensor<?x11xf32>
    return %logits, %s : tensor<?x11xf32>, tensor<Sxf32>
  }
})";
  for (auto [letter, value] :
       {std::pair<char, std::string>{'W', width}, {'S', state}})
    for (size_t at = 0; (at = text.find(letter, at)) != std::string::npos;
         at += value.size())
      text.replace(at, 1, value);
  return compilingText(text);
}

// 2^40 bytes of a slot are 2^38 numbers.
TEST(ModelSizes, StatesOfASequence) {
  EXPECT_EQ(compiling("6", "262144x1048576"), "");
  EXPECT_EQ(compiling("6", "262145x1048576"),
            "expects states of a sequence, up to 's', of at most 1099511627776 "
            "bytes, but got 1099515822080");
  // 3 * 2^64: what wraps around is little.
  EXPECT_EQ(compiling("6", "3x4294967296x4294967296"),
            "expects states of a sequence, up to 's', of at most 1099511627776 "
            "bytes, but got more than any can have");
}

// 256 rows of 2^30 numbers are 2^40 bytes.
TEST(ModelSizes, ValuesOfACall) {
  EXPECT_EQ(compiling("1073741824", "7"), "");
  EXPECT_EQ(compiling("1073741825", "7"),
            "expects values, of 256 rows, of at most 1099511627776 bytes, but "
            "got 1099511628800");
}

TEST(ModelSizes, DimensionsOfAWeight) {
  EXPECT_EQ(compiling("2147483649", "7"),
            "expects dimensions of a weight of at most 2147483648 elements, "
            "but got 2147483649");
}

// Three heads that see the last 5 tokens, with `keys` and `values` channels.
std::string compilingHeads(int64_t keys, int64_t values) {
  auto numbered = [&](std::string text) {
    for (auto [letter, value] : {std::pair{'A', 3 * keys},
                                 {'B', 3 * values},
                                 {'K', keys},
                                 {'V', values}})
      for (size_t at = 0; (at = text.find(letter, at)) != std::string::npos;)
        text.replace(at, 1, std::to_string(value));
    return text;
  };
  return compilingText(numbered(R"(module attributes {seq.model = #seq.model<
    family = "large", vocabulary = 11, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<11x6xf32>
  seq.weight @keys source("keys") : tensor<Ax6xf32>
  seq.weight @values source("values") : tensor<Bx6xf32>
  seq.weight @out source("out") : tensor<6xBxf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
                     %positions: tensor<?xi32>,
                     %ks: tensor<5x3xKxf32> {seq.state_name = "keys"},
                     %vs: tensor<5x3xVxf32> {seq.state_name = "values"})
      -> (tensor<?x11xf32>, tensor<5x3xKxf32>, tensor<5x3xVxf32>) {
    %table = seq.parameter @table : tensor<11x6xf32>
    %kw = seq.parameter @keys : tensor<Ax6xf32>
    %vw = seq.parameter @values : tensor<Bx6xf32>
    %ow = seq.parameter @out : tensor<6xBxf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    %k0 = seq.linear %x, %kw : (tensor<?x6xf32>, tensor<Ax6xf32>) -> tensor<?xAxf32>
    %k = seq.reshape %k0 : tensor<?xAxf32> -> tensor<?x3xKxf32>
    %v0 = seq.linear %x, %vw : (tensor<?x6xf32>, tensor<Bx6xf32>) -> tensor<?xBxf32>
    %v = seq.reshape %v0 : tensor<?xBxf32> -> tensor<?x3xVxf32>
    %y, %nk, %nv = seq.attention %k, %k, %v positions(%positions) states(%ks, %vs) {window = 5 : i64, scale = 0.5 : f64}
      : (tensor<?x3xKxf32>, tensor<?x3xKxf32>, tensor<?x3xVxf32>, tensor<?xi32>, tensor<5x3xKxf32>, tensor<5x3xVxf32>)
        -> (tensor<?x3xVxf32>, tensor<5x3xKxf32>, tensor<5x3xVxf32>)
    %y0 = seq.reshape %y : tensor<?x3xVxf32> -> tensor<?xBxf32>
    %o = seq.linear %y0, %ow : (tensor<?xBxf32>, tensor<6xBxf32>) -> tensor<?x6xf32>
    %last = seq.select_rows %o, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %last, %table : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
    return %logits, %nk, %nv : tensor<?x11xf32>, tensor<5x3xKxf32>, tensor<5x3xVxf32>
  }
})"));
}

TEST(ModelSizes, ChannelsOfAHead) {
  EXPECT_EQ(compilingHeads(4096, 4096), "");
  EXPECT_EQ(compilingHeads(4097, 7),
            "expects a head of at most 4096 channels, but got 4097");
  EXPECT_EQ(compilingHeads(7, 4098),
            "expects a head of at most 4096 channels, but got 4098");
}

/// What the plan in `text` is refused with; "" where it is not.
std::string checkingPlan(const std::string &text) {
  mlir::MLIRContext context;
  context.loadDialect<plan::PlanDialect, seq::SeqDialect>();
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          said += diagnostic.str();
                                          return mlir::success();
                                        });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return "no module: " + said;
  bool fits = mlir::succeeded(checkPlanSizes(*module));
  EXPECT_EQ(fits, said.empty()) << said;
  size_t at = said.find("expects");
  return at == said.npos ? said : said.substr(at);
}

std::string planOfArena(const std::string &bytes) {
  return checkingPlan("plan.entry @prefill_16 kind prefill rows 16 chunk 1 "
                      "arena " +
                      bytes + " {\n}\n");
}

// 2^40 bytes.
TEST(PlanSizes, ValuesOfAnEntry) {
  EXPECT_EQ(planOfArena("1099511627776"), "");
  EXPECT_EQ(planOfArena("1099511627840"),
            "expects values of the entry 'prefill_16' of at most "
            "1099511627776 bytes, but got 1099511627840");
}

std::string planOfSlot(const std::string &bytes) {
  return checkingPlan("module attributes {seq.state_layout = "
                      "#seq.state_layout<slot_bytes = " +
                      bytes + ", states = []>} {\n}\n");
}

TEST(PlanSizes, StatesOfASequence) {
  EXPECT_EQ(planOfSlot("1099511627776"), "");
  EXPECT_EQ(planOfSlot("1099511627840"),
            "expects states of a sequence of at most 1099511627776 bytes, but "
            "got 1099511627840");
}

// A tensor without dimensions is one element.
TEST(ModelSizes, ConstantWithoutDimensions) {
  EXPECT_EQ(compilingText(R"(module attributes {seq.model = #seq.model<
    family = "constant", vocabulary = 11, width = 4, max_context = 0>} {
  seq.weight @table source("table") : tensor<11x4xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>)
      -> tensor<?x11xf32> {
    %table = seq.parameter @table : tensor<11x4xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x4xf32>) -> tensor<?x4xf32>
    %half = seq.constant 5.000000e-01 : tensor<f32>
    %all = seq.broadcast %half along %x {dimensions = array<i64>} : tensor<f32>, tensor<?x4xf32>
    %y = seq.mul %x, %all : tensor<?x4xf32>
    %last = seq.select_rows %y, %rows : (tensor<?x4xf32>, tensor<?xi32>) -> tensor<?x4xf32>
    %logits = seq.lm_head %last, %table : (tensor<?x4xf32>, tensor<11x4xf32>) -> tensor<?x11xf32>
    return %logits : tensor<?x11xf32>
  }
})"),
            "");
}

std::string planOfLaunches(int count) {
  std::string launches;
  for (int i = 0; i < count; ++i)
    launches +=
        "plan.launch @k(%a) items <one, tile = 1, times = 1> note \"\"\n";
  return checkingPlan(
      "plan.entry @decode_2 kind decode rows 2 chunk 1 arena 64 "
      "{\n%a = plan.arena bytes 64 offset 0\n" +
      launches + "}\n");
}

TEST(PlanSizes, LaunchesOfAnEntry) {
  EXPECT_EQ(planOfLaunches(65536), "");
  EXPECT_EQ(planOfLaunches(65537),
            "expects an entry of at most 65536 launches, but got 65537");
}

} // namespace
