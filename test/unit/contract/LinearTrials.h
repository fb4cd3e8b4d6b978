// Mixers of class `linear` compiled in several shapes and ways, and what their
// kernels give beside the mixers' own definitions.
#ifndef EFFC_TEST_UNIT_CONTRACT_LINEARTRIALS_H
#define EFFC_TEST_UNIT_CONTRACT_LINEARTRIALS_H

#include "test/LongCheck.h"
#include "test/unit/codegen/host/CaseExport.h"
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/LinearCases.h"
#include "test/unit/contract/LinearModel.h"
#include "test/unit/contract/NarrowNumbers.h"

#include "gtest/gtest.h"

namespace effc::test {

/// Tokens that there are.
inline constexpr int64_t kTableRows = 97;

/// K and V below, at and above the 8 lanes of a vector, the blocks of lanes
/// that columns are cut into, and the 128 channels of an item; a single head.
inline constexpr Extents kExtents[] = {
    {0, 2, 1, 5, 7},   {0, 6, 3, 7, 16},  {0, 6, 2, 8, 5},    {0, 4, 2, 16, 20},
    {0, 2, 1, 20, 33}, {0, 6, 3, 33, 64}, {0, 4, 2, 64, 136}, {0, 2, 1, 9, 264},
    {0, 1, 1, 6, 12},  {0, 3, 3, 1, 15}};

/// The extents as a mixer can have them.
Extents extentsFor(const LinearCase &mixer, Extents extents);

/// A sequence: its tokens, where it starts and the states it has there.
struct Sequence {
  std::vector<int32_t> tokens;
  int64_t start = 0;
  std::vector<seq::reference::Tensor<double>> states; // empty: it begins here

  PlanRunner::Segment segment(int32_t slot, int64_t from, int64_t to) const {
    return {slot,
            start + from,
            states.empty() && from == 0,
            {tokens.begin() + from, tokens.begin() + to}};
  }
  int64_t size() const { return tokens.size(); }
};

class LinearTrialModel {
public:
  LinearTrialModel(const LinearCase &mixer, const Extents &extents, Gates gates,
                   bool bf16, Random &random, bool handedOn = false)
      : mixer(mixer), extents(extents), gates(gates),
        model(linearModelText(mixer, extents, kTableRows, bf16 ? "bf16" : "f32",
                              handedOn)),
        random(random) {
    std::vector<seq::reference::Tensor<double>> columns;
    Extents rows = extents;
    rows.T = kTableRows;
    for (const LinearOperand &operand : mixer.tokens)
      if (!operand.isPositions)
        columns.push_back(operand.pickTensor(random, gates, rows));
    std::vector<float> &table = weights["table"];
    for (int64_t row = 0; row < kTableRows; ++row)
      for (const seq::reference::Tensor<double> &column : columns) {
        int64_t size = column.size() / kTableRows;
        for (double element : column.elements().slice(row * size, size))
          table.push_back(bf16 ? roundToBf16(element) : element);
      }
    for (const LinearOperand &parameter : mixer.parameters) {
      seq::reference::Tensor<double> tensor =
          parameter.pickTensor(random, gates, extents);
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
  std::vector<seq::reference::Tensor<double>>
  expected(const Sequence &sequence) {
    seq::reference::Tensor<int32_t> rows({sequence.size()});
    std::iota(rows.elements().begin(), rows.elements().end(), 0);
    std::vector<seq::reference::Datum<double>> inputs = {
        seq::reference::Tensor<int32_t>({sequence.size()}, sequence.tokens),
        rows};
    if (llvm::any_of(mixer.tokens, [](auto &o) { return o.isPositions; })) {
      seq::reference::Tensor<int32_t> positions({sequence.size()});
      std::iota(positions.elements().begin(), positions.elements().end(),
                sequence.start);
      inputs.push_back(positions);
    }
    for (auto [i, operand] : llvm::enumerate(mixer.states)) {
      if (!sequence.states.empty()) {
        inputs.push_back(sequence.states[i]);
        continue;
      }
      seq::reference::Tensor<double> neutral(extents.of(operand.letters));
      llvm::fill(neutral.elements(), neutralOf(i));
      inputs.push_back(neutral);
    }
    std::vector<seq::reference::Tensor<double>> results;
    for (const seq::reference::Datum<double> &datum :
         model.evaluate(inputs, weights))
      results.push_back(std::get<seq::reference::Tensor<double>>(datum));
    return results;
  }

  /// The neutral value of a state, as the op describes it.
  double neutralOf(size_t index) {
    double neutral = std::nan("");
    model.get().walk([&](seq::MixerOpInterface op) {
      neutral = mlir::cast<seq::StatefulOpInterface>(op.getOperation())
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
  /// Whether sequences are cut into pieces beside one another.
  bool isCut() const {
    return model.getRemarks().contains("a call's only sequence in ");
  }
  /// Whether some tokens lie in memory in 16 bits.
  bool hasNarrowTokens() const {
    return model.getRemarks().contains(
        ": all that reads it tolerates rounding");
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
std::vector<Outcome> runPacked(LinearTrialModel &model, PlanRunner &runner,
                               llvm::ArrayRef<Sequence> sequences,
                               int64_t decoded);

/// Sequences of 1, 2, 15, 16, 17 and 35 tokens besides the decoded ones, which
/// begin here or go on.
std::vector<Sequence> pickSequences(LinearTrialModel &model, int64_t decoded);

/// Whether a mixer is of class `linear`, and its record as asked.
bool hasStructure(const LinearCase &mixer,
                  llvm::function_ref<bool(seq::LinearAttr)> asked);

/// Every mixer of class `linear`, then the steps that are not linear.
const std::vector<LinearCase> &allCases();
/// The numbers of those of them that have some kind of kernels.
std::vector<size_t> casesWith(bool (*kernels)(const LinearCase &));
std::string titleOf(const testing::TestParamInfo<size_t> &info);
/// A mixer, one operand of which is drawn otherwise.
LinearCase drawnAs(const std::string &name, const std::string &operand,
                   std::function<double(Random &, Gates)> draw);

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
  /// Whether each operand comes from a kernel of its own.
  bool handedOn = false;

  /// Whether the variant takes the shape of this index.
  bool takes(size_t index) const {
    return shapes == Shapes::All || isLongCheck() || CaseExport::isAsked() ||
           index % 2 == (shapes == Shapes::Odd);
  }
};

/// In a form, or the one that is chosen, with the same bits everywhere.
PipelineOptions optionsFor(std::string form = "",
                           StateStorage storage = StateStorage::F32);

/// Tries a variant's shapes, every other one with adversarial gates.
/// The kernels of a mixer are one module, since variants share many and linking
/// costs as much as a kernel; of the shapes of `tools/check --long` so many
/// that it stays of that size.
void tryShapes(const LinearCase &mixer, llvm::ArrayRef<Variant> variants,
               llvm::ArrayRef<Extents> shapes, Random &random);
/// Those of `kExtents`, and as many more as are asked for.
void tryShapes(const LinearCase &mixer, llvm::ArrayRef<Variant> variants);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_LINEARTRIALS_H
