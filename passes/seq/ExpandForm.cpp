// seq-expand-form: a form of each mixer, derived as primitive ops.
//
// A mixer of class `linear` is replaced by
//
//   quantities = token map(tokens, parameters)     (the mixer's)
//   read, next = form(quantities, state)           (LinearForms.h)
//   y          = read-out(read, quantities)        (the mixer's)
//
// and one of class `window` by a form of its window tokens and states
// (WindowForms.h); so that
//
//   %y, %next = seq.<mixer> %tokens parameters(%p) state(%s)
//
// becomes, for the form `step`,
//
//   %value, %log_decay = ... elementwise ops and contractions ...
//   %read, %next = seq.scan chunk 1 tokens(...) states(%s) { ... }
//   %y = ... elementwise ops ...
#include "passes/seq/Passes.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/TokenMapChecks.h"
#include "passes/seq/LinearExpansion.h"
#include "passes/seq/RetrievalForms.h"
#include "passes/seq/WindowForms.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace effc {
#define GEN_PASS_DEF_EXPANDFORMPASS
#include "passes/seq/Passes.h.inc"

using namespace mlir;
using namespace effc::seq;

// Which forms the class 'window' has; reports one that it has not.
static LogicalResult checkWindow(FormAttr form,
                                 function_ref<InFlightDiagnostic()> report) {
  if (form.getKind() == FormKind::Scan)
    return report()
           << "has no derived form: expects the form 'step', 'quadratic' or "
              "'chunkwise' of the class 'window', but got 'scan'";
  return success();
}

// Whether the mixer can be expanded; `report`s why not.
static LogicalResult
checkExpandable(MixerOpInterface op, FormAttr form,
                function_ref<InFlightDiagnostic()> report) {
  StructureAttr structure = op.getStructure();
  switch (structure.getMixerClass()) {
  case MixerClass::Linear:
    if (failed(checkLinearForm(op, form, report)))
      return failure();
    break;
  case MixerClass::Window:
    if (failed(checkWindow(form, report)))
      return failure();
    break;
  case MixerClass::Retrieval:
    break;
  case MixerClass::Opaque: {
    InFlightDiagnostic error =
        report() << "has no derived form: expects the class 'linear', "
                    "'retrieval' or 'window', but got 'opaque'";
    if (Obstacle obstacle = op.getObstacle(); obstacle.op)
      error.attachNote(obstacle.op->getLoc())
          << "'" << obstacle.op->getName() << "' " << obstacle.reason;
    return error;
  }
  }
  for (Value tokens : op.getOperandsOf(OperandRole::Token))
    if (cast<RankedTensorType>(tokens.getType()).isDynamicDim(0))
      return report() << "expects a static T to derive a form, but "
                         "got "
                      << tokens.getType();
  return success();
}

static WindowResult buildForm(OpBuilder &builder, Location loc, FormAttr form,
                              const WindowInputs &inputs) {
  switch (form.getKind()) {
  case FormKind::Step:
    return buildWindowStep(builder, loc, inputs);
  case FormKind::Quadratic:
    return buildWindowQuadratic(builder, loc, inputs);
  case FormKind::Chunkwise:
    return buildWindowChunkwise(builder, loc, inputs, form.getChunk());
  case FormKind::Scan:
    break; // refused by checkWindow
  }
  llvm_unreachable("a form of no kind");
}

// What of its structure allows a mixer's forms.
static std::string describe(StructureAttr structure) {
  if (LinearAttr linear = structure.getLinear())
    return ("class 'linear' with a real decay per '" +
            stringifyDecayAxis(linear.getDecay()) + "'")
        .str();
  if (!structure.getWindow())
    return ("class '" + stringifyMixerClass(structure.getMixerClass()) + "'")
        .str();
  int64_t window = structure.getWindow().getWindow();
  return window ? "class 'window' with " + std::to_string(window) + " keys"
                : "class 'window' with every key";
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
  stream << ": " << describe(op.getStructure());
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("form")
                     .category("seq-expand-form")
                     .function(function ? function.getName() : StringRef()))
      << StringRef(text);
}

static void expandWindow(MixerOpInterface op, FormAttr form) {
  OpBuilder builder(op);
  WindowInputs inputs;
  inputs.record = op.getStructure().getWindow();
  inputs.tokens = op.getWindowTokens(op.getOperandsOf(OperandRole::Token),
                                     op.getOperandsOf(OperandRole::Parameter));
  for (const StateDescriptor &state : op.getStates())
    inputs.states.push_back(op->getOperand(state.operand));
  WindowResult result = buildForm(builder, op->getLoc(), form, inputs);
  Value y = op.getTokenResults().front();
  // Values that are the first channels of keys are mixed as whole keys.
  if (y.getType() != result.mixed.getType())
    result.mixed =
        SliceOp::create(builder, op->getLoc(), result.mixed, /*axis=*/2, 0,
                        cast<RankedTensorType>(y.getType()).getDimSize(2));
  y.replaceAllUsesWith(result.mixed);
  for (auto [state, next] : llvm::zip_equal(op.getStates(), result.states))
    op->getResult(state.result).replaceAllUsesWith(next);
  op->erase();
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

  // What says that a mixer cannot be expanded: an error, or where others may be, the
  // remark that this one stays.
  InFlightDiagnostic reportFor(MixerOpInterface op) {
    if (!partial)
      return op->emitOpError();
    InFlightDiagnostic remark = emitRemark(op->getLoc());
    remark << "stays as it is: '" << op->getName() << "' op ";
    return remark;
  }

  void runOnOperation() override {
    SmallVector<MixerOpInterface> mixers;
    getOperation()->walk([&](MixerOpInterface op) {
      // Tokens that do not meet have no forms.
      if (!isStatelessStep(op))
        mixers.push_back(op);
    });
    for (MixerOpInterface op : mixers) {
      FormAttr chosen = chooseForm(op);
      if (!chosen) {
        op->emitOpError() << "expects a 'form', but got none";
        return signalPassFailure();
      }
      if (failed(checkExpandable(op, chosen, [&] { return reportFor(op); }))) {
        if (partial)
          continue;
        return signalPassFailure();
      }
      if (op.getStructure().getLinear() && failed(checkTokenMap(op)))
        return signalPassFailure();
      remarkForm(op, chosen);
      if (op.getStructure().getWindow())
        expandWindow(op, chosen);
      else if (op.getStructure().getLinear())
        expandLinear(op, chosen);
      else
        expandRetrieval(op, chosen.getKind());
    }
  }
};
} // namespace
} // namespace effc
