#include "passes/seq/Head.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace effc;

SmallVector<Operation *> effc::collectHead(Value logits) {
  auto isProduct = [](Operation *op) {
    return seq::isProductOfRows(op) &&
           cast<RankedTensorType>(op->getOperand(1).getType()).getRank() == 2;
  };
  // What elementwise ops of the logits' type lead back to.
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Value value) {
    if (Operation *op = value.getDefiningOp();
        op && value.getType() == logits.getType() && op->getNumResults() == 1)
      reached.insert(op);
  };
  reach(logits);
  SmallVector<Operation *> products;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (isProduct(reached[i]))
      products.push_back(reached[i]);
    else if (seq::isElementwiseOp(reached[i]))
      llvm::for_each(reached[i]->getOperands(), reach);
  }
  if (products.size() != 1)
    return {};
  // Of these, what follows from the product.
  SmallVector<Operation *> inOrder = reached.takeVector();
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::DenseSet<Value> made;
  SmallVector<Operation *> head;
  for (Operation *op : inOrder) {
    bool follows = op == products.front() ||
                   (seq::isElementwiseOp(op) &&
                    llvm::any_of(op->getOperands(), [&](Value operand) {
                      return made.contains(operand);
                    }));
    if (!follows)
      continue;
    made.insert(op->getResult(0));
    head.push_back(op);
  }
  return made.contains(logits) ? head : SmallVector<Operation *>();
}
