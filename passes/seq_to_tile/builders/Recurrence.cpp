// Work items, structure check and state access of linear recurrences.
#include "passes/seq_to_tile/builders/Recurrence.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

Value effc::emitExp(OpBuilder &builder, Location loc, Value x) {
  return math::ExpOp::create(builder, loc, x);
}

static LogicalResult checkStructure(seq::MixerOpInterface mixer) {
  Operation *op = mixer.getOperation();
  seq::LinearAttr record = mixer.getStructure().getLinear();
  auto refuse = [&](StringRef field, StringRef value) {
    return op->emitOpError("has no kernel: the builders of linear recurrences "
                           "do not cover ")
           << field << " = " << value;
  };
  if (record.getDecay() != seq::DecayAxis::Head)
    return refuse("decay", stringifyDecayAxis(record.getDecay()));
  if (record.getField() != seq::DecayField::Real)
    return refuse("field", stringifyDecayField(record.getField()));
  if (record.getLowRank() != seq::LowRankPair::None)
    return refuse("low_rank", stringifyLowRankPair(record.getLowRank()));
  if (record.getRead() != seq::ReadOrder::AfterWrite)
    return refuse("read", stringifyReadOrder(record.getRead()));
  if (record.getBonus())
    return refuse("bonus", "true");
  if (record.getNormaliser() != seq::Normaliser::None)
    return refuse("normaliser", stringifyNormaliser(record.getNormaliser()));
  if (record.getStabiliser() != seq::Stabiliser::None)
    return refuse("stabiliser", stringifyStabiliser(record.getStabiliser()));
  return success();
}

FailureOr<Recurrence> effc::beginRecurrence(KernelBuilder &k,
                                            seq::MixerOpInterface mixer) {
  if (failed(checkStructure(mixer)))
    return failure();
  FailureOr<TokenMap> created = TokenMap::create(k, mixer);
  if (failed(created))
    return failure();
  TokenMap map = std::move(*created);
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  k.setItems(tile::Count::Segments, 1, map.heads);
  HeadOfSegment item;
  auto [sequence, head] = k.divide(k.item(), map.heads);
  item.head = head;
  item.group = k.divide(head, map.heads / map.groups).first;
  item.segment =
      tile::SegmentOp::create(k.ops(), k.loc(), k.segmentTable(), sequence);
  item.keyChannels = map.keyChannels;
  item.valueChannels = map.valueChannels;
  item.stateView =
      k.readWriteState(mixer->getOperand(stateful.getStates()[0].operand));
  tile::TileType stateType = k.blockType(item.keyChannels, item.valueChannels,
                                         tile::Role::Accumulator);
  return Recurrence{std::move(map), item, stateful.getTokenResults()[0],
                    stateType};
}

Value HeadOfSegment::loadState(KernelBuilder &k) const {
  tile::TileType type =
      k.blockType(keyChannels, valueChannels, tile::Role::Accumulator);
  tile::SegmentOp record = segment;
  Value old =
      k.load(stateView, {record.getSlot(), head, k.index(0), k.index(0)},
             {1, 1, keyChannels, valueChannels}, type);
  // A decode call does little else than read one state after the other.
  if (k.isDecode())
    k.fetchNext(old);
  // By select: what a fresh slot holds may be anything, NaN included.
  Value fresh = arith::SelectOp::create(k.ops(), k.loc(), record.getBegins(),
                                        k.scalar(1), k.scalar(0));
  return k.map(type, {old, fresh}, [&](OpBuilder &b, ValueRange e) -> Value {
    Value zero = arith::ConstantOp::create(b, k.loc(), b.getF32FloatAttr(0));
    Value isFresh = arith::CmpFOp::create(b, k.loc(), arith::CmpFPredicate::OGT,
                                          e[1], zero);
    return arith::SelectOp::create(b, k.loc(), isFresh, zero, e[0]);
  });
}

void HeadOfSegment::storeState(KernelBuilder &k, Value state) const {
  tile::SegmentOp record = segment;
  k.store(state, stateView, {record.getSlot(), head, k.index(0), k.index(0)},
          {1, 1, keyChannels, valueChannels});
}
