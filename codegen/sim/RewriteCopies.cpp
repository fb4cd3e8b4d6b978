// Asynchronous copies, and what waits for them.
#include "codegen/sim/Rewrites.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace effc;

namespace effc::sim {

static LogicalResult rewrite(NVVM::CpAsyncOp op, RewriteState &s) {
  Value bytes = s.i32(op.getSize());
  s.call(EFFC_SIM_CALL(copyAsync), {},
         {s.plain(op.getDst()), s.plain(op.getSrc()), bytes,
          op.getCpSize() ? op.getCpSize() : bytes},
         /*withSite=*/true);
  return erase(op);
}

static LogicalResult rewrite(NVVM::CpAsyncCommitGroupOp op, RewriteState &s) {
  s.call(EFFC_SIM_CALL(commitGroup), {}, {}, /*withSite=*/true);
  return erase(op);
}

static LogicalResult rewrite(NVVM::CpAsyncWaitGroupOp op, RewriteState &s) {
  s.call(EFFC_SIM_CALL(waitGroup), {}, s.i32(op.getN()), /*withSite=*/true);
  return erase(op);
}

static LogicalResult rewrite(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op,
                             RewriteState &s) {
  if (op.getCoordinates().size() != 2 || op.getMulticastMask() ||
      op.getPredicate())
    return op.emitError("the simulator copies boxes of two dimensions to their "
                        "own block, without a predicate");
  s.call(EFFC_SIM_CALL(copyBox), {},
         {s.plain(op.getDstMem()), op.getTmaDescriptor(),
          op.getCoordinates()[0], op.getCoordinates()[1],
          s.plain(op.getMbar())},
         /*withSite=*/true);
  return erase(op);
}

static LogicalResult replaceArrival(RewriteState &s, Operation *op,
                                    size_t entryNumber, Value address,
                                    Value number) {
  s.call(entryNumber, {}, {s.plain(address), number}, /*withSite=*/true);
  return erase(op);
}

static LogicalResult rewrite(NVVM::MBarrierInitOp op, RewriteState &s) {
  return replaceArrival(s, op, EFFC_SIM_CALL(startArrivals), op.getAddr(),
                        op.getCount());
}

static LogicalResult rewrite(NVVM::MBarrierArriveExpectTxOp op,
                             RewriteState &s) {
  return replaceArrival(s, op, EFFC_SIM_CALL(expectBytes), op.getAddr(),
                        op.getTxcount());
}

static LogicalResult rewrite(NVVM::MBarrierTryWaitParityOp op,
                             RewriteState &s) {
  return replaceArrival(s, op, EFFC_SIM_CALL(waitArrivals), op.getAddr(),
                        op.getPhase());
}

static LogicalResult rewrite(NVVM::FenceProxyOp op, RewriteState &s) {
  if (op.getKind() != NVVM::ProxyKind::async_shared)
    return op.emitError("the simulator knows fences of shared memory for "
                        "asynchronous units only");
  s.call(EFFC_SIM_CALL(fenceProxy), {}, {}, /*withSite=*/true);
  return erase(op);
}

void addCopies(Rewrites &rewrites) {
  rewrites.add<NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp,
               NVVM::CpAsyncWaitGroupOp,
               NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
               NVVM::MBarrierInitOp, NVVM::MBarrierArriveExpectTxOp,
               NVVM::MBarrierTryWaitParityOp, NVVM::FenceProxyOp>(
      [](auto op, RewriteState &s) { return rewrite(op, s); });
}

} // namespace effc::sim
