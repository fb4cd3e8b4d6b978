// seq.routed_experts. Source: Shazeer et al., arXiv:1701.06538.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Retrieval.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult RoutedExpertsOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "D"})) ||
      failed(shapes.check("logits", getLogits(), {"T", "E"})))
    return failure();
  int64_t experts = shapes["E"];
  ArrayRef<int64_t> down = getDown().getType().getShape();
  shapes.bind("F", down[1]);
  shapes.bind("O", shapes["D"] * experts);
  shapes.bind("G", 2 * down[1] * experts);
  if (failed(shapes.check("down", getDown(), {"O", "F"})) ||
      failed(shapes.check("gate_up", getGateUp(), {"G", "D"})))
    return failure();
  if (Value order = getOrder();
      order && order.getType() != getLogits().getType())
    return emitOpError() << "expects 'order' of the type of 'logits', "
                         << getLogits().getType() << ", but got "
                         << order.getType();
  int64_t topK = getTopK();
  if (topK < 1 || topK > experts)
    return emitOpError() << "expects 'top_k' from 1 to E = " << experts
                         << ", but got " << topK;
  return success();
}

SmallVector<StateDescriptor> RoutedExpertsOp::getStates() { return {}; }

OperandRole RoutedExpertsOp::getOperandRole(unsigned index) {
  return index < getGateUpMutable().getOperandNumber() ? OperandRole::Token
                                                       : OperandRole::Parameter;
}

StructureAttr RoutedExpertsOp::getStructure() {
  auto retrieval = RetrievalAttr::get(
      getContext(), /*axes=*/1, /*heads=*/1, getTopK(), getWeighting(),
      RetrievalContent::Network, getNonlinearity(), /*weight_inside=*/false);
  return StructureAttr::get(getContext(), retrieval);
}

RetrievalOperands RoutedExpertsOp::getRetrievalOperands() {
  return {getLogits(), getOrder(), getX(), getGateUp(), getDown()};
}

template <typename S>
static llvm::Error evaluate(RoutedExpertsOp op, Frame<S> &frame) {
  Tensor<S> x = frame.asMultiplied(op.getX(), op.getGateUp());
  const Tensor<S> &logits = frame[op.getLogits()];
  const Tensor<S> &gateUp = frame[op.getGateUp()];
  const Tensor<S> &down = frame[op.getDown()];
  if (llvm::Error error = expectSameRows("x", x, "logits", logits))
    return error;
  auto ofOneHead = [](const Tensor<S> &numbers) {
    return Tensor<S>({numbers.getDim(0), 1, 1, numbers.getDim(1)},
                     numbers.elements().vec());
  };
  Tensor<S> scores = ofOneHead(logits);
  std::optional<Tensor<S>> order;
  if (op.getOrder())
    order = ofOneHead(frame[op.getOrder()]);
  int64_t channels = x.getDim(1), units = down.getDim(1);
  Tensor<S> y(x.getShape());
  retrieve<S>(
      scores, op.getStructure().getRetrieval(),
      [&](int64_t t, int64_t expert, S weight) {
        std::vector<S> hidden(units);
        for (int64_t u = 0; u < units; ++u) {
          S gate = 0, up = 0;
          for (int64_t d = 0; d < channels; ++d) {
            int64_t row = 2 * units * expert + u;
            gate += x(t, d) * gateUp(row, d);
            up += x(t, d) * gateUp(row + units, d);
          }
          hidden[u] = apply(op.getNonlinearity(), gate) * up;
        }
        frame.asMultiplied(hidden, units, op.getDown());
        for (int64_t d = 0; d < channels; ++d) {
          S sum = 0;
          for (int64_t u = 0; u < units; ++u)
            sum += down(channels * expert + d, u) * hidden[u];
          y(t, d) += weight * sum;
        }
      },
      order ? &*order : nullptr);
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RoutedExpertsOp)
