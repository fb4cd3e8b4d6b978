// The channel side compiled: norms of every kind, gated and plain MLPs and
// residuals agree with the reference in double, in prefill and decode alike.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTokens = 19;

std::string n(int64_t number) { return std::to_string(number); }

/// What a layer does between %x and %y, with the weights it names.
struct Layer {
  std::string name;
  int64_t D;
  std::vector<std::pair<std::string, std::vector<int64_t>>> weights;
  std::string body;
  double offset = 0; // added to every element of x
  /// States that it names; the body sets %next_NAME.
  std::vector<std::pair<std::string, std::vector<int64_t>>> states = {};
};

std::string shapeOf(const std::vector<int64_t> &shape) {
  std::vector<std::string> text;
  for (int64_t size : shape)
    text.push_back(n(size));
  return tensorType(text);
}

std::string modelText(const Layer &layer) {
  auto weights = layer.weights;
  weights.push_back({"table", {kTokens, layer.D}});
  std::string text, body, x = tensorType({"?", n(layer.D)});
  for (auto &[name, shape] : weights) {
    text += "seq.weight @" + name + " source(\"" + name +
            "\") : " + shapeOf(shape) + "\n";
    body += "  %" + name + " = seq.parameter @" + name + " : " +
            shapeOf(shape) + "\n";
  }
  std::string arguments, results = x, next;
  for (auto &[name, shape] : layer.states) {
    arguments += ", %" + name + ": " + shapeOf(shape) +
                 " {seq.state_name = \"" + name + "\"}";
    results += ", " + shapeOf(shape);
    next += ", %next_" + name;
  }
  return text +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>" +
         arguments + ") -> (" + results + ") {\n" + body +
         "  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " +
         shapeOf({kTokens, layer.D}) + ") -> " + x + "\n" + layer.body +
         "  %out = seq.select_rows %y, %rows : (" + x + ", tensor<?xi32>) -> " +
         x + "\n  return %out" + next + " : " + results + "\n}\n";
}

/// Sequences decoded side by side, which begin at tokens 0, 4 and 8: each has the
/// state of its own slot and rows of its own.
void checkTogether(PlanRunner &runner, TestModel &model,
                   std::vector<Datum<double>> inputs,
                   const llvm::StringMap<std::vector<float>> &weights,
                   int32_t sequences) {
  constexpr int32_t kApart = 4, kLength = 5;
  std::vector<double> expected;
  std::vector<std::vector<double>> ofSequence;
  for (int32_t s = 0; s < sequences; ++s) {
    std::vector<int32_t> tokens(kLength), rows(kLength);
    std::iota(tokens.begin(), tokens.end(), s * kApart);
    std::iota(rows.begin(), rows.end(), 0);
    inputs[0] = Tensor<int32_t>({kLength}, tokens);
    inputs[1] = Tensor<int32_t>({kLength}, rows);
    std::vector<Datum<double>> results = model.evaluate(inputs, weights);
    ofSequence.push_back(
        std::get<Tensor<double>>(results.front()).elements().vec());
  }
  size_t width = ofSequence.front().size() / kLength;
  std::vector<float> decoded;
  for (int32_t t = 0; t < kLength; ++t) {
    std::vector<Segment> call;
    for (int32_t s = 0; s < sequences; ++s) {
      call.push_back(Segment{.slot = 2 * s + 1,
                             .start = t,
                             .begins = t == 0,
                             .tokens = {s * kApart + t}});
      auto row = ofSequence[s].begin() + t * width;
      expected.insert(expected.end(), row, row + width);
    }
    llvm::append_range(decoded, runner.decode(call));
  }
  EXPECT_LE(errorOf(decoded, expected), 1e-5);
}

/// Rows together and one by one, in calls of so many, which have the same bits if they are to be
/// stable.
void checkKernels(TestModel &model, const Layer &layer, bool bitStable,
                  ArrayRef<int64_t> decodeRows) {
  PipelineOptions options;
  options.prefillRows = {kTokens};
  options.decodeRows.assign(decodeRows.begin(), decodeRows.end());
  options.bitStableOnGpu = bitStable;
  PlanRunner runner(model, options, /*slots=*/8);
  Random random(layer.D);
  llvm::StringMap<std::vector<float>> weights;
  for (int64_t i = 0; i < kTokens * layer.D; ++i)
    weights["table"].push_back(layer.offset + pickReal(random, -2, 2));
  for (auto &[name, shape] : layer.weights) {
    int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                   std::multiplies<>());
    for (int64_t i = 0; i < size; ++i)
      weights[name].push_back(pickReal(random, -1, 1));
  }
  for (const auto &[name, elements] : weights)
    runner.setWeight(name, elements);
  std::vector<int32_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  Tensor<int32_t> all({kTokens}, tokens);
  std::vector<Datum<double>> inputs = {all, all};
  for (auto &[name, shape] : layer.states)
    inputs.push_back(Tensor<double>(shape));
  std::vector<Datum<double>> results = model.evaluate(inputs, weights);
  auto elementsOf = [&](size_t result) -> ArrayRef<double> {
    return std::get<Tensor<double>>(results[result]).elements();
  };
  ArrayRef<double> expected = elementsOf(0);
  auto checkStates = [&] {
    for (size_t i = 0; i < layer.states.size(); ++i)
      EXPECT_LE(errorOf(runner.readState(layer.states[i].first, /*slot=*/0),
                        elementsOf(1 + i)),
                1e-5);
  };
  std::vector<float> whole = runner.prefill(Segment{.tokens = tokens});
  EXPECT_LE(errorOf(whole, expected), 1e-5);
  checkStates();
  std::vector<float> decoded;
  for (auto [t, token] : llvm::enumerate(tokens))
    llvm::append_range(decoded, runner.decode(Segment{.start = int64_t(t),
                                                      .begins = t == 0,
                                                      .tokens = {token}}));
  EXPECT_LE(errorOf(decoded, expected), 1e-5);
  checkStates();
  if (bitStable)
    EXPECT_EQ(decoded, whole);
  for (int32_t sequences : {2, 3})
    checkTogether(runner, model, inputs, weights, sequences);
}

void check(const Layer &layer) {
  SCOPED_TRACE(layer.name + ", D = " + n(layer.D));
  TestModel model(modelText(layer));
  checkKernels(model, layer, /*bitStable=*/true, {1, 8});
  if (testTarget().device == tile::Device::Host)
    return;
  checkKernels(model, layer, /*bitStable=*/false, {1, 8});
  // A row alone, and two, where a GPU takes two, one after the other.
  if (StringRef(layer.body).contains("seq.linear"))
    checkKernels(model, layer, /*bitStable=*/false, {2, 8});
}

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
