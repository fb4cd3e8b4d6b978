#include "passes/tile/Exchanges.h"

#include "dialects/tile/Distribution.h"
#include "dialects/tile/SegmentTables.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

int64_t effc::exchangeBytes(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    TileType type = reduce.getTile().getType();
    int64_t warps = getThreads(type.getLayout()) / kWarp;
    int64_t results =
        !type.isBlock() ? 1
                        : (reduce.getOverRows() ? type.columns() : type.rows());
    return llvm::alignTo(warps * results * 4, kSharedAlignment);
  }
  if (auto decay = dyn_cast<SegmentDecayOp>(op))
    return llvm::alignTo(SegmentTables(decay.getTile().getType().rows()).bytes,
                         kSharedAlignment);
  auto topK = cast<TopKOp>(op);
  TileType type = topK.getValues().getType();
  int64_t warps = getThreads(type.getLayout()) / kWarp;
  // A best entry of each warp, then values and numbers of two ordered rows.
  return llvm::alignTo(warps * 8, kSharedAlignment) +
         llvm::alignTo(16 * type.columns(), kSharedAlignment);
}
