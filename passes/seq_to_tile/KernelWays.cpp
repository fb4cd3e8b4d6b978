// Which builder makes a kernel follows from its core; a linear mixer has
// several ways, of which the first that says all of it is taken.
#include "passes/seq_to_tile/KernelWays.h"

#include "dialects/seq/Remarks.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/linear/ChunkItems.h"

using namespace mlir;
using namespace effc;

namespace {
/// How a kernel of a linear mixer computes it, the most special way first.
enum class Way { Chunks, Scan, Step, AsWritten };

StringRef nameOf(Way way) {
  switch (way) {
  case Way::Chunks:
    return "chunks of tokens";
  case Way::Scan:
    return "scan";
  case Way::Step:
    return "step";
  case Way::AsWritten:
    return "step as it is written";
  }
  llvm_unreachable("a way is one of four");
}

seq::MixerOpInterface linearMixerOf(seq::KernelOp kernel) {
  for (auto mixer : kernel.getBody().getOps<seq::MixerOpInterface>())
    if (mixer.getStructure().getMixerClass() == seq::MixerClass::Linear &&
        mixer.getFormAttr())
      return mixer;
  return {};
}

/// The form that was chosen; of a written step, whose token map may be one that
/// tiles cannot say, what is left as well. An op's own token map is said in
/// every form that covers its structure.
SmallVector<Way> waysOf(seq::MixerOpInterface mixer) {
  seq::FormKind form = mixer.getFormAttr().getKind();
  Way chosen = form == seq::FormKind::Step   ? Way::Step
               : form == seq::FormKind::Scan ? Way::Scan
                                             : Way::Chunks;
  if (!isa<seq::RecurrenceOp>(mixer))
    return {chosen};
  if (chosen == Way::Step)
    return {Way::Step, Way::AsWritten};
  return {chosen, Way::Step, Way::AsWritten};
}

void remarkOnPieces(seq::MixerOpInterface mixer, const CallContext &call) {
  const KernelSizes &sizes = call.sizes;
  InFlightDiagnostic remark = emitRemark(mixer.getLoc());
  remark << "a call's only sequence in " << sizes.pieces << " pieces: ";
  if (mixer.getFormAttr().getKind() == seq::FormKind::Scan)
    remark << call.entry.getRows() << " tokens one after another";
  else
    remark << ChunkItems::of(mixer, sizes.chunk).count() << " items of "
           << call.entry.getRows() / sizes.chunk << " chunks";
  remark << " leave most of " << call.cores << " cores idle";
}

LogicalResult build(KernelBuilder &k, Way way) {
  Operation *core = k.getCore();
  if (!core)
    return buildElementwise(k);
  if (seq::isDenseOp(core))
    return buildDense(k);
  if (isa<seq::ChooseRowsOp>(core))
    return buildChooseRows(k);
  if (isa<seq::SumRowsOp>(core))
    return buildSumRows(k);
  if (isa<seq::ExpertHiddenOp>(core))
    return buildExpertHidden(k);
  if (isa<seq::ExpertOutputOp>(core))
    return buildExpertOutput(k);
  if (isa<seq::EmbeddingOp, seq::SelectRowsOp>(core))
    return buildGather(k);
  if (isa<seq::RmsNormOp, seq::GatedRmsNormOp>(core))
    return buildRowNorm(k);
  if (isa<seq::RotaryOp, seq::CosineSineOp>(core))
    return buildRotary(k);
  if (isa<seq::GroupNormOp>(core))
    return buildGroupNorm(k);
  if (isa<seq::SoftmaxOp>(core))
    return buildSoftmax(k);
  if (isa<seq::BestOp>(core))
    return buildBest(k);
  if (isa<seq::ShortConvolutionOp>(core))
    return buildShortConvolution(k);
  if (isa<seq::TokenShiftOp>(core))
    return buildTokenShift(k);
  if (isa<seq::CausalMixOp>(core))
    return buildCausalMix(k);
  if (isa<seq::ChannelConvolutionOp>(core))
    return buildChannelConvolution(k);
  if (isa<seq::ConcatOp>(core))
    return buildConcat(k);
  if (isa<seq::ContractOp>(core))
    return buildProduct(k);
  if (isa<seq::RingRowOp>(core))
    return buildRingRow(k);
  auto mixer = dyn_cast<seq::MixerOpInterface>(core);
  if (!mixer)
    return core->emitOpError("has no kernel builder");
  if (!mixer.getFormAttr())
    return core->emitOpError("expects a form; run seq-choose-forms first");
  if (mixer.getStructure().getMixerClass() == seq::MixerClass::Window)
    return buildWindow(k);
  if (mixer.getStructure().getMixerClass() == seq::MixerClass::Opaque)
    return buildWrittenStep(k);
  if (mixer.getStructure().getMixerClass() != seq::MixerClass::Linear)
    return core->emitOpError("has no kernel: no builder covers class ")
           << stringifyMixerClass(mixer.getStructure().getMixerClass());
  switch (way) {
  case Way::Chunks:
    return buildRecurrenceChunk(k);
  case Way::Scan:
    return buildRecurrenceScan(k);
  case Way::Step:
    return buildRecurrenceStep(k);
  case Way::AsWritten:
    return buildWrittenStep(k);
  }
  llvm_unreachable("a way is one of four");
}
} // namespace

LogicalResult effc::buildInAWay(std::optional<KernelBuilder> &builder,
                                seq::KernelOp kernel, CallContext &call,
                                OpBuilder &b, StringRef name) {
  seq::MixerOpInterface mixer = linearMixerOf(kernel);
  SmallVector<Way> ways = mixer ? waysOf(mixer) : SmallVector{Way::Step};
  for (auto [i, way] : llvm::enumerate(ways)) {
    if (mixer && way == Way::Step) {
      mixer.setFormAttr(
          seq::FormAttr::get(b.getContext(), seq::FormKind::Step, 0));
      call.sizes = KernelSizes::of(kernel, call);
    }
    builder.emplace(kernel, call, b, name);
    if (call.sizes.pieces > 1)
      remarkOnPieces(mixer, call);
    if (i + 1 == ways.size())
      return success(succeeded(build(*builder, way)) && !builder->isBroken());
    std::string reason;
    {
      ScopedDiagnosticHandler listener(
          b.getContext(), [&](Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
              return failure(); // somebody else's to say
            if (!reason.empty())
              return success();
            reason = diagnostic.str();
            // A note names the op; MLIR adds one that prints the mixer.
            for (Diagnostic &note : diagnostic.getNotes())
              if (std::string text = note.str();
                  !StringRef(text).starts_with("see current operation"))
                reason = text;
            return success();
          });
      if (succeeded(build(*builder, way)) && !builder->isBroken())
        return success();
    }
    builder->discard();
    emitRemark(mixer.getLoc())
        << seq::kFallbackRemark << "form in " << stringifyEntryKind(call.kind)
        << "_" << call.entry.getRows() << ": " << nameOf(ways[i + 1])
        << " instead of " << nameOf(way) << ", since " << reason;
  }
  llvm_unreachable("the last way returns");
}

Follower effc::followerOf(KernelBuilder &first) {
  Operation *core = first.getCore();
  if (isa_and_nonnull<seq::CausalMixOp>(core))
    return {buildCausalAppend, "_append"};
  if (core && seq::isDenseOp(core) &&
      !first.getSourceBody().getOps<seq::BestOp>().empty())
    return {buildBestOfItems, "_best"};
  auto mixer = dyn_cast_or_null<seq::MixerOpInterface>(core);
  if (mixer && mixer.getStructure().getMixerClass() == seq::MixerClass::Window)
    return {buildWindowAppend, "_append"};
  if (mixer && first.getContext().sizes.pieces > 1)
    return {mixer.getFormAttr().getKind() == seq::FormKind::Scan
                ? buildScanOutputs
                : buildRecurrencePieces,
            "_pieces"};
  return {};
}
