#include "test/unit/contract/WindowModel.h"

#include "test/unit/contract/RelativeError.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

static constexpr int64_t kTableRows = 97;

static int64_t countElements(const std::vector<int64_t> &shape) {
  return seq::reference::countElements(shape);
}

static std::string modelText(const WindowCase &c) {
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

static float toBf16(double number) {
  return llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(float(number)) &
                               0xffff0000);
}

Segment WindowSequence::segment(int32_t slot, int64_t from, int64_t to) const {
  return {slot,
          start + from,
          states.empty() && from == 0,
          {tokens.begin() + from, tokens.begin() + to}};
}

WindowModel::WindowModel(const WindowCase &shape, uint64_t seed)
    : shape(shape), random(seed), model(modelText(shape)) {
  for (const std::string &name : shape.parameters())
    for (int64_t h = 0; h < shape.H; ++h)
      weights[name].push_back(shape.parameter(random, name));
  for (int64_t row = 0; row < kTableRows; ++row)
    for (auto &[name, dims] : shape.tokens())
      for (int64_t i = 0; i < countElements(dims); ++i)
        weights["table"].push_back(shape.element(random, name));
}

PipelineOptions WindowModel::optionsFor(StateStorage states,
                                        Products products) {
  PipelineOptions options;
  options.products = products;
  options.prefillRows = {192};
  options.decodeRows = {8};
  options.stateStorage = states;
  return options;
}

PlanRunner WindowModel::compile(const PipelineOptions &options,
                                function_ref<void(ModuleOp)> inspect) {
  PlanRunner runner(model, options, /*slots=*/7, inspect);
  for (const auto &[name, elements] : weights)
    runner.setWeight(name, elements);
  return runner;
}

PlanRunner &WindowModel::compiled(bool bitStable) {
  std::optional<PlanRunner> &runner = runners[bitStable];
  PipelineOptions options = optionsFor(StateStorage::F32);
  options.bitStableOnGpu = bitStable;
  if (!runner)
    runner.emplace(compile(options));
  runner->parts = 1;
  return *runner;
}

WindowSequence WindowModel::pickSequence(int64_t length, int64_t start) {
  WindowSequence sequence;
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

void WindowModel::place(PlanRunner &runner, const WindowSequence &sequence,
                        int32_t slot) {
  for (auto [state, elements] : llvm::zip(shape.states(), sequence.states))
    runner.writeState(state.first, slot, elements);
}

std::vector<float> WindowModel::states(PlanRunner &runner, int32_t slot) {
  std::vector<float> all;
  for (auto &[name, dims] : shape.states())
    llvm::append_range(all, runner.readState(name, slot));
  return all;
}

std::pair<std::vector<double>, std::vector<double>>
WindowModel::expected(const WindowSequence &sequence) const {
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
    llvm::append_range(states, std::get<Tensor<double>>(results[i]).elements());
  return {std::get<Tensor<double>>(results[0]).elements().vec(), states};
}

WindowOutcome WindowModel::inPieces(PlanRunner &runner,
                                    const WindowSequence &sequence,
                                    ArrayRef<int64_t> pieces) {
  constexpr int32_t kSlot = 1;
  clear(runner, kSlot);
  place(runner, sequence, kSlot);
  WindowOutcome outcome;
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

void WindowModel::clear(PlanRunner &runner, int32_t slot) {
  for (auto &[name, dims] : shape.states())
    runner.writeState(
        name, slot,
        std::vector<float>(size_t(countElements(dims)),
                           StringRef(name).starts_with("first") ? 7.0f : 0.0f));
}

/// Tokens of each sequence that come in decode calls.
static constexpr int64_t kDecoded = 2;
std::vector<WindowSequence> effc::test::pickSequences(WindowModel &w) {
  return {w.pickSequence(3, 0),   w.pickSequence(17, 5), w.pickSequence(18, 32),
          w.pickSequence(19, 0),  w.pickSequence(49, 0), w.pickSequence(36, 95),
          w.pickSequence(40, 128)};
}

std::vector<Segment> effc::test::prefixes(ArrayRef<WindowSequence> sequences,
                                          int64_t decoded) {
  std::vector<Segment> call;
  for (auto [slot, sequence] : llvm::enumerate(sequences))
    call.push_back(sequence.segment(slot, 0, sequence.size() - decoded));
  return call;
}

double effc::test::worstError(WindowModel &w, PlanRunner &runner,
                              bool compareStates) {
  return worstError(w, runner, compareStates, pickSequences(w));
}

double effc::test::worstError(WindowModel &w, PlanRunner &runner,
                              bool compareStates,
                              std::vector<WindowSequence> sequences) {
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
