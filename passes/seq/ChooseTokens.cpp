// What decode entries return besides logits.
//
//   %l = seq.lm_head %x, %w            %l = seq.lm_head %x, %w
//   return %l, %state            ->    %m = seq.lm_head %x, %w
//                                      %best = seq.best %m
//                                      return %l, %best, %state
//
// Written twice and not shared: as one kernel the second head needs no memory
// for its logits, and a call runs one of the two.
#include "passes/seq/Passes.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_CHOOSETOKENSPASS
#include "passes/seq/Passes.h.inc"

namespace {

/// Fills `head` with the ops that make logits of rows, the product first.
/// Returns whether a product of rows with a matrix is where they come from.
bool collectHead(Value logits, SmallVectorImpl<Operation *> &head) {
  Operation *op = logits.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return false;
  auto isMatrix = [](Operation *product) {
    return cast<RankedTensorType>(product->getOperand(1).getType()).getRank() ==
           2;
  };
  bool found = isa<seq::LmHeadOp, seq::LinearOp>(op) && isMatrix(op);
  if (!found && seq::isElementwiseOp(op))
    found = llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getType() == logits.getType() &&
             collectHead(operand, head);
    });
  if (found)
    head.push_back(op);
  return found;
}

struct ChooseTokensPass : impl::ChooseTokensPassBase<ChooseTokensPass> {
  using ChooseTokensPassBase::ChooseTokensPassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto entry = function->getAttrOfType<seq::EntryAttr>("seq.entry");
      if (entry && entry.getKind() == seq::EntryKind::Decode)
        addChoice(function);
    }
  }

  void addChoice(func::FuncOp function) {
    Operation *end = function.getBody().front().getTerminator();
    if (end->getNumOperands() == 0)
      return;
    Value logits = end->getOperand(0);
    SmallVector<Operation *> head;
    if (!collectHead(logits, head)) {
      emitRemark(logits.getLoc())
          << "decode gives logits alone: they are no product of rows with a "
             "matrix, followed by elementwise ops";
      return;
    }
    int64_t columns = cast<RankedTensorType>(logits.getType()).getDimSize(1);
    auto model = getOperation()->getAttrOfType<seq::ModelAttr>("seq.model");
    if (columns > seq::BestOp::kMostColumns ||
        (model && columns != model.getVocabulary())) {
      emitRemark(logits.getLoc())
          << "decode gives logits alone: there are " << columns
          << " for each row, but as many as tokens, and at most "
          << seq::BestOp::kMostColumns << ", are expected";
      return;
    }
    OpBuilder builder(end);
    IRMapping mapping;
    for (Operation *op : head)
      builder.clone(*op, mapping);
    Value best =
        seq::BestOp::create(builder, logits.getLoc(), mapping.lookup(logits));
    // The states' next values are a function's last results.
    end->insertOperands(1, best);
    function.setType(builder.getFunctionType(
        function.getArgumentTypes(), llvm::to_vector(end->getOperandTypes())));
  }
};
} // namespace
} // namespace effc
