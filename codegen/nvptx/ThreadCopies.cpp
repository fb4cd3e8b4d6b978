// Rings in shared memory and the copies that fill them (cp.async).
#include "codegen/nvptx/ThreadLowering.h"
#include "codegen/storage/StoredElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::stored;
using namespace effc::tile;

// The sizes that cp.async copies, in bytes.
static constexpr int64_t kLeastCopy = 4, kMostCopy = 16;

static SharedAttr layoutOf(TileType type) {
  return cast<SharedAttr>(type.getLayout());
}

// What lies past the shape is never copied: it is cleared once, in every slot.
void ThreadLowering::lowerRing(RingOp ring) {
  if (ring.getArrivals())
    return startArrivals(ring);
  TileType type = ring.getResult().getType();
  SharedAttr layout = layoutOf(type);
  int64_t bytes = sharedBytes(type);
  bool cleared = false;
  for (int64_t slot = 0; slot < layout.getSlots(); ++slot)
    cleared |= clearPadding(type.withLayout(
        layout.withSlots(1).withOffset(*layout.getOffset() + slot * bytes)));
  if (cleared)
    fenceForUnits(type);
}

void ThreadLowering::lowerAwait(AwaitOp await) {
  NVVM::CpAsyncWaitGroupOp::create(b, loc, await.getPending());
  for (auto [ring, tile] :
       llvm::zip_equal(await.getRings(), await.getResults())) {
    auto type = cast<TileType>(ring.getType());
    fenceForUnits(type);
    slotBytes[tile] = mul(lookup(await.getSlot()), sharedBytes(type));
  }
}

// A run of elements that is too short for a copy, or not aligned, passes
// through registers; it too is there when the group has been awaited.
void ThreadLowering::lowerFetch(FetchOp fetch) {
  TileType type = fetch.getRing().getType();
  SharedAttr layout = layoutOf(type);
  Box box = boxOf(fetch.getView(), fetch.getIndices(), fetch.getSizes(), type,
                  fetch.getRows(), fetch.getColumns());
  int64_t element = storage::Storage::get(type.getElementType()).blockBytes();
  Held held = heldOf(
      type.withLayout(blockedFor(b.getContext(), type.rows(), type.columns(),
                                 threads, kMostCopy / element)));
  int64_t lanes = lanesOf(held.distribution, box.vector, /*copied=*/true);
  int64_t bytes = lanes * element;
  // Rows in shared memory start at multiples of 16 bytes.
  bool copies = bytes >= kLeastCopy && bytes <= kMostCopy;
  Value slot = mul(lookup(fetch.getSlot()), sharedBytes(type));
  const auto &[rows, columns] = held.distribution;
  Counted inTile = countedOf(held),
          counted = countedOf(held, box.rowLimit, box.columnLimit);
  // All ones before a limit, by arithmetic: a predicate for each row would be
  // more than a thread has. Null without a limit.
  auto maskOf = [&](Value first, int64_t offset, Value limit) -> Value {
    if (!limit)
      return {};
    auto word = [&](Value index) -> Value {
      return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
    };
    Value past = arith::SubIOp::create(
        b, loc, word(add(first, constant(offset))), word(limit));
    return arith::ShRSIOp::create(b, loc, past, i32(31));
  };
  SmallVector<Value> rowMasks, columnMasks;
  for (int64_t offset : rows.offsets)
    rowMasks.push_back(maskOf(held.firstRow, offset, box.rowLimit));
  for (int64_t offset : columns.offsets)
    columnMasks.push_back(maskOf(held.firstColumn, offset, box.columnLimit));
  Type stored = storedType(type.getElementType(), 1);
  Value firstTo = sharedPlace(type, held.firstRow, held.firstColumn, slot),
        firstFrom = heldPlace(box, held).address;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); j += lanes)
      guarded(both(inTile.rows[i], inTile.columns[j]), [&] {
        Value to =
            layout.getSwizzled() && (rows.offsets[i] % kSwizzleRows != 0 ||
                                     columns.offsets[j] != 0)
                ? sharedPlace(type, rowAt(held, i), columnAt(held, j), slot)
                : further(firstTo, stored,
                          rows.offsets[i] * layout.getStride() +
                              columns.offsets[j]);
        Value from = further(firstFrom, box.element,
                             rows.offsets[i] * box.rowStride +
                                 columns.offsets[j] * box.columnStride);
        if (copies) {
          // A copy that takes nothing does not look at its source.
          Value taken;
          if (Value mask = both(rowMasks[i], columnMasks[j]))
            taken = arith::AndIOp::create(b, loc, mask, i32(bytes));
          NVVM::CpAsyncOp::create(b, loc, to, from, bytes,
                                  bytes == kMostCopy
                                      ? NVVM::LoadCacheModifierKind::CG
                                      : NVVM::LoadCacheModifierKind::CA,
                                  taken);
          return;
        }
        Value valid;
        if (box.rowLimit)
          valid = counted.rows[i];
        if (box.columnLimit)
          valid = both(valid, counted.columns[j]);
        if (valid)
          from = select(valid, from, box.origin.address);
        Type moved = storedType(box.element, lanes);
        Value loaded = LLVM::LoadOp::create(b, loc, moved, from, bytes);
        if (valid)
          loaded =
              select(valid, loaded,
                     arith::ConstantOp::create(b, loc, b.getZeroAttr(moved)));
        LLVM::StoreOp::create(b, loc, loaded, to, bytes);
      });
}

void ThreadLowering::lowerCommit() {
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}
