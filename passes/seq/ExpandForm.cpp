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
#include "passes/seq/LinearForms.h"
#include "passes/seq/RetrievalForms.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace effc {
#define GEN_PASS_DEF_EXPANDFORMPASS
#include "passes/seq/Passes.h.inc"

using namespace mlir;
using namespace effc::seq;

// What the forms need of a linear structure record; reports what is not met.
static LogicalResult checkLinear(MixerOpInterface op, LinearAttr linear) {
  auto unmet = [&](StringRef field, StringRef expected, StringRef found) {
    return op->emitOpError()
           << "has no derived form: expects '" << field << "' to be "
           << expected << ", but got '" << found << "'";
  };
  if (linear.getDecay() != DecayAxis::Head &&
      linear.getDecay() != DecayAxis::HeadConstant)
    return unmet("decay", "'head' or 'head_constant'",
                 stringifyDecayAxis(linear.getDecay()));
  if (linear.getField() != DecayField::Real)
    return unmet("field", "'real'", stringifyDecayField(linear.getField()));
  if (linear.getLowRank() != LowRankPair::None)
    return unmet("low_rank", "'none'",
                 stringifyLowRankPair(linear.getLowRank()));
  if (linear.getRead() != ReadOrder::AfterWrite)
    return unmet("read", "'after_write'", stringifyReadOrder(linear.getRead()));
  if (linear.getBonus())
    return unmet("bonus", "'false'", "true");
  if (linear.getNormaliser() != Normaliser::None)
    return unmet("normaliser", "'none'",
                 stringifyNormaliser(linear.getNormaliser()));
  if (linear.getStabiliser() != Stabiliser::None)
    return unmet("stabiliser", "'none'",
                 stringifyStabiliser(linear.getStabiliser()));
  return success();
}

// Whether the mixer can be expanded; reports why not.
static LogicalResult checkExpandable(MixerOpInterface op) {
  StructureAttr structure = op.getStructure();
  bool retrieval = structure.getMixerClass() == MixerClass::Retrieval;
  if (!retrieval && structure.getMixerClass() != MixerClass::Linear)
    return op->emitOpError()
           << "has no derived form: expects the class "
              "'linear' or 'retrieval', but got '"
           << stringifyMixerClass(structure.getMixerClass()) << "'";
  if (!retrieval && failed(checkLinear(op, structure.getLinear())))
    return failure();
  for (Value tokens : op.getOperandsOf(OperandRole::Token))
    if (cast<RankedTensorType>(tokens.getType()).isDynamicDim(0))
      return op->emitOpError() << "expects a static T to derive a form, but "
                                  "got "
                               << tokens.getType();
  return success();
}

// The quantities with their heads split into groups, and the state likewise.
static LinearTokens splitHeads(OpBuilder &builder, Location loc,
                               const CanonicalQuantities &quantities,
                               Value state, int64_t headsPerGroup) {
  auto split = [&](Value value, unsigned headAxis) -> Value {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    shape[headAxis] /= headsPerGroup;
    shape.insert(shape.begin() + headAxis + 1, headsPerGroup);
    return ReshapeOp::create(builder, loc, value, shape);
  };
  return {quantities.query, quantities.key, split(quantities.value, 1),
          split(quantities.logDecay, 1), split(state, 0)};
}

static LinearResult buildForm(OpBuilder &builder, Location loc, FormAttr form,
                              const LinearTokens &tokens) {
  switch (form.getKind()) {
  case FormKind::Step:
    return buildStepForm(builder, loc, tokens);
  case FormKind::Quadratic:
    return buildQuadraticForm(builder, loc, tokens);
  case FormKind::Chunkwise:
    return buildChunkwiseForm(builder, loc, tokens, form.getChunk());
  }
  llvm_unreachable("a form of no kind");
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
  OpBuilder builder(op);
  Location loc = op->getLoc();
  StateDescriptor state = op.getStates().front();
  LinearAttr linear = op.getStructure().getLinear();

  CanonicalQuantities quantities =
      op.buildTokenMap(builder, loc, op.getOperandsOf(OperandRole::Token),
                       op.getOperandsOf(OperandRole::Parameter));
  LinearTokens tokens =
      splitHeads(builder, loc, quantities, op->getOperand(state.operand),
                 linear.getHeadsPerGroup());
  LinearResult result = buildForm(builder, loc, form, tokens);
  Value read = ReshapeOp::create(
      builder, loc, result.read,
      cast<RankedTensorType>(quantities.value.getType()).getShape());
  Value next =
      ReshapeOp::create(builder, loc, result.state, state.type.getShape());

  op.getTokenResults().front().replaceAllUsesWith(
      op.buildReadOut(builder, loc, read, quantities));
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
      if (failed(checkExpandable(op)))
        return signalPassFailure();
      expand(op, chosen);
    }
  }
};
} // namespace
} // namespace effc
