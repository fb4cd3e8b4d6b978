// Rings that boxes fill (TMA): one thread begins a copy, an mbarrier of each
// slot counts the bytes that have come.
#include "codegen/nvptx/ThreadBoxes.h"
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadShared.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::nvptx {

/// Address space of the shared memory of a cluster, which a copy of a box
/// names.
static constexpr unsigned kClusterSpace = 7;
/// How long a thread sleeps at most before it looks again, in nanoseconds.
static constexpr int32_t kLongestSleep = 10000000;

static SharedAttr layoutOf(Value tile) {
  return cast<TileType>(tile.getType()).getSharedLayout();
}

static BoxMapAttr boxMapOf(FetchBoxOp fetch) {
  auto operand = cast<BlockArgument>(fetch.getView());
  auto kernel = cast<KernelOp>(operand.getOwner()->getParentOp());
  ViewType view = fetch.getView().getType();
  ArrayRef<int64_t> sizes = fetch.getSizes();
  return BoxMapAttr::get(fetch.getContext(),
                         llvm::find(kernel.getOperandArguments(), operand) -
                             kernel.getOperandArguments().begin(),
                         view.getShape()[0], view.getShape()[1],
                         view.getStrides()[0], sizes[0], sizes[1],
                         view.getElementType());
}

SmallVector<BoxMapAttr> boxMapsOf(KernelOp kernel) {
  llvm::SetVector<BoxMapAttr> maps;
  kernel.getBody().walk(
      [&](FetchBoxOp fetch) { maps.insert(boxMapOf(fetch)); });
  return maps.takeVector();
}

static Value isFirstThread(ThreadState &t) {
  return arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq, t.thread,
                               t.constant(0));
}

static Value slotOfTurn(ThreadState &t, RingOp ring, Value turn) {
  return arith::RemUIOp::create(t.b, t.lookup(turn),
                                t.constant(layoutOf(ring).getSlots()));
}

// The mbarrier of a slot of `ring`.
static Value arrivalAt(ThreadState &t, RingOp ring, Value slot) {
  return sharedAddress(t, *ring.getArrivals(), slot, t.b.getI64Type());
}

// Only the thread that begins the copies arrives; bytes do the rest.
void startArrivals(ThreadState &t, RingOp ring) {
  t.guarded(isFirstThread(t), [&] {
    for (int64_t slot = 0; slot < layoutOf(ring).getSlots(); ++slot)
      NVVM::MBarrierInitOp::create(t.b, arrivalAt(t, ring, t.constant(slot)),
                                   t.i32(1), /*predicate=*/Value());
    fenceForUnits(t); // boxes arrive at them
  });
}

void lower(FetchBoxOp fetch, ThreadState &t) {
  auto ring = fetch.getRing().getDefiningOp<RingOp>();
  TileType type = fetch.getRing().getType();
  int64_t bytes = storage::Storage::get(type.getElementType())
                      .bytes(type.rows() * type.columns());
  Value slot = slotOfTurn(t, ring, fetch.getTurn());
  SmallVector<Value> coordinates; // the fastest dimension first
  for (Value index : llvm::reverse(fetch.getIndices()))
    coordinates.push_back(
        arith::IndexCastOp::create(t.b, t.b.getI32Type(), t.lookup(index)));
  t.guarded(isFirstThread(t), [&] {
    Value arrival = arrivalAt(t, ring, slot);
    NVVM::MBarrierArriveExpectTxOp::create(
        t.b, /*res=*/Type(), arrival, t.i32(bytes), NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
    Value to = sharedPlace(t, type, t.constant(0), t.constant(0),
                           t.mul(slot, sharedBytes(type)));
    to = LLVM::AddrSpaceCastOp::create(
        t.b, LLVM::LLVMPointerType::get(t.b.getContext(), kClusterSpace), to);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        t.b, to, t.boxMaps.lookup(boxMapOf(fetch)), coordinates, arrival,
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  });
}

// A slot's mbarrier changes its phase with each of its turns.
void lower(AwaitBoxOp await, ThreadState &t) {
  auto ring = await.getRing().getDefiningOp<RingOp>();
  Value slot = slotOfTurn(t, ring, await.getTurn());
  Value round = arith::DivUIOp::create(t.b, t.lookup(await.getTurn()),
                                       t.constant(layoutOf(ring).getSlots()));
  Value parity = arith::AndIOp::create(
      t.b, arith::IndexCastOp::create(t.b, t.b.getI32Type(), round), t.i32(1));
  NVVM::MBarrierTryWaitParityOp::create(t.b, arrivalAt(t, ring, slot), parity,
                                        t.i32(kLongestSleep));
  t.slotBytes[await.getResult()] =
      t.mul(slot, sharedBytes(ring.getResult().getType()));
}

} // namespace effc::nvptx
