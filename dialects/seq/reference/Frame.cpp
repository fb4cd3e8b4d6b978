#include "dialects/seq/reference/Frame.h"

#include "dialects/seq/SeqInterfaces.h"
#include "dialects/seq/ShapeFormula.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace effc::seq::reference {

template <typename S>
llvm::Error Frame<S>::setWeight(Value value, WeightOp weight) {
  Shared known = weights[weight.getSymName()].lock();
  if (!known) {
    llvm::Expected<Tensor<S>> elements = provider(weight);
    if (!elements)
      return elements.takeError();
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(weight.getType()).getShape();
    if (elements->getShape() != shape)
      return fail("expects the weight '" + weight.getSymName() + "' of shape " +
                  printExtents(shape) + ", but got " +
                  printExtents(elements->getShape()));
    known = std::make_shared<const Datum<S>>(std::move(*elements));
    weights[weight.getSymName()] = known;
  }
  values[value] = std::move(known);
  weightOps[value] = weight;
  return llvm::Error::success();
}

template <typename S>
static llvm::Error evaluateOp(ReferenceOpInterface op, Frame<S> &frame) {
  if constexpr (std::is_same_v<S, double>)
    return op.evaluateInDouble(frame);
  else
    return op.evaluateInFloat(frame);
}

// Puts the op's name and location in front of the error's message.
static llvm::Error inOp(Operation *op, llvm::Error error) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  stream << op->getLoc() << ": '" << op->getName()
         << "': " << llvm::toString(std::move(error));
  return fail(message);
}

template <typename S> llvm::Error Frame<S>::run(Operation &op) {
  auto meaning = dyn_cast<ReferenceOpInterface>(op);
  if (!meaning)
    return inOp(&op, fail("has no reference evaluation"));
  if (llvm::Error error = evaluateOp(meaning, *this))
    return inOp(&op, std::move(error));
  return llvm::Error::success();
}

template <typename S> llvm::Error Frame<S>::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (llvm::Error error = run(op))
      return error;
  return llvm::Error::success();
}

template class Frame<double>;
template class Frame<float>;

} // namespace effc::seq::reference
