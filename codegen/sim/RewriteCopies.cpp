// Asynchronous copies, and what waits for them.
#include "codegen/sim/KernelRewrite.h"

using namespace mlir;
using namespace effc;
using namespace effc::sim;

LogicalResult KernelRewrite::rewriteOp(NVVM::CpAsyncOp op) {
  Value bytes = i32(op.getSize());
  call(EFFC_SIM_CALL(copyAsync), {},
       {plain(op.getDst()), plain(op.getSrc()), bytes,
        op.getCpSize() ? op.getCpSize() : bytes},
       /*withSite=*/true);
  return erase(op);
}

LogicalResult KernelRewrite::rewriteOp(NVVM::CpAsyncCommitGroupOp op) {
  call(EFFC_SIM_CALL(commitGroup), {}, {}, /*withSite=*/true);
  return erase(op);
}

LogicalResult KernelRewrite::rewriteOp(NVVM::CpAsyncWaitGroupOp op) {
  call(EFFC_SIM_CALL(waitGroup), {}, i32(op.getN()), /*withSite=*/true);
  return erase(op);
}

LogicalResult
KernelRewrite::rewriteOp(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
  if (op.getCoordinates().size() != 2 || op.getMulticastMask() ||
      op.getPredicate())
    return op.emitError("the simulator copies boxes of two dimensions to their "
                        "own block, without a predicate");
  call(EFFC_SIM_CALL(copyBox), {},
       {plain(op.getDstMem()), op.getTmaDescriptor(), op.getCoordinates()[0],
        op.getCoordinates()[1], plain(op.getMbar())},
       /*withSite=*/true);
  return erase(op);
}

LogicalResult KernelRewrite::replaceArrival(Operation *op, size_t entryNumber,
                                            Value address, Value number) {
  call(entryNumber, {}, {plain(address), number}, /*withSite=*/true);
  return erase(op);
}

LogicalResult KernelRewrite::rewriteOp(NVVM::MBarrierInitOp op) {
  return replaceArrival(op, EFFC_SIM_CALL(startArrivals), op.getAddr(),
                        op.getCount());
}

LogicalResult KernelRewrite::rewriteOp(NVVM::MBarrierArriveExpectTxOp op) {
  return replaceArrival(op, EFFC_SIM_CALL(expectBytes), op.getAddr(),
                        op.getTxcount());
}

LogicalResult KernelRewrite::rewriteOp(NVVM::MBarrierTryWaitParityOp op) {
  return replaceArrival(op, EFFC_SIM_CALL(waitArrivals), op.getAddr(),
                        op.getPhase());
}

LogicalResult KernelRewrite::rewriteOp(NVVM::FenceProxyOp op) {
  if (op.getKind() != NVVM::ProxyKind::async_shared)
    return op.emitError("the simulator knows fences of shared memory for "
                        "asynchronous units only");
  call(EFFC_SIM_CALL(fenceProxy), {}, {}, /*withSite=*/true);
  return erase(op);
}
