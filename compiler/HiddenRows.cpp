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

llvm::Expected<func::FuncOp> effc::findForward(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward || !forward.getBody().hasOneBlock() ||
      forward.getNumResults() == 0)
    return llvm::createStringError("there is no @forward that gives logits");
  return forward;
}

void effc::giveRows(func::FuncOp forward, Value rows) {
  Block &body = forward.getBody().front();
  Operation *end = body.getTerminator();
  end->setOperand(0, rows);
  forward.setType(FunctionType::get(forward.getContext(),
                                    forward.getArgumentTypes(),
                                    TypeRange(end->getOperandTypes())));
  // Values alone are computed here, so that what nobody reads can go; readers first.
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  auto module = forward->getParentOfType<ModuleOp>();
  eraseUnread(module);
  int64_t width = cast<RankedTensorType>(rows.getType()).getShape().back();
  module->setAttr(seq::kHiddenWidthAttr,
                  Builder(module.getContext()).getI64IntegerAttr(width));
}

llvm::Error effc::giveHiddenRows(ModuleOp module) {
  llvm::Expected<func::FuncOp> forward = findForward(module);
  if (!forward)
    return forward.takeError();
  Value logits = forward->getBody().front().getTerminator()->getOperand(0);
  SmallVector<Operation *> head = collectHead(logits);
  if (head.empty())
    return llvm::createStringError(
        "--hidden gives the rows that a model's head multiplies, but this "
        "model's logits are no product of rows with a matrix, followed by "
        "elementwise ops");
  giveRows(*forward, head.front()->getOperand(0));
  return llvm::Error::success();
}
