// The channel side compiled: MLPs, residuals, parts side by side and channels in other
// places agree with the reference in double, in prefill and decode alike.
#include "test/unit/contract/ChannelLayer.h"

#include "gtest/gtest.h"

using namespace effc::test;

namespace {

//===- MLPs and residuals -------------------------------------------------===//

/// The nonlinearity %a of %u, both `type`.
std::string activation(const std::string &f, const std::string &type) {
  if (f == "relu")
    return "  %a = seq.clamp %u {lower = 0.0 : f64} : " + type + "\n";
  if (f == "squared_relu")
    return "  %r = seq.clamp %u {lower = 0.0 : f64} : " + type +
           "\n  %a = seq.mul %r, %r : " + type + "\n";
  return "  %a = seq." + f + " %u : " + type + "\n";
}

Layer mlp(std::string f, bool gated, bool bias) {
  int64_t D = 20, F = 43;
  std::string x = tensorType({"?", n(D)}), h = tensorType({"?", n(F)});
  std::string up = shapeOf({F, D}), down = shapeOf({D, F});
  Layer layer{
      f + (gated ? ", gated" : ""), D, {{"w1", {F, D}}, {"w2", {D, F}}}, ""};
  std::string body = "  %u = seq.linear %x, %w1" +
                     std::string(bias ? " bias(%b1)" : "") + " : (" + x + ", " +
                     up + (bias ? ", " + shapeOf({F}) : "") + ") -> " + h +
                     "\n";
  body += f == "bilinear" ? "" : activation(f, h);
  std::string hidden = f == "bilinear" ? "%u" : "%a";
  if (bias)
    layer.weights.push_back({"b1", {F}});
  if (gated) {
    layer.weights.push_back({"w3", {F, D}});
    body += "  %g = seq.linear %x, %w3 : (" + x + ", " + up + ") -> " + h +
            "\n  %h = seq.mul " + hidden + ", %g : " + h + "\n";
    hidden = "%h";
  }
  layer.body = body + "  %y = seq.linear " + hidden + ", %w2 : (" + h + ", " +
               down + ") -> " + x + "\n";
  return layer;
}

TEST(ChannelKernels, MlpsAgreeWithTheReference) {
  for (std::string f : {"silu", "gelu", "gelu_tanh", "relu", "bilinear"})
    check(mlp(f, /*gated=*/true, /*bias=*/false));
  for (std::string f : {"gelu", "gelu_tanh", "relu", "squared_relu"})
    check(mlp(f, /*gated=*/false, /*bias=*/true));
}

// y = w . x + f(x) with a weight for each channel; x + f(x) + g(x), parallel;
// x + f(x) + g(x + f(x)) with the first x carried on, two hops.
TEST(ChannelKernels, ResidualsAgreeWithTheReference) {
  std::string x = tensorType({"?", "20"}), w = shapeOf({20, 20});
  auto linear = [&](std::string to, std::string from, std::string weight) {
    return "  %" + to + " = seq.linear %" + from + ", %" + weight + " : (" + x +
           ", " + w + ") -> " + x + "\n";
  };
  auto add = [&](std::string to, std::string a, std::string b) {
    return "  %" + to + " = seq.add %" + a + ", %" + b + " : " + x + "\n";
  };
  check({"learned",
         20,
         {{"w1", {20, 20}}, {"r", {20}}},
         linear("f", "x", "w1") +
             "  %rows_of_r = seq.broadcast %r along %x {dimensions = "
             "array<i64: 1>} : tensor<20xf32>, " +
             x + "\n  %skip = seq.mul %x, %rows_of_r : " + x + "\n" +
             add("y", "skip", "f")});
  check({"parallel",
         20,
         {{"w1", {20, 20}}, {"w2", {20, 20}}},
         linear("f", "x", "w1") + linear("g", "x", "w2") + add("s", "f", "g") +
             add("y", "x", "s")});
  check({"two hops",
         20,
         {{"w1", {20, 20}}, {"w2", {20, 20}}},
         linear("f", "x", "w1") + add("h", "x", "f") + linear("g", "h", "w2") +
             add("s", "g", "x") + add("y", "s", "h")});
}

// Parts of other widths side by side, and in each of three heads; what follows
// reads the whole.
TEST(ChannelKernels, JoinedTensorsAgreeWithTheReference) {
  std::string x = tensorType({"?", "24"}), a = tensorType({"?", "7"}),
              b = tensorType({"?", "17"}), heads = tensorType({"?", "3", "8"}),
              first = tensorType({"?", "3", "1"}),
              rest = tensorType({"?", "3", "7"});
  check({"channels",
         24,
         {{"w1", {24, 24}}},
         "  %a = seq.slice %x {axis = 1 : i64, offset = 2 : i64, size = 7 : "
         "i64} : " +
             x + " -> " + a +
             "\n  %b = seq.slice %x {axis = 1 : i64, offset = 4 : i64, size = "
             "17 : i64} : " +
             x + " -> " + b +
             "\n  %j = seq.concat %b, %a {axis = 1 : i64} : (" + b + ", " + a +
             ") -> " + x + "\n  %s = seq.silu %j : " + x +
             "\n  %y = seq.linear %s, %w1 : (" + x + ", " + shapeOf({24, 24}) +
             ") -> " + x + "\n"});
  check({"heads",
         24,
         {{"one", {3, 1}}},
         "  %h = seq.reshape %x : " + x + " -> " + heads +
             "\n  %f = seq.slice %h {axis = 2 : i64, offset = 5 : i64, size = "
             "1 : i64} : " +
             heads + " -> " + first +
             "\n  %r = seq.slice %h {axis = 2 : i64, offset = 0 : i64, size = "
             "7 : i64} : " +
             heads + " -> " + rest +
             "\n  %o = seq.broadcast %one along %f {dimensions = array<i64: "
             "1, 2>} : tensor<3x1xf32>, " +
             first + "\n  %j = seq.concat %o, %r {axis = 2 : i64} : (" + first +
             ", " + rest + ") -> " + heads +
             "\n  %y = seq.reshape %j "
             ": " +
             heads + " -> " + x + "\n"});
}

// Each channel from another place; of 2,500 a block of a GPU has 2,048 at most. What
// follows reads the whole, and what is added lies where it was.
TEST(ChannelKernels, ChannelsInOrderAgreeWithTheReference) {
  for (int64_t D : {1, 23, 2500}) {
    std::string x = tensorType({"?", n(D)}), order = shapeOf({D});
    Layer layer{"order",
                D,
                {{"order", {D}}},
                "  %p = seq.permute_channels %x by %order : " + x + ", " +
                    order + "\n  %s = seq.silu %p : " + x +
                    "\n  %y = seq.add %s, %x : " + x + "\n"};
    // 17 and 2,500 have no common factor, so each channel is taken once.
    std::vector<float> numbers(D);
    for (int64_t d = 0; d < D; ++d)
      numbers[d] = float((17 * d + 5) % D);
    layer.given = {{"order", numbers}};
    check(layer);
  }
}

// Every pair of a head's channels, and a number for each head's channels.
TEST(ChannelKernels, ProductsWithoutASumAgreeWithTheReference) {
  std::string x = tensorType({"?", "36"}), heads = tensorType({"?", "4", "9"}),
              pairs = tensorType({"?", "4", "3", "3"}),
              part = tensorType({"?", "4", "3"});
  auto slice = [&](std::string to, int offset) {
    return "  %" + to +
           " = seq.slice %h {axis = 2 : i64, offset = " + n(offset) +
           " : i64, size = 3 : i64} : " + heads + " -> " + part + "\n";
  };
  std::string inHeads = "  %h = seq.reshape %x : " + x + " -> " + heads + "\n";
  check({"pairs",
         36,
         {},
         inHeads + slice("a", 1) + slice("b", 5) +
             "  %p = seq.contract %a, %b {indexing_maps = [affine_map<(t, h, "
             "k, l) -> (t, h, k)>, affine_map<(t, h, k, l) -> (t, h, l)>, "
             "affine_map<(t, h, k, l) -> (t, h, k, l)>]} : (" +
             part + ", " + part + ") -> " + pairs +
             "\n  %y = seq.reshape %p : " + pairs + " -> " + x + "\n"});
  check({"gains",
         36,
         {{"g", {4, 9}}},
         inHeads +
             "  %p = seq.contract %g, %h {indexing_maps = [affine_map<(t, h, "
             "k) -> (h, k)>, affine_map<(t, h, k) -> (t, h, k)>, "
             "affine_map<(t, h, k) -> (t, h, k)>]} : (tensor<4x9xf32>, " +
             heads + ") -> " + heads + "\n  %y = seq.reshape %p : " + heads +
             " -> " + x + "\n"});
}

// The shared experts of shared-expert isolation: a gated layer whose result is
// scaled by one number for each token, added to something else.
TEST(ChannelKernels, AGatePerTokenAgreesWithTheReference) {
  std::string x = tensorType({"?", "20"}), one = tensorType({"?", "1"}),
              flat = tensorType({"?"});
  check({"shared gate",
         20,
         {{"w1", {20, 20}}, {"g", {1, 20}}},
         "  %f = seq.linear %x, %w1 : (" + x + ", " + shapeOf({20, 20}) +
             ") -> " + x + "\n  %l = seq.linear %x, %g : (" + x +
             ", tensor<1x20xf32>) -> " + one + "\n  %s = seq.sigmoid %l : " +
             one + "\n  %v = seq.reshape %s : " + one + " -> " + flat +
             "\n  %gate = seq.broadcast %v along %x {dimensions = "
             "array<i64: 0>} : " +
             flat + ", " + x + "\n  %m = seq.mul %f, %gate : " + x +
             "\n  %y = seq.add %x, %m : " + x + "\n"});
}

} // namespace
