#include "passes/kernel_facts/TakenOutputs.h"

#include "passes/kernel_facts/ChunkKernels.h"

using namespace mlir;
using namespace effc;

Value effc::elementsOf(Value value) {
  while (auto reshape = value.getDefiningOp<seq::ReshapeOp>())
    value = reshape.getX();
  return value;
}

OpOperand *effc::ownChannelsOf(Operation *op) {
  if (auto convolution = dyn_cast<seq::ShortConvolutionOp>(op))
    return convolution.getFirstChannel() ? nullptr : &convolution.getXMutable();
  auto mixer = dyn_cast<seq::MixerOpInterface>(op);
  // The token map of a written step may be one that is not said per channel.
  if (!mixer || isa<seq::RecurrenceOp>(op) ||
      mixer.getStructure().getMixerClass() != seq::MixerClass::Linear)
    return nullptr;
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  if (!decaysPerHead(linear) || linear.getField() != seq::DecayField::Real ||
      linear.getLowRank() != seq::LowRankPair::None ||
      linear.getNormaliser() != seq::Normaliser::None ||
      linear.getStabiliser() != seq::Stabiliser::None || linear.getBonus())
    return nullptr;
  auto stateful = cast<seq::StatefulOpInterface>(op);
  auto states = stateful.getStates();
  ArrayRef<int64_t> state = states.front().type.getShape();
  if (states.size() != 1 || state.size() != 3 || state[1] != 1)
    return nullptr;
  OpOperand *values = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.getOperandNumber() == states.front().operand)
      continue;
    auto type = cast<RankedTensorType>(operand.get().getType());
    bool perToken = stateful.getOperandRole(operand.getOperandNumber()) ==
                    seq::OperandRole::Token;
    if (!type.getElementType().isF32())
      return nullptr;
    if (perToken && type.getRank() == 3 && !values &&
        type.getDimSize(1) == state[0] && type.getDimSize(2) == state[2])
      values = &operand;
    else if (type.getRank() != (perToken ? 2 : 1) ||
             type.getShape().back() != state[0])
      return nullptr;
  }
  return values;
}

TakenOutputs TakenOutputs::of(Operation *op) {
  OpOperand *taken = ownChannelsOf(op);
  if (!taken)
    return {};
  auto type = cast<RankedTensorType>(taken->get().getType());
  bool inHeads = type.getRank() == 3;
  TakenOutputs outputs{
      {}, 0, inHeads ? type.getDimSize(1) : 1, type.getShape().back()};
  Value x = taken->get();
  // What follows the rows lies densely, so that a slice of its first
  // dimension is a run.
  while (Operation *view = x.getDefiningOp()) {
    if (auto slice = dyn_cast<seq::SliceOp>(view)) {
      if (slice.getAxis() != 1)
        return {};
      int64_t each = 1;
      for (int64_t size : slice.getY().getType().getShape().drop_front(2))
        each *= size;
      outputs.first += slice.getOffset() * each;
    } else if (auto reshape = dyn_cast<seq::ReshapeOp>(view)) {
      if (reshape.getX().getType().getRank() < 2)
        return {};
    } else {
      break;
    }
    x = view->getOperand(0);
  }
  outputs.product = x.getDefiningOp<seq::LinearOp>();
  return outputs;
}
