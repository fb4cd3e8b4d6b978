#include "dialects/seq/reference/Evaluate.h"

#include "dialects/seq/ShapeFormula.h"

using namespace mlir;

namespace effc::seq::reference {

// Whether extents of a call fit a type, whose '?' fit everything.
static bool fits(ArrayRef<int64_t> shape, RankedTensorType type) {
  return shape.size() == size_t(type.getRank()) &&
         llvm::all_of(llvm::zip(shape, type.getShape()), [](auto pair) {
           auto [extent, expected] = pair;
           return ShapedType::isDynamic(expected) || extent == expected;
         });
}

template <typename S>
static llvm::Error checkInput(unsigned index, const Datum<S> &input,
                              Type argument) {
  auto type = dyn_cast<RankedTensorType>(argument);
  bool isIndices = std::holds_alternative<Tensor<int32_t>>(input);
  if (!type || type.getElementType().isInteger(32) != isIndices)
    return fail("input #" + Twine(index) + " has the wrong element type");
  ArrayRef<int64_t> shape =
      std::visit([](const auto &tensor) { return tensor.getShape(); }, input);
  if (!fits(shape, type))
    return fail("expects input #" + Twine(index) + " of shape " +
                printExtents(type.getShape()) + ", but got " +
                printExtents(shape));
  return llvm::Error::success();
}

/// The last op of the block that reads `value`, `last` or a later one. A value
/// that is no tensor, as a matrix in factors, is read with what it is made of.
static Operation *lastUse(Value value, Operation *last, Block &block) {
  for (Operation *user : value.getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (!last || last->isBeforeInBlock(here))
      last = here;
    for (Value result : here->getResults())
      if (!isa<RankedTensorType>(result.getType()))
        last = lastUse(result, last, block);
  }
  return last;
}

/// What no later op of the block reads, by the op after which that is so. A
/// model's weights are most of what an evaluation holds, and each is read once.
static llvm::DenseMap<Operation *, SmallVector<Value>> lastUses(Block &block) {
  llvm::DenseMap<Operation *, SmallVector<Value>> ends;
  auto add = [&](Value value, Operation *first) {
    Operation *last = lastUse(value, first, block);
    if (last && last != block.getTerminator())
      ends[last].push_back(value);
  };
  for (BlockArgument argument : block.getArguments())
    add(argument, nullptr);
  for (Operation &op : block.without_terminator())
    for (Value result : op.getResults())
      add(result, &op);
  return ends;
}

template <typename S>
static void roundResults(Operation &op, Frame<S> &frame,
                         const ResultRounding<S> &rounding) {
  for (OpResult result : op.getResults()) {
    // A matrix in factors is no tensor, and has no numbers of its own.
    if (!isa<RankedTensorType>(result.getType()) ||
        !std::holds_alternative<Tensor<S>>(frame.getDatum(result)))
      continue;
    Tensor<S> numbers = frame[result];
    rounding(result, numbers.elements());
    frame.set(result, std::move(numbers));
  }
}

template <typename S>
llvm::Expected<std::vector<Datum<S>>>
evaluate(func::FuncOp function, std::vector<Datum<S>> inputs,
         WeightProvider<S> weights, RowRounding<S> rounding,
         ResultRounding<S> results) {
  if (!function.getBody().hasOneBlock())
    return fail("expects a function of one block");
  if (inputs.size() != function.getNumArguments())
    return fail("expects " + Twine(function.getNumArguments()) +
                " inputs, but got " + Twine(inputs.size()));

  Frame<S> frame(std::move(weights), std::move(rounding));
  Block &body = function.getBody().front();
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    if (llvm::Error error =
            checkInput(index, inputs[index], argument.getType()))
      return error;
    frame.set(argument, std::move(inputs[index]));
  }
  llvm::DenseMap<Operation *, SmallVector<Value>> ends = lastUses(body);
  for (Operation &op : body.without_terminator()) {
    if (llvm::Error error = frame.run(op))
      return error;
    if (results)
      roundResults(op, frame, results);
    for (Value value : ends.lookup(&op))
      frame.release(value);
  }

  std::vector<Datum<S>> outputs;
  for (Value result : body.getTerminator()->getOperands())
    outputs.push_back(frame.getDatum(result));
  return outputs;
}

template llvm::Expected<std::vector<Datum<double>>>
    evaluate(func::FuncOp, std::vector<Datum<double>>, WeightProvider<double>,
             RowRounding<double>, ResultRounding<double>);
template llvm::Expected<std::vector<Datum<float>>>
    evaluate(func::FuncOp, std::vector<Datum<float>>, WeightProvider<float>,
             RowRounding<float>, ResultRounding<float>);

} // namespace effc::seq::reference
