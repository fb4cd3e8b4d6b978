// Compiled kernels that work on tokens by themselves (products, norms, the
// short convolution, elementwise ops) agree with the reference in double, on
// sizes that hit every tail, and with themselves, bit by bit, in every packing.
#include "test/unit/codegen/host/PlanRunner.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

std::string n(int64_t number) { return std::to_string(number); }

std::string rows(int64_t width) { return "tensor<?x" + n(width) + "xf32>"; }

/// Writes a model: an embedding of `width`, a body from %in to %out, and the
/// choice of rows.
struct ModelText {
  std::string weights, body, states, stateTypes, nextStates;
  int64_t width, outputs;

  ModelText(int64_t width, int64_t outputs) : width(width), outputs(outputs) {
    weight("table", n(kVocabulary) + "x" + n(width) + "xf32");
    body += "  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<" +
            n(kVocabulary) + "x" + n(width) + "xf32>) -> " + rows(width) + "\n";
  }
  static constexpr int64_t kVocabulary = 19;

  /// Declares a weight and reads it.
  void weight(std::string name, std::string shape) {
    weights += "seq.weight @" + name + " source(\"" + name + "\") : tensor<" +
               shape + ">\n";
    body += "  %" + name + " = seq.parameter @" + name + " : tensor<" + shape +
            ">\n";
  }
  void line(std::string text) { body += "  " + text + "\n"; }
  void slice(std::string name, int64_t offset, int64_t size) {
    line("%" + name + " = seq.slice %in {axis = 1 : i64, offset = " +
         n(offset) + " : i64, size = " + n(size) + " : i64} : " + rows(width) +
         " -> " + rows(size));
  }
  /// Declares a state; the body sets %next_NAME.
  void state(std::string name, std::string shape) {
    states += ", %" + name + ": tensor<" + shape + "> {seq.state_name = \"" +
              name + "\"}";
    stateTypes += ", tensor<" + shape + ">";
    nextStates += ", %next_" + name;
  }
  std::string text() const {
    std::string types = rows(outputs) + stateTypes;
    return weights +
           "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>" +
           states + ") -> (" + types + ") {\n" + body + "  return %out" +
           nextStates + " : " + types + "\n}\n";
  }
  /// The choice of rows, for bodies that end in other things than an lm_head.
  void selectRows(std::string from) {
    line("%out = seq.select_rows %" + from + ", %rows : (" + rows(outputs) +
         ", tensor<?xi32>) -> " + rows(outputs));
  }
};

/// Runs a model on sequences of unequal lengths and compares.
class Agreement {
public:
  explicit Agreement(const ModelText &text)
      : text(text.text()), model(this->text), outputs(text.outputs) {
    for (auto weight : model.get().getOps<seq::WeightOp>()) {
      auto type = cast<RankedTensorType>(weight.getType());
      std::vector<float> &elements = weights[weight.getSymName()];
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        elements.push_back(pick(type.getElementType().isBF16()));
    }
    PipelineOptions options;
    options.prefillRows = {16, 64};
    options.decodeRows = {1, 2, 3, 8};
    runner.emplace(model, options, std::size(kLengths));
    for (const auto &[name, elements] : weights)
      runner->setWeight(name, elements);
  }

  /// The largest error of outputs and states, relative to their largest number,
  /// over a prefill of all sequences and two decode calls.
  double worstError() {
    std::vector<std::vector<int32_t>> tokens;
    std::vector<float> found, foundStates;
    std::vector<double> expected, expectedStates;
    for (int64_t length : kLengths) {
      tokens.emplace_back();
      for (int64_t t = 0; t < length + 2; ++t)
        tokens.back().push_back(random() % ModelText::kVocabulary);
    }
    auto forward = model.get().lookupSymbol<func::FuncOp>("forward");
    std::vector<std::vector<Tensor<double>>> states(std::size(kLengths));
    for (size_t slot = 0; slot < tokens.size(); ++slot)
      for (unsigned i = 2; i < forward.getNumArguments(); ++i) {
        Tensor<double> state(
            cast<RankedTensorType>(forward.getArgumentTypes()[i]).getShape());
        if (slot % 2 == 1) { // a sequence that goes on
          auto memory = runner->state(
              forward.getArgAttrOfType<StringAttr>(i, "seq.state_name"), slot);
          for (auto [inMemory, element] :
               llvm::zip_equal(memory, state.elements()))
            element = inMemory = pick(false);
        }
        states[slot].push_back(state);
      }
    auto call = [&](auto range) {
      std::vector<Segment> segments;
      for (auto [slot, all] : llvm::enumerate(tokens)) {
        auto [from, to] = range(all.size());
        segments.push_back({int32_t(slot),
                            int64_t(from),
                            slot % 2 == 0 && from == 0,
                            {all.begin() + from, all.begin() + to}});
      }
      return segments;
    };
    std::vector<float> prefilled = runner->prefill(
        call([](size_t s) { return std::pair(size_t(0), s - 2); }));
    std::vector<float> first =
        runner->decode(call([](size_t s) { return std::pair(s - 2, s - 1); }));
    std::vector<float> second =
        runner->decode(call([](size_t s) { return std::pair(s - 1, s); }));
    ArrayRef<float> rest = prefilled;
    for (size_t slot = 0; slot < tokens.size(); ++slot) {
      size_t elements = (tokens[slot].size() - 2) * outputs;
      llvm::append_range(found, rest.take_front(elements));
      rest = rest.drop_front(elements);
      llvm::append_range(found, ArrayRef(first).slice(slot * outputs, outputs));
      llvm::append_range(found,
                         ArrayRef(second).slice(slot * outputs, outputs));
      int64_t length = tokens[slot].size();
      Tensor<int32_t> all({length});
      std::iota(all.elements().begin(), all.elements().end(), 0);
      std::vector<Datum<double>> inputs = {
          Tensor<int32_t>({length}, tokens[slot]), all};
      llvm::append_range(inputs, states[slot]);
      std::vector<Datum<double>> results = model.evaluate(inputs, weights);
      llvm::append_range(expected,
                         std::get<Tensor<double>>(results[0]).elements());
      for (unsigned i = 2; i < forward.getNumArguments(); ++i) {
        llvm::append_range(expectedStates,
                           std::get<Tensor<double>>(results[i - 1]).elements());
        llvm::append_range(foundStates,
                           runner->state(forward.getArgAttrOfType<StringAttr>(
                                             i, "seq.state_name"),
                                         slot));
      }
    }
    return std::fmax(relativeError(found, expected),
                     relativeError(foundStates, expectedStates));
  }

  /// Whether each row has the same bits in every entry, alone and among others.
  bool rowsDependOnNothingElse() {
    std::vector<float> first;
    for (size_t together : {1, 2, 3, 8, 16, 40}) {
      std::vector<float> outputs;
      for (size_t from = 0; from < 48; from += together) {
        Segment segment;
        for (size_t t = from; t < std::min<size_t>(from + together, 48); ++t)
          segment.tokens.push_back(t % ModelText::kVocabulary);
        runner->parts = together;
        std::vector<Segment> eachAlone;
        for (int32_t token : segment.tokens)
          eachAlone.push_back({0, 0, true, {token}});
        llvm::append_range(outputs, together <= 8 ? runner->decode(eachAlone)
                                                  : runner->prefill(segment));
      }
      if (first.empty())
        first = outputs;
      if (outputs != first)
        return false;
    }
    return true;
  }

private:
  static constexpr int64_t kLengths[] = {1, 5, 2, 17, 3, 7};

  float pick(bool bf16) {
    float number = std::uniform_real_distribution<float>(-2, 2)(random);
    return bf16 ? llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(number) &
                                        0xffff0000)
                : number;
  }
  static double relativeError(ArrayRef<float> found,
                              ArrayRef<double> expected) {
    EXPECT_EQ(found.size(), expected.size());
    double difference = 0, magnitude = 1e-30;
    for (auto [a, b] : llvm::zip(found, expected)) {
      double distance = std::fabs(a - b);
      difference =
          std::isnan(distance) ? INFINITY : std::fmax(difference, distance);
      magnitude = std::fmax(magnitude, std::fabs(b));
    }
    return difference / magnitude;
  }

  std::string text;
  std::mt19937_64 random{11};
  TestModel model;
  int64_t outputs;
  llvm::StringMap<std::vector<float>> weights;
  std::optional<PlanRunner> runner;
};

//===- dense products -----------------------------------------------------===//

// linear with bias and residual, then the head, from `inner` to `outer`
// channels.
ModelText denseModel(int64_t inner, int64_t outer, int64_t vocabulary,
                     std::string stored) {
  ModelText m(inner + outer, vocabulary);
  m.weight("w", n(outer) + "x" + n(inner) + "x" + stored);
  m.weight("bias", n(outer) + "xf32");
  m.weight("head", n(vocabulary) + "x" + n(outer) + "x" + stored);
  m.slice("x", 0, inner);
  m.slice("r", inner, outer);
  m.line("%p = seq.linear %x, %w bias(%bias) : (" + rows(inner) + ", tensor<" +
         n(outer) + "x" + n(inner) + "x" + stored + ">, tensor<" + n(outer) +
         "xf32>) -> " + rows(outer));
  m.line("%a = seq.silu %p : " + rows(outer));
  m.line("%y = seq.add %r, %a : " + rows(outer));
  m.line("%chosen = seq.select_rows %y, %rows : (" + rows(outer) +
         ", tensor<?xi32>) -> " + rows(outer));
  m.line("%out = seq.lm_head %chosen, %head : (" + rows(outer) + ", tensor<" +
         n(vocabulary) + "x" + n(outer) + "x" + stored + ">) -> " +
         rows(vocabulary));
  return m;
}

TEST(Kernels, DenseProducts) {
  double worst = 0;
  for (std::string stored : {"f32", "bf16"})
    for (auto [inner, outer, vocabulary] : {std::tuple{1, 1, 5},
                                            {5, 7, 12},
                                            {8, 12, 13},
                                            {9, 24, 25},
                                            {33, 25, 50},
                                            {100, 36, 23},
                                            {257, 53, 97}}) {
      SCOPED_TRACE(stored + " " + n(inner) + " -> " + n(outer) + " -> " +
                   n(vocabulary));
      Agreement agreement(denseModel(inner, outer, vocabulary, stored));
      double error = agreement.worstError();
      EXPECT_LE(error, 1e-6);
      EXPECT_TRUE(agreement.rowsDependOnNothingElse());
      worst = std::fmax(worst, error);
    }
  std::printf("largest relative error %.1e\n", worst);
}

//===- norms --------------------------------------------------------------===//

TEST(Kernels, Norms) {
  double worst = 0;
  for (auto [width, groups] : {std::pair{5, 1},
                               {8, 1},
                               {33, 1},
                               {100, 1},
                               {6, 2},
                               {57, 3},
                               {192, 2}}) {
    SCOPED_TRACE(n(width) + " in " + n(groups));
    ModelText m(2 * width, width);
    m.weight("w", n(width) + "xf32");
    m.weight("g", n(width) + "xf32");
    m.slice("x", 0, width);
    m.slice("z", width, width);
    m.line("%y = seq.rms_norm %x, %w {eps = 1.0e-5 : f64} : " + rows(width) +
           ", tensor<" + n(width) + "xf32>");
    m.line("%h = seq.gated_rms_norm %y, %z, %g {eps = 1.0e-3 : f64, groups = " +
           n(groups) + " : i64} : " + rows(width) + ", tensor<" + n(width) +
           "xf32>");
    m.selectRows("h");
    Agreement agreement(m);
    double error = agreement.worstError();
    EXPECT_LE(error, 1e-6);
    EXPECT_TRUE(agreement.rowsDependOnNothingElse());
    worst = std::fmax(worst, error);
  }
  std::printf("largest relative error %.1e\n", worst);
}

//===- short convolutions -------------------------------------------------===//

TEST(Kernels, ShortConvolutions) {
  double worst = 0;
  for (int64_t taps : {2, 3, 4, 5})
    for (int64_t channels : {5, 8, 31, 32, 33, 100})
      for (bool full : {false, true}) { // with bias and activation
        if (full != (channels % 2 == 1))
          continue;
        SCOPED_TRACE(n(taps) + " taps, " + n(channels) + " channels");
        ModelText m(channels, channels);
        m.weight("w", n(taps) + "x" + n(channels) + "xf32");
        m.weight("bias", n(channels) + "xf32");
        m.state("tail", n(taps - 1) + "x" + n(channels) + "xf32");
        std::string w = "tensor<" + n(taps) + "x" + n(channels) + "xf32>";
        m.line(std::string(
                   "%y, %next_tail = seq.short_convolution %in parameters(%w") +
               (full ? ", %bias" : "") +
               ") state(%tail) {activation = #seq.activation<" +
               (full ? "silu" : "none") + ">} : " + rows(channels) + ", (" + w +
               (full ? ", tensor<" + n(channels) + "xf32>" : "") +
               "), tensor<" + n(taps - 1) + "x" + n(channels) + "xf32>");
        m.selectRows("y");
        double error = Agreement(m).worstError();
        EXPECT_LE(error, 1e-6);
        worst = std::fmax(worst, error);
      }
  std::printf("largest relative error %.1e\n", worst);
}

//===- elementwise ops ----------------------------------------------------===//

// %y has two uses, so that the first kernel is one of elementwise ops alone.
TEST(Kernels, ElementwiseOps) {
  double worst = 0;
  for (int64_t width : {1, 7, 40, 100}) {
    SCOPED_TRACE(width);
    ModelText m(2 * width, width);
    m.slice("x", 0, width);
    m.slice("z", width, width);
    std::string type = rows(width);
    m.line("%a = seq.softplus %x : " + type);
    m.line("%y = seq.mul %a, %z : " + type);
    m.line("%b = seq.exp %y : " + type);
    m.line("%c = seq.clamp %b {lower = 0.25 : f64, upper = 3.0 : f64} : " +
           type);
    m.line("%d = seq.sigmoid %y : " + type);
    m.line("%e = seq.sub %c, %d : " + type);
    m.line("%f = seq.neg %e : " + type);
    m.selectRows("f");
    Agreement agreement(m);
    double error = agreement.worstError();
    EXPECT_LE(error, 1e-6);
    EXPECT_TRUE(agreement.rowsDependOnNothingElse());
    worst = std::fmax(worst, error);
  }
  std::printf("largest relative error %.1e\n", worst);
}

} // namespace
