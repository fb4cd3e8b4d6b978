// Kernel level -> scheduled level.
//
//   %w: !tile.tile<128x64xf32, accumulator>
//   %o = tile.reduce add %w over rows -> !tile.tile<64xf32, row>
// becomes, with 128 threads of which 16 lie along a row with 4 elements each,
//   %p = tile.reduce add %w over rows -> !tile.tile<64xf32, row, #L>   (16 rows
//   per thread) %o = tile.combine add %p offset 0 (8 groups of threads)
#include "passes/tile/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "passes/tile/Passes.h.inc"

namespace {

constexpr int64_t kWarp = 32;

/// The op of `kernel` that has no layout rule, or null.
Operation *findUncovered(tile::KernelOp kernel) {
  Operation *found = nullptr;
  kernel.getBody().walk([&](Operation *op) {
    if (op->getParentOp() != kernel) // regions of maps
      return WalkResult::advance();
    bool arithmetic = op->getName().getDialectNamespace() == "arith" ||
                      op->getName().getDialectNamespace() == "math";
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    bool covered = arithmetic ||
                   isa<tile::CountOp, tile::SegmentOp, tile::ReadOp,
                       tile::SplatOp, tile::MapOp>(op) ||
                   (reduce && reduce.getOverRows());
    if (auto load = dyn_cast<tile::LoadOp>(op))
      covered = !load.getRows() && !load.getColumns();
    if (auto store = dyn_cast<tile::StoreOp>(op))
      covered = !store.getRows() && !store.getColumns();
    if (covered)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Rows and columns of the kernel's blocks, if all agree.
std::optional<std::pair<int64_t, int64_t>> blockShape(tile::KernelOp kernel) {
  std::optional<std::pair<int64_t, int64_t>> shape;
  bool agree = true;
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<tile::TileType>(type);
      if (!tile || !tile.isBlock())
        continue;
      std::pair<int64_t, int64_t> found{tile.rows(), tile.columns()};
      agree &= !shape || *shape == found;
      shape = found;
    }
  });
  return agree ? shape : std::nullopt;
}

/// The table: see the pass description. Null when no number of threads fits.
tile::LayoutAttr chooseLayout(MLIRContext *context, int64_t rows,
                              int64_t columns, int64_t maxThreads) {
  int64_t vector = columns % 4 == 0 ? 4 : columns % 2 == 0 ? 2 : 1;
  int64_t lanes = 1;
  while (lanes < kWarp && columns / vector % (lanes * 2) == 0)
    lanes *= 2;
  for (int64_t threads = maxThreads; threads >= kWarp; threads /= 2)
    if (rows % (threads / lanes) == 0)
      return tile::LayoutAttr::get(context, threads, lanes, vector);
  return {};
}

struct SchedulePass : impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (kernel.getSchedule())
      return;
    if (Operation *op = findUncovered(kernel)) {
      emitRemark(op->getLoc())
          << "kernel '" << kernel.getSymName() << "' stays at kernel level: '"
          << op->getName() << "' has no layout rule";
      return;
    }
    auto shape = blockShape(kernel);
    tile::LayoutAttr layout = shape ? chooseLayout(&getContext(), shape->first,
                                                   shape->second, maxThreads)
                                    : tile::LayoutAttr();
    if (!layout) {
      emitRemark(kernel.getLoc())
          << "kernel '" << kernel.getSymName() << "' stays at kernel level: "
          << (shape ? "no number of threads divides its rows"
                    : "it has no block, or blocks of several shapes");
      return;
    }
    assignLayout(kernel, layout);
    int64_t sharedBytes = addCombines(kernel, layout);
    kernel.setScheduleAttr(tile::ScheduleAttr::get(
        &getContext(), layout.getThreads(), sharedBytes));
  }

  static void assignLayout(tile::KernelOp kernel, tile::LayoutAttr layout) {
    kernel.getBody().walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (auto tile = dyn_cast<tile::TileType>(result.getType()))
          result.setType(tile::TileType::get(tile.getContext(), tile.getShape(),
                                             tile.getElementType(),
                                             tile.getRole(), layout));
    });
  }

  // Returns the bytes of shared memory in use. Combines do not overlap in time,
  // but lie side by side, so that one barrier less is needed between them.
  static int64_t addCombines(tile::KernelOp kernel, tile::LayoutAttr layout) {
    int64_t bytes = 0;
    SmallVector<tile::ReduceOp> reductions(
        kernel.getBody().getOps<tile::ReduceOp>());
    for (tile::ReduceOp reduce : reductions) {
      OpBuilder builder(reduce->getContext());
      builder.setInsertionPointAfter(reduce);
      auto combine = tile::CombineOp::create(
          builder, reduce.getLoc(), reduce.getKind(),
          cast<TypedValue<tile::TileType>>(reduce.getResult()), bytes);
      reduce.getResult().replaceAllUsesExcept(combine.getResult(), combine);
      int64_t warps = layout.getThreads() / kWarp;
      int64_t columns =
          cast<tile::TileType>(reduce.getResult().getType()).columns();
      emitRemark(reduce.getLoc())
          << "sum over rows goes through " << warps * columns * 4
          << " bytes of shared memory";
      bytes += llvm::alignTo(warps * columns * 4, 16);
    }
    return bytes;
  }
};
} // namespace
} // namespace effc
