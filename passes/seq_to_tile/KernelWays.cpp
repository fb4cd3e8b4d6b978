// Which builder makes a kernel follows from its root; a linear mixer has several
// ways, of which the first is taken against which nothing speaks.
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
/// every form that covers its structure. A step that writes several times is
/// looped over as it is written.
SmallVector<Way> waysOf(seq::MixerOpInterface mixer) {
  seq::FormKind form = mixer.getFormAttr().getKind();
  Way chosen = form == seq::FormKind::Step   ? Way::Step
               : form == seq::FormKind::Scan ? Way::Scan
                                             : Way::Chunks;
  if (!isa<seq::RecurrenceOp>(mixer))
    return {chosen};
  if (mixer.getStructure().getLinear().getWrites() > 1)
    return chosen == Way::Step ? SmallVector{Way::AsWritten}
                               : SmallVector{chosen, Way::AsWritten};
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
  remark << " leave most of " << call.cores() << " cores idle";
}

// What keeps the kernel from being built in a way; none: nothing.
std::optional<std::string> obstacleTo(KernelBuilder &k, Way way) {
  switch (way) {
  case Way::Chunks:
    return obstacleToChunks(k);
  case Way::Scan:
  case Way::Step:
    return obstacleToSteps(k);
  case Way::AsWritten:
    return std::nullopt;
  }
  llvm_unreachable("a way is one of four");
}

using Builder = LogicalResult (*)(KernelBuilder &);

template <typename... Ops> bool isOneOf(Operation *root) {
  return isa<Ops...>(root);
}

/// Of which roots, but for mixers, a builder makes kernels.
constexpr struct {
  bool (*takes)(Operation *root);
  Builder build;
} kBuilders[] = {
    {seq::isDenseOp, buildDense},
    {isOneOf<seq::ChooseRowsOp>, buildChooseRows},
    {isOneOf<seq::SumRowsOp>, buildSumRows},
    {isOneOf<seq::ExpertHiddenOp>, buildExpertHidden},
    {isOneOf<seq::ExpertOutputOp>, buildExpertOutput},
    {isOneOf<seq::EmbeddingOp, seq::SelectRowsOp>, buildGather},
    {isOneOf<seq::AtStartOp>, buildAtStart},
    {isOneOf<seq::RowNormOpInterface>, buildRowNorm},
    {isOneOf<seq::RotaryOp, seq::CosineSineOp>, buildRotary},
    {isOneOf<seq::GroupNormOp>, buildGroupNorm},
    {isOneOf<seq::SoftmaxOp>, buildSoftmax},
    {isOneOf<seq::BestOp>, buildBest},
    {isOneOf<seq::ShortConvolutionOp>, buildShortConvolution},
    {isOneOf<seq::TokenShiftOp>, buildTokenShift},
    {isOneOf<seq::CausalMixOp>, buildCausalMix},
    {isOneOf<seq::ChannelConvolutionOp>, buildChannelConvolution},
    {isOneOf<seq::PermuteChannelsOp>, buildPermuteChannels},
    {isOneOf<seq::ConcatOp>, buildConcat},
    {isOneOf<seq::ContractOp>, buildProduct},
    {isOneOf<seq::RingRowOp>, buildRingRow},
    {isOneOf<seq::ChooseBlocksOp, seq::MixBlockMeansOp>, buildBlockSums},
};

LogicalResult buildLinear(KernelBuilder &k, Way way) {
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

LogicalResult buildMixer(KernelBuilder &k, seq::MixerOpInterface mixer,
                         Way way) {
  if (!mixer.getFormAttr())
    return mixer->emitOpError("expects a form; run seq-choose-forms first");
  switch (seq::MixerClass mixerClass = mixer.getStructure().getMixerClass()) {
  case seq::MixerClass::Linear:
    return buildLinear(k, way);
  case seq::MixerClass::Window:
    return buildWindow(k);
  case seq::MixerClass::Opaque:
    return buildWrittenStep(k);
  default:
    return mixer->emitOpError("has no kernel: no builder covers class ")
           << stringifyMixerClass(mixerClass);
  }
}

LogicalResult build(KernelBuilder &k, Way way) {
  Operation *root = k.getRoot();
  if (!root)
    return k.getSourceBody().without_terminator().empty() ? buildUnpacked(k)
                                                          : buildElementwise(k);
  for (auto [takes, build] : kBuilders)
    if (takes(root))
      return build(k);
  if (auto mixer = dyn_cast<seq::MixerOpInterface>(root))
    return buildMixer(k, mixer, way);
  return root->emitOpError("has no kernel builder");
}
} // namespace

LogicalResult effc::buildInAWay(std::optional<KernelBuilder> &builder,
                                seq::KernelOp kernel, CallContext &call,
                                OpBuilder &b, StringRef name) {
  seq::MixerOpInterface mixer = linearMixerOf(kernel);
  SmallVector<Way> ways = mixer ? waysOf(mixer) : SmallVector{Way::Step};
  for (auto [i, way] : llvm::enumerate(ways)) {
    if (mixer && (way == Way::Step || way == Way::AsWritten)) {
      mixer.setFormAttr(
          seq::FormAttr::get(b.getContext(), seq::FormKind::Step, 0));
      call.sizes = KernelSizes::of(kernel, call);
    }
    builder.emplace(kernel, call, b, name);
    // The last way is built whatever speaks against it, and says so itself.
    std::optional<std::string> obstacle;
    if (i + 1 < ways.size())
      obstacle = obstacleTo(*builder, way);
    if (!obstacle) {
      if (call.sizes.pieces > 1)
        remarkOnPieces(mixer, call);
      return success(succeeded(build(*builder, way)) && !builder->isBroken());
    }
    builder->discard();
    emitRemark(mixer.getLoc())
        << seq::kFallbackRemark << "form in " << stringifyEntryKind(call.kind)
        << "_" << call.entry.getRows() << ": " << nameOf(ways[i + 1])
        << " instead of " << nameOf(way) << ", since " << *obstacle;
  }
  llvm_unreachable("the last way returns");
}

Follower effc::followerOf(KernelBuilder &first) {
  Operation *root = first.getRoot();
  if (isa_and_nonnull<seq::CausalMixOp>(root))
    return {buildCausalAppend, "_append"};
  if (isa_and_nonnull<seq::ChooseBlocksOp>(root))
    return {buildChooseBlocks, "_choose"};
  if (isa_and_nonnull<seq::MixBlockMeansOp>(root))
    return {buildMixBlockMeans, "_mix"};
  if (root && seq::isDenseOp(root) &&
      !first.getSourceBody().getOps<seq::BestOp>().empty())
    return {buildBestOfItems, "_best"};
  if (first.getContext().sizes.dense.depthParts > 1)
    return {buildSumOfParts, "_sum"};
  auto mixer = dyn_cast_or_null<seq::MixerOpInterface>(root);
  if (mixer &&
      mixer.getStructure().getMixerClass() == seq::MixerClass::Window) {
    const WindowBlocks &blocks = first.getContext().sizes.window;
    if (blocks.piece > 0 && blocks.items > 1)
      return {buildWindowMerge, "_merge"};
    return {buildWindowAppend, "_append"};
  }
  if (mixer && first.getContext().sizes.pieces > 1)
    return {mixer.getFormAttr().getKind() == seq::FormKind::Scan
                ? buildScanOutputs
                : buildRecurrencePieces,
            "_pieces"};
  return {};
}
