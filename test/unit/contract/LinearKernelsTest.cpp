// The compiled host kernels of every mixer of class `linear`, and of written
// steps that are not linear, agree with the mixer's own definition, and their
// bits do not depend on how sequences are packed and cut.
#include "passes/kernel_facts/ChunkKernels.h"
#include "passes/seq/Passes.h"
#include "test/LongCheck.h"
#include "test/unit/codegen/host/CaseExport.h"
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/LinearCases.h"
#include "test/unit/contract/LinearModel.h"
#include "test/unit/contract/MoreShapes.h"
#include "test/unit/contract/NarrowNumbers.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/WrittenBodies.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTableRows = 97;

/// K and V below, at and above the 8 lanes of a vector, the blocks of lanes
/// that columns are cut into, and the 128 channels of an item; a single head.
constexpr Extents kExtents[] = {
    {0, 2, 1, 5, 7},   {0, 6, 3, 7, 16},  {0, 6, 2, 8, 5},    {0, 4, 2, 16, 20},
    {0, 2, 1, 20, 33}, {0, 6, 3, 33, 64}, {0, 4, 2, 64, 136}, {0, 2, 1, 9, 264},
    {0, 1, 1, 6, 12},  {0, 3, 3, 1, 15}};

Extents extentsFor(const LinearCase &mixer, Extents extents) {
  if (!mixer.grouped)
    extents.G = extents.H;
  if (mixer.oneKey)
    extents.K = 1;
  if (mixer.square)
    extents.K = extents.V;
  return extents;
}

/// A sequence: its tokens, where it starts and the states it has there.
struct Sequence {
  std::vector<int32_t> tokens;
  int64_t start = 0;
  std::vector<Tensor<double>> states; // empty: it begins here

  Segment segment(int32_t slot, int64_t from, int64_t to) const {
    return {slot,
            start + from,
            states.empty() && from == 0,
            {tokens.begin() + from, tokens.begin() + to}};
  }
  int64_t size() const { return tokens.size(); }
};

class Model {
public:
  Model(const LinearCase &mixer, const Extents &extents, Gates gates, bool bf16,
        Random &random)
      : mixer(mixer), extents(extents), gates(gates),
        model(
            linearModelText(mixer, extents, kTableRows, bf16 ? "bf16" : "f32")),
        random(random) {
    std::vector<Tensor<double>> columns;
    Extents rows = extents;
    rows.T = kTableRows;
    for (const LinearOperand &operand : mixer.tokens)
      if (!operand.isPositions)
        columns.push_back(operand.pickTensor(random, gates, rows));
    std::vector<float> &table = weights["table"];
    for (int64_t row = 0; row < kTableRows; ++row)
      for (const Tensor<double> &column : columns) {
        int64_t size = column.size() / kTableRows;
        for (double element : column.elements().slice(row * size, size))
          table.push_back(bf16 ? roundToBf16(element) : element);
      }
    for (const LinearOperand &parameter : mixer.parameters) {
      Tensor<double> tensor = parameter.pickTensor(random, gates, extents);
      weights[parameter.name].assign(tensor.elements().begin(),
                                     tensor.elements().end());
    }
  }

  PlanRunner compile(const PipelineOptions &options, int64_t slots) {
    return withWeights({model, options, slots});
  }
  PlanRunner compile(const PipelineOptions &options, int64_t slots,
                     KernelModule &together) {
    return withWeights({model, options, slots, together});
  }

  /// A sequence of `length` tokens; one that starts later than at 0 has states.
  Sequence pickSequence(int64_t length, int64_t start) {
    Sequence sequence;
    sequence.start = start;
    for (int64_t t = 0; t < length; ++t)
      sequence.tokens.push_back(pick(random, 0, kTableRows - 1));
    if (start > 0)
      for (const LinearOperand &state : mixer.states)
        sequence.states.push_back(state.pickTensor(random, gates, extents));
    return sequence;
  }

  void place(PlanRunner &runner, const Sequence &sequence, int32_t slot) {
    for (auto [operand, state] : llvm::zip(mixer.states, sequence.states))
      runner.writeState(
          operand.name, slot,
          std::vector<float>(state.elements().begin(), state.elements().end()));
  }

  /// The outputs of all tokens, then the states, by the definition.
  std::vector<Tensor<double>> expected(const Sequence &sequence) {
    Tensor<int32_t> rows({sequence.size()});
    std::iota(rows.elements().begin(), rows.elements().end(), 0);
    std::vector<Datum<double>> inputs = {
        Tensor<int32_t>({sequence.size()}, sequence.tokens), rows};
    if (llvm::any_of(mixer.tokens, [](auto &o) { return o.isPositions; })) {
      Tensor<int32_t> positions({sequence.size()});
      std::iota(positions.elements().begin(), positions.elements().end(),
                sequence.start);
      inputs.push_back(positions);
    }
    for (auto [i, operand] : llvm::enumerate(mixer.states)) {
      if (!sequence.states.empty()) {
        inputs.push_back(sequence.states[i]);
        continue;
      }
      Tensor<double> neutral(extents.of(operand.letters));
      llvm::fill(neutral.elements(), neutralOf(i));
      inputs.push_back(neutral);
    }
    std::vector<Tensor<double>> results;
    for (const Datum<double> &datum : model.evaluate(inputs, weights))
      results.push_back(std::get<Tensor<double>>(datum));
    return results;
  }

  /// The neutral value of a state, as the op describes it.
  double neutralOf(size_t index) {
    double neutral = NAN;
    model.get().walk([&](seq::MixerOpInterface op) {
      neutral = cast<seq::StatefulOpInterface>(op.getOperation())
                    .getStates()[index]
                    .neutral;
    });
    return neutral;
  }

  llvm::StringRef getErrors() const { return model.getErrors(); }
  /// Whether a kernel was built in a simpler way than the chosen one.
  bool isSimpler() const {
    return model.getRemarks().contains(" instead of chunks of tokens") ||
           model.getRemarks().contains(" instead of step, since");
  }
  const LinearCase &mixer;
  Extents extents;

private:
  PlanRunner withWeights(PlanRunner runner) {
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
    return runner;
  }

  Gates gates;
  TestModel model;
  Random &random;
  llvm::StringMap<std::vector<float>> weights;
};

/// What a sequence's tokens gave, and its last states: bits to compare.
struct Outcome {
  std::vector<float> outputs;
  std::vector<std::vector<float>> states;
  bool operator==(const Outcome &) const = default;
};

/// Feeds sequences: all but the last tokens packed into one prefill call, those
/// by decode calls of all sequences.
std::vector<Outcome> runPacked(Model &model, PlanRunner &runner,
                               ArrayRef<Sequence> sequences, int64_t decoded) {
  int64_t width = model.extents.H * model.extents.V;
  std::vector<Outcome> outcomes(sequences.size());
  std::vector<Segment> call;
  for (auto [slot, sequence] : llvm::enumerate(sequences)) {
    model.place(runner, sequence, slot);
    call.push_back(sequence.segment(slot, 0, sequence.size() - decoded));
  }
  std::vector<float> rows = runner.prefill(call);
  ArrayRef<float> rest = rows;
  for (auto [outcome, sequence] : llvm::zip_equal(outcomes, sequences)) {
    size_t count = (sequence.size() - decoded) * width;
    llvm::append_range(outcome.outputs, rest.take_front(count));
    rest = rest.drop_front(count);
  }
  for (int64_t t = decoded; t > 0; --t) {
    call.clear();
    for (auto [slot, sequence] : llvm::enumerate(sequences))
      call.push_back(
          sequence.segment(slot, sequence.size() - t, sequence.size() - t + 1));
    rows = runner.decode(call);
    for (auto [slot, outcome] : llvm::enumerate(outcomes))
      llvm::append_range(outcome.outputs,
                         ArrayRef(rows).slice(slot * width, width));
  }
  for (auto [slot, outcome] : llvm::enumerate(outcomes))
    for (const LinearOperand &state : model.mixer.states)
      outcome.states.push_back(runner.readState(state.name, slot));
  return outcomes;
}

/// Sequences of 1, 2, 15, 16, 17 and 35 tokens besides the decoded ones, which
/// begin here or go on.
std::vector<Sequence> pickSequences(Model &model, int64_t decoded) {
  std::vector<Sequence> sequences;
  for (auto [length, start] :
       {std::pair(1, 0), {2, 5}, {15, 31}, {16, 0}, {17, 3}, {35, 0}})
    sequences.push_back(model.pickSequence(length + decoded, start));
  return sequences;
}

/// Whether a mixer is of class `linear`, and its record as asked.
bool hasStructure(const LinearCase &mixer,
                  llvm::function_ref<bool(seq::LinearAttr)> asked) {
  TestModel model(linearModelText(mixer, extentsFor(mixer, kExtents[0]),
                                  kTableRows, "f32"));
  PassManager passes(model.getContext());
  passes.addPass(createSplitStepsPass());
  EXPECT_TRUE(succeeded(passes.run(model.get())));
  bool found = false;
  model.get().walk([&](seq::MixerOpInterface op) {
    if (seq::LinearAttr linear = op.getStructure().getLinear())
      found = asked(linear);
  });
  return found;
}

/// Whether kernels take chunks of a mixer's tokens.
bool hasChunks(const LinearCase &mixer) {
  return hasStructure(mixer, [](seq::LinearAttr linear) {
    return hasChunkKernel(linear, testTarget().device, kExtents[0].K,
                          kExtents[0].V);
  });
}

/// Every mixer of class `linear`, then the steps that are not linear.
const std::vector<LinearCase> &allCases() {
  static const std::vector<LinearCase> cases = [] {
    std::vector<LinearCase> all = linearCases();
    llvm::append_range(all, opaqueCases());
    return all;
  }();
  return cases;
}

class LinearKernelsContract : public testing::TestWithParam<size_t> {};
/// Mixers whose kernels take chunks.
class ChunkKernelsContract : public testing::TestWithParam<size_t> {};

std::vector<Extents> pickShapes(Random &random) {
  std::vector<Extents> shapes(std::begin(kExtents), std::end(kExtents));
  for (int64_t i = moreShapes(); i > 0; --i) {
    int64_t groups = pick(random, 1, 3);
    shapes.push_back({0, groups * pick(random, 1, 3), groups,
                      pick(random, 2, 40), pick(random, 2, 150)});
  }
  return shapes;
}

/// Which of the shapes a variant takes; all of them in a long check, and where
/// kernel tests are written, which are picked by their number.
enum class Shapes { All, Even, Odd };

/// What a mixer's kernels are tried with.
struct Variant {
  const char *name;
  bool bf16Table = false;
  PipelineOptions options = {};
  double tolerance = 1e-5;
  Shapes shapes = Shapes::All;

  /// Whether the variant takes the shape of this index.
  bool takes(size_t index) const {
    return shapes == Shapes::All || isLongCheck() || CaseExport::isAsked() ||
           index % 2 == (shapes == Shapes::Odd);
  }
};

PipelineOptions optionsFor(std::string form = "",
                           StateStorage storage = StateStorage::F32) {
  PipelineOptions options;
  options.prefillRows = {96};
  options.decodeRows = {8};
  options.forceForm = form;
  options.bitStable = form.empty();
  options.stateStorage = storage;
  return options;
}

/// A mixer of one shape in one variant, and what it is to be fed.
struct Trial {
  Trial(const LinearCase &mixer, const Extents &extents, Gates gates,
        const Variant &variant, Random &random, KernelModule &together)
      : variant(variant),
        model(mixer, extents, gates, variant.bf16Table, random),
        sequences(pickSequences(model, kDecoded)),
        runner(model.compile(variant.options, sequences.size(), together)) {
    EXPECT_EQ(model.getErrors(), "");
    EXPECT_FALSE(mixer.hasTiles && model.isSimpler());
  }

  /// Compares all outputs and last states with the definition; the largest
  /// relative error.
  double run() {
    SCOPED_TRACE(model.extents.text() + ", " + variant.name);
    double worst = 0;
    std::vector<Outcome> outcomes =
        runPacked(model, runner, sequences, kDecoded);
    for (auto [sequence, outcome] : llvm::zip_equal(sequences, outcomes)) {
      std::vector<Tensor<double>> expected = model.expected(sequence);
      double error = errorOf(outcome.outputs, expected[0].elements());
      for (auto [state, tensor] :
           llvm::zip_equal(outcome.states, llvm::drop_begin(expected)))
        error = std::fmax(error, errorOf(state, tensor.elements()));
      EXPECT_LE(error, variant.tolerance) << sequence.size() << " tokens";
      worst = std::fmax(worst, error);
    }
    return worst;
  }

  static constexpr int64_t kDecoded = 2;
  const Variant &variant;
  Model model;
  std::vector<Sequence> sequences;
  PlanRunner runner;
};

/// Whether a block of a GPU holds what a form needs of one shape: all keys of a
/// call's 96 tokens lie in shared memory (ChunkKernels.RefuseWhatNoBlockHolds),
/// with corrections beside their system.
bool fits(const LinearCase &mixer, const Variant &variant,
          const Extents &extents) {
  constexpr int64_t kMostKeyChannels = 256, kMostBesideSystem = 16,
                    kSmallBlock = 170000;
  if (!testTarget().simulated || variant.options.forceForm != "quadratic" ||
      extents.K <= kMostBesideSystem)
    return true;
  bool corrects = hasStructure(mixer, [](seq::LinearAttr linear) {
    return linear.getLowRank() != seq::LowRankPair::None;
  });
  return extents.K <= kMostKeyChannels &&
         !(corrects && testTarget().mostSharedBytes < kSmallBlock);
}

/// Tries a variant's shapes, every other one with adversarial gates.
/// The kernels of a mixer are one module, since variants share many and linking
/// costs as much as a kernel; of the shapes of `tools/check --long` so many
/// that it stays of that size.
void tryShapes(const LinearCase &mixer, ArrayRef<Variant> variants,
               ArrayRef<Extents> shapes, Random &random) {
  constexpr size_t kTogether = std::size(kExtents);
  std::vector<double> worst(variants.size());
  for (size_t first = 0; first < shapes.size(); first += kTogether) {
    KernelModule together;
    std::vector<std::unique_ptr<Trial>> trials;
    for (const Variant &variant : variants)
      for (size_t i = first; i < std::min(first + kTogether, shapes.size());
           ++i)
        if (Extents extents = extentsFor(mixer, shapes[i]);
            variant.takes(i) && fits(mixer, variant, extents)) {
          size_t turn = variant.shapes == Shapes::All ? i : i / 2;
          trials.push_back(std::make_unique<Trial>(
              mixer, extents, turn % 2 ? Gates::Adversarial : Gates::Mild,
              variant, random, together));
        }
    together.compile(variants.front().options);
    for (const std::unique_ptr<Trial> &trial : trials) {
      double &most = worst[&trial->variant - variants.data()];
      most = std::fmax(most, trial->run());
    }
  }
  for (auto [variant, error] : llvm::zip_equal(variants, worst))
    std::printf("%-22s %s: largest relative error %.1e\n",
                mixer.title().c_str(), variant.name, error);
}

void tryShapes(const LinearCase &mixer, ArrayRef<Variant> variants) {
  Random random(std::hash<std::string>()(mixer.title()));
  tryShapes(mixer, variants, pickShapes(random), random);
}

TEST_P(LinearKernelsContract, AgreeWithTheDefinition) {
  tryShapes(
      allCases()[GetParam()],
      {{"f32 tables", false, optionsFor()},
       {"bf16 tables", true, optionsFor(), /*tolerance=*/1e-5, Shapes::Even},
       {"bf16 states", true, optionsFor("", StateStorage::BF16),
        /*tolerance=*/2e-2, Shapes::Odd}});
}

// Chunks, or all tokens at once.
TEST_P(ChunkKernelsContract, EveryFormAgrees) {
  tryShapes(allCases()[GetParam()],
            {{"chunkwise of 16", false, optionsFor("chunkwise:16"),
              /*tolerance=*/1e-5, Shapes::Even},
             {"chunkwise of 48", true, optionsFor("chunkwise:48"),
              /*tolerance=*/1e-5, Shapes::Odd},
             {"quadratic", false, optionsFor("quadratic"), /*tolerance=*/1e-5,
              Shapes::Even}});
}

// Mild and adversarial gates in the same shape: fewer key channels and values
// than a tensor core's pieces have, and heads cut into blocks of values.
TEST_P(ChunkKernelsContract, BothGatesAgree) {
  const LinearCase &mixer = allCases()[GetParam()];
  size_t seed = std::hash<std::string>()(mixer.title());
  Random random(seed + 3);
  const Extents few = {0, 6, 3, 5, 12}, many = {0, 2, 1, 40, 80};
  SmallVector<Variant> variants = {
      {"chunkwise of 16", false, optionsFor("chunkwise:16")},
      {"chunkwise of 16, bf16", true,
       optionsFor("chunkwise:16", StateStorage::BF16),
       /*tolerance=*/2e-2}};
  // An operand loses 2^-9 or 2^-12, some ten in a row. Mixers take turns.
  PipelineOptions rounded = optionsFor("chunkwise:16");
  for (auto [products, name] : {std::pair(Products::BF16, "products of bf16"),
                                {Products::F16, "products of f16"},
                                {Products::TF32, "products of tf32"}}) {
    bool isNarrow = products == Products::BF16;
    rounded.products = products;
    if (isLongCheck() || CaseExport::isAsked() ||
        (testTarget().simulated &&
         (isNarrow || (seed % 2 == 0) == (products == Products::F16))))
      variants.push_back({name, true, rounded, isNarrow ? 2e-2 : 2e-2 / 8,
                          isNarrow ? Shapes::All : Shapes::Odd});
  }
  tryShapes(mixer, variants, {few, few, many, many}, random);
}

// A prompt in any pieces, by prefill or decode calls, alone or among others.
TEST_P(LinearKernelsContract, SameBitsInAnyPieces) {
  const LinearCase &mixer = allCases()[GetParam()];
  Random random(std::hash<std::string>()(mixer.title()) + 2);
  Extents extents = extentsFor(mixer, {0, 6, 3, 12, 40});
  Model model(mixer, extents, Gates::Adversarial, /*bf16=*/false, random);
  std::vector<Sequence> sequences = pickSequences(model, 0);
  PipelineOptions options = optionsFor();
  options.bitStableOnGpu = true; // where it is not the default
  PlanRunner runner = model.compile(options, sequences.size());
  ASSERT_EQ(model.getErrors(), "");
  std::vector<Outcome> among = runPacked(model, runner, sequences, 0);
  const Sequence &sequence = sequences.back();
  for (std::vector<int64_t> pieces :
       {std::vector<int64_t>{35}, {16, 19}, {1, 7, 20}, {}}) {
    Outcome outcome;
    model.place(runner, sequence, 1);
    int64_t at = 0;
    for (int64_t length : pieces) {
      llvm::append_range(outcome.outputs,
                         runner.prefill(sequence.segment(1, at, at + length)));
      at += length;
    }
    for (; at < sequence.size(); ++at)
      llvm::append_range(outcome.outputs,
                         runner.decode(sequence.segment(1, at, at + 1)));
    for (const LinearOperand &state : mixer.states)
      outcome.states.push_back(runner.readState(state.name, 1));
    EXPECT_TRUE(outcome == among.back()) << pieces.size() << " pieces";
  }
}

// A kernel of a forced form that no block holds is an error by name.
TEST(ChunkKernels, RefuseWhatNoBlockHolds) {
  const LinearCase &mixer = *llvm::find_if(
      linearCases(), [](auto &one) { return one.name == "written_mirrored"; });
  TestModel model(linearModelText(
      mixer, extentsFor(mixer, {0, /*H=*/2, /*G=*/1, /*K=*/264, /*V=*/264}),
      kTableRows, "f32"));
  PipelineOptions options = optionsFor("quadratic");
  options.target = findTarget("sim_90a");
  auto target = describeTarget(options, model.getContext());
  model.get()->setAttr(tile::kTargetAttr, target);
  PassManager passes(model.getContext());
  for (Phase phase : {Phase::Seq, Phase::Tile})
    addPhase(passes, phase, options, PhaseTarget::of(target));
  EXPECT_TRUE(failed(passes.run(model.get())));
  EXPECT_NE(model.getErrors().find("bytes of shared memory, but a block of the "
                                   "target has 232448"),
            StringRef::npos)
      << model.getErrors().str();
}

/// A mixer, one operand of which is drawn otherwise.
LinearCase drawnAs(const std::string &name, const std::string &operand,
                   std::function<double(Random &, Gates)> draw) {
  LinearCase mixer = *llvm::find_if(
      linearCases(), [&](auto &one) { return one.title() == name; });
  for (LinearOperand &one : mixer.tokens)
    if (one.name == operand)
      one.draw = draw;
  return mixer;
}

// A correction of rate 6 makes its key's direction 5 times as long, so that f32
// overflows before 240 tokens, and double does not: the numbers are right up to
// there, and none stand behind. A chunk, which a GPU has in place of single
// tokens, overflows as a whole. LinearFormsTest.cpp holds the forms to the same.
TEST(LinearKernelsExpanding, NoNumbersBehindAnOverflow) {
  LinearCase mixer =
      drawnAs("delta_rule", "beta", [](Random &, Gates) { return 6.0; });
  constexpr int64_t kTokens = 240, kColumns = 4;
  Random random(11);
  Model model(mixer, {0, /*H=*/1, /*G=*/1, /*K=*/3, kColumns}, Gates::Mild,
              /*bf16=*/false, random);
  Sequence sequence = model.pickSequence(kTokens, 0);
  bool isChunked = testTarget().device == tile::Device::Nvptx;
  int64_t chunk = isChunked ? 16 : 1;
  PipelineOptions options = optionsFor(isChunked ? "chunkwise:16" : "");
  options.prefillRows = {kTokens};
  PlanRunner runner = model.compile(options, 1);
  ASSERT_EQ(model.getErrors(), "");
  std::vector<float> y = runner.prefill(sequence.segment(0, 0, kTokens));
  Tensor<double> expected = model.expected(sequence)[0];
  for (int64_t column = 0; column < kColumns; ++column) {
    int64_t tokens = 0;
    double magnitude = 0;
    for (; tokens < kTokens; ++tokens) {
      double exact = expected.elements()[tokens * kColumns + column];
      float found = y[tokens * kColumns + column];
      if (!std::isfinite(found))
        break;
      magnitude = std::fmax(magnitude, std::fabs(exact));
      EXPECT_LE(std::fabs(found - exact), 1e-4 * magnitude) << tokens;
    }
    EXPECT_LT(tokens, kTokens); // where double leaves what f32 can hold
    EXPECT_EQ(tokens % chunk, 0);
    for (int64_t t = tokens; t < tokens + chunk - 1; ++t)
      magnitude = std::fmax(
          magnitude, std::fabs(expected.elements()[t * kColumns + column]));
    EXPECT_GT(magnitude, 1e35);
    for (int64_t t = tokens; t < kTokens; ++t)
      EXPECT_FALSE(std::isfinite(y[t * kColumns + column])) << t;
  }
}

Variant chunksOf16() {
  return {"chunkwise of 16", false, optionsFor("chunkwise:16")};
}

// Reflections of the same key again and again: of (1 - A)^-1 all elements are
// at most 2, of powers of A up to 10^6.
TEST(ChunkKernels, ReflectEqualKeys) {
  LinearCase mixer =
      drawnAs("delta_rule", "k", [](Random &, Gates) { return 1.0; });
  for (LinearOperand &operand : mixer.tokens)
    if (operand.name == "beta")
      operand.draw = [](Random &, Gates) { return 2.0; };
  if (!hasChunks(mixer))
    GTEST_SKIP() << "the target takes one token after another";
  Random random(5);
  tryShapes(mixer, chunksOf16(), Extents{0, 2, 1, 9, 20}, random);
}

// Gates that are shut so far that f32 has no logarithm of them.
TEST(ChunkKernels, ForgetBehindShutGates) {
  LinearCase mixer = drawnAs("hgrn2", "forget", [](Random &random, Gates) {
    return pick(random, 0, 2) ? pickReal(random, -3, 3) : -200.0;
  });
  mixer.parameters[0].draw = [](Random &, Gates) { return 0.0; };
  if (!hasChunks(mixer))
    GTEST_SKIP() << "the target takes one token after another";
  Random random(6);
  tryShapes(mixer, chunksOf16(), Extents{0, 2, 2, 9, 20}, random);
}

std::vector<size_t> casesWithChunks() {
  std::vector<size_t> cases;
  for (auto [index, mixer] : llvm::enumerate(allCases()))
    if (hasChunks(mixer))
      cases.push_back(index);
  return cases;
}

std::string titleOf(const testing::TestParamInfo<size_t> &info) {
  return allCases()[info.param].title();
}

INSTANTIATE_TEST_SUITE_P(Mixers, LinearKernelsContract,
                         testing::Range<size_t>(0, allCases().size()), titleOf);
INSTANTIATE_TEST_SUITE_P(Mixers, ChunkKernelsContract,
                         testing::ValuesIn(casesWithChunks()), titleOf);

} // namespace
