// @forward -> @prefill_16, @prefill_64, ..., @decode_1, ...
#include "passes/seq/Passes.h"

#include "dialects/seq/Seq.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SPECIALIZEENTRIESPASS
#include "passes/seq/Passes.h.inc"

namespace {
struct SpecializeEntriesPass
    : impl::SpecializeEntriesPassBase<SpecializeEntriesPass> {
  using SpecializeEntriesPassBase::SpecializeEntriesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward) {
      module.emitError("expects a function @forward, the model");
      return signalPassFailure();
    }
    if (failed(checkTables(module, forward)))
      return signalPassFailure();
    OpBuilder builder(forward);
    auto specialize = [&](seq::EntryKind kind, int64_t rows) -> LogicalResult {
      if (rows < 1)
        return module.emitError("expects entries of at least 1 row, but got ")
               << rows;
      auto entry = cast<func::FuncOp>(builder.clone(*forward));
      entry.setSymName((stringifyEntryKind(kind) + "_" + Twine(rows)).str());
      entry->setAttr("seq.entry",
                     seq::EntryAttr::get(&getContext(), kind, rows));
      return success();
    };
    for (int64_t rows : prefillRows)
      if (failed(specialize(seq::EntryKind::Prefill, rows)))
        return signalPassFailure();
    for (int64_t rows : decodeRows)
      if (failed(specialize(seq::EntryKind::Decode, rows)))
        return signalPassFailure();
    forward.erase();
  }

  // Callers give token ids below the vocabulary, and kernels do not look again.
  static LogicalResult checkTables(ModuleOp module, func::FuncOp forward) {
    auto model = module->getAttrOfType<seq::ModelAttr>("seq.model");
    if (!model || forward.getNumArguments() == 0)
      return success();
    for (Operation *user : forward.getArgument(0).getUsers()) {
      auto embedding = dyn_cast<seq::EmbeddingOp>(user);
      if (!embedding)
        continue;
      int64_t rows =
          cast<RankedTensorType>(embedding.getTable().getType()).getDimSize(0);
      if (rows < model.getVocabulary())
        return embedding.emitOpError()
               << "expects a table of at least the vocabulary's "
               << model.getVocabulary() << " rows, but got " << rows;
    }
    auto logits = forward.getNumResults() == 0
                      ? RankedTensorType()
                      : dyn_cast<RankedTensorType>(forward.getResultTypes()[0]);
    if (logits && logits.getShape().back() < model.getVocabulary())
      return forward.emitError("expects logits for the vocabulary's ")
             << model.getVocabulary() << " tokens, but got " << logits;
    return success();
  }
};
} // namespace
} // namespace effc
