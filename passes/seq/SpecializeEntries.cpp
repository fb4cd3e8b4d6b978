// @forward -> @prefill_16, @prefill_64, ..., @decode_1, ...
#include "passes/seq/OutputRows.h"
#include "passes/seq/Passes.h"

#include "dialects/seq/HiddenRows.h"
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
    if (failed(checkTables(module, forward)) || failed(checkUses(forward)) ||
        (module->hasAttr("seq.model") && failed(checkOutputRows(forward))))
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

  // The tables of a call have one type, and kernels use their numbers as they
  // are: one for another would be read out of bounds.
  static LogicalResult checkUses(func::FuncOp forward) {
    static constexpr StringRef kNames[] = {"tokens", "output rows",
                                           "positions"};
    for (BlockArgument table : forward.getArguments().take_front(3)) {
      auto type = dyn_cast<RankedTensorType>(table.getType());
      if (!type || !type.getElementType().isInteger(32))
        continue;
      for (Operation *user : table.getUsers()) {
        // Tokens and learned positions have tables of embeddings.
        SmallVector<unsigned, 2> expected = {2};
        if (isa<seq::SelectRowsOp>(user))
          expected = {1};
        else if (isa<seq::EmbeddingOp>(user))
          expected = {0, 2};
        if (isa<func::ReturnOp>(user) ||
            llvm::is_contained(expected, table.getArgNumber()))
          continue;
        InFlightDiagnostic error = user->emitOpError("expects the ");
        llvm::interleave(
            expected, [&](unsigned i) { error << kNames[i]; },
            [&] { error << " or the "; });
        error << " of the call, but got its " << kNames[table.getArgNumber()];
        error.attachNote(forward.getLoc())
            << "@forward takes tokens, output rows and, where it uses them, "
               "positions, in this order";
        return error;
      }
    }
    return success();
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
    // Who calls makes room for one number per token, or for those of a hidden state.
    auto hidden = module->getAttrOfType<IntegerAttr>(seq::kHiddenWidthAttr);
    if (hidden && logits && logits.getShape().back() != hidden.getInt())
      return forward.emitError("expects rows of ")
             << hidden.getInt() << " numbers, but got " << logits;
    if (!hidden && logits && logits.getShape().back() != model.getVocabulary())
      return forward.emitError("expects logits for the vocabulary's ")
             << model.getVocabulary() << " tokens, but got " << logits;
    return checkWidth(model, forward);
  }

  // What embeds may be narrower than the layers, but some layer has the width.
  static LogicalResult checkWidth(seq::ModelAttr model, func::FuncOp forward) {
    seq::EmbeddingOp embedding;
    for (Operation &op : forward.getBody().front())
      for (Value result : op.getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (type && type.getRank() == 2 && type.isDynamicDim(0) &&
            type.getDimSize(1) == model.getWidth())
          return success();
        if (!embedding)
          embedding = dyn_cast<seq::EmbeddingOp>(op);
      }
    if (!embedding)
      return success();
    auto tokens = cast<RankedTensorType>(embedding.getResult().getType());
    InFlightDiagnostic error = embedding.emitOpError()
                               << "expects tokens of the model's width "
                               << model.getWidth() << ", but got "
                               << tokens.getDimSize(1);
    error.attachNote(forward.getLoc())
        << "no value of @forward is of shape T," << model.getWidth()
        << ", the 'width' of the module's 'seq.model'";
    return error;
  }
};
} // namespace
} // namespace effc
