// Tiles in shared memory, and what is computed from there.
#include "codegen/nvptx/ThreadLowering.h"
#include "codegen/storage/StoredElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::stored;
using namespace effc::tile;

Value ThreadLowering::sharedAddress(int64_t byteOffset, Value element,
                                    Type type, Value slot) {
  Value base = LLVM::GEPOp::create(
      b, loc, sharedMemory.getType(), b.getI8Type(), sharedMemory,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byteOffset)});
  if (slot) {
    slot = arith::IndexCastOp::create(b, loc, b.getI32Type(), slot);
    base = LLVM::GEPOp::create(b, loc, sharedMemory.getType(), b.getI8Type(),
                               base, ArrayRef<LLVM::GEPArg>{slot});
  }
  Value offset = arith::IndexCastOp::create(b, loc, b.getI32Type(), element);
  return LLVM::GEPOp::create(b, loc, sharedMemory.getType(), type, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

// The number of an element in a tile's memory.
static std::pair<int64_t, int64_t> stridesOf(TileType type) {
  auto layout = cast<SharedAttr>(type.getLayout());
  if (type.isBlock())
    return {layout.getStride(), 1};
  return type.getRole() == Role::Row ? std::pair<int64_t, int64_t>{0, 1}
                                     : std::pair<int64_t, int64_t>{1, 0};
}

// Neighbours of a row are moved together where the rows begin at multiples of
// so many elements.
int64_t ThreadLowering::sharedLanes(const Held &held, TileType type) {
  auto layout = cast<SharedAttr>(type.getLayout());
  bool rowsAlong = type.getRole() != Role::Column;
  int64_t vector = !rowsAlong       ? 1
                   : type.isBlock() ? layout.getStride() & -layout.getStride()
                                    : kSharedAlignment;
  return lanesOf(held.distribution, std::min<int64_t>(vector, 4));
}

// Pieces are exchanged within a row.
Value ThreadLowering::swizzled(Value row, Value column) {
  Value turn = arith::AndIOp::create(b, loc, row, constant(kSwizzleRows - 1));
  return arith::XOrIOp::create(b, loc, column, mul(turn, kSwizzlePiece));
}

Value ThreadLowering::sharedPlace(TileType type, Value row, Value column,
                                  Value slot) {
  auto [rowStride, columnStride] = stridesOf(type);
  Value element = constant(0);
  if (rowStride)
    element = mul(row, rowStride);
  if (cast<SharedAttr>(type.getLayout()).getSwizzled()) {
    if (type.columns() > kSwizzledRow) {
      Value panel =
          arith::DivUIOp::create(b, loc, column, constant(kSwizzledRow));
      element = add(element, mul(panel, panelElements(type)));
      column = arith::RemUIOp::create(b, loc, column, constant(kSwizzledRow));
    }
    column = swizzled(row, column);
  }
  if (columnStride)
    element = rowStride ? add(element, column) : column;
  return sharedAddress(*cast<SharedAttr>(type.getLayout()).getOffset(), element,
                       storedType(type.getElementType(), 1), slot);
}

Value ThreadLowering::loadShared(TileType type, Value row, Value column) {
  return LLVM::LoadOp::create(b, loc, storedType(type.getElementType(), 1),
                              sharedPlace(type, row, column));
}

// From the place of row i and column j to that of the first ones.
static int64_t placeIn(TileType type, const Distribution &d, size_t i,
                       size_t j) {
  auto [rowStride, columnStride] = stridesOf(type);
  return d.rows.offsets[i] * rowStride + d.columns.offsets[j] * columnStride;
}

void ThreadLowering::storeShared(ArrayRef<Value> elements, const Held &held,
                                 TileType to) {
  int64_t lanes = sharedLanes(held, to);
  Type stored = storedType(to.getElementType(), 1);
  int64_t bytes = storage::Storage::get(to.getElementType()).blockBytes();
  bool swizzles = cast<SharedAttr>(to.getLayout()).getSwizzled();
  guarded(isFirstHolder(held.distribution), [&] {
    Counted counted = countedOf(held);
    Value first = sharedPlace(to, held.firstRow, held.firstColumn);
    for (size_t i = 0; i < held.rows(); ++i)
      guarded(counted.rows[i], [&] {
        for (size_t j = 0; j < held.columns(); j += lanes)
          guarded(counted.columns[j], [&] {
            Value run = runOf(&elements[i * held.columns() + j], lanes);
            LLVM::StoreOp::create(
                b, loc, narrow(b, loc, run, to.getElementType()),
                swizzles ? sharedPlace(to, rowAt(held, i), columnAt(held, j))
                         : further(first, stored,
                                   placeIn(to, held.distribution, i, j)),
                /*alignment=*/bytes * lanes);
          });
      });
  });
  clearPadding(to);
  fenceForUnits(to);
}

// Zeros past the shape of a block, up to the next multiples of the products'
// pieces; false where there is nothing.
bool ThreadLowering::clearPadding(TileType type) {
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
    auto loop =
        scf::ForOp::create(b, loc, thread, constant(count), constant(threads));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Value row = arith::DivUIOp::create(b, loc, at, constant(width));
    Value column = arith::RemUIOp::create(b, loc, at, constant(width));
    Value place = sharedPlace(type, add(row, constant(firstRow)),
                              add(column, constant(firstColumn)));
    Value zero = arith::ConstantOp::create(
        b, loc, b.getZeroAttr(storedType(type.getElementType(), 1)));
    LLVM::StoreOp::create(b, loc, zero, place);
  };
  clear(0, rows, columns, allColumns);
  clear(rows, allRows, 0, allColumns);
  return rows < allRows || columns < allColumns;
}

void ThreadLowering::lowerConvert(ConvertOp convert) {
  TileType from = convert.getTile().getType(),
           to = convert.getResult().getType();
  if (isa<SharedAttr>(to.getLayout())) {
    Elements elements = tiles.lookup(convert.getTile());
    return storeShared(elements, heldOf(from), to);
  }
  Held held = heldOf(to);
  int64_t lanes = sharedLanes(held, from);
  Type element = from.getElementType();
  Counted counted = countedOf(held);
  Value first = sharedPlace(from, held.firstRow, held.firstColumn),
        origin = sharedPlace(from, constant(0), constant(0));
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); j += lanes) {
      Value at = further(first, storedType(element, 1),
                         placeIn(from, held.distribution, i, j));
      if (Value valid = both(counted.rows[i], counted.columns[j]))
        at = select(valid, at, origin);
      llvm::append_range(elements, elementsOf(loadRun(at, element, lanes)));
    }
  tiles[convert.getResult()] = elements;
}

void ThreadLowering::lowerShift(ShiftOp shift) {
  TileType from = shift.getTile().getType();
  Held held = heldOf(shift.getResult().getType());
  Elements elements;
  for (size_t j = 0; j < held.columns(); ++j) {
    // A column before the first is a very large number.
    Value column = add(columnAt(held, j), constant(shift.getBy()));
    Value there = less(column, constant(from.columns()));
    column = select(there, column, constant(0));
    elements.push_back(select(there, loadShared(from, {}, column), f32(0)));
  }
  tiles[shift.getResult()] = elements;
}
