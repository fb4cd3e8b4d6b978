// Rings in shared memory and the copies that fill them (cp.async).
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadBoxes.h"
#include "codegen/nvptx/ThreadMemory.h"
#include "codegen/nvptx/ThreadShared.h"
#include "codegen/storage/StoredElements.h"

#include "dialects/tile/units/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using namespace effc::tile;

namespace effc::nvptx {

// The sizes that cp.async copies, in bytes.
static constexpr int64_t kLeastCopy = 4, kMostCopy = 16;

static SharedAttr layoutOf(TileType type) { return type.getSharedLayout(); }

// What lies past the shape is never copied: it is cleared once, in every slot.
void lower(RingOp ring, ThreadState &t) {
  if (ring.getArrivals())
    return startArrivals(t, ring);
  TileType type = ring.getResult().getType();
  SharedAttr layout = layoutOf(type);
  int64_t bytes = sharedBytes(type);
  bool cleared = false;
  for (int64_t slot = 0; slot < layout.getSlots(); ++slot)
    cleared |= clearPadding(t, type.withLayout(layout.withSlots(1).withOffset(
                                   *layout.getOffset() + slot * bytes)));
  if (cleared && mayBeReadBesideThreads(ring.getResult()))
    fenceForUnits(t);
}

void lower(AwaitOp await, ThreadState &t) {
  NVVM::CpAsyncWaitGroupOp::create(t.b, await.getPending());
  for (auto [ring, tile] :
       llvm::zip_equal(await.getRings(), await.getResults())) {
    auto type = cast<TileType>(ring.getType());
    if (mayBeReadBesideThreads(ring))
      fenceForUnits(t);
    t.slotBytes[tile] = t.mul(t.lookup(await.getSlot()), sharedBytes(type));
  }
}

// A run of elements that is too short for a copy, or not aligned, passes
// through registers; it too is there when the group has been awaited.
void lower(FetchOp fetch, ThreadState &t) {
  TileType type = fetch.getRing().getType();
  SharedAttr layout = layoutOf(type);
  Box box = boxOf(t, fetch.getView(), fetch.getIndices(), fetch.getSizes(),
                  type, fetch.getRows(), fetch.getColumns());
  int64_t element = storage::Storage::get(type.getElementType()).blockBytes();
  Held held = heldOf(t, type.withLayout(blockedFor(
                            t.b.getContext(), type.rows(), type.columns(),
                            t.threads, kMostCopy / element)));
  int64_t lanes = lanesOf(held.distribution, box.vector, /*copied=*/true);
  int64_t bytes = lanes * element;
  // Rows in shared memory start at multiples of 16 bytes.
  bool copies = bytes >= kLeastCopy && bytes <= kMostCopy;
  Value slot = t.mul(t.lookup(fetch.getSlot()), sharedBytes(type));
  const auto &[rows, columns] = held.distribution;
  Counted inTile = countedOf(t, held),
          counted = countedOf(t, held, box.rowLimit, box.columnLimit);
  // All ones before a limit, by arithmetic: a predicate for each row would be
  // more than a thread has. Null without a limit.
  auto maskOf = [&](Value first, int64_t offset, Value limit) -> Value {
    if (!limit)
      return {};
    auto word = [&](Value index) -> Value {
      return arith::IndexCastOp::create(t.b, t.b.getI32Type(), index);
    };
    Value past = arith::SubIOp::create(
        t.b, word(t.add(first, t.constant(offset))), word(limit));
    return arith::ShRSIOp::create(t.b, past, t.i32(31));
  };
  SmallVector<Value> rowMasks, columnMasks;
  for (int64_t offset : rows.offsets)
    rowMasks.push_back(maskOf(held.firstRow, offset, box.rowLimit));
  for (int64_t offset : columns.offsets)
    columnMasks.push_back(maskOf(held.firstColumn, offset, box.columnLimit));
  Type stored = storedType(type.getElementType(), 1);
  Value firstTo = sharedPlace(t, type, held.firstRow, held.firstColumn, slot),
        firstFrom = heldPlace(t, box, held).address;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); j += lanes)
      t.guarded(t.both(inTile.rows[i], inTile.columns[j]), [&] {
        Value to =
            layout.getSwizzled() && (rows.offsets[i] % kSwizzleRows != 0 ||
                                     columns.offsets[j] != 0)
                ? sharedPlace(t, type, rowAt(t, held, i), columnAt(t, held, j),
                              slot)
                : t.further(firstTo, stored,
                            rows.offsets[i] * layout.getStride() +
                                columns.offsets[j]);
        Value from = t.further(firstFrom, box.element,
                               rows.offsets[i] * box.rowStride +
                                   columns.offsets[j] * box.columnStride);
        if (copies) {
          // A copy that takes nothing does not look at its source.
          Value taken;
          if (Value mask = t.both(rowMasks[i], columnMasks[j]))
            taken = arith::AndIOp::create(t.b, mask, t.i32(bytes));
          NVVM::CpAsyncOp::create(t.b, to, from, bytes,
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
          valid = t.both(valid, counted.columns[j]);
        if (valid)
          from = t.select(valid, from, box.origin.address);
        Type moved = storedType(box.element, lanes);
        Value loaded = LLVM::LoadOp::create(t.b, moved, from, bytes);
        if (valid)
          loaded =
              t.select(valid, loaded,
                       arith::ConstantOp::create(t.b, t.b.getZeroAttr(moved)));
        LLVM::StoreOp::create(t.b, loaded, to, bytes);
      });
}

void lower(CommitOp, ThreadState &t) {
  NVVM::CpAsyncCommitGroupOp::create(t.b);
}

} // namespace effc::nvptx
