#include "passes/seq_to_tile/JoinedResults.h"

#include "dialects/seq/OpKinds.h"
#include "passes/kernel_facts/TakenOutputs.h"
#include "passes/seq_to_tile/StateResults.h"

using namespace mlir;
using namespace effc;

// The op that joins rows, of a kernel that gives what it makes and has no other
// but views.
static seq::ConcatOp joinOf(seq::KernelOp kernel) {
  Operation *given = kernel.getBody().front().getTerminator();
  if (given->getNumOperands() != 1)
    return {};
  seq::ConcatOp join;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (seq::isViewOp(&op))
      continue;
    if (join)
      return {};
    join = dyn_cast<seq::ConcatOp>(op);
    if (!join)
      return {};
  }
  if (!join || given->getOperand(0) != join.getY() || join.getAxis() != 1 ||
      join.getY().getType().getRank() != 2)
    return {};
  return join;
}

// The kernel's input whose elements, all of them, a part is.
static Value inputOf(seq::KernelOp kernel, Value part) {
  auto argument = dyn_cast<BlockArgument>(elementsOf(part));
  return argument ? kernel.getInputs()[argument.getArgNumber()] : Value();
}

static bool isState(Value result) {
  return stateOfResult(result.getDefiningOp<seq::KernelOp>(),
                       cast<OpResult>(result).getResultNumber())
      .has_value();
}

llvm::DenseMap<Value, JoinedPart> effc::findJoinedResults(Block &body) {
  llvm::DenseMap<Value, JoinedPart> parts;
  for (auto kernel : body.getOps<seq::KernelOp>()) {
    seq::ConcatOp join = joinOf(kernel);
    Value joined = join ? kernel.getResult(0) : Value();
    if (!joined ||
        llvm::is_contained(body.getTerminator()->getOperands(), joined))
      continue;
    llvm::DenseMap<Value, JoinedPart> own;
    int64_t column = 0;
    bool isComplete = llvm::all_of(join.getXs(), [&](Value part) {
      Value input = inputOf(kernel, part);
      if (!input || !input.getDefiningOp<seq::KernelOp>() ||
          !input.hasOneUse() || isState(input) || parts.contains(input) ||
          !own.try_emplace(input, JoinedPart{joined, column}).second)
        return false;
      column += cast<RankedTensorType>(part.getType()).getDimSize(1);
      return true;
    });
    // A tensor that is joined lies nowhere but where its own parts do.
    if (!isComplete || llvm::any_of(own, [&](const auto &each) {
          auto producer = each.first.template getDefiningOp<seq::KernelOp>();
          return !!joinOf(producer);
        }))
      continue;
    parts.insert(own.begin(), own.end());
  }
  return parts;
}
