#include "dialects/seq/Work.h"

#include "dialects/seq/Seq.h"

#include <algorithm>

using namespace mlir;

namespace effc::seq {

// Shorter chunks count fewer FLOPs, but a product with so few rows keeps no
// machine busy.
static constexpr uint64_t kShortestChunk = 16;

// Per head, the cheaper of the time loop and of chunks: 2 K V to write and to
// read, K V to decay; a rank-one correction reads the state once more, and
// writes along a key of its own or not.
static uint64_t linearWork(MixerOpInterface mixer) {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  LinearAttr linear = mixer.getStructure().getLinear();
  RankedTensorType state = stateful.getStates().front().type;
  uint64_t heads = state.getDimSize(0), keys = state.getDimSize(1),
           values = state.getDimSize(2), elements = keys * values;
  // 6 to decay, 4 to write, 4 to read; chunks form no products.
  if (linear.getField() == DecayField::Complex)
    return 14 * heads * elements;
  uint64_t step = 4 * elements;
  if (linear.getDecay() != DecayAxis::None)
    step += elements;
  uint64_t chunk = 4 * elements + kShortestChunk * (keys + values);
  if (linear.getLowRank() != LowRankPair::None) {
    step += 2 * elements;
    chunk = 6 * elements + kShortestChunk * (3 * keys + 2 * values);
  }
  return heads * std::min(step, chunk);
}

// The recurrence that a product with a matrix is.
static uint64_t productWork(ApplyOp op) {
  ArrayRef<int64_t> state = op.getState().getType().getShape();
  uint64_t elements = state[1] * state[2];
  bool decays = op.getMatrix().getType().getDecay() != DecayAxis::None;
  return state[0] *
         std::min(4 * elements + (decays ? elements : 0),
                  4 * elements + kShortestChunk * (state[1] + state[2]));
}

// Every token in the band is scored once and added once, as in a window.
static uint64_t productWork(ApplyBandOp op) {
  ArrayRef<int64_t> keys = op.getKeys().getType().getShape();
  return 2 * keys[0] * keys[2] *
         (keys[1] + op.getValues().getType().getDimSize(2));
}

// Rows are added, one-neuron experts multiplied with twice, and those of F
// units read 3 F rows of a token's width; scoring is counted where scores are
// made.
static uint64_t retrievalWork(MixerOpInterface mixer) {
  RetrievalAttr record = mixer.getStructure().getRetrieval();
  RetrievalOperands operands = mixer.getRetrievalOperands();
  auto columns = [](Value table) -> uint64_t {
    return cast<RankedTensorType>(table.getType()).getDimSize(1);
  };
  uint64_t perChoice = 0;
  switch (record.getContent()) {
  case RetrievalContent::Row:
    perChoice = 2 * columns(operands.outer);
    break;
  case RetrievalContent::Neuron:
    perChoice = 4 * columns(operands.outer);
    break;
  case RetrievalContent::Network:
    perChoice = 6 * columns(operands.inner) * columns(operands.outer);
    break;
  }
  return record.getHeads() * record.getTopK() * perChoice;
}

static uint64_t windowWork(MixerOpInterface mixer) {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  WindowTokens tokens =
      mixer.getWindowTokens(stateful.getOperandsOf(OperandRole::Token),
                            stateful.getOperandsOf(OperandRole::Parameter));
  auto query = cast<RankedTensorType>(tokens.query.getType());
  auto value = cast<RankedTensorType>(tokens.value.getType());
  RankedTensorType ring = stateful.getStates()[tokens.keyState].type;
  WindowAttr record = mixer.getStructure().getWindow();
  uint64_t window = record.getWindow();
  uint64_t keys =
      window ? window + record.getSinkTokens() : ring.getDimSize(0) / 2;
  return 2 * keys * query.getDimSize(1) *
         (query.getDimSize(2) + value.getDimSize(2));
}

static uint64_t mixerWork(MixerOpInterface mixer) {
  switch (mixer.getStructure().getMixerClass()) {
  case MixerClass::Linear:
    return linearWork(mixer);
  case MixerClass::Retrieval:
    return retrievalWork(mixer);
  case MixerClass::Window:
    return windowWork(mixer);
  case MixerClass::Opaque:
    return 0;
  }
  llvm_unreachable("a mixer of no class");
}

// What an op that is no mixer does for each token: a phase of a retrieval its
// part of the above.
static uint64_t phaseWork(Operation *op) {
  auto size = [](Value value, unsigned axis) -> uint64_t {
    return cast<RankedTensorType>(value.getType()).getDimSize(axis);
  };
  // Half of the pairs of positions, two FLOPs for each and each channel.
  if (auto mix = dyn_cast<CausalMixOp>(op))
    return mix.getWeight().getType().getNumElements() /
           mix.getWeight().getType().getDimSize(0) * size(mix.getX(), 1);
  if (auto product = dyn_cast<ApplyOp>(op))
    return productWork(product);
  if (auto product = dyn_cast<ApplyBandOp>(op))
    return productWork(product);
  if (auto sum = dyn_cast<SumRowsOp>(op))
    return 2 * size(sum.getRows(), 1) * size(sum.getTable(), 1);
  if (auto hidden = dyn_cast<ExpertHiddenOp>(op))
    return 2 * size(hidden.getRows(), 1) * hidden.getRowsPerExpert() *
           size(hidden.getX(), 1);
  if (auto output = dyn_cast<ExpertOutputOp>(op))
    return 2 * size(output.getRows(), 1) * size(output.getTable(), 1) *
           size(output.getY(), 1);
  return 0;
}

Work countWork(Operation *root) {
  Work work;
  auto elements = [](Value weight) {
    return uint64_t(cast<RankedTensorType>(weight.getType()).getNumElements());
  };
  root->walk([&](Operation *op) {
    if (auto linear = dyn_cast<LinearOp>(op))
      work.perToken += 2 * elements(linear.getWeight());
    else if (auto scores = dyn_cast<KeyScoresOp>(op))
      work.perToken += 2 * elements(scores.getKeys());
    else if (auto head = dyn_cast<LmHeadOp>(op))
      work.perOutputRow += 2 * elements(head.getWeight());
    else if (auto mixer = dyn_cast<MixerOpInterface>(op))
      work.perToken += mixerWork(mixer);
    else
      work.perToken += phaseWork(op);
  });
  return work;
}

} // namespace effc::seq
