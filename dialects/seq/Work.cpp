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
// writes along a key of its own or not. A token that writes several times looks
// at others so often.
static uint64_t linearWork(MixerOpInterface mixer) {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  LinearAttr linear = mixer.getStructure().getLinear();
  RankedTensorType state = stateful.getStates().front().type;
  uint64_t heads = state.getDimSize(0), keys = state.getDimSize(1),
           values = state.getDimSize(2), elements = keys * values;
  // 6 to decay, 4 to write, 4 to read; chunks form no products.
  if (linear.getField() == DecayField::Complex)
    return 14 * heads * elements;
  uint64_t writes = linear.getWrites();
  uint64_t step = (2 + 2 * writes) * elements;
  if (linear.getDecay() != DecayAxis::None)
    step += elements;
  uint64_t chunk =
      (2 + 2 * writes) * elements + writes * kShortestChunk * (keys + values);
  if (linear.getLowRank() != LowRankPair::None) {
    step += writes * 2 * elements;
    chunk = (2 + 4 * writes) * elements +
            writes * kShortestChunk * (3 * keys + 2 * values);
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

/// How many blocks a query chooses.
static uint64_t blocksOf(Value chosen) {
  return cast<RankedTensorType>(chosen.getType()).getShape().back();
}

/// Of what each query does with a mean of every block, `flops` for each: a share of it
/// for each of the block's tokens.
static Work::Keys meanKeys(RankedTensorType sums, uint64_t block,
                           uint64_t flops) {
  uint64_t positions = sums.getDimSize(0) * block;
  return {0, flops / block, positions / 2};
}

static Work::Keys choiceKeys(ChooseBlocksOp op) {
  RankedTensorType query = op.getQ().getType();
  return meanKeys(op.getSums().getType(), op.getBlock(),
                  2 * query.getDimSize(1) * query.getDimSize(2));
}

static Work::Keys choiceKeys(MixBlockMeansOp op) {
  RankedTensorType query = op.getQ().getType();
  return meanKeys(
      op.getKeySums().getType(), op.getBlock(),
      2 * query.getDimSize(1) *
          (query.getDimSize(2) + op.getV().getType().getDimSize(2)));
}

static Work::Keys windowKeys(MixerOpInterface mixer) {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  WindowTokens tokens =
      mixer.getWindowTokens(stateful.getOperandsOf(OperandRole::Token),
                            stateful.getOperandsOf(OperandRole::Parameter));
  auto query = cast<RankedTensorType>(tokens.query.getType());
  auto mixed = cast<RankedTensorType>(mixer->getResult(0).getType());
  RankedTensorType ring = stateful.getStates()[tokens.keyState].type;
  WindowAttr record = mixer.getStructure().getWindow();
  uint64_t window = record.getWindow();
  uint64_t seen = window ? window + record.getSinkTokens() : 0;
  if (tokens.blocks) {
    uint64_t chosen = blocksOf(tokens.blocks) * record.getBlock();
    seen = chosen < uint64_t(ring.getDimSize(0)) ? chosen : 0;
  }
  uint64_t flops =
      2 * query.getDimSize(1) * (query.getDimSize(2) + mixed.getDimSize(2));
  return {seen, flops, seen ? seen : uint64_t(ring.getDimSize(0)) / 2};
}

/// Of a causal mix over positions, whose table has a row for each: half of the
/// pairs, two FLOPs for each and each channel.
static Work::Keys causalKeys(CausalMixOp mix) {
  RankedTensorType weight = mix.getWeight().getType();
  uint64_t positions = weight.getDimSize(0);
  uint64_t all =
      weight.getNumElements() / positions * mix.getX().getType().getDimSize(1);
  uint64_t counted = std::max<uint64_t>(positions / 2, 1);
  return {0, all / counted, counted};
}

static void addKeys(Work &work, const Work::Keys &keys) {
  work.perToken += keys.flops * keys.counted;
  for (Work::Keys &known : work.keys)
    if (known.window == keys.window && known.counted == keys.counted) {
      known.flops += keys.flops;
      return;
    }
  work.keys.push_back(keys);
}

static uint64_t mixerWork(MixerOpInterface mixer) {
  switch (mixer.getStructure().getMixerClass()) {
  case MixerClass::Linear:
    return linearWork(mixer);
  case MixerClass::Retrieval:
    return retrievalWork(mixer);
  case MixerClass::Window: // addKeys()
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
    else if (auto mix = dyn_cast<CausalMixOp>(op))
      addKeys(work, causalKeys(mix));
    else if (auto choice = dyn_cast<ChooseBlocksOp>(op))
      addKeys(work, choiceKeys(choice));
    else if (auto means = dyn_cast<MixBlockMeansOp>(op))
      addKeys(work, choiceKeys(means));
    else if (auto mixer = dyn_cast<MixerOpInterface>(op);
             mixer &&
             mixer.getStructure().getMixerClass() == MixerClass::Window)
      addKeys(work, windowKeys(mixer));
    else if (mixer)
      work.perToken += mixerWork(mixer);
    else
      work.perToken += phaseWork(op);
  });
  return work;
}

//===----------------------------------------------------------------------===//
// As papers count
//===----------------------------------------------------------------------===//

static uint64_t elementsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  uint64_t elements = 1;
  for (int64_t size : type.getShape())
    elements *= ShapedType::isDynamic(size) ? 1 : size;
  return elements;
}

// For each token.
static uint64_t publishedLinearWork(MixerOpInterface mixer, uint64_t chunk) {
  LinearAttr linear = mixer.getStructure().getLinear();
  ArrayRef<int64_t> state = cast<StatefulOpInterface>(mixer.getOperation())
                                .getStates()
                                .front()
                                .type.getShape();
  uint64_t heads = state[0], keys = state[1], values = state[2];
  uint64_t elements = keys * values;
  // Decays of their own for each element leave no products to form.
  if (linear.getField() == DecayField::Complex)
    return 14 * heads * elements;
  if (linear.getDecay() == DecayAxis::Element)
    return 6 * heads * elements;
  uint64_t groups = heads / std::max<uint64_t>(linear.getHeadsPerGroup(), 1);
  uint64_t writes = linear.getWrites();
  if (linear.getLowRank() != LowRankPair::None)
    return heads * ((2 + 4 * writes) * elements +
                    2 * writes * chunk * (3 * keys + 2 * values));
  return (2 + 2 * writes) * heads * elements +
         2 * writes * chunk * (groups * keys + heads * values);
}

static uint64_t publishedWindowWork(MixerOpInterface mixer, uint64_t tokens) {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  WindowTokens operands =
      mixer.getWindowTokens(stateful.getOperandsOf(OperandRole::Token),
                            stateful.getOperandsOf(OperandRole::Parameter));
  auto query = cast<RankedTensorType>(operands.query.getType());
  auto value = cast<RankedTensorType>(operands.value.getType());
  WindowAttr record = mixer.getStructure().getWindow();
  uint64_t window = operands.blocks
                        ? blocksOf(operands.blocks) * record.getBlock()
                        : uint64_t(record.getWindow());
  uint64_t keys = window ? std::min(window, tokens) : tokens;
  return 2 * keys * query.getDimSize(1) *
         (query.getDimSize(2) + value.getDimSize(2));
}

static uint64_t publishedMixerWork(MixerOpInterface mixer,
                                   const PublishedSettings &settings) {
  switch (mixer.getStructure().getMixerClass()) {
  case MixerClass::Linear:
    return settings.chunk ? publishedLinearWork(mixer, settings.chunk) : 0;
  case MixerClass::Window:
    return publishedWindowWork(mixer, settings.tokens);
  case MixerClass::Retrieval:
    return retrievalWork(mixer);
  case MixerClass::Opaque:
    return 0;
  }
  llvm_unreachable("a mixer of no class");
}

PublishedWork countPublishedWork(Operation *root,
                                 const PublishedSettings &settings) {
  PublishedWork perToken;
  // Words, not positions: the first argument of a function.
  auto isWords = [](Value indices) {
    auto argument = dyn_cast<BlockArgument>(indices);
    return argument && argument.getArgNumber() == 0;
  };
  root->walk([&](Operation *op) {
    if (auto linear = dyn_cast<LinearOp>(op))
      perToken.layers += 2 * elementsOf(linear.getWeight());
    else if (auto scores = dyn_cast<KeyScoresOp>(op))
      perToken.layers += 2 * elementsOf(scores.getKeys());
    else if (auto head = dyn_cast<LmHeadOp>(op))
      perToken.embeddings += 2 * elementsOf(head.getWeight());
    else if (auto lookup = dyn_cast<EmbeddingOp>(op))
      perToken.embeddings +=
          isWords(lookup.getTokens()) ? 2 * elementsOf(lookup.getTable()) : 0;
    else if (auto rotary = dyn_cast<RotaryOp>(op))
      perToken.layers += 2 * elementsOf(rotary.getX());
    else if (auto convolution = dyn_cast<ShortConvolutionOp>(op))
      perToken.layers += 2 * elementsOf(convolution.getWeight());
    else if (auto mix = dyn_cast<CausalMixOp>(op))
      perToken.layers += 2 * settings.tokens * elementsOf(mix.getY());
    else if (auto choice = dyn_cast<ChooseBlocksOp>(op))
      perToken.layers += choiceKeys(choice).flops * settings.tokens;
    else if (auto means = dyn_cast<MixBlockMeansOp>(op))
      perToken.layers += choiceKeys(means).flops * settings.tokens;
    else if (auto mixer = dyn_cast<MixerOpInterface>(op))
      perToken.layers += publishedMixerWork(mixer, settings);
    else
      perToken.layers += phaseWork(op);
  });
  return {perToken.layers * settings.tokens,
          perToken.embeddings * settings.tokens};
}

} // namespace effc::seq
