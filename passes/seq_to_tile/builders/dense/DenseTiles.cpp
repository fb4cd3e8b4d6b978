// The tile of a product that an item computes: by the target, the rows of the
// call and the product's shape.
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/Cost.h"
#include "passes/kernel_facts/HostSizes.h"
#include "passes/kernel_facts/LaunchCost.h"
#include "passes/kernel_facts/SingleRows.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/dense/Contraction.h"
#include "passes/seq_to_tile/builders/dense/JointProducts.h"

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

static bool leadsToChoice(Operation *op) {
  return !op->getBlock()->getOps<seq::BestOp>().empty();
}

// How rows that are taken one by one pass over their contraction; 0 where there
// are too many or a row has to have the bits that it has among others. A choice
// among a row's outputs has one row alone.
static int64_t stepOfRows(Operation *op, const CallContext &call,
                          int64_t inner) {
  int64_t most = leadsToChoice(op) ? 1 : kMostSingleRows;
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

// Whether the steps of both operands that are under way, with so many more of them, fit
// into a block, but for what keeps rows in different banks.
static bool areStepsShared(tile::DotTile tile, const CallContext &call,
                           const DenseShape &shape, Type ofRows, Type stored,
                           int64_t furtherStages = 0) {
  auto contraction = Contraction::of(call, shape.inner, {ofRows, stored});
  int64_t bytes = (contraction.stages + furtherStages) * contraction.step *
                  (tile.rows * storage::Storage::get(ofRows).blockBytes() +
                   tile.columns * storage::Storage::get(stored).blockBytes());
  return bytes <= BlockRoom::of(call.target).sharedBytes;
}

namespace {
/// Cycles that the cores need for a product and those in its launch, by its tiles and by
/// the parts that its terms are cut into. Of the same launch all have the same tiles.
class ProductCycles {
public:
  ProductCycles(Operation *op, const CallContext &call, int64_t step)
      : call(call), shape(DenseShape::of(op)), outputs(jointOutputs(op, call)),
        steps(shape.inner / step), mayShareTerms(itemsMayShareTerms(op, call)) {
  }

  /// How many items share the terms of such a tile, and the cycles then.
  std::pair<int64_t, double> bestOf(int64_t rows, int64_t columns,
                                    double stepCycles) const {
    std::pair<int64_t, double> best = {1, of(rows, columns, stepCycles, 1)};
    // A part has two steps at least, one of which is on its way. The launch of sums
    // loads those of each part by instructions of its own.
    constexpr int64_t kMostParts = 32;
    int64_t most = std::min(steps / 2, kMostParts);
    for (int64_t parts = 2; mayShareTerms && parts <= most; ++parts)
      if (steps % parts == 0)
        if (double cycles = of(rows, columns, stepCycles, parts);
            cycles < best.second)
          best = {parts, cycles};
    return best;
  }
  /// Of the product that has the most.
  int64_t mostOutputs() const { return *llvm::max_element(outputs); }
  /// All items of a launch with such tiles.
  int64_t items(int64_t rows, int64_t columns, int64_t parts) const {
    int64_t all = 0;
    for (int64_t own : outputs)
      all += shape.parts * parts *
             llvm::divideCeil(call.entry.getRows(), rows) *
             llvm::divideCeil(own, columns);
    return all;
  }

private:
  static bool itemsMayShareTerms(Operation *op, const CallContext &call) {
    auto linear = dyn_cast<seq::LinearOp>(op);
    // What follows a choice is the best of all outputs.
    return linear && linear.getWeight().getType().getRank() == 2 &&
           !leadsToChoice(op) && call.isGpu() && !call.bitStable &&
           takesLaunches(call.target) && !call.target.getLibrary() &&
           call.lead == tile::Count::Rows &&
           call.entry.getRows() > tile::kPieceRows;
  }

  double of(int64_t rows, int64_t columns, double stepCycles,
            int64_t parts) const {
    double sums = 0;
    CoreCycles cycles(call.target);
    for (int64_t own : outputs)
      if (parts > 1)
        sums += cycles.ofLaunch() +
                cycles.ofHandingOn(double(parts * call.entry.getRows() * own) *
                                   sizeof(float));
    int64_t each =
        itemsOfCore(items(rows, columns, parts), coresOf(call.target));
    int64_t stepsOfPart = steps / parts;
    return double(each) * stepCycles * double(stepsOfPart) + sums;
  }

  const CallContext &call;
  DenseShape shape;
  SmallVector<int64_t> outputs;
  int64_t steps;
  bool mayShareTerms;
};
} // namespace

// Of the tiles that a unit offers the one by which the core with the most items is
// done first, the largest of such. What has fewer outputs than the others of its launch
// has as many rows. Of a choice tiles have no more rows than others: noise and numbers of
// outputs take as many registers as the sums do.
static std::optional<DenseTile>
tileForUnit(tile::ProductUnit unit, const CallContext &call, bool isChoice,
            const DenseShape &shape, const ProductCycles &cycles, Type ofRows,
            Type stored) {
  double least = 0;
  std::optional<DenseTile> best;
  for (tile::DotTile tile : unit.getTiles(unit.isExact(call.roundedTo()))) {
    if (call.entry.getRows() < tile.rows ||
        cycles.mostOutputs() < tile.columns ||
        (isChoice && tile.rows > BlockRoom::of(call.target).tileRows()) ||
        !areStepsShared(tile, call, shape, ofRows, stored))
      continue;
    auto [parts, all] =
        cycles.bestOf(tile.rows, tile.columns, double(tile.stepCycles));
    if (!best || all < least) {
      best = DenseTile{tile.rows, tile.columns};
      best->depthParts = parts;
      // One of a core is alone with what it waits for.
      best->furtherStages =
          call.kind == seq::EntryKind::Decode &&
          cycles.items(tile.rows, tile.columns, parts) <= call.cores() &&
          areStepsShared(tile, call, shape, ofRows, stored, 1);
      least = all;
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
  int64_t step = Contraction::of(call, shape.inner).step;
  ProductCycles cycles(op, call, step);
  // Of a prompt's rows few are outputs.
  bool areMany =
      call.lead == tile::Count::Rows || call.kind == seq::EntryKind::Decode;
  if (rows == BlockRoom::of(call.target).tileRows() && areMany) {
    Type stored = storedTypeOf(op->getOperand(1), call),
         ofRows = storedTypeOf(op->getOperand(0), call);
    for (tile::ProductUnit unit : call.units)
      if (takesWeights(unit, stored, step, call.roundedTo()))
        if (std::optional<DenseTile> tile = tileForUnit(
                unit, call, leadsToChoice(op), shape, cycles, ofRows, stored)) {
          if (outputs < tile->outputs)
            tile->outputs = std::min(outputs, outputsOfItem(call, shape, rows));
          return *tile;
        }
  }
  // Of other units an item waits for each step.
  int64_t columns = outputsOfItem(call, shape, rows);
  DenseTile tile = {rows, std::min(outputs, columns)};
  tile.depthParts =
      cycles
          .bestOf(rows, columns,
                  CoreCycles(call.target).ofWaits(/*barriers=*/1, double(step)))
          .first;
  return tile;
}
