// Which lowering an op has, and those of scalars.
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadMath.h"
#include "codegen/nvptx/ThreadPlaces.h"

#include "dialects/plan/SegmentRecord.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc::tile;

namespace effc::nvptx {

/// Calls the overload for `op`, which may be one that cannot fail.
template <typename Op> static LogicalResult lowerKnown(Op op, ThreadState &t) {
  if constexpr (std::is_void_v<decltype(lower(op, t))>) {
    lower(op, t);
    return success();
  } else {
    return lower(op, t);
  }
}

LogicalResult lowerOp(Operation &op, ThreadState &t) {
  StringRef dialect = op.getName().getDialectNamespace();
  if (dialect == "arith" || dialect == "math") {
    t.scalars.map(op.getResult(0), emitScalar(t, &op, t.scalars));
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<scf::ForOp, scf::IfOp, PipelineOp, CountOp, SplatOp, BarrierOp,
            LoadOp, GatherRowsOp, SpliceOp, StoreOp, ReadOp, SegmentOp, MapOp,
            ReduceOp, DotRunsOp, ConvertOp, DotOp, ScanOp, SegmentDecayOp,
            ShiftOp, TopKOp, TakeOp, RingOp, FetchOp, AwaitOp, CommitOp,
            FetchBoxOp, AwaitBoxOp>(
          [&](auto known) { return lowerKnown(known, t); })
      .Default([](Operation *other) {
        return other->emitOpError("has no lowering to a GPU thread");
      });
}

void lower(BarrierOp, ThreadState &t) { t.barrier(); }

void lower(CountOp count, ThreadState &t) {
  size_t counts = t.kernel.getOperandArguments().size();
  Value size =
      count.getCount() == Count::One
          ? arith::ConstantIntOp::create(t.b, 1, 64).getResult()
          : t.entry->getArgument(counts + static_cast<int>(count.getCount()));
  t.scalars.map(
      count.getResult(),
      arith::IndexCastOp::create(t.b, t.b.getIndexType(), size).getResult());
}

void lower(SplatOp splat, ThreadState &t) {
  TileType type = splat.getResult().getType();
  t.tiles[splat.getResult()].assign(heldOf(t, type).count(),
                                    t.lookup(splat.getValue()));
}

void lower(SegmentOp segment, ThreadState &t) {
  using Record = plan::SegmentRecord;
  Value base = t.bases.lookup(segment.getTable());
  Value record = arith::IndexCastOp::create(
      t.b, t.b.getI64Type(),
      t.mul(t.lookup(segment.getIndex()), Record::kBytes));
  base = LLVM::GEPOp::create(t.b, base.getType(), t.b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{record});
  auto field = [&](int32_t offset, Type type) -> Value {
    Value at = LLVM::GEPOp::create(t.b, base.getType(), t.b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(t.b, type, at);
  };
  auto index = [&](int32_t offset, Type type) -> Value {
    return arith::IndexCastOp::create(t.b, t.b.getIndexType(),
                                      field(offset, type));
  };
  t.scalars.map(segment.getSlot(), index(Record::kSlot, t.b.getI32Type()));
  t.scalars.map(segment.getFirstRow(),
                index(Record::kFirstRow, t.b.getI32Type()));
  t.scalars.map(segment.getLength(), index(Record::kLength, t.b.getI32Type()));
  t.scalars.map(segment.getBegins(),
                arith::TruncIOp::create(t.b, t.b.getI1Type(),
                                        field(Record::kFlags, t.b.getI32Type()))
                    .getResult());
  t.scalars.map(segment.getStart(), index(Record::kStart, t.b.getI64Type()));
}

} // namespace effc::nvptx
