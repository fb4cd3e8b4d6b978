// Models of a great many ops: compiled, or refused with a reason, never a stack
// that overflows.
#include "compiler/Compiler.h"

#include "gtest/gtest.h"

#include <fstream>

using namespace effc;

namespace {

// A model of one recurrence, with `chain` between the norm and it: from
// `%chain0` to `%chainN`, of `?x6`.
std::string modelWith(const std::string &chain, size_t links) {
  return R"(module attributes {seq.model = #seq.model<
    family = "long", vocabulary = 11, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<11x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
                     %s: tensor<6xf32> {seq.state_name = "s"})
      -> (tensor<?x11xf32>, tensor<6xf32>) {
    %table = seq.parameter @table : tensor<11x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    %chain0 = seq.tanh %x : tensor<?x6xf32>
)" + chain +
         "    %out = seq.tanh %chain" + std::to_string(links) +
         R"( : tensor<?x6xf32>
    %y, %next = seq.recurrence tokens(%a = %out : tensor<?x6xf32>) parameters()
        states(%b = %s : tensor<6xf32>) -> (tensor<?x6xf32>), (tensor<6xf32>) {
      %sum = seq.add %a, %b : tensor<6xf32>
      seq.yield %sum, %sum : tensor<6xf32>, tensor<6xf32>
    }
    %last = seq.select_rows %y, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %last, %table : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
    return %logits, %next : tensor<?x11xf32>, tensor<6xf32>
  }
})";
}

// Op `i` of a chain.
std::string link(size_t i, const std::string &op, const std::string &type) {
  return "    %chain" + std::to_string(i + 1) + " = " + op + " %chain" +
         std::to_string(i) + " : " + type + "\n";
}

std::string elementwise(size_t links) {
  std::string chain;
  for (size_t i = 0; i < links; ++i)
    chain += link(i, "seq.tanh", "tensor<?x6xf32>");
  return modelWith(chain, links);
}

// There and back: `links` is even.
std::string views(size_t links) {
  std::string chain;
  for (size_t i = 0; i < links; ++i)
    chain += link(i, "seq.reshape",
                  i % 2 ? "tensor<?x2x3xf32> -> tensor<?x6xf32>"
                        : "tensor<?x6xf32> -> tensor<?x2x3xf32>");
  return modelWith(chain, links);
}

// Compiles down to kernels of code; the reason why not, or nothing.
std::string compiling(const std::string &text) {
  std::string path = testing::TempDir() + "effc-long.mlir";
  std::ofstream(path) << text;
  CompileOptions options;
  options.model = path;
  options.output = path + ".out";
  options.weights = codegen::WeightsMode::None;
  options.compileTo = Phase::Binary;
  options.pipeline.prefillRows = {5};
  options.pipeline.decodeRows = {1};
  return llvm::toString(compile(options, {}));
}

// Kernels end after 64 ops, so that the time grows with the ops alone.
TEST(LongText, ElementwiseOps) { EXPECT_EQ(compiling(elementwise(10000)), ""); }

// Each op doubles the ways that lead to the first.
TEST(LongText, ValuesUsedTwiceOverAndOver) {
  std::string doubled = "    %e0 = seq.tanh %a : tensor<6xf32>\n";
  for (int i = 0; i < 60; ++i) {
    std::string before = "%e" + std::to_string(i);
    doubled += "    %e" + std::to_string(i + 1) + " = seq.add " + before +
               ", " + before + " : tensor<6xf32>\n";
  }
  std::string text = modelWith("", 0);
  llvm::StringRef sum = "%sum = seq.add %a, %b";
  text.replace(text.find(sum), sum.size(),
               doubled + "    %sum = seq.add %e60, %b");
  EXPECT_EQ(compiling(text), "");
}

TEST(LongText, MoreOpsThanAModelHas) {
  std::string reason = compiling(elementwise(65536));
  EXPECT_NE(reason.find("expects at most 65536 ops, but got 65544"),
            std::string::npos)
      << reason;
}

TEST(LongText, Views) {
  EXPECT_EQ(compiling(views(256)), "");
  for (size_t links : {258, 60000}) {
    std::string reason = compiling(views(links));
    EXPECT_NE(reason.find("'seq.reshape' op expects at most 256 views in a "
                          "row, but got more"),
              std::string::npos)
        << reason;
  }
}

} // namespace
