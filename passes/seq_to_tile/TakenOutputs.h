// Which outputs of a product an op takes that keeps a state of them: what a
// single row's product may do besides (FormKernels.cpp, OutputUpdates.h).
#ifndef EFFC_PASSES_SEQTOTILE_TAKENOUTPUTS_H
#define EFFC_PASSES_SEQTOTILE_TAKENOUTPUTS_H

#include "passes/seq_to_tile/KernelCoverage.h"

namespace effc {

/// What a value holds the elements of, all of them.
inline mlir::Value elementsOf(mlir::Value value) {
  while (auto reshape = value.getDefiningOp<seq::ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// The operand of a short convolution whose channels it convolves, or of a
/// recurrence whose channels do not meet its values [T, H, V]: a state that a
/// number per head decays, [H, 1, V], and operands of numbers per head besides.
/// Null where channels meet.
inline mlir::OpOperand *ownChannelsOf(mlir::Operation *op) {
  if (auto convolution = llvm::dyn_cast<seq::ShortConvolutionOp>(op))
    return convolution.getFirstChannel() ? nullptr : &convolution.getXMutable();
  auto mixer = llvm::dyn_cast<seq::MixerOpInterface>(op);
  // The token map of a written step may be one that is not said per channel.
  if (!mixer || llvm::isa<seq::RecurrenceOp>(op) ||
      mixer.getStructure().getMixerClass() != seq::MixerClass::Linear)
    return nullptr;
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  if (!decaysPerHead(linear) || linear.getField() != seq::DecayField::Real ||
      linear.getLowRank() != seq::LowRankPair::None ||
      linear.getNormaliser() != seq::Normaliser::None ||
      linear.getStabiliser() != seq::Stabiliser::None || linear.getBonus())
    return nullptr;
  auto stateful = llvm::cast<seq::StatefulOpInterface>(op);
  auto states = stateful.getStates();
  llvm::ArrayRef<int64_t> state = states.front().type.getShape();
  if (states.size() != 1 || state.size() != 3 || state[1] != 1)
    return nullptr;
  mlir::OpOperand *values = nullptr;
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    if (operand.getOperandNumber() == states.front().operand)
      continue;
    auto type = llvm::cast<mlir::RankedTensorType>(operand.get().getType());
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

/// The outputs of a product that an op takes, which keeps a state of them and
/// in which channels do not meet.
struct TakenOutputs {
  seq::LinearOp product; ///< null: it takes something else, or is no such op
  int64_t first = 0, heads = 1, channels = 0; ///< channels of each head

  int64_t end() const { return first + heads * channels; }
  bool overlaps(const TakenOutputs &other) const {
    return first < other.end() && other.first < end();
  }
  bool isLike(const TakenOutputs &other) const {
    return first == other.first && heads == other.heads &&
           channels == other.channels;
  }

  static TakenOutputs of(mlir::Operation *op) {
    mlir::OpOperand *taken = ownChannelsOf(op);
    if (!taken)
      return {};
    auto type = llvm::cast<mlir::RankedTensorType>(taken->get().getType());
    bool inHeads = type.getRank() == 3;
    TakenOutputs outputs{
        {}, 0, inHeads ? type.getDimSize(1) : 1, type.getShape().back()};
    mlir::Value x = taken->get();
    // What follows the rows lies densely, so that a slice of its first
    // dimension is a run.
    while (mlir::Operation *view = x.getDefiningOp()) {
      if (auto slice = llvm::dyn_cast<seq::SliceOp>(view)) {
        if (slice.getAxis() != 1)
          return {};
        int64_t each = 1;
        for (int64_t size : slice.getY().getType().getShape().drop_front(2))
          each *= size;
        outputs.first += slice.getOffset() * each;
      } else if (auto reshape = llvm::dyn_cast<seq::ReshapeOp>(view)) {
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
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_TAKENOUTPUTS_H
