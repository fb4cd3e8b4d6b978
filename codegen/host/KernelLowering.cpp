// The walk over a kernel.
#include "codegen/host/ElementGroup.h"
#include "codegen/host/Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

LogicalResult lowerBlock(Block &block, KernelState &s) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (isElementwise(&op)) {
      joinGroup(s, &op);
    } else if (failed(lowerOp(&op, s))) {
      return failure();
    }
  }
  flushGroup(s);
  return success();
}

// Whether `op` reads, directly, a value that the pending group computes.
static bool reads(Operation *op, ArrayRef<Operation *> pending) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return llvm::is_contained(pending, operand.getDefiningOp());
  });
}

/// Calls the overload for `op`, which may be one that cannot fail.
template <typename Op> static LogicalResult lowerKnown(Op op, KernelState &s) {
  if constexpr (std::is_void_v<decltype(lower(op, s))>) {
    lower(op, s);
    return success();
  } else {
    return lower(op, s);
  }
}

LogicalResult lowerOp(Operation *op, KernelState &s) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool scalar =
      dialect == "arith" || dialect == "math" ||
      isa<CountOp, SegmentOp, ReadOp, LoadOp, GatherRowsOp, SplatOp>(op);
  auto load = dyn_cast<LoadOp>(op);
  SmallVector<Operation *> pending = s.group.ops();
  bool loadsPending = load && llvm::any_of(pending, [&](Operation *member) {
                        auto store = dyn_cast<StoreOp>(member);
                        return store && store.getView() == load.getView();
                      });
  bool pendingStores =
      llvm::any_of(pending, [](Operation *o) { return isa<StoreOp>(o); });
  if (!scalar || reads(op, pending) || loadsPending ||
      (isa<ReadOp>(op) && pendingStores))
    flushGroup(s);
  if (dialect == "arith" || dialect == "math") {
    s.b.clone(*op, s.scalars);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp, PipelineOp, SplatOp, CountOp, LoadOp, GatherRowsOp,
            ShiftOp, StoreOp, ReadOp, SegmentOp, DotOp, SpliceOp, ScanOp,
            SegmentDecayOp, TopKOp, TakeOp>(
          [&](auto known) { return lowerKnown(known, s); })
      .Default([](Operation *other) {
        return other->emitOpError("has no lowering to the host");
      });
}

void lower(SplatOp splat, KernelState &s) {
  s.splats[splat] = s.lookup(splat.getValue());
}

void lower(CountOp count, KernelState &s) {
  Value counts = s.entry->getArgument(1);
  Value at = LLVM::GEPOp::create(
      s.b, counts.getType(), s.b.getI64Type(), counts,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count.getCount())});
  Value value = LLVM::LoadOp::create(s.b, s.b.getI64Type(), at);
  s.scalars.map(
      count.getResult(),
      arith::IndexCastOp::create(s.b, s.b.getIndexType(), value).getResult());
}

LogicalResult lowerKernel(KernelState &s) {
  auto asIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(s.b, s.b.getIndexType(), value);
  };
  Value first = asIndex(s.entry->getArgument(2)),
        end = asIndex(s.entry->getArgument(3));
  auto items = scf::ForOp::create(s.b, first, end, s.memory.constant(1));
  s.scalars.map(s.kernel.getItem(), items.getInductionVar());
  s.b.setInsertionPointToStart(items.getBody());
  if (failed(lowerBlock(s.kernel.getBody().front(), s)))
    return failure();
  s.b.setInsertionPointAfter(items);
  return success();
}

} // namespace effc::host
