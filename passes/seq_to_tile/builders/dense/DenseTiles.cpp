// The tile of a product that an item computes: by the target, the rows of the
// call and the product's shape.
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/Cost.h"
#include "passes/kernel_facts/HostSizes.h"
#include "passes/kernel_facts/SingleRows.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/dense/Contraction.h"

#include "dialects/storage/Bundles.h"
#include "dialects/storage/Panels.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/Distribution.h"
#include "dialects/tile/units/Units.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace effc;

// Whether items pass over rows, a tile at a time.
static bool passesRows(const CallContext &call) {
  return !call.isGpu() && (call.kind == seq::EntryKind::Prefill ||
                           call.entry.getRows() > kHostRows);
}

// How rows that are taken one by one pass over their contraction; 0 where there
// are too many or a row has to have the bits that it has among others. A choice
// among a row's outputs has one row alone.
static int64_t stepOfRows(Operation *op, const CallContext &call,
                          int64_t inner) {
  bool chooses = !op->getBlock()->getOps<seq::BestOp>().empty();
  int64_t most = chooses ? 1 : kMostSingleRows;
  return call.isGpu() && areSingleRows(call.entry, call.bitStable, inner, most)
             ? singleRowStep(inner)
             : 0;
}

static int64_t rowTile(const CallContext &call) {
  int64_t rows = call.entry.getRows();
  if (call.isGpu())
    return std::min<int64_t>(llvm::alignTo(rows, tile::kPieceRows),
                             BlockRoom::of(call.target).tileRows());
  return passesRows(call) ? kHostRows : rows;
}

// What an operand of a product is stored as.
static Type storedTypeOf(Value operand, const CallContext &call) {
  while (isa_and_nonnull<seq::SliceOp, seq::ReshapeOp>(operand.getDefiningOp()))
    operand = operand.getDefiningOp()->getOperand(0);
  Type stored = call.storedAs(operand);
  return stored ? stored
                : cast<RankedTensorType>(operand.getType()).getElementType();
}

// Whether the steps of both operands that are under way fit into a block, but for
// what keeps rows in different banks.
static bool areStepsShared(tile::DotTile tile, const CallContext &call,
                           const DenseShape &shape, Type ofRows, Type stored) {
  auto contraction = Contraction::of(call, shape.inner, {ofRows, stored});
  int64_t bytes = contraction.stages * contraction.step *
                  (tile.rows * storage::Storage::get(ofRows).blockBytes() +
                   tile.columns * storage::Storage::get(stored).blockBytes());
  return bytes <= BlockRoom::of(call.target).sharedBytes;
}

// Of the tiles that a unit offers the one by which the core with the most items is
// done first, the largest of such.
static std::optional<DenseTile> tileForUnit(tile::ProductUnit unit,
                                            const CallContext &call,
                                            const DenseShape &shape,
                                            Type ofRows, Type stored) {
  int64_t rows = call.entry.getRows(), least = 0;
  std::optional<DenseTile> best;
  for (tile::DotTile tile : unit.getTiles(unit.isExact(call.roundedTo()))) {
    if (rows < tile.rows || shape.outputs < tile.columns ||
        !areStepsShared(tile, call, shape, ofRows, stored))
      continue;
    int64_t items = shape.parts * llvm::divideCeil(rows, tile.rows) *
                    llvm::divideCeil(shape.outputs, tile.columns);
    int64_t cycles = tileCycles(tile, items, coresOf(call.target));
    if (!best || cycles < least) {
      best = DenseTile{tile.rows, tile.columns};
      least = cycles;
    }
  }
  return best;
}

// Whether a unit multiplies by weights of a type where they lie, a step of the
// contraction in each of its rows.
static bool takesWeights(tile::ProductUnit unit, Type stored, int64_t step,
                         Type roundedTo) {
  std::optional<tile::SharedRows> rows = unit.getOwnRows(stored);
  return rows && rows->stride == step && unit.multiplies(stored, roundedTo);
}

// On a GPU: of a piece's rows fewer outputs of an item where cores would have
// none; of more rows they would be read again too often.
static int64_t outputsOfItem(const CallContext &call, const DenseShape &shape,
                             int64_t rows) {
  int64_t most = BlockRoom::of(call.target).tileRows();
  if (rows > tile::kPieceRows)
    return most;
  most /= 2;
  bool fillsCores =
      shape.parts * int64_t(llvm::divideCeil(shape.outputs, most)) >=
      call.cores();
  return fillsCores ? most : most / 2;
}

// Rows one by one, whose sums are together those of a small block's threads: as many
// outputs as fill a step, but one alone where cores would have no item. A head's are
// many, or as few as those of which it chooses. Longer steps for those few were tried:
// they take more threads, of which a launch that is joined with others then has more for
// each of its items.
static DenseTile tileOfRows(const CallContext &call, const DenseShape &shape,
                            int64_t step) {
  int64_t rows = call.entry.getRows(),
          elements = BlockRoom::of(call.target).fewElements() / rows;
  int64_t outputs = std::min<int64_t>(
      shape.outputs,
      std::max<int64_t>(llvm::bit_floor<uint64_t>(elements / step), 1));
  bool leavesCores =
      call.lead == tile::Count::Rows &&
      shape.parts * int64_t(llvm::divideCeil(shape.outputs, outputs)) <
          call.cores();
  return {rows, leavesCores ? 1 : outputs, step};
}

// Several rows one by one, where items are so many that each can be a warp's and cores
// still have enough warps: then none waits for another, and all that a core has at once
// are more items. Outputs are those of a longer step.
static DenseTile tileOfSeveralRows(const CallContext &call,
                                   const DenseShape &shape, int64_t step) {
  constexpr int64_t kWarpsOfScheduler = 4;
  DenseTile tile = tileOfRows(call, shape, step);
  BlockRoom room = BlockRoom::of(call.target);
  int64_t ofWarp = room.lanes * kThreadElements / (tile.rows * tile.outputs);
  bool fillsCores =
      shape.parts * int64_t(llvm::divideCeil(shape.outputs, tile.outputs)) >=
      call.cores() * room.schedulers * kWarpsOfScheduler;
  if (tile.rows > 1 && fillsCores && ofWarp < step && step % ofWarp == 0)
    tile.singleRowStep = ofWarp;
  return tile;
}

// Weights in bundles take so few bytes that the rows they are multiplied by take more, which
// each item reads for itself: the more outputs it has, the fewer. So steps are as short as
// leave each core some items to wait beside one another.
static DenseTile tileOfBundles(const CallContext &call, const DenseShape &shape,
                               int64_t step) {
  constexpr int64_t kItemsOfCore = 3, kShortest = 256;
  for (int64_t shorter = kShortest; shorter < step; shorter *= 2) {
    if (step % shorter != 0)
      continue;
    DenseTile tile = tileOfRows(call, shape, shorter);
    if (tile.outputs > 1 &&
        shape.parts * int64_t(llvm::divideCeil(shape.outputs, tile.outputs)) >=
            kItemsOfCore * call.cores())
      return tile;
  }
  return tileOfRows(call, shape, step);
}

// On the host few outputs per item keep its weights close to the core while
// rows pass by, four at a time; with no more rows than that nothing passes, and
// longer items cost less.
DenseTile effc::denseTileOf(Operation *op, const CallContext &call) {
  DenseShape shape = DenseShape::of(op);
  int64_t outputs = shape.outputs, rows = rowTile(call);
  if (int64_t step = stepOfRows(op, call, shape.inner)) {
    auto block =
        dyn_cast<storage::BlockType>(storedTypeOf(op->getOperand(1), call));
    return block && storage::liesInRuns(block)
               ? tileOfBundles(call, shape, step)
               : tileOfSeveralRows(call, shape, step);
  }
  if (call.isInPanels(op->getOperand(1)))
    return {rows,
            std::min<int64_t>(llvm::alignTo(outputs, storage::kPanelRows),
                              kHostPanelOutputs),
            0, passesRows(call)};
  if (!call.isGpu()) {
    bool passes = passesRows(call);
    return {rows, std::min(outputs, passes ? kHostPassedOutputs : kHostOutputs),
            0, passes};
  }
  // Of an entry's rows few are outputs.
  if (rows == BlockRoom::of(call.target).tileRows() &&
      call.lead == tile::Count::Rows) {
    Type stored = storedTypeOf(op->getOperand(1), call),
         ofRows = storedTypeOf(op->getOperand(0), call);
    int64_t step = Contraction::of(call, shape.inner).step;
    for (tile::ProductUnit unit : call.units)
      if (takesWeights(unit, stored, step, call.roundedTo()))
        if (std::optional<DenseTile> tile =
                tileForUnit(unit, call, shape, ofRows, stored))
          return *tile;
  }
  return {rows, std::min(outputs, outputsOfItem(call, shape, rows))};
}
