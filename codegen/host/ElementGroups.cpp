// Which maps, stores and reductions share one loop nest.
#include "codegen/host/ElementGroup.h"
#include "codegen/host/KernelState.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

bool isElementwise(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  // A row that shares a scale is written when all of it is known.
  if (store &&
      isa<storage::BlockType>(store.getView().getType().getElementType()))
    return false;
  if (!store || store.getTile().getType().getRole() != Role::Column)
    return isa<MapOp, StoreOp, ReduceOp>(op);
  // Vectors run along a column only where its elements are neighbours.
  for (auto [size, stride] : llvm::zip_equal(
           store.getSizes(), store.getView().getType().getStrides()))
    if (size != 1)
      return stride == 1 && !store.getRows();
  return true;
}

static TileType iteratedType(Operation *op) {
  if (auto map = dyn_cast<MapOp>(op))
    return map.getResult().getType();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getTile().getType();
  return cast<ReduceOp>(op).getTile().getType();
}

Group shapeOf(Operation *op) {
  TileType type = iteratedType(op);
  bool column = type.getRole() == Role::Column;
  return {{{{op}, column ? 1 : type.rows()}},
          column ? type.rows() : type.columns(),
          column};
}

bool alongColumns(ReduceOp reduce) {
  return !reduce.getOverRows() || !reduce.getTile().getType().isBlock();
}

// Whether `op`, or a region of it, uses `value`.
static bool uses(Operation *op, Value value) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return op->isAncestor(user); });
}

static bool canJoinPass(KernelState &s, Operation *op) {
  Group shape = shapeOf(op);
  const Pass &last = s.group.passes.back();
  if (shape.passes[0].rows != last.rows || shape.columns != s.group.columns ||
      shape.isColumn != s.group.isColumn)
    return false;
  auto reduce = dyn_cast<ReduceOp>(op);
  // Columns that share nothing, as the gates of two tokens, would only share
  // registers.
  if (shape.isColumn && llvm::none_of(last.ops, [&](Operation *member) {
        return llvm::any_of(op->getOperands(), [&](Value operand) {
          return isa<TileType>(operand.getType()) &&
                 (operand.getDefiningOp() == member || uses(member, operand));
        });
      }))
    return false;
  for (Operation *member : last.ops) {
    auto other = dyn_cast<ReduceOp>(member);
    if (!other)
      continue;
    if (uses(op, other.getResult()))
      return false;
    if (reduce && alongColumns(reduce) != alongColumns(other))
      return false;
  }
  // By rows there is one pass.
  return s.group.passes.size() == 1 || !reduce || !alongColumns(reduce);
}

// Whether an element that a store writes is, to whoever reads the tile, the one
// at the same point.
static bool sameWindow(StoreOp store, Operation *reader) {
  auto load = dyn_cast<LoadOp>(reader); // rows that are gathered lie anywhere
  return load && store.getIndices() == load.getIndices() &&
         store.getSizes() == load.getSizes() &&
         store.getRows() == load.getRows() &&
         store.getColumns() == load.getColumns();
}

// The view that a tile is a window of, or null.
static Value viewOf(Operation *op) {
  if (auto load = dyn_cast_or_null<LoadOp>(op))
    return load.getView();
  if (auto gather = dyn_cast_or_null<GatherRowsOp>(op))
    return gather.getView();
  return {};
}

// Whether a store of the group, or `op` as one, would write what another point
// of the group has still to read.
static bool wouldOverwrite(KernelState &s, Operation *op) {
  SmallVector<Operation *> ops = s.group.ops();
  ops.push_back(op);
  for (Operation *member : ops) {
    auto store = dyn_cast<StoreOp>(member);
    if (!store)
      continue;
    for (Operation *reader : ops)
      for (Value operand : reader->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (viewOf(source) == store.getView() && !sameWindow(store, source))
          return true;
      }
  }
  return false;
}

static bool canFollow(KernelState &s, Operation *op) {
  Group shape = shapeOf(op);
  if (shape.columns != s.group.columns || shape.isColumn || s.group.isColumn)
    return false;
  SmallVector<Operation *> ops = s.group.ops();
  ops.push_back(op);
  for (Operation *member : ops)
    if (auto reduce = dyn_cast<ReduceOp>(member))
      if (alongColumns(reduce))
        return false;
  // Ops that have nothing to do with one another gain nothing.
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return operand.getDefiningOp() && s.group.contains(operand.getDefiningOp());
  });
}

void joinGroup(KernelState &s, Operation *op) {
  auto fits = [&] {
    return s.group.empty() ||
           ((canJoinPass(s, op) || canFollow(s, op)) && !wouldOverwrite(s, op));
  };
  if (!fits())
    flushGroup(s);
  // This may flush too.
  if (auto store = dyn_cast<StoreOp>(op))
    keepWindowsBefore(s, store);
  if (s.group.empty())
    s.group = shapeOf(op);
  else if (canJoinPass(s, op))
    s.group.passes.back().ops.push_back(op);
  else
    s.group.passes.push_back(shapeOf(op).passes[0]);
}

// Copies a tile that is a window, since what it shows is about to change.
static void keepWindow(KernelState &s, Operation *reader) {
  Value tile = reader->getResult(0);
  auto found = s.places.find(tile);
  if (found == s.places.end() || found->second.padded)
    return;
  flushGroup(s);
  auto type = cast<TileType>(tile.getType());
  Place kept = s.allocate(type);
  s.copy(tile, type, kept);
  s.places[tile] = kept;
}

// A window reads memory when its tile is used. Where a store comes between a
// load from the same view and a later use, the loaded tile is copied first.
void keepWindowsBefore(KernelState &s, StoreOp store) {
  for (Operation *reader : store.getView().getUsers()) {
    if (viewOf(reader) != store.getView() ||
        reader->getBlock() != store->getBlock() ||
        !reader->isBeforeInBlock(store))
      continue;
    bool usedLater =
        llvm::any_of(reader->getResult(0).getUsers(), [&](Operation *later) {
          Operation *inBlock = store->getBlock()->findAncestorOpInBlock(*later);
          return inBlock && store->isBeforeInBlock(inBlock);
        });
    bool movesIt =
        store.getTile() == reader->getResult(0) && !sameWindow(store, reader);
    if (usedLater || movesIt)
      keepWindow(s, reader);
  }
}

// The same where the store stands in a loop: its second iteration would read
// what the first has stored.
void keepWindowsBeforeLoop(KernelState &s, Operation *loop) {
  loop->walk([&](StoreOp store) {
    for (Operation *reader : store.getView().getUsers()) {
      if (viewOf(reader) != store.getView() ||
          reader->getBlock() != loop->getBlock() ||
          !reader->isBeforeInBlock(loop))
        continue;
      if (llvm::any_of(reader->getResult(0).getUsers(), [&](Operation *user) {
            Operation *inBlock = loop->getBlock()->findAncestorOpInBlock(*user);
            // What an scf.for itself takes is copied where it starts.
            return inBlock && !(user == loop && isa<scf::ForOp>(loop)) &&
                   (inBlock == loop || loop->isBeforeInBlock(inBlock));
          }))
        keepWindow(s, reader);
    }
  });
}

} // namespace effc::host
