// Which reads tolerate that numbers are rounded to 16 bits.
#include "dialects/seq/RoundingTolerance.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

using namespace effc::seq;
using effc::seq::test::Program;

namespace {

/// Which of a function's arguments tolerate rounding: "yn" for one that does and
/// one that does not.
std::string tolerated(const std::string &arguments, const std::string &body,
                      const std::string &around = "") {
  Program program(around + "func.func @f(" + arguments + ") {\n" + body +
                  "\n return }");
  EXPECT_TRUE(program.isValid()) << program.getDiagnostics().str();
  std::string all;
  if (program.isValid())
    for (mlir::Value argument : program.getFunction().getArguments())
      all += RoundingTolerance().ofReads(argument) ? 'y' : 'n';
  return all;
}

// Values x, keys b and queries c are multiplied; of the time step dt decays are made,
// and the state is kept.
TEST(RoundingTolerance, MixersHaveItWhereTheyMultiply) {
  EXPECT_EQ(
      tolerated(
          "%x: tensor<?x6x5xf32>, %dt: tensor<?x6xf32>, %b: tensor<?x2x3xf32>, "
          "%c: tensor<?x2x3xf32>, %s: tensor<6x3x5xf32>, %p: tensor<6xf32>",
          "%y, %next = seq.ssd %x, %dt, %b, %c parameters(%p, %p, %p) "
          "state(%s) "
          ": (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, "
          "tensor<?x2x3xf32>), (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), "
          "tensor<6x3x5xf32>")
          .substr(0, 5),
      "ynyyn");
  EXPECT_EQ(
      tolerated(
          "%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: "
          "tensor<?x6x5xf32>, "
          "%gate: tensor<?x6x3xf32>, %s: tensor<6x3x5xf32>",
          "%y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%gate) "
          "state(%s) : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, "
          "tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>) -> "
          "(tensor<?x6x5xf32>, tensor<6x3x5xf32>)"),
      "yyynn");
}

// An angle adds up over all tokens. The log of an input gate is an exponent.
TEST(RoundingTolerance, WhatAddsUpOrIsAnExponentDoesNot) {
  EXPECT_EQ(
      tolerated(
          "%angle: tensor<?x6x5xf32>, %c: tensor<6x1x5xf32>, %s: "
          "tensor<6x1x5xf32>",
          "%y, %a, %b = seq.running_turn %angle state(%c, %s) {phase = 0.5 : "
          "f64} : "
          "(tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>) -> "
          "(tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)")
          .substr(0, 1),
      "n");
  EXPECT_EQ(
      tolerated(
          "%q: tensor<?x2x3xf32>, %k: tensor<?x2x3xf32>, %v: "
          "tensor<?x6x5xf32>, "
          "%i: tensor<?x6xf32>, %f: tensor<?x6xf32>, %s: tensor<6x3x5xf32>, "
          "%z: tensor<6x3xf32>, %m: tensor<6xf32>",
          "%y, %a, %b, %c = seq.mlstm %q, %k, %v, %i, %f state(%s, %z, %m) "
          "{eps = 1.0e-6 : f64} : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, "
          "tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, "
          "tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>) -> "
          "(tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, "
          "tensor<6xf32>)")
          .substr(0, 5),
      "yyynn");
}

// Not the numbers that choose keys.
TEST(RoundingTolerance, WindowsHaveItInQueriesKeysAndValues) {
  EXPECT_EQ(
      tolerated(
          "%q: tensor<?x6x4xf32>, %k: tensor<?x1x4xf32>, %v: "
          "tensor<?x6x5xf32>, "
          "%d: tensor<?x3xf32>, %p: tensor<?xi32>, %keys: tensor<8x1x4xf32>, "
          "%values: tensor<8x6x5xf32>, %numbers: tensor<8x3xf32>",
          "%y, %a, %b, %c = seq.attention %q, %k, %v positions(%p) "
          "numbers(%d) states(%keys, %values, %numbers) {window = 7 : i64, "
          "scale = 0.5 : f64, key_score = #seq.key_score<bias>} : "
          "(tensor<?x6x4xf32>, tensor<?x1x4xf32>, tensor<?x6x5xf32>, "
          "tensor<?xi32>, tensor<?x3xf32>, tensor<8x1x4xf32>, "
          "tensor<8x6x5xf32>, tensor<8x3xf32>) -> (tensor<?x6x5xf32>, "
          "tensor<8x1x4xf32>, tensor<8x6x5xf32>, tensor<8x3xf32>)")
          .substr(0, 4),
      "yyyn");
}

constexpr const char *kOne = "%x: tensor<?x6xf32>";
constexpr const char *kWeight =
    "seq.weight @w source(\"w\") : tensor<9x6xf32>\n"
    "seq.weight @b source(\"b\") : tensor<6xf32>\n";
/// What ends in a product of `of`.
std::string inProduct(const std::string &body, const std::string &of) {
  return "%w = seq.parameter @w : tensor<9x6xf32>\n" + body +
         "%p = seq.linear " + of +
         ", %w : (tensor<?x6xf32>, tensor<9x6xf32>) -> tensor<?x9xf32>";
}

TEST(RoundingTolerance, ElementwiseOpsAreFollowed) {
  EXPECT_EQ(tolerated(kOne, inProduct("", "%x"), kWeight), "y");
  EXPECT_EQ(tolerated(kOne,
                      inProduct("%s = seq.silu %x : tensor<?x6xf32>\n"
                                "%m = seq.mul %s, %x : tensor<?x6xf32>\n",
                                "%m"),
                      kWeight),
            "y");
  // An exponential turns a small relative change into a large one.
  EXPECT_EQ(tolerated(kOne,
                      inProduct("%e = seq.exp %x : tensor<?x6xf32>\n", "%e"),
                      kWeight),
            "n");
  // What is chosen by scores, beside a product that would tolerate it.
  EXPECT_EQ(tolerated(kOne,
                      inProduct("%s = seq.sigmoid %x : tensor<?x6xf32>\n"
                                "%v, %i = seq.top_k %s : tensor<?x6xf32> -> "
                                "tensor<?x2xf32>, tensor<?x2xi32>\n",
                                "%x"),
                      kWeight),
            "n");
}

// A residual is a sum of what all layers give; a bias is the same for all tokens.
TEST(RoundingTolerance, SumsDoNotButThoseWithParameters) {
  EXPECT_EQ(
      tolerated("%x: tensor<?x6xf32>, %r: tensor<?x6xf32>",
                inProduct("%s = seq.add %x, %r : tensor<?x6xf32>\n", "%s"),
                kWeight),
      "nn");
  EXPECT_EQ(
      tolerated(
          kOne,
          inProduct("%b = seq.parameter @b : tensor<6xf32>\n"
                    "%all = seq.broadcast %b along %x {dimensions = array<i64: "
                    "1>} : tensor<6xf32>, tensor<?x6xf32>\n"
                    "%s = seq.add %x, %all : tensor<?x6xf32>\n",
                    "%s"),
          kWeight),
      "y");
}

TEST(RoundingTolerance, NormsAndConvolutionsHaveItInTokens) {
  EXPECT_EQ(
      tolerated(
          "%x: tensor<?x6xf32>, %tail: tensor<3x6xf32>",
          "%w = seq.parameter @c : tensor<4x6xf32>\n"
          "%y, %next = seq.short_convolution %x parameters(%w) state(%tail)"
          " : tensor<?x6xf32>, (tensor<4x6xf32>), tensor<3x6xf32>",
          "seq.weight @c source(\"c\") : tensor<4x6xf32>\n"),
      "yn");
  EXPECT_EQ(tolerated(kOne,
                      "%b = seq.parameter @b : tensor<6xf32>\n"
                      "%y = seq.rms_norm %x, %b {eps = 1.0e-5 : f64} : "
                      "tensor<?x6xf32>, tensor<6xf32>",
                      kWeight),
            "y");
}

// Nor does what is added up over all tokens, or what a written step reads.
TEST(RoundingTolerance, RunningTotalsAndWrittenStepsDoNot) {
  EXPECT_EQ(tolerated("%x: tensor<?x6x5xf32>, %s: tensor<6x1x5xf32>",
                      "%y, %next = seq.running_total %x state(%s) : "
                      "(tensor<?x6x5xf32>, tensor<6x1x5xf32>) -> "
                      "(tensor<?x6x5xf32>, tensor<6x1x5xf32>)"),
            "nn");
  EXPECT_EQ(
      tolerated(
          "%key: tensor<?x6x3xf32>, %value: tensor<?x6x5xf32>, "
          "%s0: tensor<6x3x5xf32>",
          "%y, %last = seq.recurrence tokens(%k = %key : tensor<?x6x3xf32>, "
          "%v = %value : tensor<?x6x5xf32>) parameters() "
          "states(%s = %s0 : tensor<6x3x5xf32>) "
          "-> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>) {\n"
          "  %written = seq.contract %k, %v {indexing_maps = ["
          "affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, v)>, "
          "affine_map<(h, k, v) -> (h, k, v)>]} : (tensor<6x3xf32>, "
          "tensor<6x5xf32>) -> tensor<6x3x5xf32>\n"
          "  %next = seq.add %s, %written : tensor<6x3x5xf32>\n"
          "  %read = seq.contract %k, %next {indexing_maps = ["
          "affine_map<(h, v, k) -> (h, k)>, "
          "affine_map<(h, v, k) -> (h, k, v)>, "
          "affine_map<(h, v, k) -> (h, v)>]} : (tensor<6x3xf32>, "
          "tensor<6x3x5xf32>) -> tensor<6x5xf32>\n"
          "  seq.yield %read, %next : tensor<6x5xf32>, tensor<6x3x5xf32>\n}"),
      "nnn");
}

// What is taken away cancels: a mean, and the token before.
TEST(RoundingTolerance, DifferencesDoNot) {
  for (auto [centred, expected] : {std::pair("centred, ", "n"), {"", "y"}})
    EXPECT_EQ(tolerated(kOne, std::string("%y = seq.group_norm %x {") +
                                  centred +
                                  "eps = 1.0e-5 : f64, groups = 3 : i64} : "
                                  "tensor<?x6xf32>"),
              expected);
  auto shifted = [](const std::string &taps) {
    return tolerated(
        "%x: tensor<?x6xf32>, %tail: tensor<1x6xf32>",
        "%w = seq.parameter @taps : tensor<2x6xf32>\n"
        "%y, %next = seq.short_convolution %x parameters(%w) state(%tail) : "
        "tensor<?x6xf32>, (tensor<2x6xf32>), tensor<1x6xf32>",
        "seq.weight @taps " + taps + " : tensor<2x6xf32>\n");
  };
  EXPECT_EQ(shifted("computed(#seq.row_numbers<numbers = [1.0, -1.0]>)"), "nn");
  EXPECT_EQ(shifted("source(\"taps\")"), "yn");
}

// Each value is asked for once.
TEST(RoundingTolerance, LongChainsAreFollowed) {
  std::string chain, last = "x";
  for (int i = 0; i < 60; ++i) {
    std::string next = "m" + std::to_string(i);
    chain += "%" + next + " = seq.mul %" + last + ", %" + last +
             " : tensor<?x6xf32>\n";
    last = next;
  }
  EXPECT_EQ(tolerated(kOne, inProduct(chain, "%" + last), kWeight), "y");
}

// From one seq.kernel to the next: what the second makes of it leaves the function.
TEST(RoundingTolerance, KernelsAreFollowed) {
  const std::string first =
      "%k = seq.kernel \"first\" (%in = %x : tensor<?x6xf32>) -> "
      "(tensor<?x6xf32>) {\n"
      "  %s = seq.silu %in : tensor<?x6xf32>\n"
      "  seq.yield %s : tensor<?x6xf32>\n}\n";
  EXPECT_EQ(tolerated(kOne, first + inProduct("", "%k"), kWeight), "y");
  EXPECT_EQ(tolerated(kOne, first + "%e = seq.kernel \"second\" (%in = %k : "
                                    "tensor<?x6xf32>) -> (tensor<?x6xf32>) {\n"
                                    "  %s = seq.exp %in : tensor<?x6xf32>\n"
                                    "  seq.yield %s : tensor<?x6xf32>\n}\n"),
            "n");
}

} // namespace
