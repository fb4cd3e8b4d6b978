#include "test/unit/contract/LinearTrials.h"

#include "passes/seq/Passes.h"
#include "test/unit/contract/MoreShapes.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/WrittenBodies.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

Extents effc::test::extentsFor(const LinearCase &mixer, Extents extents) {
  if (!mixer.grouped)
    extents.G = extents.H;
  if (mixer.oneKey)
    extents.K = 1;
  if (mixer.square)
    extents.K = extents.V;
  return extents;
}

std::vector<Outcome> effc::test::runPacked(LinearTrialModel &model,
                                           PlanRunner &runner,
                                           ArrayRef<Sequence> sequences,
                                           int64_t decoded) {
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

std::vector<Sequence> effc::test::pickSequences(LinearTrialModel &model,
                                                int64_t decoded) {
  std::vector<Sequence> sequences;
  for (auto [length, start] :
       {std::pair(1, 0), {2, 5}, {15, 31}, {16, 0}, {17, 3}, {35, 0}})
    sequences.push_back(model.pickSequence(length + decoded, start));
  return sequences;
}

bool effc::test::hasStructure(const LinearCase &mixer,
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

const std::vector<LinearCase> &effc::test::allCases() {
  static const std::vector<LinearCase> cases = [] {
    std::vector<LinearCase> all = linearCases();
    llvm::append_range(all, opaqueCases());
    return all;
  }();
  return cases;
}

std::vector<size_t> effc::test::casesWith(bool (*kernels)(const LinearCase &)) {
  std::vector<size_t> cases;
  for (auto [index, mixer] : llvm::enumerate(allCases()))
    if (kernels(mixer))
      cases.push_back(index);
  return cases;
}

std::string effc::test::titleOf(const testing::TestParamInfo<size_t> &info) {
  return allCases()[info.param].title();
}

LinearCase effc::test::drawnAs(const std::string &name,
                               const std::string &operand,
                               std::function<double(Random &, Gates)> draw) {
  LinearCase mixer = *llvm::find_if(
      linearCases(), [&](auto &one) { return one.title() == name; });
  for (LinearOperand &one : mixer.tokens)
    if (one.name == operand)
      one.draw = draw;
  return mixer;
}

static std::vector<Extents> pickShapes(Random &random) {
  std::vector<Extents> shapes(std::begin(kExtents), std::end(kExtents));
  for (int64_t i = moreShapes(); i > 0; --i) {
    int64_t groups = pick(random, 1, 3);
    shapes.push_back({0, groups * pick(random, 1, 3), groups,
                      pick(random, 2, 40), pick(random, 2, 150)});
  }
  return shapes;
}

PipelineOptions effc::test::optionsFor(std::string form, StateStorage storage) {
  PipelineOptions options;
  options.prefillRows = {96};
  options.decodeRows = {8};
  if (!form.empty())
    options.forceForm = parseForcedForm(form).value();
  options.bitStable = form.empty();
  options.stateStorage = storage;
  return options;
}

static bool forces(const Variant &variant, seq::FormKind kind) {
  return variant.options.forceForm && variant.options.forceForm->kind == kind;
}

namespace {
/// A mixer of one shape in one variant, and what it is to be fed.
struct Trial {
  Trial(const LinearCase &mixer, const Extents &extents, Gates gates,
        const Variant &variant, Random &random, KernelModule &together)
      : variant(variant), model(mixer, extents, gates, variant.bf16Table,
                                random, variant.handedOn),
        sequences(pickSequences(model, kDecoded)),
        runner(model.compile(variant.options, sequences.size(), together)) {
    EXPECT_EQ(model.getErrors(), "");
    EXPECT_FALSE(mixer.hasTiles && model.isSimpler());
    // Whole sequences would be the time loop again.
    EXPECT_TRUE(model.isCut() || !forces(variant, seq::FormKind::Scan));
    if (variant.handedOn && !CaseExport::isAsked())
      EXPECT_EQ(model.hasNarrowTokens(), mixer.toleratesRounding);
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
  LinearTrialModel model;
  std::vector<Sequence> sequences;
  PlanRunner runner;
};
} // namespace

/// Whether a block of a GPU holds what a form needs of one shape: all keys of a
/// call's 96 tokens lie in shared memory (ChunkKernels.RefuseWhatNoBlockHolds),
/// with corrections beside their system.
static bool fits(const LinearCase &mixer, const Variant &variant,
                 const Extents &extents) {
  constexpr int64_t kMostKeyChannels = 256, kMostBesideSystem = 16,
                    kSmallBlock = 170000;
  if (!testTarget().simulated || !forces(variant, seq::FormKind::Quadratic) ||
      extents.K <= kMostBesideSystem)
    return true;
  bool corrects = hasStructure(mixer, [](seq::LinearAttr linear) {
    return linear.getLowRank() != seq::LowRankPair::None;
  });
  return extents.K <= kMostKeyChannels &&
         !(corrects && testTarget().mostSharedBytes < kSmallBlock);
}

void effc::test::tryShapes(const LinearCase &mixer, ArrayRef<Variant> variants,
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

void effc::test::tryShapes(const LinearCase &mixer,
                           ArrayRef<Variant> variants) {
  Random random(std::hash<std::string>()(mixer.title()));
  tryShapes(mixer, variants, pickShapes(random), random);
}
