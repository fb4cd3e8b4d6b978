// The channel side compiled: norms of every kind, softmax, and what becomes one kernel with
// a product agree with the reference in double, in prefill and decode alike.
#include "test/unit/contract/ChannelLayer.h"

#include "gtest/gtest.h"

using namespace effc::test;

namespace {

//===- norms --------------------------------------------------------------===//

Layer norm(std::string name, int64_t D, int64_t groups, int64_t weight,
           int64_t bias, std::string attributes, double offset = 0) {
  Layer layer{name, D, {}, "", offset};
  std::string operands;
  if (weight) {
    layer.weights.push_back({"w", {weight}});
    operands += " weight(%w : " + shapeOf({weight}) + ")";
  }
  if (bias) {
    layer.weights.push_back({"b", {bias}});
    operands += " bias(%b : " + shapeOf({bias}) + ")";
  }
  layer.body = "  %y = seq.group_norm %x" + operands +
               " {groups = " + n(groups) + " : i64, " + attributes +
               "} : " + tensorType({"?", n(D)}) + "\n";
  return layer;
}

TEST(ChannelKernels, NormsAgreeWithTheReference) {
  std::string eps = "eps = 1.0e-5 : f64", small = "eps = 1.0e-12 : f64";
  std::string sum = ", measure = #seq.norm_measure<sum_square>";
  std::string length = ", measure = #seq.norm_measure<max_length>";
  for (const Layer &layer :
       {norm("layer norm", 24, 1, 24, 24, "centred, " + eps),
        norm("layer norm without bias", 33, 1, 33, 0, "centred, " + eps),
        // A mean of 50 times the spread: squares of what is left do not cancel.
        norm("layer norm far from 0", 100, 1, 100, 100, "centred, " + eps, 50),
        norm("group norm", 60, 5, 60, 60, "centred, eps = 6.4e-4 : f64"),
        norm("layer norm of heads", 63, 9, 7, 7, "centred, " + eps),
        norm("unit offset", 40, 1, 40, 0, "unit_offset, " + eps),
        norm("heads without weight", 80, 5, 0, 0, eps),
        norm("heads, shared weight", 66, 2, 33, 0, eps),
        norm("heads, own weight", 64, 4, 64, 0, eps),
        norm("L2 norm, eps in the sum", 56, 7, 0, 0, small + sum),
        norm("L2 norm, length clamped", 48, 3, 0, 0, small + length),
        norm("L2 norm, all clamped", 12, 3, 0, 0,
             "eps = 100.0 : f64" + length)})
    check(layer);
}

// A single row on a GPU is normed by the products that read it; the last takes
// its 2,048 channels in two runs.
TEST(ChannelKernels, NormsBeforeProductsAgreeWithTheReference) {
  auto linear = [](std::string to, std::string from, int64_t N, int64_t D) {
    return "  %" + to + " = seq.linear %" + from + ", %w_" + to + " : (" +
           tensorType({"?", n(D)}) + ", " + shapeOf({N, D}) + ") -> " +
           tensorType({"?", n(N)}) + "\n";
  };
  std::string wide = tensorType({"?", "37"}), eps = " {eps = 1.0e-5 : f64";
  check({"two products of a norm",
         37,
         {{"g", {37}}, {"w_a", {37, 37}}, {"w_b", {37, 37}}},
         "  %u = seq.rms_norm %x, %g" + eps + "} : " + wide + ", " +
             shapeOf({37}) + "\n" + linear("a", "u", 37, 37) +
             linear("b", "u", 37, 37) + "  %s = seq.silu %b : " + wide +
             "\n  %y = seq.mul %a, %s : " + wide + "\n"});
  std::string hidden = tensorType({"?", "2048"});
  check({"gated norm in runs",
         21,
         {{"g", {2048}},
          {"w_u", {2048, 21}},
          {"w_z", {2048, 21}},
          {"w_p", {21, 2048}}},
         linear("u", "x", 2048, 21) + linear("z", "x", 2048, 21) +
             "  %v = seq.gated_rms_norm %u, %z, %g" + eps +
             ", groups = 1 : i64} : " + hidden + ", " + shapeOf({2048}) + "\n" +
             linear("p", "v", 21, 2048) +
             "  %y = seq.add %p, %x : " + tensorType({"?", "21"}) + "\n"});
}

// One or two rows on a GPU are convolved by the products that make their channels:
// all of them, with an epilogue; some, read by others too, where no bound is a
// multiple of an item's outputs; and two parts with other taps. The tail holds
// no numbers before the sequence begins.
TEST(ChannelKernels, ConvolutionsOfProductsAgreeWithTheReference) {
  auto type = [](int64_t N) { return tensorType({"?", n(N)}); };
  auto linear = [&](std::string to, std::string from, int64_t N, int64_t D) {
    return "  %" + to + " = seq.linear %" + from + ", %w_" + to + " : (" +
           type(D) + ", " + shapeOf({N, D}) + ") -> " + type(N) + "\n";
  };
  auto slice = [&](std::string to, std::string from, int64_t at, int64_t N,
                   int64_t of) {
    return "  %" + to + " = seq.slice %" + from +
           " {axis = 1 : i64, offset = " + n(at) + " : i64, size = " + n(N) +
           " : i64} : " + type(of) + " -> " + type(N) + "\n";
  };
  auto convolve = [&](std::string to, std::string from, int64_t W, int64_t N,
                      bool full) {
    return "  %" + to + ", %next_tail_" + to + " = seq.short_convolution %" +
           from + " parameters(%taps_" + to + (full ? ", %bias_" + to : "") +
           ") state(%tail_" + to + ") {activation = #seq.activation<" +
           (full ? "silu" : "none") + ">} : " + type(N) + ", (" +
           shapeOf({W, N}) + (full ? ", " + shapeOf({N}) : "") + "), " +
           shapeOf({W - 1, N}) + "\n";
  };
  check({"all outputs, with an epilogue",
         37,
         {{"g", {37}}, {"w_p", {37, 37}}, {"taps_y0", {4, 37}}},
         "  %u = seq.rms_norm %x, %g {eps = 1.0e-5 : f64} : " + type(37) +
             ", " + shapeOf({37}) + "\n" + linear("p", "u", 37, 37) +
             convolve("y0", "p", 4, 37, false) +
             "  %y = seq.mul %y0, %x : " + type(37) + "\n",
         0,
         {{"tail_y0", {3, 37}}}});
  check({"all outputs, which others read",
         70,
         {{"w_p", {70, 70}}, {"taps_c", {2, 70}}, {"bias_c", {70}}},
         linear("p", "x", 70, 70) + convolve("c", "p", 2, 70, true) +
             "  %y = seq.mul %c, %p : " + type(70) + "\n",
         0,
         {{"tail_c", {1, 70}}}});
  // 256 channels are taken 16 outputs at a time.
  check({"two parts",
         256,
         {{"w_p", {83, 256}},
          {"taps_c", {4, 38}},
          {"bias_c", {38}},
          {"taps_d", {3, 13}},
          {"w_y", {256, 13}}},
         linear("p", "x", 83, 256) + slice("pd", "p", 59, 13, 83) +
             convolve("d", "pd", 3, 13, false) + slice("wide", "p", 5, 60, 83) +
             slice("pc", "wide", 2, 38, 60) + convolve("c", "pc", 4, 38, true) +
             slice("z", "p", 70, 13, 83) + slice("c0", "c", 25, 13, 38) +
             slice("a", "p", 0, 13, 83) + "  %ab = seq.mul %a, %c0 : " +
             type(13) + "\n  %zd = seq.mul %z, %d : " + type(13) +
             "\n  %v = seq.add %ab, %zd : " + type(13) + "\n" +
             linear("y", "v", 256, 13),
         0,
         {{"tail_c", {3, 38}}, {"tail_d", {2, 13}}}});
}

/// Text of a recurrence %to of the channels %h_to, slices of `from`, with a
/// state of its own; `operands` are its other ones.
struct HeadsText {
  int64_t H, V;
  std::string operand(std::string keyword, std::string value) {
    (keyword == "decay" ? parameters : tokens) +=
        ", " + (keyword == "decay" ? shapeOf({H}) : tensorType({"?", n(H)}));
    return " " + keyword + "(%" + value + ")";
  }
  std::string recurrence(std::string to, std::string from,
                         std::vector<std::string> with, int64_t root = 0) {
    std::string operands;
    for (const std::string &keyword : with)
      operands += operand(keyword, keyword + "_" + to);
    std::string heads = tensorType({"?", n(H), n(V)}), flat = width();
    return "  %h_" + to + " = seq.reshape %" + from + " : " + flat + " -> " +
           heads + "\n  %m_" + to + ", %next_state_" + to +
           " = seq.structured_recurrence %h_" + to + operands +
           " state(%state_" + to + ")" +
           (root ? " {root = " + n(root) + " : i64}" : "") + " : (" + heads +
           tokens + parameters + ", " + shapeOf({H, 1, V}) + ") -> (" + heads +
           ", " + shapeOf({H, 1, V}) + ")\n  %" + to + " = seq.reshape %m_" +
           to + " : " + heads + " -> " + flat + "\n";
  }
  std::string width() const { return tensorType({"?", n(H * V)}); }

  std::string tokens = {}, parameters = {};
};

/// The numbers of `heads` heads for each token, a row of a table.
std::string rowOfTable(const std::string &name, int64_t heads) {
  return "  %" + name + " = seq.embedding %tokens, %t_" + name +
         " : (tensor<?xi32>, " + shapeOf({kTokens, heads}) + ") -> " +
         tensorType({"?", n(heads)}) + "\n";
}

// One or two rows on a GPU have their recurrences in the products that make their
// channels: columns and rows, joined in another order, beside outputs that
// others read, where no head is a multiple of an item's outputs; two of the
// same outputs, added, whose heads are; and one of all outputs with a weight of
// its token's own that no table holds. Slots hold no numbers before a sequence
// begins.
TEST(ChannelKernels, RecurrencesOfProductsAgreeWithTheReference) {
  auto type = [](int64_t N) { return tensorType({"?", n(N)}); };
  auto linear = [&](std::string to, std::string from, int64_t N, int64_t D) {
    return "  %" + to + " = seq.linear %" + from + ", %w_" + to + " : (" +
           type(D) + ", " + shapeOf({N, D}) + ") -> " + type(N) + "\n";
  };
  auto slice = [&](std::string to, std::string from, int64_t at, int64_t N,
                   int64_t of) {
    return "  %" + to + " = seq.slice %" + from +
           " {axis = 1 : i64, offset = " + n(at) + " : i64, size = " + n(N) +
           " : i64} : " + type(of) + " -> " + type(N) + "\n";
  };
  // Items have 16 of 256 outputs: heads of 11 and of 37 channels end in one.
  check({"columns and rows",
         256,
         {{"w_p", {114, 256}},
          {"t_target_c", {kTokens, 3}},
          {"t_both", {kTokens, 5}},
          {"decay_c", {3}},
          {"w_j", {7, 107}},
          {"w_y", {256, 7}}},
         linear("p", "x", 114, 256) + slice("pc", "p", 7, 33, 114) +
             rowOfTable("target_c", 3) + rowOfTable("both", 5) +
             slice("bias_c", "both", 2, 3, 5) +
             slice("source_r", "both", 1, 2, 5) +
             HeadsText{3, 11}.recurrence("c", "pc", {"target", "bias", "decay"},
                                         3) +
             slice("pr", "p", 40, 74, 114) +
             HeadsText{2, 37}.recurrence("r", "pr", {"source"}) +
             "  %j0 = seq.concat %r, %c {axis = 1 : i64} : (" + type(74) +
             ", " + type(33) + ") -> " + type(107) + "\n" +
             linear("j", "j0", 7, 107) + slice("z", "p", 0, 7, 114) +
             "  %v = seq.mul %j, %z : " + type(7) + "\n" +
             linear("y", "v", 256, 7),
         0,
         {{"state_c", {3, 1, 11}}, {"state_r", {2, 1, 37}}}});
  check({"rows and columns of the same heads",
         512,
         {{"w_p", {96, 512}},
          {"t_source_r", {kTokens, 3}},
          {"t_target_c", {kTokens, 3}},
          {"t_diagonal_c", {kTokens, 3}},
          {"t_bias_c", {kTokens, 3}},
          {"decay_r", {3}},
          {"decay_c", {3}},
          {"w_y", {512, 96}}},
         linear("p", "x", 96, 512) + rowOfTable("source_r", 3) +
             rowOfTable("target_c", 3) + rowOfTable("diagonal_c", 3) +
             rowOfTable("bias_c", 3) +
             HeadsText{3, 32}.recurrence("r", "p", {"source", "decay"}, 2) +
             HeadsText{3, 32}.recurrence(
                 "c", "p", {"target", "bias", "diagonal", "decay"}, 5) +
             "  %s = seq.add %r, %c : " + type(96) + "\n" +
             linear("y", "s", 512, 96),
         0,
         {{"state_r", {3, 1, 32}}, {"state_c", {3, 1, 32}}}});
  check({"a weight that no table holds",
         35,
         {{"w_p", {35, 35}}, {"decay_r", {5}}},
         linear("p", "x", 35, 35) + slice("source_r", "x", 4, 5, 35) +
             slice("bias_r", "x", 11, 5, 35) +
             HeadsText{5, 7}.recurrence("r", "p", {"source", "bias", "decay"},
                                        4) +
             "  %y = seq.mul %r, %x : " + type(35) + "\n",
         0,
         {{"state_r", {5, 1, 7}}}});
}

// Far from 0 a power of the number itself would have no f32.
TEST(ChannelKernels, SoftmaxAgreesWithTheReference) {
  Layer rows{"softmax of rows",
             37,
             {},
             "  %y = seq.softmax %x : tensor<?x37xf32>\n",
             90};
  check(rows);
  Layer heads{"softmax of heads", 33, {}, R"(
  %h = seq.reshape %x : tensor<?x33xf32> -> tensor<?x3x11xf32>
  %s = seq.softmax %h : tensor<?x3x11xf32>
  %f = seq.reshape %s : tensor<?x3x11xf32> -> tensor<?x33xf32>
  %y = seq.add %f, %x : tensor<?x33xf32>
)"};
  check(heads);
}

} // namespace
