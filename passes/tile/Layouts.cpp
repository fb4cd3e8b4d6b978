// Tiles -> layouts.
//
// Tiles that are elements of the same maps, or the same tile at different times
// of a loop, form a class and share a layout, so that no loop exchanges
// anything. A class of blocks that holds a product's accumulator lies as the
// products leave it, any other block as its shape says (blockedFor). Rows and
// columns lie as the blocks they are sums of or broadcast to. What only
// products, scans and the like read is loaded to shared memory at once; other
// operands of theirs are converted. At last each product names its unit.
#include "passes/tile/Layouts.h"

#include "passes/tile/OperandReads.h"

#include "dialects/storage/Storage.h"
#include "dialects/tile/Distribution.h"
#include "dialects/tile/units/Units.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

/// Whether an op only hands this operand on to a value of the same class.
static bool handsOn(OpOperand &use) {
  return isa<YieldOp>(use.getOwner()) &&
         isa<PipelineOp>(use.getOwner()->getParentOp());
}

/// What `use`, in a pipeline's load region, hands its tile on to; null
/// elsewhere.
static Value handedTo(OpOperand &use) {
  if (!handsOn(use))
    return {};
  auto pipeline = cast<PipelineOp>(use.getOwner()->getParentOp());
  if (use.getOwner()->getBlock() != &pipeline.getLoad().front())
    return {};
  return pipeline.getCompute().getArgument(use.getOperandNumber());
}

/// What a pipeline loads and hands to its products as `tile`; null elsewhere.
static Value copiedAhead(Value tile) {
  auto argument = dyn_cast<BlockArgument>(tile);
  auto pipeline =
      argument
          ? dyn_cast_or_null<PipelineOp>(argument.getOwner()->getParentOp())
          : PipelineOp();
  if (!pipeline)
    return {};
  ValueRange loaded = pipeline.getLoad().front().getTerminator()->getOperands();
  return argument.getArgNumber() < loaded.size()
             ? loaded[argument.getArgNumber()]
             : Value();
}

/// The type of a product's operand where it is loaded from: what is computed
/// is f32.
static Type typeOfOperand(Value tile) {
  if (Value loaded = copiedAhead(tile))
    tile = loaded;
  auto load = tile.getDefiningOp<LoadOp>();
  return load ? storage::Storage::get(load.getView().getType().getElementType())
                    .denseType()
              : cast<TileType>(tile.getType()).getElementType();
}

/// The type of B's elements where a product reads them: what is computed or
/// loaded by itself is rounded on its way, what a pipeline copies is not.
static Type typeOfColumns(DotOp dot) {
  Type rounded = roundedBy(dot.getBMutable());
  return rounded && !copiedAhead(dot.getB()) ? rounded
                                             : typeOfOperand(dot.getB());
}

static DotShape shapeOf(DotOp dot) {
  TileType type = dot.getAcc().getType(), b = dot.getB().getType();
  return {type.rows(),
          type.columns(),
          dot.getTransposeB() ? b.columns() : b.rows(),
          dot.getTransposeB(),
          typeOfColumns(dot),
          dot.getRoundedTo().value_or(Type()),
          /*copiesB=*/bool(copiedAhead(dot.getB()))};
}

/// Whether a product by `unit` reads this operand from rows of the unit's own.
static bool readsOwnRows(ProductUnit unit, OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  if (!dot)
    return false;
  bool isA = use.getOperandNumber() == 1;
  return unit.readsOwnRows(isA ? DotOperand::A : DotOperand::B,
                           isA ? dot.getTransposeA() : dot.getTransposeB());
}

/// Whether what reads the tile from shared memory is products, all of which
/// read it there from rows of the unit's own.
static bool isReadInOwnRows(ProductUnit unit, Value tile) {
  bool isRead = false;
  for (OpOperand &use : tile.getUses()) {
    Value argument = handedTo(use);
    if (!argument && !readsShared(use))
      continue;
    isRead = true;
    if (argument ? !isReadInOwnRows(unit, argument) : !readsOwnRows(unit, use))
      return false;
  }
  return isRead;
}

/// Whether products read neighbours of a row together: those that contract the
/// tile's columns.
static bool readInPairs(Value tile) {
  return llvm::any_of(tile.getUses(), [](OpOperand &use) {
    if (Value argument = handedTo(use))
      return readInPairs(argument);
    auto dot = dyn_cast<DotOp>(use.getOwner());
    return dot && ((use.getOperandNumber() == 1 && !dot.getTransposeA()) ||
                   (use.getOperandNumber() == 2 && dot.getTransposeB()));
  });
}

namespace {

class LayoutChoice {
public:
  LayoutChoice(KernelOp kernel, int64_t threads, ArrayRef<ProductUnit> units)
      : kernel(kernel), context(kernel.getContext()), threads(threads),
        units(units) {}

  LogicalResult run() {
    unite();
    findRuns();
    if (failed(chooseBlocks()))
      return failure();
    chooseRowsAndColumns();
    setTypes();
    insertConversions();
    nameUnits();
    return success();
  }

private:
  using Class = const void *;

  static TileType typeOf(Value value) {
    return dyn_cast<TileType>(value.getType());
  }
  void unite(Value a, Value b) {
    if (typeOf(a))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  Class classOf(Value value) {
    return classes.getOrInsertLeaderValue(value.getAsOpaquePointer());
  }
  /// Every tile, in the order of the code.
  void forEachTile(function_ref<void(Value)> visit) {
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            if (typeOf(argument))
              visit(argument);
      for (Value result : op->getResults())
        if (typeOf(result))
          visit(result);
    });
  }

  void unite();
  LogicalResult chooseBlocks();
  void chooseRowsAndColumns();
  void narrowOperands();
  void setTypes();
  void insertConversions();
  void nameUnits();
  Value inShared(Value tile, Type element);
  Value inRegisters(Value tile, Attribute layout);
  Attribute canonical(Value tile) {
    TileType type = typeOf(tile);
    if (type.getRole() == Role::Column)
      return BlockedAttr::get(context, threads, /*lanes=*/1, /*vector=*/1);
    auto found = runs.find(classOf(tile));
    if (found == runs.end())
      return blockedFor(context, type.rows(), type.columns(), threads);
    return blockedFor(context, type.rows(), type.columns(), threads,
                      found->second, /*keepsRows=*/true);
  }
  void findRuns();

  /// The unit in whose own rows a tile of `type` lies in shared memory; null: in those
  /// that its shape asks for.
  ProductUnit ownerOf(Value tile, TileType type) {
    Type element = type.getElementType();
    const auto *found = llvm::find_if(units, [&](ProductUnit unit) {
      DenseSet<Value> asked;
      return unit.getOwnRows(element) && isForUnit(unit, tile, element, asked);
    });
    return found == units.end() ? ProductUnit() : *found;
  }
  /// The places of a tile of `type`, at an offset yet to be chosen.
  SharedAttr inSharedMemory(Value tile, TileType type, ProductUnit owner) {
    SharedRows rows = owner ? *owner.getOwnRows(type.getElementType())
                            : SharedRows{sharedStride(type, readInPairs(tile)),
                                         /*swizzled=*/false};
    return SharedAttr::get(context, threads, /*offset=*/std::nullopt,
                           rows.stride, /*slots=*/1, rows.swizzled);
  }
  bool isForUnit(ProductUnit unit, Value tile, Type element,
                 DenseSet<Value> &asked);
  bool canForm(ProductUnit unit, DotOp dot, int64_t rowWarps) const {
    return unit.canForm(shapeOf(dot), threads / kWarp, rowWarps);
  }
  size_t rankFor(DotOp dot, int64_t rowWarps) const;
  /// An error on a product that no unit forms.
  void refuse(DotOp dot) const;
  int64_t chooseRowWarps(DotOp dot, bool handsOn) const;

  KernelOp kernel;
  MLIRContext *context;
  int64_t threads;
  ArrayRef<ProductUnit> units; // the preferred one first
  llvm::EquivalenceClasses<const void *> classes;
  DenseMap<Class, Attribute> layouts; // of classes
  DenseMap<Class, int64_t> rowWarps;  // of sums
  DenseMap<Class, int64_t> runs;      // of what is loaded from bundles of codes
  /// The units that can form a product, the preferred one first.
  DenseMap<Operation *, SmallVector<ProductUnit, 2>> formers;
  DenseMap<Value, ProductUnit> owners; // of tiles in shared memory, or null
  DenseMap<std::pair<Value, Type>, Value> shared; // copies of a tile there
  DenseMap<std::pair<Value, Attribute>, Value> converted;
};

} // namespace

void LayoutChoice::unite() {
  kernel.getBody().walk([&](Operation *op) {
    if (auto map = dyn_cast<MapOp>(op)) {
      for (Value input : map.getInputs())
        if (auto type = typeOf(input);
            type && type.isBlock() == map.getResult().getType().isBlock())
          unite(input, map.getResult());
    } else if (auto take = dyn_cast<TakeOp>(op)) {
      unite(take.getNumbers(), take.getResult());
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      unite(dot.getAcc(), dot.getResult());
    } else if (auto dot = dyn_cast<DotRunsOp>(op)) {
      unite(dot.getAcc(), dot.getResult());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, carried, next, result] :
           llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                           loop.getYieldedValues(), loop.getResults())) {
        unite(init, carried);
        unite(next, carried);
        unite(result, carried);
      }
    } else if (auto pipeline = dyn_cast<PipelineOp>(op)) {
      Block &compute = pipeline.getCompute().front();
      ValueRange loaded =
          pipeline.getLoad().front().getTerminator()->getOperands();
      for (auto [from, to] : llvm::zip(loaded, compute.getArguments()))
        unite(from, to);
      for (auto [init, carried, next, result] : llvm::zip_equal(
               pipeline.getInits(),
               compute.getArguments().drop_front(loaded.size()),
               compute.getTerminator()->getOperands(), pipeline.getResults())) {
        unite(init, carried);
        unite(next, carried);
        unite(result, carried);
      }
    }
  });
}

// A thread takes the same columns of all rows where codes come many at once, since what
// they are multiplied by takes more bytes than they do.
void LayoutChoice::findRuns() {
  kernel.getBody().walk([&](LoadOp load) {
    int64_t run = widestRun(load.getView().getType().getElementType());
    if (run > kUsualRun)
      runs[classOf(load.getResult())] = run;
  });
}

LogicalResult LayoutChoice::chooseBlocks() {
  // What only ops that read shared memory want need never be in registers.
  DenseMap<Class, bool> onlyShared;
  forEachTile([&](Value tile) {
    Operation *op = tile.getDefiningOp();
    bool loaded = op ? isa<LoadOp, GatherRowsOp, SpliceOp>(op)
                     : isa<PipelineOp>(tile.getParentBlock()->getParentOp());
    bool wanted = llvm::all_of(tile.getUses(), [](OpOperand &use) {
      return readsShared(use) || handsOn(use);
    });
    bool &only = onlyShared.try_emplace(classOf(tile), true).first->second;
    only &= loaded && wanted && !tile.use_empty();
  });
  forEachTile([&](Value tile) {
    if (onlyShared.lookup(classOf(tile)))
      layouts[classOf(tile)] =
          inSharedMemory(tile, typeOf(tile), ownerOf(tile, typeOf(tile)));
  });
  DenseSet<Class> sums, handedOn;
  kernel.getBody().walk([&](DotOp dot) { sums.insert(classOf(dot.getAcc())); });
  kernel.getBody().walk([&](DotOp dot) {
    if (keepsHeldRows(dot) && sums.contains(classOf(dot.getA())))
      handedOn.insert_range(
          ArrayRef<Class>{classOf(dot.getA()), classOf(dot.getAcc())});
  });
  auto chosen = kernel.getBody().walk([&](DotOp dot) {
    Class of = classOf(dot.getAcc());
    int64_t along = chooseRowWarps(dot, handedOn.contains(of));
    size_t rank = rankFor(dot, along);
    if (rank == units.size()) {
      refuse(dot);
      return WalkResult::interrupt();
    }
    ProductUnit unit = units[rank];
    for (ProductUnit former : units)
      if (canForm(former, dot, along))
        formers[dot].push_back(former);
    rowWarps[of] = along;
    layouts[of] = unit.getAccumulators(threads, along);
    return WalkResult::advance();
  });
  if (chosen.wasInterrupted())
    return failure();
  kernel.getBody().walk([&](DotRunsOp dot) {
    Value tile = dot.getTile();
    auto runs = cast<BlockedAttr>(canonical(tile));
    layouts[classOf(tile)] = runs;
    layouts[classOf(dot.getAcc())] = BlockedAttr::get(
        context, threads, runs.getLanes(), runs.getVector() / dot.getRun());
  });
  forEachTile([&](Value tile) {
    Attribute &layout = layouts[classOf(tile)];
    if (!layout && typeOf(tile).isBlock())
      layout = canonical(tile);
  });
  return success();
}

void LayoutChoice::refuse(DotOp dot) const {
  TileType sums = dot.getAcc().getType();
  InFlightDiagnostic diagnostic =
      dot.emitOpError("expects a product unit that forms sums of ")
      << sums.rows() << " x " << sums.columns() << " by " << threads / kWarp
      << " warps, but got a target with ";
  llvm::interleaveComma(units, diagnostic);
  diagnostic << (units.empty() ? "none that may be used" : "");
  diagnostic.attachNote() << getMmaSync(context) << " forms those of any shape";
}

// The number of the first unit that can form the product with so many of the
// warps along the rows, and reads its columns where all that read them do; that
// behind the last where none is.
size_t LayoutChoice::rankFor(DotOp dot, int64_t rowWarps) const {
  const auto *found = llvm::find_if(units, [&](ProductUnit unit) {
    bool isReadSo = !unit.getOwnRows(typeOfColumns(dot)) ||
                    isReadInOwnRows(unit, dot.getB());
    return isReadSo && canForm(unit, dot, rowWarps);
  });
  return found - units.begin();
}

// The warps lie so that none has more pieces than it must, and of such ways the
// one by which a warp reads the fewest bytes: its rows of A, its columns of B or,
// of a group of warps, which reads them for each piece of its rows, its share.
// The preferred unit comes first: groups of warps read B once for four. Then,
// where `handsOn` says that the sums are the rows of another product or A is
// such sums, all warps along the rows: nothing is exchanged between the two.
int64_t LayoutChoice::chooseRowWarps(DotOp dot, bool handsOn) const {
  TileType type = dot.getAcc().getType();
  int64_t warps = threads / kWarp, best = 0;
  std::tuple<size_t, int64_t, bool, int64_t> least;
  for (int64_t rowWarps = 1; rowWarps <= warps; rowWarps *= 2) {
    int64_t rows = llvm::divideCeil(type.rows(), kPieceRows * rowWarps) *
                   kPieceRows,
            columns = llvm::divideCeil(type.columns(),
                                       kPieceColumns * (warps / rowWarps)) *
                      kPieceColumns;
    auto bytes = [](Value operand) -> int64_t {
      return storage::Storage::get(typeOfOperand(operand)).blockBytes();
    };
    size_t rank = rankFor(dot, rowWarps);
    int64_t group = rank < units.size() ? units[rank].getWarps() : 1;
    int64_t readings = group > 1 ? rows / kPieceRows : 1;
    std::tuple<size_t, int64_t, bool, int64_t> cost = {
        rank, rows * columns, handsOn && rowWarps < warps,
        rows * bytes(dot.getA()) +
            columns * readings * bytes(dot.getB()) / group};
    if (best == 0 || cost < least)
      best = rowWarps, least = cost;
  }
  return best;
}

// Whether what reads the tile's elements from shared memory is products of the
// unit, which multiply them as they are. A product whose rows they are is one
// if its columns are in the unit's rows, too; each of `asked` is where all are.
bool LayoutChoice::isForUnit(ProductUnit unit, Value tile, Type element,
                             DenseSet<Value> &asked) {
  if (!isReadInOwnRows(unit, tile))
    return false;
  if (!asked.insert(tile).second)
    return true;
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    if (Value argument = handedTo(use))
      return isForUnit(unit, argument, element, asked);
    if (!readsShared(use))
      return true;
    auto dot = cast<DotOp>(use.getOwner());
    auto along = rowWarps.find(classOf(dot.getAcc()));
    // Columns that are there already lie as they were needed first.
    auto areColumnsForUnit = [&] {
      if (Value copy = shared.lookup({dot.getB(), typeOfColumns(dot)}))
        return unit.takesB(typeOf(copy).getLayout());
      return isForUnit(unit, dot.getB(), typeOfColumns(dot), asked);
    };
    bool isRows = use.getOperandNumber() == 1;
    return along != rowWarps.end() &&
           unit.multiplies(element, dot.getRoundedTo().value_or(Type())) &&
           canForm(unit, dot, along->second) &&
           (!isRows || areColumnsForUnit());
  });
}

void LayoutChoice::chooseRowsAndColumns() {
  auto propose = [&](Value tile, Value block) {
    Attribute &layout = layouts[classOf(tile)];
    if (!layout)
      layout = layouts.lookup(classOf(block));
  };
  // What a reduction leaves in registers stays there.
  kernel.getBody().walk([&](ReduceOp reduce) {
    if (typeOf(reduce.getResult()))
      propose(reduce.getResult(), reduce.getTile());
  });
  kernel.getBody().walk([&](MapOp map) {
    if (map.getResult().getType().isBlock())
      for (Value input : map.getInputs())
        if (auto type = typeOf(input); type && !type.isBlock())
          propose(input, map.getResult());
  });
  kernel.getBody().walk(
      [&](DotRunsOp dot) { propose(dot.getRow(), dot.getTile()); });
  forEachTile([&](Value tile) {
    Attribute &layout = layouts[classOf(tile)];
    if (!layout)
      layout = canonical(tile);
  });
}

// Operands of products that are loaded to shared memory keep the type that they
// are stored in: a narrower one takes less room and fewer products. So do
// masks. What rounded products alone read is rounded on its way, but for what
// is copied by itself.
void LayoutChoice::narrowOperands() {
  DenseMap<Class, Type> stored;
  forEachTile([&](Value tile) {
    if (!isa<SharedAttr>(layouts.lookup(classOf(tile))))
      return;
    auto load = tile.getDefiningOp<LoadOp>();
    Type element =
        load ? storage::Storage::get(load.getView().getType().getElementType())
                   .denseType()
             : typeOf(tile).getElementType();
    bool products = llvm::all_of(tile.getUses(), [](OpOperand &use) {
      return isa<DotOp>(use.getOwner()) || handsOn(use);
    });
    Type rounded = tile.getDefiningOp() ? roundedByAll(tile) : Type();
    bool rounds = rounded && rounded != element;
    if (rounds)
      element = rounded;
    bool argument = isa<BlockArgument>(tile) && products;
    Type &type = stored[classOf(tile)];
    if (argument)
      return;
    bool fits = (load || rounds) && products && (!type || type == element);
    type = fits ? element : Type(Float32Type::get(context));
  });
  forEachTile([&](Value tile) {
    Type element = stored.lookup(classOf(tile));
    if (isMaskOfProducts(tile)) {
      Type rounded = roundedByAll(tile);
      element = rounded ? rounded : BFloat16Type::get(context);
    }
    if (element && typeOf(tile).isBlock())
      tile.setType(TileType::get(context, typeOf(tile).getShape(), element,
                                 typeOf(tile).getRole(), {}));
  });
}

void LayoutChoice::setTypes() {
  narrowOperands();
  forEachTile([&](Value tile) {
    Attribute layout = layouts.lookup(classOf(tile));
    if (auto reduce = tile.getDefiningOp<ReduceOp>())
      layout = layouts.lookup(classOf(reduce.getTile()));
    if (isa<SharedAttr>(layout)) { // of the narrowed type
      ProductUnit &owner = owners[tile];
      owner = ownerOf(tile, typeOf(tile));
      layout = inSharedMemory(tile, typeOf(tile), owner);
    }
    tile.setType(typeOf(tile).withLayout(layout));
  });
}

Value LayoutChoice::inShared(Value tile, Type element) {
  TileType type = typeOf(tile);
  if (type.getSharedLayout())
    return tile;
  type = TileType::get(context, type.getShape(), element, type.getRole(), {});
  Value &copy = shared[{tile, element}];
  if (!copy) {
    OpBuilder b(context);
    b.setInsertionPointAfterValue(tile);
    ProductUnit owner = ownerOf(tile, type);
    copy = ConvertOp::create(b, tile.getLoc(),
                             type.withLayout(inSharedMemory(tile, type, owner)),
                             tile);
    owners[copy] = owner;
  }
  return copy;
}

Value LayoutChoice::inRegisters(Value tile, Attribute layout) {
  TileType type = typeOf(tile);
  if (type.getLayout() == layout)
    return tile;
  Value &copy = converted[{tile, layout}];
  if (!copy) {
    Value from = inShared(tile, type.getElementType());
    OpBuilder b(context);
    b.setInsertionPointAfterValue(from);
    copy = ConvertOp::create(b, tile.getLoc(), type.withLayout(layout), from);
  }
  return copy;
}

void LayoutChoice::insertConversions() {
  SmallVector<Operation *> ops;
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    // A sum that its class wants elsewhere.
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      Value sum = reduce.getResult();
      Attribute wanted = layouts.lookup(classOf(sum));
      if (typeOf(sum) && typeOf(sum).getLayout() != wanted &&
          !isa<SharedAttr>(wanted)) {
        Value moved = inRegisters(sum, wanted);
        sum.replaceUsesWithIf(moved, [&](OpOperand &use) {
          return !isa<ConvertOp>(use.getOwner());
        });
      }
    }
    for (OpOperand &use : op->getOpOperands()) {
      if (!typeOf(use.get()) || isa<ConvertOp>(op))
        continue;
      if (auto dot = dyn_cast<DotOp>(op);
          dot && use.getOperandNumber() == 1 && keepsHeldRows(dot) &&
          dot.takesHeldRows(typeOf(use.get()).getLayout()))
        continue;
      if (readsShared(use)) {
        Type rounded = roundedBy(use);
        use.set(inShared(
            use.get(), rounded ? rounded : typeOf(use.get()).getElementType()));
      } else if (auto map = dyn_cast<MapOp>(op)) {
        use.set(inRegisters(use.get(), map.getResult().getType().getLayout()));
      } else if (auto dot = dyn_cast<DotRunsOp>(op);
                 dot && use.get() == dot.getRow()) {
        use.set(inRegisters(use.get(), dot.getTile().getType().getLayout()));
      }
    }
  }
}

// Columns in rows of a unit's own are for that unit. Others are for the first that can
// form the product and takes them as they lie.
void LayoutChoice::nameUnits() {
  kernel.getBody().walk([&](DotOp dot) {
    ProductUnit unit = owners.lookup(dot.getB());
    if (!unit)
      unit = *llvm::find_if(formers[dot], [&](ProductUnit former) {
        return former.takesB(typeOf(dot.getB()).getLayout());
      });
    setProductUnit(dot, unit);
  });
}

LogicalResult effc::assignLayouts(KernelOp kernel, int64_t threads,
                                  ArrayRef<ProductUnit> units) {
  return LayoutChoice(kernel, threads, units).run();
}
