#include "passes/seq_to_tile/builders/linear/PieceMemory.h"

#include "passes/kernel_facts/ChunkKernels.h"
#include "passes/kernel_facts/MethodSizes.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

PieceMemory::PieceMemory(ChunkTiles &tiles, const Recurrence &r, int64_t places,
                         int64_t transitionBlocks, int64_t tailRows,
                         bool written)
    : tiles(tiles), k(tiles.k), r(r), transitionBlocks(transitionBlocks) {
  int64_t values = r.map.valueChannels, block = r.map.getValueBlock();
  int64_t behind =
      hasTransitions(r.linear)
          ? transitionBlocks * block
          : int64_t(llvm::alignTo(values / block, kSectorElements));
  view = k.scratch(
      {places, r.map.heads, r.map.keyChannels + tailRows, values + behind},
      written);
}

Value PieceMemory::placeOfDecays() {
  Value block = k.divide(r.firstValue, r.map.getValueBlock()).first;
  return k.add(k.index(r.map.valueChannels), block);
}

void PieceMemory::keep(Value place, Value columns, Value decays) {
  int64_t keys = r.map.keyChannels;
  k.store(columns, view, {place, r.head, k.index(0), r.firstColumn},
          {1, 1, keys, r.map.getValueBlock()});
  if (!decays)
    return;
  tile::TileType type = k.columnType(keys);
  if (!isa<tile::TileType>(decays.getType()))
    decays = tile::SplatOp::create(tiles.b, k.loc(), type, decays);
  k.store(decays, view, {place, r.head, k.index(0), placeOfDecays()},
          {1, 1, keys, 1});
}

ConvolvedRows::Copy PieceMemory::tailOf(Value place) {
  return {
      Value(), view, {place, r.head}, k.index(r.map.keyChannels), r.firstValue};
}

Value PieceMemory::added(Value place) {
  return k.load(view, {place, r.head, k.index(0), r.firstValue},
                {1, 1, r.map.keyChannels, r.map.getValueBlock()},
                tiles.stateType);
}

Value PieceMemory::overPlaces(Value from, Value to, Value state, Step step) {
  auto loop = scf::ForOp::create(tiles.b, k.loc(), from, to, k.index(1),
                                 ValueRange(state));
  OpBuilder::InsertionGuard guard(tiles.b);
  tiles.b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(tiles.b, k.loc(),
                       step(loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

// A state is rounded by no product: what is lost of it is lost for all tokens
// that follow.
Value PieceMemory::sum(Value from, Value to) {
  int64_t keys = r.map.keyChannels;
  Value zero = k.index(0), none = tiles.zeros(tiles.stateType);
  if (!hasTransitions(r.linear))
    return overPlaces(from, to, none, [&](Value place, Value state) {
      Value own = added(place);
      Value decays = k.load(view, {place, r.head, zero, placeOfDecays()},
                            {1, 1, keys, 1}, k.columnType(keys));
      return k.map(tiles.stateType, {state, own, decays},
                   [&](OpBuilder &builder, ValueRange e) -> Value {
                     return math::FmaOp::create(builder, k.loc(), e[0],
                                                emitExp(builder, k.loc(), e[2]),
                                                e[1]);
                   });
    });
  Value second = k.min(k.add(from, k.index(1)), to);
  Value first = overPlaces(from, second, none,
                           [&](Value place, Value) { return added(place); });
  if (transitionBlocks == 0)
    return first;
  Value behindValues = k.index(r.map.valueChannels);
  return overPlaces(second, to, first, [&](Value place, Value state) {
    Value transition =
        k.load(view, {place, r.head, zero, behindValues}, {1, 1, keys, keys},
               k.blockType(keys, keys, tile::Role::Operand));
    return k.exactDot(added(place), transition, state);
  });
}
