#include "compiler/HiddenRows.h"

#include "dialects/seq/HiddenRows.h"
#include "dialects/seq/Seq.h"
#include "passes/seq/Head.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace effc;

/// Weights that no op reads are not the file's.
static void eraseUnread(ModuleOp module) {
  llvm::StringSet<> read;
  module.walk(
      [&](seq::ParameterOp parameter) { read.insert(parameter.getWeight()); });
  for (seq::WeightOp weight :
       llvm::make_early_inc_range(module.getOps<seq::WeightOp>()))
    if (!read.contains(weight.getSymName()))
      weight.erase();
}

llvm::Error effc::giveHiddenRows(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward || !forward.getBody().hasOneBlock() ||
      forward.getNumResults() == 0)
    return llvm::createStringError("there is no @forward that gives logits");
  Operation *end = forward.getBody().front().getTerminator();
  SmallVector<Operation *> head = collectHead(end->getOperand(0));
  if (head.empty())
    return llvm::createStringError(
        "--hidden gives the rows that a model's head multiplies, but this "
        "model's logits are no product of rows with a matrix, followed by "
        "elementwise ops");
  Value rows = head.front()->getOperand(0);
  auto type = cast<RankedTensorType>(rows.getType());
  end->setOperand(0, rows);
  forward.setType(FunctionType::get(module.getContext(),
                                    forward.getArgumentTypes(),
                                    TypeRange(end->getOperandTypes())));
  // The head and what only it reads, the last first.
  for (Operation *op : llvm::reverse(head))
    op->erase();
  for (auto parameter :
       llvm::make_early_inc_range(forward.getOps<seq::ParameterOp>()))
    if (parameter->use_empty())
      parameter->erase();
  eraseUnread(module);
  module->setAttr(
      seq::kHiddenWidthAttr,
      Builder(module.getContext()).getI64IntegerAttr(type.getShape().back()));
  return llvm::Error::success();
}
