// What decode entries return besides logits.
//
//   %l = seq.lm_head %x, %w            %l = seq.lm_head %x, %w
//   return %l, %state            ->    %m = seq.lm_head %x, %w
//                                      %best = seq.best %m draws(%draws)
//                                      return %l, %best, %state
//
// Written twice and not shared: as one kernel the second head needs no memory
// for its logits, and a call runs one of the two. %draws, a new argument, says
// how each row's token is drawn.
#include "passes/seq/Head.h"
#include "passes/seq/Passes.h"

#include "dialects/seq/HiddenRows.h"
#include "dialects/seq/Seq.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_CHOOSETOKENSPASS
#include "passes/seq/Passes.h.inc"

namespace {

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
    if (getOperation()->hasAttr(seq::kHiddenWidthAttr))
      return; // there are no logits
    Operation *end = function.getBody().front().getTerminator();
    if (end->getNumOperands() == 0)
      return;
    Value logits = end->getOperand(0);
    SmallVector<Operation *> head = collectHead(logits);
    if (head.empty()) {
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
    unsigned last = function.getNumArguments();
    (void)function.insertArgument(
        last,
        RankedTensorType::get({ShapedType::kDynamic, seq::BestOp::kDrawWords},
                              builder.getI32Type()),
        DictionaryAttr(), logits.getLoc());
    Value best =
        seq::BestOp::create(builder, logits.getLoc(), mapping.lookup(logits),
                            function.getArgument(last));
    // The states' next values are a function's last results.
    end->insertOperands(1, best);
    function.setType(builder.getFunctionType(
        function.getArgumentTypes(), llvm::to_vector(end->getOperandTypes())));
  }
};
} // namespace
} // namespace effc
