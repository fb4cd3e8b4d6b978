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

// `%<name>60` of what `first` makes, each op of the chain made of the one
// before twice: 2^60 ways lead to the first.
std::string doubled(const std::string &name, const std::string &first,
                    const std::string &op, const std::string &type) {
  std::string chain = "    %" + name + "0 = " + first + " : " + type + "\n";
  for (int i = 0; i < 60; ++i) {
    std::string before = "%" + name + std::to_string(i);
    chain += "    %" + name + std::to_string(i + 1) + " = " + op + " " +
             before + ", " + before + " : " + type + "\n";
  }
  return chain;
}

// A model of one recurrence with a matrix and a sum of keys, whose body begins
// with `chains` and decays the matrix by `%decay`, the sum by `%again`, both of
// `2x3`; keys are `%key` and `%same`.
std::string stepWith(const std::string &chains) {
  return R"(#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
module attributes {seq.model = #seq.model<
    family = "long", vocabulary = 11, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<11x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
                     %s: tensor<2x3x3xf32> {seq.state_name = "s"},
                     %z: tensor<2x3xf32> {seq.state_name = "z"})
      -> (tensor<?x11xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>) {
    %table = seq.parameter @table : tensor<11x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    %in = seq.reshape %x : tensor<?x6xf32> -> tensor<?x2x3xf32>
    %y, %next_s, %next_z = seq.recurrence tokens(%a = %in : tensor<?x2x3xf32>) parameters()
        states(%b = %s : tensor<2x3x3xf32>, %c = %z : tensor<2x3xf32>)
        -> (tensor<?x2x3xf32>), (tensor<2x3x3xf32>, tensor<2x3xf32>) {
)" + chains +
         R"(    %kept = seq.contract %decay, %b {indexing_maps = [#key, #state, #state]} : (tensor<2x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %written = seq.contract %key, %a {indexing_maps = [#key, #value, #state]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x3xf32>
    %next = seq.add %kept, %written : tensor<2x3x3xf32>
    %kept_sum = seq.mul %again, %c : tensor<2x3xf32>
    %sum = seq.add %kept_sum, %same : tensor<2x3xf32>
    %read = seq.contract %a, %next {indexing_maps = [#key, #state, #value]} : (tensor<2x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3xf32>
    %total = seq.contract %a, %sum {indexing_maps = [affine_map<(h, k) -> (h, k)>, affine_map<(h, k) -> (h, k)>, affine_map<(h, k) -> (h)>]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    %mean = seq.contract %read, %total {indexing_maps = [affine_map<(h, v) -> (h, v)>, affine_map<(h, v) -> (h)>, affine_map<(h, v) -> (h, v)>]} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
    seq.yield %mean, %next, %sum : tensor<2x3xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>
    }
    %out = seq.reshape %y : tensor<?x2x3xf32> -> tensor<?x6xf32>
    %last = seq.select_rows %out, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %last, %table : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
    return %logits, %next_s, %next_z : tensor<?x11xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>
  }
})";
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
  std::string text = modelWith("", 0);
  llvm::StringRef sum = "%sum = seq.add %a, %b";
  text.replace(text.find(sum), sum.size(),
               doubled("e", "seq.tanh %a", "seq.add", "tensor<6xf32>") +
                   "    %sum = seq.add %e60, %b");
  EXPECT_EQ(compiling(text), "");
}

// What makes a step linear is compared and followed, here keys and decays that
// are made alike.
TEST(LongText, StepsOfValuesUsedTwiceOverAndOver) {
  const std::string type = "tensor<2x3xf32>";
  EXPECT_EQ(
      compiling(stepWith(doubled("key", "seq.tanh %a", "seq.add", type) +
                         doubled("same", "seq.tanh %a", "seq.add", type) +
                         "    %decay = seq.sigmoid %key60 : " + type + "\n" +
                         "    %again = seq.sigmoid %same60 : " + type + "\n" +
                         "    %key = seq.exp %key60 : " + type + "\n" +
                         "    %same = seq.exp %same60 : " + type + "\n")),
      "");
  // Too many decays: the step runs as it stands.
  EXPECT_EQ(
      compiling(stepWith(doubled("open", "seq.sigmoid %a", "seq.mul", type) +
                         "    %decay = seq.mul %open60, %open60 : " + type +
                         "\n" + "    %again = seq.mul %open60, %open60 : " +
                         type + "\n" + "    %key = seq.exp %a : " + type +
                         "\n" + "    %same = seq.exp %a : " + type + "\n")),
      "");
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
                          "row, but this one is another"),
              std::string::npos)
        << reason;
  }
}

} // namespace
