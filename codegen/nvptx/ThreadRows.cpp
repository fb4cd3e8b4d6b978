// Which tiles are computed a row at a time.
#include "codegen/nvptx/ThreadRows.h"

#include "dialects/tile/Distribution.h"

using namespace mlir;
using namespace effc::tile;

namespace effc::nvptx {

static size_t countOf(TileType type) {
  Distribution held = Distribution::of(type);
  return held.rows.offsets.size() * held.columns.offsets.size();
}

static bool isLarge(TileType type) {
  return type.isBlock() && !type.getSharedLayout() &&
         countOf(type) > kMostBeside;
}

/// The store that a tile goes to, if nothing else reads it.
static StoreOp storeOf(Value tile) {
  Type type = tile.getType();
  Block *block = tile.getParentBlock();
  while (tile.hasOneUse() && tile.getType() == type) {
    Operation *user = *tile.user_begin();
    if (user->getBlock() != block)
      return {};
    if (auto store = dyn_cast<StoreOp>(user))
      return store;
    if (!isa<MapOp>(user))
      return {};
    tile = user->getResult(0);
  }
  return {};
}

// What is loaded may lie where another store writes, or what other threads do behind
// a barrier.
static bool mayChangeBefore(Operation *load, StoreOp store) {
  for (Operation *op = load->getNextNode(); op != store; op = op->getNextNode())
    if (op->getNumRegions() > 0 ? !isa<MapOp>(op) : isa<StoreOp, BarrierOp>(op))
      return true;
  return false;
}

bool isMadeByRows(Value tile) {
  auto type = dyn_cast<TileType>(tile.getType());
  Operation *made = tile.getDefiningOp();
  if (!type || !isa_and_nonnull<LoadOp, MapOp>(made) || !isLarge(type))
    return false;
  StoreOp store = storeOf(tile);
  return store && !(isa<LoadOp>(made) && mayChangeBefore(made, store));
}

Rows rowsOf(ThreadState &t, Value tile) {
  if (isMadeByRows(tile)) {
    if (auto load = tile.getDefiningOp<LoadOp>())
      return rowsOf(t, load);
    return rowsOf(t, tile.getDefiningOp<MapOp>());
  }
  auto columns =
      Distribution::of(cast<TileType>(tile.getType())).columns.offsets.size();
  return [elements = t.tiles.lookup(tile), columns](size_t i) {
    ArrayRef<Value> all(elements);
    return Elements(all.slice(i * columns, columns));
  };
}

} // namespace effc::nvptx
