// seq-expand-form: a form of each mixer, derived as primitive ops.
//
// A mixer of class `linear` is replaced by
//
//   quantities = token map(tokens, parameters)     (the mixer's)
//   read, next = form(quantities, state)           (LinearForms.h)
//   y          = read-out(read, quantities)        (the mixer's)
//
// so that
//
//   %y, %next = seq.<mixer> %tokens parameters(%p) state(%s)
//
// becomes, for the form `step`,
//
//   %value, %log_decay = ... elementwise ops and contractions ...
//   %read, %next = seq.scan chunk 1 tokens(...) states(%s) { ... }
//   %y = ... elementwise ops ...
#include "passes/seq/Passes.h"

#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "passes/seq/LinearExpansion.h"
#include "passes/seq/RetrievalForms.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace effc {
#define GEN_PASS_DEF_EXPANDFORMPASS
#include "passes/seq/Passes.h.inc"

using namespace mlir;
using namespace effc::seq;

// Whether the mixer can be expanded; reports why not.
static LogicalResult checkExpandable(MixerOpInterface op, FormAttr form) {
  StructureAttr structure = op.getStructure();
  bool retrieval = structure.getMixerClass() == MixerClass::Retrieval;
  if (!retrieval && structure.getMixerClass() != MixerClass::Linear) {
    InFlightDiagnostic error =
        op->emitOpError()
        << "has no derived form: expects the class 'linear' or 'retrieval', "
           "but got '"
        << stringifyMixerClass(structure.getMixerClass()) << "'";
    if (Obstacle obstacle = op.getObstacle(); obstacle.op)
      error.attachNote(obstacle.op->getLoc())
          << "'" << obstacle.op->getName() << "' " << obstacle.reason;
    return error;
  }
  if (!retrieval && failed(checkLinearForm(op, form)))
    return failure();
  for (Value tokens : op.getOperandsOf(OperandRole::Token))
    if (cast<RankedTensorType>(tokens.getType()).isDynamicDim(0))
      return op->emitOpError() << "expects a static T to derive a form, but "
                                  "got "
                               << tokens.getType();
  return success();
}

// Says which form the mixer takes and what allows it.
static void remarkForm(MixerOpInterface op, FormAttr form) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "'" << op->getName() << "' takes the form '"
         << stringifyFormKind(form.getKind()) << "'";
  if (form.getKind() == FormKind::Chunkwise)
    stream << " with chunks of " << form.getChunk() << " tokens";
  StructureAttr structure = op.getStructure();
  if (LinearAttr linear = structure.getLinear())
    stream << ": class 'linear' with a real decay per '"
           << stringifyDecayAxis(linear.getDecay()) << "'";
  else
    stream << ": class '" << stringifyMixerClass(structure.getMixerClass())
           << "'";
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("form")
                     .category("seq-expand-form")
                     .function(function ? function.getName() : StringRef()))
      << StringRef(text);
}

static void expand(MixerOpInterface op, FormAttr form) {
  remarkForm(op, form);
  if (op.getStructure().getMixerClass() == MixerClass::Retrieval)
    return expandRetrieval(op, form.getKind());
  expandLinear(op, form);
}

namespace {
struct ExpandFormPass : impl::ExpandFormPassBase<ExpandFormPass> {
  using ExpandFormPassBase::ExpandFormPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (form == FormChoice::Chunkwise && chunk < 1)
      return emitError(UnknownLoc::get(context))
             << "seq-expand-form expects 'chunk' of at least 1, but got "
             << chunk.getValue();
    return success();
  }

  // The form that the option or the mixer names; null where neither does.
  FormAttr chooseForm(MixerOpInterface op) {
    MLIRContext *context = op->getContext();
    switch (form) {
    case FormChoice::Attribute:
      return op.getFormAttr();
    case FormChoice::Step:
      return FormAttr::get(context, FormKind::Step, 0);
    case FormChoice::Quadratic:
      return FormAttr::get(context, FormKind::Quadratic, 0);
    case FormChoice::Chunkwise:
      return FormAttr::get(context, FormKind::Chunkwise, chunk);
    case FormChoice::Scan:
      return FormAttr::get(context, FormKind::Scan, 0);
    }
    llvm_unreachable("a choice of no kind");
  }

  void runOnOperation() override {
    SmallVector<MixerOpInterface> mixers;
    getOperation()->walk([&](MixerOpInterface op) { mixers.push_back(op); });
    for (MixerOpInterface op : mixers) {
      FormAttr chosen = chooseForm(op);
      if (!chosen) {
        op->emitOpError() << "expects a 'form', but got none";
        return signalPassFailure();
      }
      if (failed(checkExpandable(op, chosen)))
        return signalPassFailure();
      expand(op, chosen);
    }
  }
};
} // namespace
} // namespace effc
