// Compiled kernels of class window agree with the reference in double, and
// their bits do not depend on how sequences are packed, cut and dealt out.
//
// The model is one op between an embedding, whose table holds the operands of
// every token of the test, and a choice of rows, which leads its result out.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/MoreShapes.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/WindowCase.h"

#include "gtest/gtest.h"

#include <chrono>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTableRows = 97;

int64_t countElements(const std::vector<int64_t> &shape) {
  return seq::reference::countElements(shape);
}

std::string modelText(const WindowCase &c) {
  auto n = [](int64_t number) { return std::to_string(number); };
  int64_t width = 0;
  for (auto &[name, shape] : c.tokens())
    width += countElements(shape);
  std::string table = WindowCase::type("", {kTableRows, width});
  std::string packed = WindowCase::type("?", {width});
  std::string text = "seq.weight @table source(\"table\") : " + table + "\n";
  for (const std::string &name : c.parameters())
    text += "seq.weight @" + name + " source(\"" + name +
            "\") : " + WindowCase::type("", {c.H}) + "\n";
  text += "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, "
          "%p: tensor<?xi32>";
  std::string stateTypes, next;
  for (auto &[name, shape] : c.states()) {
    std::string type = WindowCase::type("", shape);
    text += ", %" + name + ": " + type + " {seq.state_name = \"" + name + "\"}";
    stateTypes += ", " + type;
    next += ", %next_" + name;
  }
  std::string flat = WindowCase::type("?", {c.H * c.V});
  text += ") -> (" + flat + stateTypes + ") {\n";
  text += "  %table = seq.parameter @table : " + table + "\n";
  for (const std::string &name : c.parameters())
    text += "  %" + name + " = seq.parameter @" + name + " : " +
            WindowCase::type("", {c.H}) + "\n";
  text += "  %in = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
          ") -> " + packed + "\n";
  int64_t offset = 0;
  for (auto &[name, shape] : c.tokens()) {
    int64_t size = countElements(shape);
    std::string slice = WindowCase::type("?", {size});
    text += "  %" + name +
            "0 = seq.slice %in {axis = 1 : i64, offset = " + n(offset) +
            " : i64, size = " + n(size) + " : i64} : " + packed + " -> " +
            slice + "\n  %" + name + " = seq.reshape %" + name +
            "0 : " + slice + " -> " + WindowCase::type("?", shape) + "\n";
    offset += size;
  }
  text += c.opText("?");
  text += "  %y0 = seq.reshape %y : " + WindowCase::type("?", {c.H, c.V}) +
          " -> " + flat + "\n  %out = seq.select_rows %y0, %rows : (" + flat +
          ", tensor<?xi32>) -> " + flat + "\n  return %out" + next + " : " +
          flat + stateTypes + "\n}\n";
  return text;
}

float toBf16(double number) {
  return llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(float(number)) &
                               0xffff0000);
}

/// A sequence: its tokens, where it starts and the states it has there.
struct Sequence {
  std::vector<int32_t> tokens;
  int64_t start = 0;
  std::vector<std::vector<float>> states; // empty: it begins here

  Segment segment(int32_t slot, int64_t from, int64_t to) const {
    return {slot,
            start + from,
            states.empty() && from == 0,
            {tokens.begin() + from, tokens.begin() + to}};
  }
  int64_t size() const { return tokens.size(); }
};

/// What a sequence's tokens gave, and its last states: bits to compare.
struct Outcome {
  std::vector<float> outputs, states;
  bool operator==(const Outcome &) const = default;
};

class Window {
public:
  Window(const WindowCase &shape, uint64_t seed)
      : shape(shape), random(seed), model(modelText(shape)) {
    for (const std::string &name : shape.parameters())
      for (int64_t h = 0; h < shape.H; ++h)
        weights[name].push_back(shape.parameter(random, name));
    for (int64_t row = 0; row < kTableRows; ++row)
      for (auto &[name, dims] : shape.tokens())
        for (int64_t i = 0; i < countElements(dims); ++i)
          weights["table"].push_back(shape.element(random, name));
  }

  /// Prefill calls of up to 192 rows, decode calls of up to 8, 7 slots.
  PlanRunner compile(StateStorage states, Products products = Products::F32) {
    PipelineOptions options;
    options.products = products;
    options.prefillRows = {192};
    options.decodeRows = {8};
    options.stateStorage = states;
    PlanRunner runner(model, options, /*slots=*/7);
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
    return runner;
  }
  /// Kernels with states of f32, compiled once for all tests.
  PlanRunner &compiled() {
    if (!runner)
      runner.emplace(compile(StateStorage::F32));
    runner->parts = 1;
    return *runner;
  }

  /// A sequence of `length` tokens of the table; one that starts later than at
  /// 0 has states, which tokens before it may have left.
  Sequence pickSequence(int64_t length, int64_t start) {
    Sequence sequence;
    sequence.start = start;
    for (int64_t t = 0; t < length; ++t)
      sequence.tokens.push_back(pick(random, 0, kTableRows - 1));
    if (start > 0)
      for (auto &[name, dims] : shape.states()) {
        auto &state = sequence.states.emplace_back();
        for (int64_t i = 0; i < countElements(dims); ++i)
          state.push_back(toBf16(shape.element(random, name)));
      }
    return sequence;
  }

  void place(PlanRunner &runner, const Sequence &sequence, int32_t slot) {
    for (auto [state, elements] : llvm::zip(shape.states(), sequence.states))
      llvm::copy(elements, runner.state(state.first, slot).begin());
  }

  std::vector<float> states(PlanRunner &runner, int32_t slot) {
    std::vector<float> all;
    for (auto &[name, dims] : shape.states())
      llvm::append_range(all, runner.state(name, slot));
    return all;
  }

  /// Outputs of every token, and the states after the last; rows of a ring that
  /// no token has reached are what they were.
  std::pair<std::vector<double>, std::vector<double>>
  expected(const Sequence &sequence) const {
    std::vector<int32_t> rows(sequence.size()), positions(sequence.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::iota(positions.begin(), positions.end(), sequence.start);
    std::vector<Datum<double>> inputs = {
        Tensor<int32_t>({sequence.size()}, sequence.tokens),
        Tensor<int32_t>({sequence.size()}, rows),
        Tensor<int32_t>({sequence.size()}, positions)};
    for (auto [i, state] : llvm::enumerate(shape.states())) {
      Tensor<double> ring(state.second);
      if (!sequence.states.empty())
        llvm::copy(sequence.states[i], ring.elements().begin());
      inputs.push_back(std::move(ring));
    }
    std::vector<Datum<double>> results = model.evaluate(inputs, weights);
    std::vector<double> states;
    for (size_t i = 1; i < results.size(); ++i)
      llvm::append_range(states,
                         std::get<Tensor<double>>(results[i]).elements());
    return {std::get<Tensor<double>>(results[0]).elements().vec(), states};
  }

  /// Feeds a sequence in pieces of the given lengths, the rest by decode calls.
  Outcome inPieces(PlanRunner &runner, const Sequence &sequence,
                   ArrayRef<int64_t> pieces) {
    constexpr int32_t kSlot = 1;
    clear(runner, kSlot);
    place(runner, sequence, kSlot);
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
    outcome.states = states(runner, kSlot);
    return outcome;
  }

  /// Rows that no token reaches are compared too: a ring's keep this, and those
  /// of first tokens, which another sequence has left, become 0.
  void clear(PlanRunner &runner, int32_t slot) {
    for (auto &[name, dims] : shape.states())
      llvm::fill(runner.state(name, slot),
                 StringRef(name).starts_with("first") ? 7.0f : 0.0f);
  }

  WindowCase shape;

private:
  Random random;
  TestModel model;
  llvm::StringMap<std::vector<float>> weights;
  std::optional<PlanRunner> runner;
};

/// A shape by chance; a ring has room for the sequences of the tests where all
/// keys are seen, in whole blocks of 32 rows.
WindowCase pickShape(Random &random) {
  int64_t few = pick(random, 1, 3), more = few * pick(random, 1, 2);
  bool moreKeys = pick(random, 0, 1), isFull = pick(random, 0, 3) == 0;
  WindowCase s = {.H = more * pick(random, 1, 3),
                  .G = moreKeys ? more : few,
                  .J = moreKeys ? few : more,
                  .K = pick(random, 1, 80),
                  .V = pick(random, 1, 80),
                  .W =
                      isFull ? 32 * pick(random, 6, 8) : 8 * pick(random, 1, 9),
                  .window = 0};
  if (!isFull)
    s.window = pick(random, std::max<int64_t>(1, s.W - 16), s.W);
  if (pick(random, 0, 2) == 0)
    s.softCap = pickReal(random, 0.5, 4);
  s.sinks = pick(random, 0, 2) == 0;
  s.slopes = pick(random, 0, 2) == 0;
  s.S = isFull || pick(random, 0, 2) ? 0 : pick(random, 1, 45);
  if (pick(random, 0, 1)) {
    static const char *const kinds[] = {"bias", "scale", "threshold"};
    s.keyScore = kinds[pick(random, 0, 2)];
    s.N = pick(random, 0, 1) ? s.G : s.H;
    s.keep = pick(random, 0, 1) ? pick(random, 1, s.W) : 0;
  }
  s.keysAlone = s.mayKeepKeysAlone() && pick(random, 0, 1);
  return s;
}

/// Channels below, at and above the 8 lanes of a vector and the runs of 16, 32
/// and 64 lanes; rings whose blocks have 32, 16, 8, 4 and 1 keys; windows of
/// one key, of less than a block, of a block, of a ring; groups of 1, 2, 3 and
/// 6 heads; all keys, some and a single one by their numbers; first tokens that
/// stay, less than a block of them and more; heads so wide that a GPU's blocks
/// have half the keys; values that are a part of their keys, or all of it.
std::vector<std::unique_ptr<Window>> &cases() {
  static const WindowCase shapes[] = {
      {.H = 6, .G = 2, .J = 2, .K = 8, .V = 5, .W = 64, .window = 33},
      {.H = 6, .G = 3, .J = 1, .K = 8, .V = 5, .W = 64, .window = 33, .S = 4},
      {.H = 1, .G = 1, .J = 1, .K = 5, .V = 7, .W = 32, .window = 32},
      {.H = 3, .G = 3, .J = 3, .K = 16, .V = 20, .W = 96, .window = 70},
      {.H = 6, .G = 1, .J = 1, .K = 20, .V = 8, .W = 40, .window = 40},
      {.H = 6, .G = 1, .J = 6, .K = 33, .V = 64, .W = 48, .window = 41},
      {.H = 6, .G = 6, .J = 2, .K = 7, .V = 33, .W = 32, .window = 1},
      {.H = 6, .G = 3, .J = 3, .K = 64, .V = 65, .W = 5, .window = 5},
      {.H = 2, .G = 1, .J = 1, .K = 100, .V = 16, .W = 36, .window = 9},
      {.H = 4, .G = 2, .J = 2, .K = 9, .V = 12, .W = 256},
      {.H = 3, .G = 1, .J = 3, .K = 12, .V = 40, .W = 224},
      {.H = 6,
       .G = 2,
       .J = 2,
       .K = 11,
       .V = 13,
       .W = 64,
       .window = 50,
       .softCap = 1.5},
      {.H = 6,
       .G = 2,
       .J = 6,
       .K = 10,
       .V = 14,
       .W = 32,
       .window = 23,
       .sinks = true},
      {.H = 4, .G = 1, .J = 2, .K = 18, .V = 17, .W = 192, .slopes = true},
      {.H = 6,
       .G = 3,
       .J = 3,
       .K = 24,
       .V = 19,
       .W = 64,
       .window = 64,
       .softCap = 3,
       .sinks = true,
       .slopes = true},
      {.H = 6,
       .G = 3,
       .J = 3,
       .K = 14,
       .V = 15,
       .W = 160 + 32,
       .keyScore = "bias",
       .N = 3},
      {.H = 6,
       .G = 1,
       .J = 6,
       .K = 8,
       .V = 9,
       .W = 64,
       .window = 45,
       .slopes = true,
       .keyScore = "scale",
       .N = 2},
      {.H = 4,
       .G = 2,
       .J = 2,
       .K = 13,
       .V = 6,
       .W = 32,
       .window = 29,
       .softCap = 2,
       .sinks = true,
       .keyScore = "threshold",
       .N = 1},
      {.H = 3,
       .G = 1,
       .J = 1,
       .K = 16,
       .V = 5,
       .W = 48,
       .window = 30,
       .keyScore = "threshold",
       .N = 3},
      {.H = 6,
       .G = 2,
       .J = 2,
       .K = 12,
       .V = 7,
       .W = 64,
       .window = 61,
       .keyScore = "bias",
       .N = 2,
       .keep = 9},
      {.H = 4,
       .G = 1,
       .J = 4,
       .K = 5,
       .V = 11,
       .W = 192,
       .sinks = true,
       .keyScore = "threshold",
       .N = 4,
       .keep = 40},
      {.H = 2,
       .G = 2,
       .J = 2,
       .K = 9,
       .V = 8,
       .W = 40,
       .window = 35,
       .slopes = true,
       .keyScore = "scale",
       .N = 1,
       .keep = 1},
      {.H = 3, .G = 1, .J = 3, .K = 6, .V = 9, .W = 32, .window = 1, .S = 2},
      {.H = 2,
       .G = 2,
       .J = 2,
       .K = 10,
       .V = 12,
       .W = 40,
       .window = 20,
       .softCap = 2,
       .slopes = true,
       .S = 41},
      {.H = 4,
       .G = 2,
       .J = 2,
       .K = 9,
       .V = 7,
       .W = 32,
       .window = 12,
       .sinks = true,
       .slopes = true,
       .keyScore = "scale",
       .N = 2,
       .S = 35},
      {.H = 6,
       .G = 3,
       .J = 3,
       .K = 5,
       .V = 11,
       .W = 48,
       .window = 17,
       .keyScore = "bias",
       .N = 1,
       .keep = 6,
       .S = 9},
      {.H = 3, .G = 1, .J = 1, .K = 340, .V = 310, .W = 64, .window = 47},
      {.H = 4, .G = 1, .J = 1, .K = 21, .V = 16, .W = 256, .keysAlone = true},
      {.H = 6, .G = 3, .J = 3, .K = 36, .V = 36, .W = 192, .keysAlone = true}};
  static std::vector<std::unique_ptr<Window>> list;
  if (!list.empty())
    return list;
  Random random(20261125);
  for (const WindowCase &shape : shapes)
    list.push_back(std::make_unique<Window>(shape, list.size()));
  for (int64_t i = moreShapes(); i > 0; --i)
    list.push_back(std::make_unique<Window>(pickShape(random), list.size()));
  return list;
}

/// Sequences of 1 to 47 tokens that begin here or start on and off the grid of
/// blocks, before and after a ring has gone round: 172 rows in all, of which
/// the last two of each are for decode calls.
constexpr int64_t kDecoded = 2;
std::vector<Sequence> pickSequences(Window &w) {
  return {w.pickSequence(3, 0),   w.pickSequence(17, 5), w.pickSequence(18, 32),
          w.pickSequence(19, 0),  w.pickSequence(49, 0), w.pickSequence(36, 95),
          w.pickSequence(40, 128)};
}

std::vector<Segment> prefixes(ArrayRef<Sequence> sequences, int64_t decoded) {
  std::vector<Segment> call;
  for (auto [slot, sequence] : llvm::enumerate(sequences))
    call.push_back(sequence.segment(slot, 0, sequence.size() - decoded));
  return call;
}

// One prefill of seven sequences, then two decode calls, against the reference
// over all their tokens. Returns the larger error of outputs and states; states
// that are stored in another type begin at nothing and are not compared.
double worstError(Window &w, PlanRunner &runner, bool compareStates) {
  std::vector<Sequence> sequences = pickSequences(w);
  for (auto [slot, sequence] : llvm::enumerate(sequences)) {
    if (!compareStates) {
      sequence.start = 0;
      sequence.states.clear();
      continue;
    }
    w.clear(runner, slot);
    w.place(runner, sequence, slot);
  }
  int64_t width = w.shape.H * w.shape.V;
  std::vector<std::vector<float>> outputs(sequences.size());
  std::vector<float> rows = runner.prefill(prefixes(sequences, kDecoded));
  ArrayRef<float> rest = rows;
  for (auto [output, sequence] : llvm::zip_equal(outputs, sequences)) {
    int64_t elements = (sequence.size() - kDecoded) * width;
    llvm::append_range(output, rest.take_front(elements));
    rest = rest.drop_front(elements);
  }
  for (int64_t t = kDecoded; t > 0; --t) {
    std::vector<Segment> call;
    for (auto [slot, sequence] : llvm::enumerate(sequences))
      call.push_back(
          sequence.segment(slot, sequence.size() - t, sequence.size() - t + 1));
    std::vector<float> decoded = runner.decode(call);
    for (auto [slot, output] : llvm::enumerate(outputs))
      llvm::append_range(output, ArrayRef(decoded).slice(slot * width, width));
  }
  double worst = 0;
  for (auto [slot, sequence] : llvm::enumerate(sequences)) {
    auto [nextOutputs, nextStates] = w.expected(sequence);
    worst = std::fmax(worst, errorOf(outputs[slot], nextOutputs));
    if (compareStates)
      worst = std::fmax(worst, errorOf(w.states(runner, slot), nextStates));
  }
  return worst;
}

TEST(WindowKernels, AgreeWithTheReference) {
  double worst = 0;
  for (const std::unique_ptr<Window> &w : cases()) {
    SCOPED_TRACE(w->shape.text());
    double error = worstError(*w, w->compiled(), /*compareStates=*/true);
    EXPECT_LE(error, 1e-5);
    worst = std::fmax(worst, error);
  }
  std::printf("largest relative error %.1e\n", worst);
}

/// The largest error of the first `count` cases; none may be above `most`.
double worstOf(size_t count, StateStorage states, Products products,
               double most) {
  double worst = 0;
  for (const std::unique_ptr<Window> &w : ArrayRef(cases()).take_front(count)) {
    SCOPED_TRACE(w->shape.text());
    PlanRunner runner = w->compile(states, products);
    double error = worstError(*w, runner, states == StateStorage::F32);
    EXPECT_LE(error, most);
    worst = std::fmax(worst, error);
  }
  std::printf("largest relative error %.1e\n", worst);
  return worst;
}

// Keys and values of bf16 are rounded when the call that brings them ends, and
// widened where they are read: 8 bits, so some 2^-9 of each.
TEST(WindowKernels, AgreeWithTheReferenceWithStatesOfBf16) {
  EXPECT_GE(worstOf(9, StateStorage::BF16, Products::F32, 2e-2), 1e-4);
}

// Queries, keys, their weights and values, on a GPU, each by as much.
TEST(WindowKernels, AgreeWithTheReferenceWithRoundedProducts) {
  bool rounds = testTarget().device != tile::Device::Host;
  double worst =
      worstOf(4, StateStorage::F32, Products::BF16, rounds ? 2e-2 : 1e-5);
  EXPECT_EQ(worst >= 1e-4, rounds);
}

TEST(WindowKernels, HaveTheSameBitsInAnyPieces) {
  for (const std::unique_ptr<Window> &w : cases()) {
    SCOPED_TRACE(w->shape.text());
    PlanRunner &runner = w->compiled();
    for (int64_t start : {0, 7, 96}) {
      Sequence sequence = w->pickSequence(83, start);
      Outcome whole = w->inPieces(runner, sequence, {83});
      EXPECT_TRUE(w->inPieces(runner, sequence, {1, 2, 3, 16, 5, 32, 11}) ==
                  whole);
      EXPECT_TRUE(w->inPieces(runner, sequence, {64, 19}) == whole);
      EXPECT_TRUE(w->inPieces(runner, sequence, {13}) == whole)
          << "prefill, then decode";
      EXPECT_TRUE(w->inPieces(runner, sequence, {}) == whole) << "decode alone";
    }
  }
}

TEST(WindowKernels, HaveTheSameBitsAloneAndAmongOthersAndDealtOutInAnyWay) {
  for (const std::unique_ptr<Window> &w : cases()) {
    SCOPED_TRACE(w->shape.text());
    std::vector<Sequence> sequences = pickSequences(*w);
    PlanRunner &runner = w->compiled();
    for (int64_t parts : {1, 3, 64}) {
      runner.parts = parts;
      for (auto [slot, sequence] : llvm::enumerate(sequences)) {
        w->clear(runner, slot);
        w->place(runner, sequence, slot);
      }
      std::vector<float> rows = runner.prefill(prefixes(sequences, 0));
      ArrayRef<float> rest = rows;
      std::vector<Outcome> among;
      for (auto [slot, sequence] : llvm::enumerate(sequences)) {
        int64_t elements = sequence.size() * w->shape.H * w->shape.V;
        among.push_back(
            {rest.take_front(elements).vec(), w->states(runner, slot)});
        rest = rest.drop_front(elements);
      }
      for (auto [slot, sequence] : llvm::enumerate(sequences))
        EXPECT_TRUE(w->inPieces(runner, sequence, sequence.size()) ==
                    among[slot])
            << "sequence " << slot << " in " << parts << " parts";
    }
  }
}

// A window has gone round at 1124, and holds the same keys in the same rows a
// multiple of 1024 later: the bits are the same, and so is the cost, which is
// printed and decides nothing.
TEST(WindowKernels, DecodeFarFromTheStartAsNearIt) {
  Window w(
      {.H = 8, .G = 2, .J = 2, .K = 64, .V = 64, .W = 1024, .window = 1024},
      99);
  Sequence sequence = w.pickSequence(1, 1124);
  PlanRunner &runner = w.compiled();
  std::vector<float> first;
  for (int64_t start : {100, 1124, 4196, 24676}) {
    sequence.start = start;
    w.place(runner, sequence, 0);
    std::vector<float> found = runner.decode(sequence.segment(0, 0, 1));
    if (start == 1124)
      first = found;
    if (start > 1124) {
      EXPECT_TRUE(found == first) << "at " << start;
    }
    std::vector<double> times;
    for (int repeat = 0; repeat < 41; ++repeat) {
      auto begin = std::chrono::steady_clock::now();
      runner.decode(sequence.segment(0, 0, 1));
      std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - begin;
      times.push_back(time.count());
    }
    llvm::sort(times);
    std::printf("decode at %5lld: %.0f us, median of %zu\n",
                static_cast<long long>(start), times[times.size() / 2],
                times.size());
  }
}

} // namespace
