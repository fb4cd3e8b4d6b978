// Which reads bear that numbers are rounded to 16 bits.
#include "dialects/seq/Conditioning.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

using namespace effc::seq;
using effc::seq::test::Program;

namespace {

/// Which of a function's first arguments bear rounding: "yn" for one that does and
/// one that does not.
std::string borne(const std::string &arguments, const std::string &body,
                  const std::string &around = "") {
  Program program(around + "func.func @f(" + arguments + ") {\n" + body +
                  "\n return }");
  EXPECT_TRUE(program.isValid()) << program.getDiagnostics().str();
  std::string all;
  if (program.isValid())
    for (mlir::Value argument : program.getFunction().getArguments())
      all += bearsRounding(argument) ? 'y' : 'n';
  return all;
}

// Values x, keys b and queries c are multiplied; of the time step dt decays are made,
// and the state is kept.
TEST(Conditioning, MixersBearItWhereTheyMultiply) {
  EXPECT_EQ(
      borne(
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
      borne("%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: "
            "tensor<?x6x5xf32>, "
            "%gate: tensor<?x6x3xf32>, %s: tensor<6x3x5xf32>",
            "%y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%gate) "
            "state(%s) : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, "
            "tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>) -> "
            "(tensor<?x6x5xf32>, tensor<6x3x5xf32>)"),
      "yyynn");
}

// An angle adds up over all tokens. The log of an input gate is an exponent.
TEST(Conditioning, WhatAddsUpOrIsAnExponentDoesNot) {
  EXPECT_EQ(
      borne("%angle: tensor<?x6x5xf32>, %c: tensor<6x1x5xf32>, %s: "
            "tensor<6x1x5xf32>",
            "%y, %a, %b = seq.running_turn %angle state(%c, %s) {phase = 0.5 : "
            "f64} : "
            "(tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>) -> "
            "(tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)")
          .substr(0, 1),
      "n");
  EXPECT_EQ(
      borne("%q: tensor<?x2x3xf32>, %k: tensor<?x2x3xf32>, %v: "
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
TEST(Conditioning, WindowsBearItInQueriesKeysAndValues) {
  EXPECT_EQ(
      borne("%q: tensor<?x6x4xf32>, %k: tensor<?x1x4xf32>, %v: "
            "tensor<?x6x5xf32>, "
            "%d: tensor<?x3xf32>, %p: tensor<?xi32>, %keys: tensor<8x1x4xf32>, "
            "%values: tensor<8x6x5xf32>, %numbers: tensor<8x3xf32>",
            "%y, %a, %b, %c = seq.attention %q, %k, %v positions(%p) "
            "numbers(%d) states(%keys, %values, %numbers) {window = 7 : i64, "
            "scale = 0.5 : f64, key_score = #seq.key_score<add>} : "
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

TEST(Conditioning, ElementwiseOpsAreFollowed) {
  EXPECT_EQ(borne(kOne, inProduct("", "%x"), kWeight), "y");
  EXPECT_EQ(borne(kOne,
                  inProduct("%s = seq.silu %x : tensor<?x6xf32>\n"
                            "%m = seq.mul %s, %x : tensor<?x6xf32>\n",
                            "%m"),
                  kWeight),
            "y");
  // An exponential turns a small relative change into a large one.
  EXPECT_EQ(borne(kOne, inProduct("%e = seq.exp %x : tensor<?x6xf32>\n", "%e"),
                  kWeight),
            "n");
  // What is chosen by scores, beside a product that would bear it.
  EXPECT_EQ(borne(kOne,
                  inProduct("%s = seq.sigmoid %x : tensor<?x6xf32>\n"
                            "%v, %i = seq.top_k %s : tensor<?x6xf32> -> "
                            "tensor<?x2xf32>, tensor<?x2xi32>\n",
                            "%x"),
                  kWeight),
            "n");
}

// A residual is a sum of what all layers give; a bias is the same for all tokens.
TEST(Conditioning, SumsDoNotButThoseWithParameters) {
  EXPECT_EQ(borne("%x: tensor<?x6xf32>, %r: tensor<?x6xf32>",
                  inProduct("%s = seq.add %x, %r : tensor<?x6xf32>\n", "%s"),
                  kWeight),
            "nn");
  EXPECT_EQ(
      borne(
          kOne,
          inProduct("%b = seq.parameter @b : tensor<6xf32>\n"
                    "%all = seq.broadcast %b along %x {dimensions = array<i64: "
                    "1>} : tensor<6xf32>, tensor<?x6xf32>\n"
                    "%s = seq.add %x, %all : tensor<?x6xf32>\n",
                    "%s"),
          kWeight),
      "y");
}

TEST(Conditioning, NormsAndConvolutionsBearItInTokens) {
  EXPECT_EQ(
      borne("%x: tensor<?x6xf32>, %tail: tensor<3x6xf32>",
            "%w = seq.parameter @c : tensor<4x6xf32>\n"
            "%y, %next = seq.short_convolution %x parameters(%w) state(%tail)"
            " : tensor<?x6xf32>, (tensor<4x6xf32>), tensor<3x6xf32>",
            "seq.weight @c source(\"c\") : tensor<4x6xf32>\n"),
      "yn");
  EXPECT_EQ(borne(kOne,
                  "%b = seq.parameter @b : tensor<6xf32>\n"
                  "%y = seq.rms_norm %x, %b {eps = 1.0e-5 : f64} : "
                  "tensor<?x6xf32>, tensor<6xf32>",
                  kWeight),
            "y");
}

// From one seq.kernel to the next: what the second makes of it leaves the function.
TEST(Conditioning, KernelsAreFollowed) {
  const std::string first =
      "%k = seq.kernel \"first\" (%in = %x : tensor<?x6xf32>) -> "
      "(tensor<?x6xf32>) {\n"
      "  %s = seq.silu %in : tensor<?x6xf32>\n"
      "  seq.yield %s : tensor<?x6xf32>\n}\n";
  EXPECT_EQ(borne(kOne, first + inProduct("", "%k"), kWeight), "y");
  EXPECT_EQ(borne(kOne, first + "%e = seq.kernel \"second\" (%in = %k : "
                                "tensor<?x6xf32>) -> (tensor<?x6xf32>) {\n"
                                "  %s = seq.exp %in : tensor<?x6xf32>\n"
                                "  seq.yield %s : tensor<?x6xf32>\n}\n"),
            "n");
}

} // namespace
