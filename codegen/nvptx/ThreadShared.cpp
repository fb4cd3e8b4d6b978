// Tiles in shared memory, and what is computed from there.
#include "codegen/nvptx/ThreadShared.h"
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadMemory.h"
#include "codegen/storage/StoredElements.h"

#include "dialects/tile/units/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using namespace effc::tile;

namespace effc::nvptx {

Value sharedAddress(ThreadState &t, int64_t byteOffset, Value element,
                    Type type, Value slot) {
  Value base = LLVM::GEPOp::create(
      t.b, t.sharedMemory.getType(), t.b.getI8Type(), t.sharedMemory,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byteOffset)});
  if (slot) {
    slot = arith::IndexCastOp::create(t.b, t.b.getI32Type(), slot);
    base = LLVM::GEPOp::create(t.b, t.sharedMemory.getType(), t.b.getI8Type(),
                               base, ArrayRef<LLVM::GEPArg>{slot});
  }
  Value offset = arith::IndexCastOp::create(t.b, t.b.getI32Type(), element);
  return LLVM::GEPOp::create(t.b, t.sharedMemory.getType(), type, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

// The number of an element in a tile's memory.
static std::pair<int64_t, int64_t> stridesOf(TileType type) {
  SharedAttr layout = type.getSharedLayout();
  if (type.isBlock())
    return {layout.getStride(), 1};
  return type.getRole() == Role::Row ? std::pair<int64_t, int64_t>{0, 1}
                                     : std::pair<int64_t, int64_t>{1, 0};
}

void fenceForUnits(ThreadState &t) {
  NVVM::FenceProxyOp::create(
      t.b,
      NVVM::ProxyKindAttr::get(t.b.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(t.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

// Neighbours of a row are moved together where the rows begin at multiples of
// so many elements.
static int64_t sharedLanes(const Held &held, TileType type) {
  SharedAttr layout = type.getSharedLayout();
  bool rowsAlong = type.getRole() != Role::Column;
  int64_t vector = !rowsAlong       ? 1
                   : type.isBlock() ? layout.getStride() & -layout.getStride()
                                    : kSharedAlignment;
  return lanesOf(held.distribution, std::min<int64_t>(vector, 4));
}

// Pieces are exchanged within a row.
static Value swizzled(ThreadState &t, Value row, Value column) {
  Value turn = arith::AndIOp::create(t.b, row, t.constant(kSwizzleRows - 1));
  return arith::XOrIOp::create(t.b, column, t.mul(turn, kSwizzlePiece));
}

Value sharedPlace(ThreadState &t, TileType type, Value row, Value column,
                  Value slot) {
  auto [rowStride, columnStride] = stridesOf(type);
  Value element = t.constant(0);
  if (rowStride)
    element = t.mul(row, rowStride);
  if (type.getSharedLayout().getSwizzled()) {
    if (type.columns() > kSwizzledRow) {
      Value panel =
          arith::DivUIOp::create(t.b, column, t.constant(kSwizzledRow));
      element = t.add(element, t.mul(panel, panelElements(type)));
      column = arith::RemUIOp::create(t.b, column, t.constant(kSwizzledRow));
    }
    column = swizzled(t, row, column);
  }
  if (columnStride)
    element = rowStride ? t.add(element, column) : column;
  return sharedAddress(t, *type.getSharedLayout().getOffset(), element,
                       storedType(type.getElementType(), 1), slot);
}

Value loadShared(ThreadState &t, TileType type, Value row, Value column) {
  return LLVM::LoadOp::create(t.b, storedType(type.getElementType(), 1),
                              sharedPlace(t, type, row, column));
}

// From the place of row i and column j to that of the first ones.
static int64_t placeIn(TileType type, const Distribution &d, size_t i,
                       size_t j) {
  auto [rowStride, columnStride] = stridesOf(type);
  return d.rows.offsets[i] * rowStride + d.columns.offsets[j] * columnStride;
}

void storeShared(ThreadState &t, ArrayRef<Value> elements, const Held &held,
                 Value tile) {
  auto to = cast<TileType>(tile.getType());
  int64_t lanes = sharedLanes(held, to);
  Type stored = storedType(to.getElementType(), 1);
  int64_t bytes = storage::Storage::get(to.getElementType()).blockBytes();
  bool swizzles = to.getSharedLayout().getSwizzled();
  t.guarded(isFirstHolder(t, held.distribution), [&] {
    Counted counted = countedOf(t, held);
    Value first = sharedPlace(t, to, held.firstRow, held.firstColumn);
    for (size_t i = 0; i < held.rows(); ++i)
      t.guarded(counted.rows[i], [&] {
        for (size_t j = 0; j < held.columns(); j += lanes)
          t.guarded(counted.columns[j], [&] {
            Value run = runOf(t, &elements[i * held.columns() + j], lanes);
            LLVM::StoreOp::create(
                t.b, narrow(t.b, t.loc(), run, to.getElementType()),
                swizzles ? sharedPlace(t, to, rowAt(t, held, i),
                                       columnAt(t, held, j))
                         : t.further(first, stored,
                                     placeIn(to, held.distribution, i, j)),
                /*alignment=*/bytes * lanes);
          });
      });
  });
  clearPadding(t, to);
  if (mayBeReadBesideThreads(tile))
    fenceForUnits(t);
}

// Zeros past the shape of a block, up to the next multiples of the products'
// pieces; false where there is nothing.
bool clearPadding(ThreadState &t, TileType type) {
  if (!type.isBlock())
    return false;
  int64_t rows = type.rows(), columns = type.columns();
  int64_t allRows = llvm::alignTo(rows, kSharedTile),
          allColumns = llvm::alignTo(columns, kSharedTile);
  auto clear = [&](int64_t firstRow, int64_t endRow, int64_t firstColumn,
                   int64_t endColumn) {
    int64_t width = endColumn - firstColumn,
            count = (endRow - firstRow) * width;
    if (count == 0)
      return;
    auto loop = scf::ForOp::create(t.b, t.thread, t.constant(count),
                                   t.constant(t.threads));
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Value row = arith::DivUIOp::create(t.b, at, t.constant(width));
    Value column = arith::RemUIOp::create(t.b, at, t.constant(width));
    Value place = sharedPlace(t, type, t.add(row, t.constant(firstRow)),
                              t.add(column, t.constant(firstColumn)));
    Value zero = arith::ConstantOp::create(
        t.b, t.b.getZeroAttr(storedType(type.getElementType(), 1)));
    LLVM::StoreOp::create(t.b, zero, place);
  };
  clear(0, rows, columns, allColumns);
  clear(rows, allRows, 0, allColumns);
  return rows < allRows || columns < allColumns;
}

void lower(ConvertOp convert, ThreadState &t) {
  TileType from = convert.getTile().getType(),
           to = convert.getResult().getType();
  if (to.getSharedLayout()) {
    Elements elements = t.tiles.lookup(convert.getTile());
    return storeShared(t, elements, heldOf(t, from), convert.getResult());
  }
  Held held = heldOf(t, to);
  int64_t lanes = sharedLanes(held, from);
  Type element = from.getElementType();
  Counted counted = countedOf(t, held);
  Value first = sharedPlace(t, from, held.firstRow, held.firstColumn),
        origin = sharedPlace(t, from, t.constant(0), t.constant(0));
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); j += lanes) {
      Value at = t.further(first, storedType(element, 1),
                           placeIn(from, held.distribution, i, j));
      if (Value valid = t.both(counted.rows[i], counted.columns[j]))
        at = t.select(valid, at, origin);
      llvm::append_range(elements,
                         elementsOf(t, loadRun(t, at, element, lanes)));
    }
  t.tiles[convert.getResult()] = elements;
}

void lower(ShiftOp shift, ThreadState &t) {
  TileType from = shift.getTile().getType();
  Held held = heldOf(t, shift.getResult().getType());
  Elements elements;
  for (size_t j = 0; j < held.columns(); ++j) {
    // A column before the first is a very large number.
    Value column = t.add(columnAt(t, held, j), t.constant(shift.getBy()));
    Value there = t.less(column, t.constant(from.columns()));
    column = t.select(there, column, t.constant(0));
    elements.push_back(
        t.select(there, loadShared(t, from, {}, column), t.f32(0)));
  }
  t.tiles[shift.getResult()] = elements;
}

} // namespace effc::nvptx
