// Compiled recurrences agree with the reference in double, in every form, and
// their bits do not depend on how sequences are packed, cut and dealt out.
//
// The model is one ssd op between an embedding, whose table holds the operands
// of every token of the test, and a choice of rows, which leads its result out.
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

using Random = std::mt19937_64;

double pickReal(Random &random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

struct Shape {
  int64_t H, G, K, V;

  int64_t width() const { return H * V + H + 2 * G * K; } // of a table row
  std::string text() const {
    return "H,G,K,V = " + std::to_string(H) + "," + std::to_string(G) + "," +
           std::to_string(K) + "," + std::to_string(V);
  }
};

/// K and V below, at and above the 8 lanes of a vector and the blocks of 16, 32
/// and 64 lanes that columns are cut into.
constexpr Shape kShapes[] = {{1, 1, 5, 7},   {3, 1, 7, 16},   {6, 2, 8, 5},
                             {6, 3, 16, 20}, {6, 3, 20, 8},   {6, 1, 33, 64},
                             {3, 1, 64, 33}, {6, 2, 100, 20}, {3, 1, 20, 100},
                             {3, 3, 16, 65}};

std::string type(std::initializer_list<std::string> shape) {
  std::string text = "tensor<";
  for (const std::string &size : shape)
    text += size + "x";
  return text + "f32>";
}

std::string modelText(const Shape &s, int64_t tableRows) {
  auto n = [](int64_t number) { return std::to_string(number); };
  std::string table = type({n(tableRows), n(s.width())}),
              packed = type({"?", n(s.width())}),
              flat = type({"?", n(s.H * s.V)}), x = type({"?", n(s.H), n(s.V)}),
              dt = type({"?", n(s.H)}), keys = type({"?", n(s.G * s.K)}),
              b = type({"?", n(s.G), n(s.K)}), h = type({n(s.H)}),
              state = type({n(s.H), n(s.K), n(s.V)});
  std::string text;
  for (auto &[name, shape] :
       {std::pair("table", table), {"a_log", h}, {"dt_bias", h}, {"d", h}})
    text += std::string("seq.weight @") + name + " source(\"" + name +
            "\") : " + shape + "\n";
  text +=
      "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: " +
      state + " {seq.state_name = \"ssd\"}) -> (" + flat + ", " + state +
      ") {\n";
  for (auto &[name, shape] :
       {std::pair("table", table), {"a_log", h}, {"dt_bias", h}, {"d", h}})
    text += std::string("  %") + name + " = seq.parameter @" + name + " : " +
            shape + "\n";
  text += "  %in = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
          ") -> " + packed + "\n";
  int64_t offset = 0;
  auto slice = [&](std::string name, int64_t size, std::string result) {
    text += "  %" + name +
            " = seq.slice %in {axis = 1 : i64, offset = " + n(offset) +
            " : i64, size = " + n(size) + " : i64} : " + packed + " -> " +
            result + "\n";
    offset += size;
  };
  slice("x0", s.H * s.V, flat);
  slice("dt", s.H, dt);
  slice("b0", s.G * s.K, keys);
  slice("c0", s.G * s.K, keys);
  text += "  %x = seq.reshape %x0 : " + flat + " -> " + x + "\n";
  text += "  %b = seq.reshape %b0 : " + keys + " -> " + b + "\n";
  text += "  %c = seq.reshape %c0 : " + keys + " -> " + b + "\n";
  text += "  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, "
          "%d) state(%s) : (" +
          x + ", " + dt + ", " + b + ", " + b + "), (" + h + ", " + h + ", " +
          h + "), " + state + "\n";
  text += "  %y0 = seq.reshape %y : " + x + " -> " + flat + "\n";
  text += "  %out = seq.select_rows %y0, %rows : (" + flat +
          ", tensor<?xi32>) -> " + flat + "\n";
  return text + "  return %out, %next : " + flat + ", " + state + "\n}\n";
}

/// The `dt` whose softplus, after the bias, is `step`.
double beforeSoftplus(double step, double bias) {
  double x = step == 0 ? -2000 : step > 30 ? step : std::log(std::expm1(step));
  return x - bias;
}

/// Weights whose log-decays are 0, mild, -20 and -1e4, mixed in every chunk and
/// head. Values are scaled so that each token adds something of order 1 to the
/// state and to its output: an error in any of them counts.
llvm::StringMap<std::vector<float>> pickWeights(Random &random, const Shape &s,
                                                int64_t tableRows) {
  auto normal = [&] { return pickReal(random, -1, 1); };
  llvm::StringMap<std::vector<float>> weights;
  std::vector<float> &aLog = weights["a_log"], &bias = weights["dt_bias"],
                     &d = weights["d"], &table = weights["table"];
  for (int64_t h = 0; h < s.H; ++h) {
    aLog.push_back(std::log(std::array{1e4, 1.0, 20.0}[h % 3]));
    bias.push_back(normal());
    d.push_back(normal() / 100 / std::exp(double(aLog[h])));
  }
  for (int64_t row = 0; row < tableRows; ++row) {
    std::vector<double> steps, scales;
    for (int64_t h = 0; h < s.H; ++h) {
      double decay =
          std::array{0.0, pickReal(random, 0.01, 1), pickReal(random, 0.01, 1),
                     20.0, 1e4}[pick(random, 0, 4)];
      double rate = std::exp(double(aLog[h]));
      steps.push_back(beforeSoftplus(decay / rate, bias[h]));
      scales.push_back(rate / std::fmax(decay, 0.01));
    }
    for (int64_t h = 0; h < s.H; ++h)
      for (int64_t v = 0; v < s.V; ++v)
        table.push_back(normal() * scales[h]);
    table.insert(table.end(), steps.begin(), steps.end());
    for (int64_t i = 0; i < 2 * s.G * s.K; ++i)
      table.push_back(normal());
  }
  return weights;
}

/// A sequence: its tokens, where it starts and the state it has there.
struct Sequence {
  std::vector<int32_t> tokens;
  int64_t start = 0;
  std::vector<float> state; // empty: it begins here

  Segment segment(int32_t slot, int64_t from, int64_t to) const {
    return {slot,
            start + from,
            state.empty() && from == 0,
            {tokens.begin() + from, tokens.begin() + to}};
  }
  int64_t size() const { return tokens.size(); }
};

class Recurrence {
public:
  Recurrence(const Shape &shape, int64_t tableRows, uint64_t seed)
      : shape(shape), tableRows(tableRows), random(seed),
        model(modelText(shape, tableRows)),
        weights(pickWeights(random, shape, tableRows)) {}

  PlanRunner compile(const PipelineOptions &options, int64_t slots) {
    PlanRunner runner(model, options, slots);
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
    return runner;
  }

  /// A sequence of `length` tokens of the table; one that starts later than at
  /// 0 has a state.
  Sequence pickSequence(int64_t length, int64_t start) {
    Sequence sequence;
    sequence.start = start;
    for (int64_t t = 0; t < length; ++t)
      sequence.tokens.push_back(pick(random, 0, tableRows - 1));
    if (start > 0)
      for (int64_t i = 0; i < shape.H * shape.K * shape.V; ++i)
        sequence.state.push_back(pickReal(random, -2, 2));
    return sequence;
  }

  /// Writes the sequence's state, if it has one, into a slot.
  void place(PlanRunner &runner, const Sequence &sequence, int32_t slot) {
    if (!sequence.state.empty())
      llvm::copy(sequence.state, runner.state("ssd", slot).begin());
  }

  /// Outputs of every token, and the state after the last.
  std::pair<std::vector<double>, std::vector<double>>
  expected(const Sequence &sequence) const {
    Tensor<double> state({shape.H, shape.K, shape.V});
    llvm::copy(sequence.state, state.elements().begin());
    Tensor<int32_t> rows({sequence.size()});
    std::iota(rows.elements().begin(), rows.elements().end(), 0);
    std::vector<Datum<double>> results = model.evaluate(
        {Tensor<int32_t>({sequence.size()}, sequence.tokens), rows, state},
        weights);
    auto elements = [&](int i) {
      return std::get<Tensor<double>>(results[i]).elements().vec();
    };
    return {elements(0), elements(1)};
  }

  /// The largest difference in a head, relative to the head's largest number.
  /// In memory a head comes round every H runs of `run` elements.
  double worstError(ArrayRef<float> found, ArrayRef<double> expected,
                    int64_t run) const {
    std::vector<double> difference(shape.H), magnitude(shape.H);
    for (size_t i = 0; i < expected.size(); ++i) {
      int64_t h = i / run % shape.H;
      double distance = std::fabs(found[i] - expected[i]);
      difference[h] =
          std::isnan(distance) ? INFINITY : std::fmax(difference[h], distance);
      magnitude[h] = std::fmax(magnitude[h], std::fabs(expected[i]));
    }
    double worst = 0;
    for (int64_t h = 0; h < shape.H; ++h)
      worst = std::fmax(worst, difference[h] / magnitude[h]);
    return worst;
  }

  Shape shape;

private:
  int64_t tableRows;
  Random random;
  TestModel model;
  llvm::StringMap<std::vector<float>> weights;
};

/// A form, and the chunk whose boundaries the lengths of a test should meet.
struct Form {
  const char *name;
  int64_t chunk;
};
constexpr Form kForms[] = {{"step", 8},          {"chunkwise:8", 8},
                           {"chunkwise:16", 16}, {"chunkwise:24", 24},
                           {"chunkwise:64", 64}, {"quadratic", 16}};

/// Sequences of 1, C - 1, C, C + 1 and 2 C + 3 tokens, which begin here, or
/// start on and off the grid of chunks: 8 C + 6 rows in all.
std::vector<Sequence> pickSequences(Recurrence &r, int64_t C) {
  return {r.pickSequence(1, 0),         r.pickSequence(C - 1, 5),
          r.pickSequence(C, 3 * C - 1), r.pickSequence(C + 1, 0),
          r.pickSequence(2 * C + 3, 0), r.pickSequence(2 * C + 1, 2 * C + 3),
          r.pickSequence(1, C)};
}

PipelineOptions optionsFor(const Form &form) {
  PipelineOptions options;
  options.prefillRows = {9 * form.chunk};
  options.decodeRows = {8};
  options.forceForm = parseForcedForm(form.name).value();
  return options;
}

std::vector<Segment> prefixes(ArrayRef<Sequence> sequences, int64_t decoded) {
  std::vector<Segment> call;
  for (auto [slot, sequence] : llvm::enumerate(sequences))
    call.push_back(sequence.segment(slot, 0, sequence.size() - decoded));
  return call;
}

//===- agreement with the reference ---------------------------------------===//

// One prefill of seven sequences, then two decode calls, against the reference
// over all their tokens.
TEST(Recurrence, FormsAgreeWithTheReference) {
  constexpr int64_t kDecoded = 2;
  for (const Form &form : kForms) {
    double worstOutput = 0, worstState = 0;
    for (auto [seed, shape] : llvm::enumerate(kShapes)) {
      SCOPED_TRACE(std::string(form.name) + ", " + shape.text());
      Recurrence r(shape, 101, seed);
      std::vector<Sequence> sequences = pickSequences(r, form.chunk);
      PlanRunner runner = r.compile(optionsFor(form), sequences.size());
      for (auto [slot, sequence] : llvm::enumerate(sequences)) {
        r.place(runner, sequence, slot);
        for (int64_t t = 0; t < kDecoded; ++t)
          sequence.tokens.push_back(sequence.tokens[t % sequence.size()]);
      }
      int64_t width = shape.H * shape.V;
      std::vector<std::vector<float>> outputs(sequences.size());
      std::vector<float> rows = runner.prefill(prefixes(sequences, kDecoded));
      ArrayRef<float> rest = rows;
      for (auto [output, sequence] : llvm::zip_equal(outputs, sequences)) {
        llvm::append_range(
            output, rest.take_front((sequence.size() - kDecoded) * width));
        rest = rest.drop_front((sequence.size() - kDecoded) * width);
      }
      for (int64_t t = kDecoded; t > 0; --t) {
        std::vector<Segment> call;
        for (auto [slot, sequence] : llvm::enumerate(sequences))
          call.push_back(sequence.segment(slot, sequence.size() - t,
                                          sequence.size() - t + 1));
        std::vector<float> decoded = runner.decode(call);
        for (auto [slot, output] : llvm::enumerate(outputs))
          llvm::append_range(output,
                             ArrayRef(decoded).slice(slot * width, width));
      }
      std::vector<float> output, state;
      std::vector<double> expectedOutput, expectedState;
      for (auto [slot, sequence] : llvm::enumerate(sequences)) {
        auto [nextOutput, nextState] = r.expected(sequence);
        llvm::append_range(expectedOutput, nextOutput);
        llvm::append_range(expectedState, nextState);
        llvm::append_range(output, outputs[slot]);
        llvm::append_range(state, runner.state("ssd", slot));
      }
      double outputError = r.worstError(output, expectedOutput, shape.V);
      double stateError = r.worstError(state, expectedState, shape.K * shape.V);
      EXPECT_LE(outputError, 1e-5);
      EXPECT_LE(stateError, 1e-5);
      worstOutput = std::fmax(worstOutput, outputError);
      worstState = std::fmax(worstState, stateError);
    }
    std::printf("%-13s largest relative error over %zu shapes: outputs %.1e, "
                "states %.1e\n",
                form.name, std::size(kShapes), worstOutput, worstState);
  }
}

//===- bits ---------------------------------------------------------------===//

/// What a sequence's tokens gave, and its last state: bits to compare.
struct Outcome {
  std::vector<float> outputs, state;
  bool operator==(const Outcome &) const = default;
};

/// Feeds a sequence in pieces of the given lengths, the rest by decode calls.
Outcome inPieces(Recurrence &r, PlanRunner &runner, const Sequence &sequence,
                 ArrayRef<int64_t> pieces) {
  constexpr int32_t kSlot = 1;
  r.place(runner, sequence, kSlot);
  Outcome outcome;
  int64_t at = 0;
  for (int64_t length : pieces) {
    llvm::append_range(outcome.outputs, runner.prefill(sequence.segment(
                                            kSlot, at, at + length)));
    at += length;
  }
  for (; at < sequence.size(); ++at)
    llvm::append_range(outcome.outputs,
                       runner.decode(sequence.segment(kSlot, at, at + 1)));
  outcome.state = runner.state("ssd", kSlot).vec();
  return outcome;
}

TEST(Recurrence, ASequenceHasTheSameBitsAloneAndAmongOthers) {
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    Recurrence r({6, 2, 20, 33}, 53, 7);
    std::vector<Sequence> sequences = pickSequences(r, form.chunk);
    PlanRunner runner = r.compile(optionsFor(form), sequences.size());
    for (auto [slot, sequence] : llvm::enumerate(sequences))
      r.place(runner, sequence, slot);
    std::vector<float> rows = runner.prefill(prefixes(sequences, 0));
    std::vector<Outcome> among;
    ArrayRef<float> rest = rows;
    for (auto [slot, sequence] : llvm::enumerate(sequences)) {
      int64_t elements = sequence.size() * 6 * 33;
      among.push_back(
          {rest.take_front(elements).vec(), runner.state("ssd", slot).vec()});
      rest = rest.drop_front(elements);
    }
    for (auto [slot, sequence] : llvm::enumerate(sequences))
      EXPECT_TRUE(inPieces(r, runner, sequence, sequence.size()) == among[slot])
          << "sequence " << slot;
  }
}

TEST(Recurrence, ItemsMayBeDealtOutInAnyWay) {
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    Recurrence r({6, 3, 7, 20}, 53, 8);
    std::vector<Sequence> sequences = pickSequences(r, form.chunk);
    PlanRunner runner = r.compile(optionsFor(form), sequences.size());
    std::vector<float> first;
    for (int64_t parts : {1, 2, 3, 5, 64}) {
      runner.parts = parts;
      for (auto [slot, sequence] : llvm::enumerate(sequences))
        r.place(runner, sequence, slot);
      std::vector<float> rows = runner.prefill(prefixes(sequences, 0));
      for (auto [slot, sequence] : llvm::enumerate(sequences))
        llvm::append_range(rows, runner.state("ssd", slot));
      if (first.empty())
        first = rows;
      EXPECT_TRUE(rows == first) << parts << " parts";
    }
  }
}

// In step form prefill and decode are one recurrence, wherever a prompt is cut.
TEST(Recurrence, StepsHaveTheSameBitsInAnyPieces) {
  for (auto [seed, shape] : llvm::enumerate(kShapes)) {
    SCOPED_TRACE(shape.text());
    Recurrence r(shape, 53, seed);
    PlanRunner runner = r.compile(optionsFor(kForms[0]), 2);
    for (int64_t start : {0, 3}) {
      Sequence sequence = r.pickSequence(29, start);
      Outcome whole = inPieces(r, runner, sequence, {29});
      EXPECT_TRUE(inPieces(r, runner, sequence, {1, 2, 3, 5, 7, 11}) == whole);
      EXPECT_TRUE(inPieces(r, runner, sequence, {28, 1}) == whole);
      EXPECT_TRUE(inPieces(r, runner, sequence, {13}) == whole)
          << "prefill, then decode";
      EXPECT_TRUE(inPieces(r, runner, sequence, {}) == whole) << "decode alone";
    }
  }
}

// Chunks are anchored at position 0: pieces that end on the grid are the same
// chunks, whether or not the first starts on it.
TEST(Recurrence, ChunksHaveTheSameBitsInPiecesOnTheGrid) {
  Recurrence r({6, 2, 20, 16}, 53, 9);
  PlanRunner runner = r.compile(optionsFor({"chunkwise:8", 8}), 2);
  Sequence fromStart = r.pickSequence(29, 0),
           fromInside = r.pickSequence(29, 13);
  EXPECT_TRUE(inPieces(r, runner, fromStart, {8, 16, 5}) ==
              inPieces(r, runner, fromStart, {29}));
  EXPECT_TRUE(inPieces(r, runner, fromInside, {3, 8, 8, 10}) ==
              inPieces(r, runner, fromInside, {29}));
}

} // namespace
