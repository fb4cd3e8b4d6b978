// Threads, warps and launches.
#include "codegen/sim/Rewrites.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace effc;

namespace effc::sim {

static LogicalResult rewrite(NVVM::ThreadIdXOp op, RewriteState &s) {
  auto which = static_cast<uint32_t>(rt::SimSpecial::ThreadX);
  return replace(op,
                 s.call(EFFC_SIM_CALL(special), s.b.getI32Type(), s.i32(which),
                        /*withSite=*/false));
}

static LogicalResult rewrite(NVVM::BlockIdXOp op, RewriteState &s) {
  auto which = static_cast<uint32_t>(rt::SimSpecial::BlockX);
  return replace(op,
                 s.call(EFFC_SIM_CALL(special), s.b.getI32Type(), s.i32(which),
                        /*withSite=*/false));
}

static LogicalResult rewrite(NVVM::Barrier0Op op, RewriteState &s) {
  s.call(EFFC_SIM_CALL(barrier), {}, {}, /*withSite=*/true);
  return erase(op);
}

static rt::SimShuffle kindOf(NVVM::ShflKind kind) {
  switch (kind) {
  case NVVM::ShflKind::bfly:
    return rt::SimShuffle::Butterfly;
  case NVVM::ShflKind::idx:
    return rt::SimShuffle::Index;
  case NVVM::ShflKind::up:
    return rt::SimShuffle::Up;
  case NVVM::ShflKind::down:
    return rt::SimShuffle::Down;
  }
  llvm_unreachable("a kind of shuffle");
}

static LogicalResult rewrite(NVVM::ShflOp op, RewriteState &s) {
  if (op.getReturnValueAndIsValid())
    return op.emitError("the simulator's shuffles give no predicate");
  Type type = op.getType();
  Value bits = op.getVal();
  if (type.isF32())
    bits = LLVM::BitcastOp::create(s.b, s.b.getI32Type(), bits);
  Value result =
      s.call(EFFC_SIM_CALL(shuffle), s.b.getI32Type(),
             {s.i32(static_cast<uint32_t>(kindOf(op.getKind()))),
              op.getThreadMask(), bits, op.getOffset(), op.getMaskAndClamp()},
             /*withSite=*/true);
  if (type.isF32())
    result = LLVM::BitcastOp::create(s.b, type, result);
  return replace(op, result);
}

static LogicalResult rewrite(NVVM::GriddepcontrolOp op, RewriteState &s) {
  // When the next launch begins makes no difference to this one.
  if (op.getKind() == NVVM::GridDepActionKind::wait)
    s.call(EFFC_SIM_CALL(awaitLaunches), {}, {}, /*withSite=*/true);
  return erase(op);
}

void addThreads(Rewrites &rewrites) {
  rewrites.add<NVVM::ThreadIdXOp, NVVM::BlockIdXOp, NVVM::Barrier0Op,
               NVVM::ShflOp, NVVM::GriddepcontrolOp>(
      [](auto op, RewriteState &s) { return rewrite(op, s); });
}

} // namespace effc::sim
