// Rings that boxes fill (TMA): one thread begins a copy, an mbarrier of each
// slot counts the bytes that have come.
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

/// Address space of the shared memory of a cluster, which a copy of a box
/// names.
static constexpr unsigned kClusterSpace = 7;
/// How long a thread sleeps at most before it looks again, in nanoseconds.
static constexpr int32_t kLongestSleep = 10000000;

static SharedAttr layoutOf(Value tile) {
  return cast<SharedAttr>(cast<TileType>(tile.getType()).getLayout());
}

BoxMapAttr ThreadLowering::boxMapOf(FetchBoxOp fetch) {
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

SmallVector<BoxMapAttr> ThreadLowering::boxMapsOf(KernelOp kernel) {
  llvm::SetVector<BoxMapAttr> maps;
  kernel.getBody().walk(
      [&](FetchBoxOp fetch) { maps.insert(boxMapOf(fetch)); });
  return maps.takeVector();
}

Value ThreadLowering::isFirstThread() {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                               constant(0));
}

// The mbarrier of a slot of `ring`.
Value ThreadLowering::arrivalAt(RingOp ring, Value slot) {
  return sharedAddress(*ring.getArrivals(), slot, b.getI64Type());
}

// Only the thread that begins the copies arrives; bytes do the rest.
void ThreadLowering::startArrivals(RingOp ring) {
  guarded(isFirstThread(), [&] {
    for (int64_t slot = 0; slot < layoutOf(ring).getSlots(); ++slot)
      NVVM::MBarrierInitOp::create(b, loc, arrivalAt(ring, constant(slot)),
                                   i32(1), /*predicate=*/Value());
    fenceForUnits(ring.getResult().getType());
  });
}

void ThreadLowering::lowerFetchBox(FetchBoxOp fetch) {
  auto ring = fetch.getRing().getDefiningOp<RingOp>();
  TileType type = fetch.getRing().getType();
  int64_t bytes = storage::Storage::get(type.getElementType())
                      .bytes(type.rows() * type.columns());
  Value slot = slotOfTurn(ring, fetch.getTurn());
  SmallVector<Value> coordinates; // the fastest dimension first
  for (Value index : llvm::reverse(fetch.getIndices()))
    coordinates.push_back(
        arith::IndexCastOp::create(b, loc, b.getI32Type(), lookup(index)));
  guarded(isFirstThread(), [&] {
    Value arrival = arrivalAt(ring, slot);
    NVVM::MBarrierArriveExpectTxOp::create(
        b, loc, /*res=*/Type(), arrival, i32(bytes), NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
    Value to = sharedPlace(type, constant(0), constant(0),
                           mul(slot, sharedBytes(type)));
    to = LLVM::AddrSpaceCastOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), kClusterSpace), to);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, loc, to, boxMaps.lookup(boxMapOf(fetch)), coordinates, arrival,
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  });
}

// A slot's mbarrier changes its phase with each of its turns.
void ThreadLowering::lowerAwaitBox(AwaitBoxOp await) {
  auto ring = await.getRing().getDefiningOp<RingOp>();
  Value slot = slotOfTurn(ring, await.getTurn());
  Value round = arith::DivUIOp::create(b, loc, lookup(await.getTurn()),
                                       constant(layoutOf(ring).getSlots()));
  Value parity = arith::AndIOp::create(
      b, loc, arith::IndexCastOp::create(b, loc, b.getI32Type(), round),
      i32(1));
  NVVM::MBarrierTryWaitParityOp::create(b, loc, arrivalAt(ring, slot), parity,
                                        i32(kLongestSleep));
  slotBytes[await.getResult()] =
      mul(slot, sharedBytes(ring.getResult().getType()));
}

Value ThreadLowering::slotOfTurn(RingOp ring, Value turn) {
  return arith::RemUIOp::create(b, loc, lookup(turn),
                                constant(layoutOf(ring).getSlots()));
}
