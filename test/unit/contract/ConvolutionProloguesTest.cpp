// Chunkwise recurrences that convolve their values as they load them give the
// bits that they give behind a convolution of its own, agree with the
// definition and leave the tail that it has: sequences of fewer tokens than
// taps, alone and beside others, that go on from what a call before has left,
// whole and in pieces.
//
// 2 heads of 96 x 72 (or 88 x 72) in blocks of 24 value channels are 6 items;
// an entry of 176 rows has 11 chunks of 16, one of 432 rows 27.
#include "test/unit/contract/NumberedText.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/Sequences.h"

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

constexpr int64_t kRows = 41, kHeads = 2, kValues = 72, kSlots = 14;
constexpr int64_t kWidth = kHeads * kValues;

/// A mixer between the slices of an embedding, some of which are convolved.
struct Mixer {
  const char *name;
  int64_t width;            ///< of the embedding's rows
  int64_t first, convolved; ///< channels of them
  int64_t taps, keys;
  bool hasBias;
  int64_t entry; ///< rows of the prefill entry
  const char *text;
};

// As in Mamba-2 each head reads the keys and queries, and values come first.
constexpr Mixer kSsd = {"ssd", 338, 0, 336, 4, 96, true, 176, R"(
  %c, %next_t = seq.short_convolution %u parameters(%taps, %bias) state(%t) {activation = #seq.activation<silu>}
      : tensor<?xCHANNELSxf32>, (tensor<TAPSxCHANNELSxf32>, tensor<CHANNELSxf32>), tensor<PASTxCHANNELSxf32>
  %dt = seq.slice %in {axis = 1 : i64, offset = 336 : i64, size = 2 : i64} : tensor<?xWIDTHxf32> -> tensor<?x2xf32>
  %x0 = seq.slice %c {axis = 1 : i64, offset = 0 : i64, size = 144 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x144xf32>
  %b0 = seq.slice %c {axis = 1 : i64, offset = 144 : i64, size = 96 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x96xf32>
  %c0 = seq.slice %c {axis = 1 : i64, offset = 240 : i64, size = 96 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x96xf32>
  %x = seq.reshape %x0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %b = seq.reshape %b0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %q = seq.reshape %c0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %y, %next = seq.ssd %x, %dt, %b, %q parameters(%rate, %rate, %rate) state(%s)
      : (tensor<?x2x72xf32>, tensor<?x2xf32>, tensor<?x1x96xf32>, tensor<?x1x96xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2xKEYSx72xf32>
)"};

// Parts of one tail, as a model may write them: what several items read row by
// row, since 41 and 55 are no multiples of 8, and values behind them.
constexpr Mixer kParts = {"ssd_of_parts", 338, 0, 240, 4, 96, true, 176, R"(
  %u0 = seq.slice %u {axis = 1 : i64, offset = 0 : i64, size = 41 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x41xf32>
  %u1 = seq.slice %u {axis = 1 : i64, offset = 41 : i64, size = 55 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x55xf32>
  %u2 = seq.slice %u {axis = 1 : i64, offset = 96 : i64, size = 144 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x144xf32>
  %w0 = seq.slice %taps {axis = 1 : i64, offset = 0 : i64, size = 41 : i64} : tensor<TAPSxCHANNELSxf32> -> tensor<TAPSx41xf32>
  %w1 = seq.slice %taps {axis = 1 : i64, offset = 41 : i64, size = 55 : i64} : tensor<TAPSxCHANNELSxf32> -> tensor<TAPSx55xf32>
  %w2 = seq.slice %taps {axis = 1 : i64, offset = 96 : i64, size = 144 : i64} : tensor<TAPSxCHANNELSxf32> -> tensor<TAPSx144xf32>
  %h1 = seq.slice %bias {axis = 0 : i64, offset = 41 : i64, size = 55 : i64} : tensor<CHANNELSxf32> -> tensor<55xf32>
  %c0, %t0 = seq.short_convolution %u0 parameters(%w0) state(%t) {activation = #seq.activation<silu>, first_channel = 0 : i64}
      : tensor<?x41xf32>, (tensor<TAPSx41xf32>), tensor<PASTxCHANNELSxf32>
  %c1, %t1 = seq.short_convolution %u1 parameters(%w1, %h1) state(%t0) {first_channel = 41 : i64}
      : tensor<?x55xf32>, (tensor<TAPSx55xf32>, tensor<55xf32>), tensor<PASTxCHANNELSxf32>
  %c2, %next_t = seq.short_convolution %u2 parameters(%w2) state(%t1) {activation = #seq.activation<silu>, first_channel = 96 : i64}
      : tensor<?x144xf32>, (tensor<TAPSx144xf32>), tensor<PASTxCHANNELSxf32>
  %k0 = seq.concat %c0, %c1 {axis = 1 : i64} : (tensor<?x41xf32>, tensor<?x55xf32>) -> tensor<?x96xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 240 : i64, size = 96 : i64} : tensor<?xWIDTHxf32> -> tensor<?x96xf32>
  %dt = seq.slice %in {axis = 1 : i64, offset = 336 : i64, size = 2 : i64} : tensor<?xWIDTHxf32> -> tensor<?x2xf32>
  %x = seq.reshape %c2 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %b = seq.reshape %k0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %q = seq.reshape %q0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %y, %next = seq.ssd %x, %dt, %b, %q parameters(%rate, %rate, %rate) state(%s)
      : (tensor<?x2x72xf32>, tensor<?x2xf32>, tensor<?x1x96xf32>, tensor<?x1x96xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2xKEYSx72xf32>
)"};

// As in Gated DeltaNet values have a convolution of their own.
constexpr Mixer kDelta = {"gated_delta_rule",
                          324,
                          176,
                          144,
                          3,
                          88,
                          false,
                          432,
                          R"(
  %c, %next_t = seq.short_convolution %u parameters(%taps) state(%t)
      : tensor<?xCHANNELSxf32>, (tensor<TAPSxCHANNELSxf32>), tensor<PASTxCHANNELSxf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 88 : i64} : tensor<?xWIDTHxf32> -> tensor<?x88xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 88 : i64, size = 88 : i64} : tensor<?xWIDTHxf32> -> tensor<?x88xf32>
  %beta = seq.slice %in {axis = 1 : i64, offset = 320 : i64, size = 2 : i64} : tensor<?xWIDTHxf32> -> tensor<?x2xf32>
  %a = seq.slice %in {axis = 1 : i64, offset = 322 : i64, size = 2 : i64} : tensor<?xWIDTHxf32> -> tensor<?x2xf32>
  %q = seq.reshape %q0 : tensor<?x88xf32> -> tensor<?x1x88xf32>
  %k = seq.reshape %k0 : tensor<?x88xf32> -> tensor<?x1x88xf32>
  %v = seq.reshape %c : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %y, %next = seq.gated_delta_rule %q, %k, %v, %beta, %a parameters(%rate, %rate) state(%s) {scale = 0.5 : f64}
      : (tensor<?x1x88xf32>, tensor<?x1x88xf32>, tensor<?x2x72xf32>, tensor<?x2xf32>, tensor<?x2xf32>,
         tensor<2xf32>, tensor<2xf32>, tensor<2xKEYSx72xf32>) -> (tensor<?x2x72xf32>, tensor<2xKEYSx72xf32>)
)"};

// Decays per key channel; one convolution of which values are the last
// channels.
constexpr Mixer kGated = {
    "gated_linear_attention", 720, 0, 528, 2, 96, false, 176, R"(
  %c, %next_t = seq.short_convolution %u parameters(%taps) state(%t) {activation = #seq.activation<silu>}
      : tensor<?xCHANNELSxf32>, (tensor<TAPSxCHANNELSxf32>), tensor<PASTxCHANNELSxf32>
  %q0 = seq.slice %c {axis = 1 : i64, offset = 0 : i64, size = 192 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x192xf32>
  %k0 = seq.slice %c {axis = 1 : i64, offset = 192 : i64, size = 192 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x192xf32>
  %v0 = seq.slice %c {axis = 1 : i64, offset = 384 : i64, size = 144 : i64} : tensor<?xCHANNELSxf32> -> tensor<?x144xf32>
  %g0 = seq.slice %in {axis = 1 : i64, offset = 528 : i64, size = 192 : i64} : tensor<?xWIDTHxf32> -> tensor<?x192xf32>
  %q = seq.reshape %q0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %k = seq.reshape %k0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %v = seq.reshape %v0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %g = seq.reshape %g0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%g) state(%s) {scale = 0.125 : f64, temperature = 16.0 : f64}
      : (tensor<?x2x96xf32>, tensor<?x2x96xf32>, tensor<?x2x72xf32>, tensor<?x2x96xf32>, tensor<2xKEYSx72xf32>)
      -> (tensor<?x2x72xf32>, tensor<2xKEYSx72xf32>)
)"};

std::string modelText(const Mixer &mixer) {
  std::string text = R"(
seq.weight @table source("table") : tensor<41xWIDTHxf32>
seq.weight @taps source("taps") : tensor<TAPSxCHANNELSxf32>
seq.weight @bias source("bias") : tensor<CHANNELSxf32>
seq.weight @rate source("rate") : tensor<2xf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2xKEYSx72xf32> {seq.state_name = "s"},
    %t: tensor<PASTxCHANNELSxf32> {seq.state_name = "t"})
    -> (tensor<?x144xf32>, tensor<2xKEYSx72xf32>, tensor<PASTxCHANNELSxf32>) {
  %table = seq.parameter @table : tensor<41xWIDTHxf32>
  %taps = seq.parameter @taps : tensor<TAPSxCHANNELSxf32>
  %bias = seq.parameter @bias : tensor<CHANNELSxf32>
  %rate = seq.parameter @rate : tensor<2xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41xWIDTHxf32>) -> tensor<?xWIDTHxf32>
  %u = seq.slice %in {axis = 1 : i64, offset = FIRST : i64, size = CHANNELS : i64} : tensor<?xWIDTHxf32> -> tensor<?xCHANNELSxf32>
)";
  text += mixer.text;
  text += R"(
  %y0 = seq.reshape %y : tensor<?x2x72xf32> -> tensor<?x144xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x144xf32>, tensor<?xi32>) -> tensor<?x144xf32>
  return %out, %next, %next_t : tensor<?x144xf32>, tensor<2xKEYSx72xf32>, tensor<PASTxCHANNELSxf32>
}
)";
  return withNumbers(std::move(text), {{"WIDTH", mixer.width},
                                       {"CHANNELS", mixer.convolved},
                                       {"TAPS", mixer.taps},
                                       {"PAST", mixer.taps - 1},
                                       {"KEYS", mixer.keys},
                                       {"FIRST", mixer.first}});
}

/// How a mixer is compiled.
struct Way {
  Mixer mixer;
  bool bitStable; ///< whole sequences; else pieces
  Products products;
};

class ConvolutionPrologues : public testing::TestWithParam<Way> {
protected:
  ConvolutionPrologues() : mixer(GetParam().mixer), model(modelText(mixer)) {
    std::mt19937_64 random(7);
    auto draw = [&](const char *name, int64_t count, float most) {
      std::uniform_real_distribution<float> element(-most, most);
      for (int64_t i = 0; i < count; ++i)
        weights[name].push_back(element(random));
    };
    // Keys short enough for rates of correction up to 1.
    draw("table", kRows * mixer.width, 0.15f);
    draw("taps", mixer.taps * mixer.convolved, 1);
    draw("bias", mixer.convolved, 0.5f);
    draw("rate", kHeads, 1);
  }

  /// With prologues, or with a launch for each convolution.
  PlanRunner compile(bool prologues) {
    bool isGpu = testTarget().device == tile::Device::Nvptx;
    PipelineOptions options;
    options.prefillRows = {mixer.entry};
    options.decodeRows = {1};
    options.forceForm = {seq::FormKind::Chunkwise, 16};
    options.bitStableOnGpu = GetParam().bitStable;
    options.products = GetParam().products;
    // A convolution by itself would round what it hands on.
    options.narrowResults = false;
    options.convolutionPrologues = prologues;
    bool isCut = false, convolves = false;
    PlanRunner runner(model, options, kSlots, [&](ModuleOp module) {
      for (auto kernel : module.getOps<tile::KernelOp>()) {
        isCut |= kernel.getSymName().ends_with("_pieces");
        if (!kernel.getSymName().starts_with("short_convolution"))
          kernel.walk([&](tile::SpliceOp) { convolves = true; });
      }
    });
    EXPECT_EQ(model.getErrors(), "");
    EXPECT_EQ(isCut, isGpu && !GetParam().bitStable);
    EXPECT_EQ(convolves, isGpu && prologues);
    for (const auto &[name, elements] : weights)
      if (name != "bias" || mixer.hasBias)
        runner.setWeight(name, elements);
    return runner;
  }

  struct Results {
    /// By sequence.
    std::vector<std::vector<float>> outputs, tails, states;
    bool operator==(const Results &) const = default;
  };

  Tokens sequence(int64_t slot, int64_t length) {
    return tokensOf(length, 3 + slot, kRows);
  }

  /// Runs calls of some tokens for each sequence, of which none means that it
  /// has no segment, and a step behind them.
  Results run(PlanRunner &runner, llvm::ArrayRef<std::vector<int64_t>> calls) {
    // What slots hold is nothing to a sequence that begins.
    for (int32_t slot = 0; slot < kSlots; ++slot)
      for (const char *name : {"s", "t"})
        for (float &number : runner.state(name, slot))
          number = std::nanf("");
    Results results;
    size_t count = calls.front().size();
    results.outputs.resize(count);
    std::vector<int64_t> at(count, 0);
    for (const std::vector<int64_t> &lengths : calls) {
      std::vector<Segment> call;
      for (auto [slot, length] : llvm::enumerate(lengths))
        if (length > 0)
          call.push_back(segmentOf(slot, sequence(slot, at[slot] + length),
                                   at[slot], at[slot] + length));
      std::vector<float> rows = runner.prefill(call);
      llvm::ArrayRef<float> rest = rows;
      for (auto [slot, length] : llvm::enumerate(lengths)) {
        llvm::append_range(results.outputs[slot],
                           rest.take_front(length * kWidth));
        rest = rest.drop_front(length * kWidth);
        at[slot] += length;
      }
    }
    for (size_t slot = 0; slot < count; ++slot) {
      results.tails.push_back(runner.state("t", slot).vec());
      results.states.push_back(runner.state("s", slot).vec());
      llvm::append_range(
          results.outputs[slot],
          runner.decode(segmentOf(slot, sequence(slot, at[slot] + 1), at[slot],
                                  at[slot] + 1)));
    }
    return results;
  }

  /// The inputs of the last W - 1 tokens, as the table has them.
  std::vector<float> tailOf(const Tokens &tokens) {
    std::vector<float> tail;
    for (int64_t i = 1 - mixer.taps; i < 0; ++i) {
      int64_t token = int64_t(tokens.size()) + i;
      if (token < 0)
        tail.insert(tail.end(), mixer.convolved, 0);
      else
        llvm::append_range(tail,
                           llvm::ArrayRef(weights["table"])
                               .slice(tokens[token] * mixer.width + mixer.first,
                                      mixer.convolved));
    }
    return tail;
  }

  void check(llvm::ArrayRef<std::vector<int64_t>> calls) {
    PlanRunner fused = compile(/*prologues=*/true);
    Results found = run(fused, calls);
    // Items of a launch run in any order.
    fused.parts = 3;
    EXPECT_TRUE(run(fused, calls) == found);
    PlanRunner apart = compile(/*prologues=*/false);
    EXPECT_TRUE(run(apart, calls) == found);
    for (size_t slot = 0; slot < found.outputs.size(); ++slot) {
      std::string what = "sequence " + std::to_string(slot);
      int64_t count = found.outputs[slot].size() / kWidth;
      EXPECT_EQ(found.tails[slot], tailOf(sequence(slot, count - 1))) << what;
      if (GetParam().products == Products::BF16)
        continue; // what products lose is theirs
      std::vector<Datum<double>> inputs = {
          Tensor<int32_t>({count}, sequence(slot, count)), countFromZero(count),
          Tensor<double>({kHeads, mixer.keys, kValues}),
          Tensor<double>({mixer.taps - 1, mixer.convolved})};
      Datum<double> expected = model.evaluate(inputs, weights)[0];
      EXPECT_LE(errorOf(found.outputs[slot],
                        std::get<Tensor<double>>(expected).elements()),
                1e-5)
          << what;
    }
  }

  Mixer mixer;
  llvm::StringMap<std::vector<float>> weights;
  TestModel model;
};

// From its start and inside of chunks; pieces of a chunk each, of which the
// second begins a token behind the segment's start, at position 16.
TEST_P(ConvolutionPrologues, OfOneSequence) {
  check({{1}, {1}, {2}, {11}, {150}, {1}, {160}});
}

// Fewer tokens than taps, and none; as many pieces as there is room for.
TEST_P(ConvolutionPrologues, OfSeveralSequences) {
  check({{1, 2, 3, 0}, {2, 100, 1, 60}, {3, 1, 0, 110}, {96, 33, 2, 1}});
}

// More segments than places: each is one piece.
TEST_P(ConvolutionPrologues, OfManySequences) {
  check({{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
         {14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3}});
}

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const Mixer &mixer : {kSsd, kDelta, kGated}) {
    all.push_back({mixer, /*bitStable=*/false, Products::F32});
    all.push_back({mixer, /*bitStable=*/true, Products::F32});
    all.push_back({mixer, /*bitStable=*/false, Products::BF16});
  }
  all.push_back({kParts, /*bitStable=*/true, Products::F32});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Mixers, ConvolutionPrologues,
                         testing::ValuesIn(ways()),
                         [](const testing::TestParamInfo<Way> &info) {
                           return std::string(info.param.mixer.name) +
                                  (info.param.products == Products::BF16
                                       ? "_of_bf16"
                                   : info.param.bitStable ? "_whole"
                                                          : "_in_pieces");
                         });

} // namespace
