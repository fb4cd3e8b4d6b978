// Work items and state access of linear recurrences.
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

#include "passes/kernel_facts/BlockRoom.h"
#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

Value effc::emitExp(OpBuilder &builder, Location loc, Value x) {
  return math::ExpOp::create(builder, loc, x);
}

Value effc::emitExponential(KernelBuilder &k, Value x) {
  auto type = dyn_cast<tile::TileType>(x.getType());
  if (!type)
    return emitExp(k.ops(), k.loc(), x);
  return k.map(type, {x}, [&](OpBuilder &inside, ValueRange e) {
    return emitExp(inside, k.loc(), e[0]);
  });
}

std::optional<int64_t> effc::heldStateOf(const KernelContext &context) {
  if (!context.isGpu())
    return std::nullopt;
  return BlockRoom::of(context.target).heldElements();
}

ItemColumns ItemColumns::of(seq::LinearAttr linear, int64_t keys,
                            int64_t values, int64_t most,
                            std::optional<int64_t> held) {
  // The normaliser's sum and a maximum per head belong to all value channels.
  bool isShared = linear.getNormaliser() != seq::Normaliser::None ||
                  linear.getStabiliser() != seq::Stabiliser::None;
  bool isPerValue = linear.getDecay() == seq::DecayAxis::Value ||
                    linear.getDecay() == seq::DecayAxis::KeyAndValue;
  bool areIndependent = !isShared || isPerValue;
  bool isTooLarge = held && keys * values > *held;
  if (held)
    most = std::min(most, std::max<int64_t>(*held / keys, 8));
  if (most <= 0 || !(areIndependent || isTooLarge))
    return {values, 1, 1};
  int64_t block = blockOf(values, most), blocks = values / block;
  return {block, areIndependent ? blocks : 1, areIndependent ? 1 : blocks};
}

// The item's part of a state of shape H, ... with channels as `letters` say.
static ItemState stateOf(KernelBuilder &k, seq::MixerOpInterface mixer,
                         const seq::StateDescriptor &descriptor,
                         const Recurrence &r) {
  ItemState state{descriptor, {}, {r.head}, {1}, {}};
  state.view = k.readWriteState(mixer->getOperand(descriptor.operand));
  ArrayRef<int64_t> shape = descriptor.type.getShape();
  bool keys = descriptor.kind != seq::StateKind::Scalar;
  bool values = int64_t(shape.size()) == (keys ? 3 : 2);
  if (keys) {
    state.at.push_back(k.index(0));
    state.sizes.push_back(r.map.keyChannels);
  }
  if (values) {
    state.at.push_back(r.firstValue);
    state.sizes.push_back(r.map.getValueBlock());
  }
  state.type = keys && values
                   ? k.blockType(r.map.keyChannels, r.map.getValueBlock(),
                                 tile::Role::Accumulator)
               : keys ? k.columnType(r.map.keyChannels)
                      : k.rowType(values ? r.map.getValueBlock() : 1);
  return state;
}

FailureOr<Recurrence> effc::beginRecurrence(KernelBuilder &k,
                                            seq::MixerOpInterface mixer,
                                            bool chunked, int64_t valueBlock,
                                            int64_t pieces,
                                            int64_t transitionBlocks) {
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  FailureOr<TokenMap> created = TokenMap::create(k, mixer, chunked);
  if (failed(created))
    return failure();
  Recurrence r(std::move(*created));
  r.linear = linear;
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  r.result = stateful.getTokenResults()[0];

  ItemColumns columns =
      ItemColumns::of(linear, r.map.keyChannels, r.map.valueChannels,
                      valueBlock, heldStateOf(k.getContext()));
  r.map.setValueBlock(columns.block);
  r.blocksInside = columns.inside;
  int64_t blocks = columns.items;
  blocks += transitionBlocks;
  int64_t each = r.map.heads * blocks;
  k.setItems(tile::Count::Segments, 1, each * pieces);
  auto [sequence, part] = k.divide(k.item(), each * pieces);
  r.sequence = sequence;
  if (pieces > 1)
    std::tie(r.piece, part) = k.divide(part, each);
  auto [head, block] =
      blocks == 1 ? std::pair(part, k.index(0)) : k.divide(part, blocks);
  r.head = head;
  r.group = k.divide(head, r.map.heads / r.map.groups).first;
  r.firstColumn = blocks == 1 ? block : k.mul(block, r.map.getValueBlock());
  r.firstValue = r.firstColumn;
  if (transitionBlocks > 0) {
    r.isTransition =
        arith::CmpIOp::create(k.ops(), k.loc(), arith::CmpIPredicate::sge,
                              r.firstColumn, k.index(r.map.valueChannels));
    // Values have no such columns, and those that are read do not count.
    r.firstValue = arith::SelectOp::create(k.ops(), k.loc(), r.isTransition,
                                           k.index(0), r.firstColumn);
  }
  r.segment =
      tile::SegmentOp::create(k.ops(), k.loc(), k.segmentTable(), sequence);
  for (const seq::StateDescriptor &descriptor : stateful.getStates()) {
    ItemState state = stateOf(k, mixer, descriptor, r);
    if (descriptor.kind == seq::StateKind::Matrix && !r.matrix.view)
      r.matrix = state;
    else if (descriptor.kind == seq::StateKind::Matrix)
      r.imaginary = state;
    else if (descriptor.kind == seq::StateKind::Sum)
      r.sum = state;
    else
      r.maximum = state;
  }
  return r;
}

void Recurrence::setFirstValue(Value first) {
  firstValue = first;
  matrix.at.back() = first;
  if (imaginary)
    imaginary->at.back() = first;
}

LogicalResult Recurrence::finish(KernelBuilder &k, Value row, Value y,
                                 Value rows, int64_t chunk) {
  SmallVector<Value> at = {row, head, firstValue};
  SmallVector<int64_t> sizes = {chunk, 1, map.getValueBlock()};
  auto type = cast<tile::TileType>(y.getType());
  return k.finish(
      result, y,
      [&](Value tensor) {
        return k.load(k.read(tensor), at, sizes, type, rows);
      },
      [&](unsigned index, Value tile) {
        k.store(tile, k.write(index), at, sizes, rows);
      });
}
