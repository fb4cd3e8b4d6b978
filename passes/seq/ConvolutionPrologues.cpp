#include "passes/seq/ConvolutionPrologues.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/TokenMapReach.h"
#include "passes/kernel_facts/ChunkKernels.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace effc;
using seq::typeOf;
using Channels = ConvolutionPrologues::Channels;

// Whether a GPU's kernel takes the tokens of a mixer in chunks. The token map
// of a written step may be one that chunks cannot say.
static bool isChunked(seq::MixerOpInterface mixer) {
  seq::FormAttr form = mixer.getFormAttr();
  if (!form || isa<seq::RecurrenceOp>(mixer) ||
      mixer.getStructure().getMixerClass() != seq::MixerClass::Linear ||
      (form.getKind() != seq::FormKind::Chunkwise &&
       form.getKind() != seq::FormKind::Quadratic))
    return false;
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  return hasChunkKernel(mixer.getStructure().getLinear(),
                        tile::getTarget(mixer), state[1], state[2]);
}

// Whether an op of a token map gives what it computes of a tensor of the
// tensor's own dimensions.
static bool keepsDimensions(Operation *op, Value tensor) {
  if (seq::isElementwiseOp(op))
    return true;
  auto contract = dyn_cast<seq::ContractOp>(op);
  if (!contract)
    return false;
  SmallVector<AffineMap, 3> maps = contract.getMaps();
  return llvm::all_of(llvm::enumerate(op->getOperands()), [&](auto operand) {
    return operand.value() != tensor || maps[operand.index()] == maps[2];
  });
}

// Whether a token operand [T, H, V] is nothing but values and what the read-out
// takes of them. An item has a head's channels, or a block of them, of the
// tensors that have these dimensions, and each channel is one item's.
static bool isOfValues(seq::MixerOpInterface mixer, OpOperand &operand) {
  Operation *op = mixer.getOperation();
  auto stateful = cast<seq::StatefulOpInterface>(op);
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  if (typeOf(operand.get()).getShape().drop_front() !=
      ArrayRef({state[0], state[2]}))
    return false;

  seq::TokenMapReach reach(mixer, operand.getOperandNumber());
  const seq::CanonicalQuantities &all = reach.getQuantities();
  return reach.areAll(keepsDimensions) &&
         !reach.reaches({all.query, all.key, all.logDecay, all.valueLogDecay,
                         all.turn, all.turnImaginary, all.queryImaginary,
                         all.keyImaginary, all.bonusKey, all.probe, all.erase,
                         all.eraseScale, all.weight, all.sumQuery, all.sumKey,
                         all.logGate});
}

// The convolution of which a tensor is some channels, [T, C] or in heads.
static seq::ShortConvolutionOp
convolutionOf(Value value, ConvolutionPrologues::Channels &channels) {
  auto reshape = value.getDefiningOp<seq::ReshapeOp>();
  if (reshape)
    value = reshape.getX();
  auto slice = value.getDefiningOp<seq::SliceOp>();
  if (slice && slice.getAxis() == 1)
    value = slice.getX();
  auto convolution = value.getDefiningOp<seq::ShortConvolutionOp>();
  if (!convolution || value != convolution.getY())
    return {};
  channels = {0, typeOf(value).getDimSize(1)};
  if (slice)
    channels = {static_cast<int64_t>(slice.getOffset()),
                slice.getY().getType().getDimSize(1)};
  return convolution;
}

// Who reads channels of a convolution's result besides `use`, through views
// that `use` may share or others; null where nobody does.
static Operation *otherReader(seq::ShortConvolutionOp convolution,
                              const Channels &own, OpOperand &use) {
  SmallVector<OpOperand *> reads;
  auto addReadsOf = [&](Value value) {
    for (OpOperand &read : value.getUses())
      reads.push_back(&read);
  };
  addReadsOf(convolution.getY());
  while (!reads.empty()) {
    OpOperand *read = reads.pop_back_val();
    if (read == &use)
      continue;
    Operation *reader = read->getOwner();
    auto slice = dyn_cast<seq::SliceOp>(reader);
    bool isFirst =
        slice && slice.getX() == convolution.getY() && slice.getAxis() == 1;
    if (isFirst) {
      Channels taken{static_cast<int64_t>(slice.getOffset()),
                     slice.getY().getType().getDimSize(1)};
      if (taken.end() <= own.first || own.end() <= taken.first)
        continue;
      if (!(taken == own))
        return reader;
    } else if (!isa<seq::ReshapeOp>(reader)) {
      return reader;
    }
    // A view that is left over would be outside of the kernel.
    if (reader->use_empty())
      return reader;
    addReadsOf(reader->getResult(0));
  }
  return nullptr;
}

// A convolution of some of the channels, behind `tail`.
static seq::ShortConvolutionOp partOf(seq::ShortConvolutionOp whole,
                                      Channels channels, Value tail) {
  OpBuilder b(whole);
  auto slice = [&](Value value, int64_t axis) -> Value {
    if (!value)
      return {};
    return seq::SliceOp::create(b, value.getLoc(), value, axis, channels.first,
                                channels.count);
  };
  Value x = slice(whole.getX(), 1);
  int64_t before = whole.getFirstChannel().value_or(0);
  return seq::ShortConvolutionOp::create(
      b, whole.getLoc(), x.getType(), tail.getType(), x,
      slice(whole.getWeight(), 1), slice(whole.getBias(), 0), tail,
      whole.getActivation(), b.getI64IntegerAttr(before + channels.first));
}

namespace {
/// What a convolution is taken apart into, the one behind the other.
struct Parts {
  seq::ShortConvolutionOp others, own;
};
} // namespace

static Parts split(seq::ShortConvolutionOp whole, Channels own) {
  int64_t count = whole.getX().getType().getDimSize(1);
  Channels rest = own.first > 0 ? Channels{0, own.first}
                                : Channels{own.end(), count - own.end()};
  seq::ShortConvolutionOp others = partOf(whole, rest, whole.getTail());
  seq::ShortConvolutionOp taken = partOf(whole, own, others.getNextTail());
  for (Operation *user : llvm::make_early_inc_range(whole.getY().getUsers())) {
    auto slice = cast<seq::SliceOp>(user);
    int64_t offset = slice.getOffset();
    bool isOwn = own.first <= offset && offset < own.end();
    OpBuilder b(slice);
    Value part = isOwn ? taken.getY() : others.getY();
    if (slice.getY().getType() != part.getType())
      part = seq::SliceOp::create(b, slice.getLoc(), part, /*axis=*/1,
                                  offset - (isOwn ? own.first : rest.first),
                                  slice.getSize());
    slice.getY().replaceAllUsesWith(part);
    slice.erase();
  }
  whole.getNextTail().replaceAllUsesWith(taken.getNextTail());
  whole.erase();
  return {others, taken};
}

void ConvolutionPrologues::stays(seq::ShortConvolutionOp convolution,
                                 const Channels &channels, const Twine &why) {
  explained.insert(convolution);
  int64_t before = convolution.getFirstChannel().value_or(0);
  emitRemark(convolution.getLoc())
      << "channels " << before + channels.first << " to "
      << before + channels.end() - 1
      << " are convolved in a launch of their own: " << why;
}

static std::string nameOf(Operation *op) {
  if (auto named = dyn_cast<NameLoc>(op->getLoc()))
    return "'" + named.getName().str() + "'";
  return "'" + op->getName().getStringRef().str() + "'";
}

void ConvolutionPrologues::take(seq::MixerOpInterface mixer,
                                OpOperand &values) {
  Channels own;
  seq::ShortConvolutionOp convolution = convolutionOf(values.get(), own);
  if (contains(convolution))
    return;
  if (Operation *other = otherReader(convolution, own, values))
    return stays(convolution, own, Twine(nameOf(other)) + " reads them too");
  int64_t count = convolution.getX().getType().getDimSize(1);
  // A launch more for what is on the other side would cost what is saved.
  if (own.first > 0 && own.end() < count)
    return stays(convolution, own, "there are others on either side of them");
  if (own.count < count) {
    bool isExplained = explained.erase(convolution);
    Parts parts = split(convolution, own);
    if (isExplained)
      explained.insert(parts.others);
    convolution = parts.own;
  }
  std::vector<Operation *> &ops = ofMixer[mixer];
  for (Operation *op = values.get().getDefiningOp(); op != convolution;
       op = op->getOperand(0).getDefiningOp())
    ops.insert(ops.begin(), op);
  ops.insert(ops.begin(), convolution);
  all.insert(convolution);
}

void ConvolutionPrologues::collect(Block &block) {
  SmallVector<seq::MixerOpInterface> mixers(
      block.getOps<seq::MixerOpInterface>());
  for (seq::MixerOpInterface mixer : mixers) {
    if (!isChunked(mixer))
      continue;
    auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
    ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
    for (OpOperand &operand : mixer->getOpOperands()) {
      Channels channels;
      seq::ShortConvolutionOp convolution =
          convolutionOf(operand.get(), channels);
      if (!convolution || stateful.getOperandRole(operand.getOperandNumber()) !=
                              seq::OperandRole::Token)
        continue;
      bool isOfHeads = typeOf(operand.get()).getRank() == 3;
      if (isOfHeads && isOfValues(mixer, operand)) {
        if (before(mixer).empty())
          take(mixer, operand);
        else
          stays(convolution, channels,
                nameOf(mixer) + " convolves other values");
        continue;
      }
      int64_t sharing =
          isOfHeads ? state[0] / typeOf(operand.get()).getDimSize(1) : 1;
      int64_t blocks = llvm::divideCeil(
          state[2], mostChunkValues(mixer.getStructure().getLinear(),
                                    tile::getTarget(mixer), state[1],
                                    mixer.getFormAttr().getChunk()));
      std::string why = "they are not values of " + nameOf(mixer);
      if (sharing * blocks > 1)
        why += ", of which at least " + std::to_string(sharing * blocks) +
               " items read each";
      stays(convolution, channels, why);
    }
  }
  for (auto convolution : block.getOps<seq::ShortConvolutionOp>())
    if (!contains(convolution) && !explained.contains(convolution))
      stays(convolution, {0, convolution.getY().getType().getDimSize(1)},
            "no recurrence in chunks takes them as its values");
}
