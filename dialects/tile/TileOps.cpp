// Syntax and verifiers of the tile dialect's ops.
#include "dialects/storage/Bytes.h"
#include "dialects/storage/GroupedCodes.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/Distribution.h"
#include "dialects/tile/Tile.h"
#include "dialects/tile/units/Units.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

// At kernel level a tile and what is computed of it are of one type, which is
// written once.
static ParseResult parseSameTile(OpAsmParser &parser, Type &tile,
                                 Type &result) {
  TileType of, gives;
  if (parser.parseCustomTypeWithFallback(of))
    return failure();
  gives = of;
  if (succeeded(parser.parseOptionalArrow()) &&
      parser.parseCustomTypeWithFallback(gives))
    return failure();
  tile = of;
  result = gives;
  return success();
}

static void printSameTile(OpAsmPrinter &printer, Operation *, TileType tile,
                          TileType result) {
  printer.printStrippedAttrOrType(tile);
  if (result == tile)
    return;
  printer << " -> ";
  printer.printStrippedAttrOrType(result);
}

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult ReadOp::verify() {
  ViewType view = getView().getType();
  if (getIndices().size() != view.getShape().size()) // read1
    return emitOpError("expects ")
           << view.getShape().size()
           << " indices, one for each dimension of the view, but got "
           << getIndices().size();
  bool integer = view.getElementType().isInteger();
  if (getResult().getType().isIndex() != integer) // read2
    return emitOpError("expects a result of type ")
           << (integer ? "index" : "f32") << " from elements of "
           << view.getElementType() << ", but got " << getResult().getType();
  return success();
}

// The rules that tile.load and tile.store share, (LOAD1) to (LOAD3).
static LogicalResult verifyBox(Operation *op, ViewType view, TileType tile,
                               ValueRange indices, ArrayRef<int64_t> sizes) {
  size_t rank = view.getShape().size();
  if (indices.size() != rank || sizes.size() != rank) // load1
    return op->emitOpError("expects ")
           << rank << " indices and sizes, one for each "
           << "dimension of the view, but got " << indices.size() << " and "
           << sizes.size();
  auto withoutOnes = [](ArrayRef<int64_t> shape) {
    return llvm::filter_to_vector(shape,
                                  [](int64_t size) { return size != 1; });
  };
  if (withoutOnes(sizes) != withoutOnes(tile.getShape())) { // load2
    auto diagnostic =
        op->emitOpError("expects 'sizes' to hold the tile's dimensions ");
    llvm::interleaveComma(tile.getShape(), diagnostic);
    diagnostic << ", but got ";
    llvm::interleaveComma(sizes, diagnostic);
    return diagnostic;
  }
  if (tile.isBlock() && tile.columns() > 1) { // load3
    size_t last = rank;
    while (last > 0 && sizes[last - 1] == 1)
      --last;
    if (last > 0 && view.getStrides()[last - 1] != 1)
      return op->emitOpError(
                 "expects the columns of a block to lie one element apart, "
                 "but the view's stride is ")
             << view.getStrides()[last - 1];
  }
  return success();
}

LogicalResult SpliceOp::verify() {
  TileType tile = getResult().getType();
  if (!tile.isBlock()) // splice2
    return emitOpError("expects a block as its result, but got ") << tile;
  if (failed(verifyBox(*this, getFirst().getType(), tile, getFirstIndices(),
                       getFirstSizes()))) // splice1
    return failure();
  return verifyBox(*this, getSecond().getType(), tile, getSecondIndices(),
                   getSecondSizes());
}

LogicalResult LoadOp::verify() {
  return verifyBox(*this, getView().getType(), getResult().getType(),
                   getIndices(), getSizes());
}

LogicalResult StoreOp::verify() {
  Type element = getView().getType().getElementType();
  storage::Storage storage = storage::Storage::get(element);
  if (!storage.isDense() && !storage.digits() &&
      !storage::isRowOfBytes(storage.block())) // store1
    return emitOpError("expects a view of digits, of rows of bytes or of "
                       "elements with bytes of their own, but got one of ")
           << element;
  if (storage::BlockType rows = storage.block();
      rows && (getColumns() ||
               getTile().getType().columns() != rows.getElements())) // store3
    return emitOpError("expects rows of ")
           << rows.getElements() << " bytes, but got a tile of "
           << getTile().getType().columns() << " columns";
  if (storage.digits() &&
      (getColumns() ||
       !storage.divides(getTile().getType().columns()))) // store2
    return emitOpError("expects whole blocks of ")
           << storage.blockElements() << " digits, but got a tile of "
           << getTile().getType().columns() << " columns";
  return verifyBox(*this, getView().getType(), getTile().getType(),
                   getIndices(), getSizes());
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// The yield that ends a block; none in a block that is empty or ends otherwise.
static YieldOp terminatorOf(Block &block) {
  return block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
}

LogicalResult MapOp::verify() {
  TileType result = getResult().getType();
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    auto tile = dyn_cast<TileType>(input.getType());
    if (!tile)
      continue;
    bool isRow = tile.getRole() == Role::Row,
         isColumn = tile.getRole() == Role::Column;
    if (tile.isBlock()
            ? tile.getShape() != result.getShape()             // map1
            : (isRow && tile.columns() != result.columns()) || // map2
                  (isColumn && tile.rows() != result.rows()))
      return emitOpError("expects input ")
             << index << " to fit a result of " << result.rows() << " rows and "
             << result.columns() << " columns, but got " << tile;
  }
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size() || // map3
      llvm::any_of(body.getArgumentTypes(),
                   [](Type type) { return !type.isF32(); }))
    return emitOpError("expects a region with ")
           << getInputs().size()
           << " f32 arguments, one for each input, but got "
           << body.getNumArguments();
  auto yield = terminatorOf(body);
  if (!yield || yield.getValues().size() != 1 ||
      !yield.getValues()[0].getType().isF32()) // map3
    return emitOpError("expects the region to yield one f32");
  for (Operation &op : body.without_terminator()) { // map4
    StringRef dialect = op.getName().getDialectNamespace();
    if (dialect != "arith" && dialect != "math" &&
        !isa<RowIndexOp, ColumnIndexOp>(op))
      return (emitOpError("expects scalar arithmetic in its region, but got '")
              << op.getName() << "'")
                 .attachNote(op.getLoc())
             << "the map region is applied to one element at a time";
  }
  return success();
}

// Whether two tiles differ in nothing but where they lie.
static bool isSameTile(TileType a, TileType b) {
  return a.withLayout({}) == b.withLayout({});
}

LogicalResult ShiftOp::verify() {
  TileType tile = getTile().getType(), result = getResult().getType();
  if (tile.getRole() != Role::Row || !isSameTile(tile, result)) // shift1
    return emitOpError("expects a row and gives one of its shape, but got ")
           << tile << " and " << result;
  return success();
}

LogicalResult ReduceOp::verify() {
  TileType tile = getTile().getType();
  bool needsScratch =
      tile.getLayout() && !tile.getSharedLayout() && !arePlacesOpen(*this);
  int64_t scratch = getScratch().value_or(needsScratch ? -1 : 0);
  if (scratch < 0 || scratch % kSharedAlignment != 0) // tile_reduce3
    return emitOpError("expects 'scratch' to be a multiple of ")
           << kSharedAlignment << ", at least 0, for a tile in registers";
  if (!tile.isBlock()) { // tile_reduce2
    if (!getResult().getType().isF32())
      return emitOpError("expects an f32 from a one-dimensional tile, but got ")
             << getResult().getType();
    return success();
  }
  Type expected = TileType::get(
      getContext(), {getOverRows() ? tile.columns() : tile.rows()},
      tile.getElementType(), getOverRows() ? Role::Row : Role::Column,
      tile.getLayout());
  if (getResult().getType() != expected) // tile_reduce1
    return emitOpError("expects a result of type ")
           << expected << ", but got " << getResult().getType();
  return success();
}

LogicalResult RingOp::verify() {
  SharedAttr layout = getResult().getType().getSharedLayout();
  if (!layout || layout.getSlots() < 2) // ring1
    return emitOpError("expects a tile in shared memory with several slots, "
                       "but got ")
           << getResult().getType();
  std::optional<int64_t> arrivals = getArrivals();
  if (arrivals && (*arrivals < 0 || *arrivals % kArrivalBytes != 0 ||
                   !layout.takesBoxes())) // ring2
    return emitOpError("expects mbarriers at a multiple of ")
           << kArrivalBytes << " bytes and a swizzled tile, but got "
           << *arrivals << " and " << getResult().getType();
  return success();
}

LogicalResult FetchOp::verify() {
  TileType ring = getRing().getType();
  if (ring.getElementType() != getView().getType().getElementType()) // fetch1
    return emitOpError("expects a ring of the view's elements, but got ")
           << ring << " and " << getView().getType();
  return verifyBox(*this, getView().getType(), ring, getIndices(), getSizes());
}

/// The tile of a ring with one slot; null where it lies elsewhere.
static Type oneSlot(Type type) {
  auto tile = cast<TileType>(type);
  SharedAttr layout = tile.getSharedLayout();
  if (!layout)
    return {};
  return tile.withLayout(layout.withSlots(1));
}

LogicalResult AwaitOp::verify() {
  if (getRings().size() != getResults().size() ||
      !llvm::equal(llvm::map_range(getRings().getTypes(), oneSlot),
                   getResults().getTypes())) // await1
    return emitOpError("expects one result for each ring, its tile with one "
                       "slot, but got ")
           << getResults().getTypes() << " from " << getRings().getTypes();
  return success();
}

bool RingOp::isFilledByBoxes() {
  return llvm::any_of(getResult().getUsers(), llvm::IsaPred<FetchBoxOp>);
}

/// Whether boxes can fill a ring: it knows where they are counted.
static bool takesBoxes(Value ring) {
  auto op = ring.getDefiningOp<RingOp>();
  if (!op || op.getArrivals())
    return bool(op);
  SharedAttr layout = op.getResult().getType().getSharedLayout();
  return arePlacesOpen(op) && layout && layout.takesBoxes();
}

LogicalResult FetchBoxOp::verify() {
  ViewType view = getView().getType();
  auto argument = dyn_cast<BlockArgument>(getView());
  if (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp()) ||
      !isBoxCopied(view)) // fetchbox1
    return emitOpError("expects an operand of the kernel with two static "
                       "dimensions and dense rows of floating-point numbers "
                       "at multiples of ")
           << kBoxPitch << " bytes, but got " << view;
  TileType ring = getRing().getType();
  if (!takesBoxes(getRing()) ||
      ring.getElementType() != view.getElementType() ||
      ring.getShape() != getSizes() || ring.rows() > kMostBoxSize ||
      ring.columns() * ring.getElementType().getIntOrFloatBitWidth() !=
          kBoxRowBits) // fetchbox2
    return emitOpError("expects a ring with 'arrivals' for boxes of the sizes, "
                       "at most ")
           << kMostBoxSize << " rows of " << storage::wholeBytes(kBoxRowBits)
           << " bytes, and of the view's elements, but got " << ring << " and "
           << view;
  if (!isBoxOperand(argument)) // fetchbox3
    return emitOpError("expects an operand that the kernel lists in 'streamed' "
                       "and 'aligned', but got operand ")
           << int64_t(argument.getArgNumber()) - 1;
  return verifyBox(*this, view, ring, getIndices(), getSizes());
}

LogicalResult AwaitBoxOp::verify() {
  if (!takesBoxes(getRing()) ||
      oneSlot(getRing().getType()) != getResult().getType()) // awaitbox1
    return emitOpError("expects a ring with 'arrivals' and its tile with one "
                       "slot, but got ")
           << getResult().getType() << " from " << getRing().getType();
  return success();
}

LogicalResult ConvertOp::verify() {
  TileType from = getTile().getType(), to = getResult().getType();
  if (!from.getLayout() || !to.getLayout() ||
      !from.getSharedLayout() == !to.getSharedLayout()) // convert1
    return emitOpError(
               "expects one tile in registers and one in shared memory, "
               "but got ")
           << from << " and " << to;
  bool rounds = to.getSharedLayout() && from.getElementType().isF32() &&
                (to.getElementType().isBF16() || to.getElementType().isF16());
  if (from.getShape() != to.getShape() || from.getRole() != to.getRole() ||
      (from.getElementType() != to.getElementType() && !rounds)) // convert2
    return emitOpError("expects the same tile in another layout, but got ")
           << from << " and " << to;
  return success();
}

LogicalResult DotOp::verify() {
  TileType acc = getAcc().getType(), a = getA().getType(), b = getB().getType();
  if (!a.isBlock() || !b.isBlock() ||
      acc.getRole() != Role::Accumulator) // dot2
    return emitOpError("expects blocks and an accumulator, but got ")
           << acc << ", " << a << " and " << b;
  int64_t m = getTransposeA() ? a.columns() : a.rows();
  int64_t ka = getTransposeA() ? a.rows() : a.columns();
  int64_t kb = getTransposeB() ? b.columns() : b.rows();
  int64_t n = getTransposeB() ? b.rows() : b.columns();
  if (m != acc.rows() || n != acc.columns() || ka != kb) { // dot1
    InFlightDiagnostic diagnostic =
        emitOpError("expects M x K times K x N into M x N, but got ")
        << m << " x " << ka << " times " << kb << " x " << n << " into "
        << acc.rows() << " x " << acc.columns();
    if (m == acc.rows() && a.columns() == b.columns() && !getTransposeB())
      diagnostic.attachNote() << "'b' looks transposed: mark it transpose_b";
    return diagnostic;
  }
  if (getRoundedTo() && !isRoundedType(*getRoundedTo()) &&
      !isa<storage::DigitsType>(*getRoundedTo())) // dot3
    return emitOpError("expects to round to bf16, f16, tf32 or digits, but "
                       "got ")
           << *getRoundedTo();
  if (getRoundedTo() && isa<storage::DigitsType>(*getRoundedTo()) &&
      (getTransposeA() || !getTransposeB())) // dot6
    return emitOpError("expects operands along the contraction where 'a' is "
                       "rounded to digits");
  auto isShared = [](TileType type) {
    return !type.getLayout() || type.getSharedLayout();
  };
  if (!isShared(b) || !(isShared(a) || takesHeldRows(a.getLayout()))) // dot4
    return emitOpError("expects operands in shared memory, or 'a' in whole "
                       "rows as 'acc' lies, but got ")
           << a << " and " << b;
  if (!b.getSharedLayout()) {
    if (getUnitAttr()) // dot7
      return emitOpError("expects a unit at scheduled level alone, but got ")
             << getUnitAttr() << " and " << b;
    return success();
  }
  ProductUnit unit = productUnitOf(*this);
  if (!unit.takesB(b.getLayout()) ||
      (a.getSharedLayout() &&
       !unit.takesA(a.getLayout(), getTransposeA()))) // dot5
    return emitOpError("expects operands that lie as ")
           << unit << " takes them, but got " << a << " and " << b;
  return success();
}

bool DotOp::canTakeHeldRows() {
  return !getTransposeA() && getA().getType().columns() % kPieceDepth == 0;
}

bool DotOp::takesHeldRows(Attribute layout) {
  auto fragment = dyn_cast_or_null<FragmentAttr>(layout);
  return fragment && layout == getAcc().getType().getLayout() &&
         fragment.getRowWarps() * kWarp == fragment.getThreads() &&
         canTakeHeldRows();
}

LogicalResult ScanOp::verify() {
  TileType tile = getTile().getType(), result = getResult().getType();
  if (tile.getRole() != Role::Column || !isSameTile(tile, result)) // tile_scan1
    return emitOpError("expects a column and gives one of its shape, but got ")
           << tile << " and " << result;
  return success();
}

LogicalResult SegmentDecayOp::verify() {
  TileType tile = getTile().getType(), result = getResult().getType();
  if (tile.getRole() != Role::Column || result.rows() != tile.rows() ||
      result.columns() != tile.rows()) // segment_decay1
    return emitOpError(
               "expects a column of length C and a result of C x C, but got ")
           << tile << " and " << result;
  bool needsScratch = tile.getSharedLayout() && !arePlacesOpen(*this);
  int64_t scratch = getScratch().value_or(needsScratch ? -1 : 0);
  if (scratch < 0 || scratch % kSharedAlignment != 0) // segment_decay2
    return emitOpError("expects 'scratch' to be a multiple of ")
           << kSharedAlignment << ", at least 0, for a tile in shared memory";
  return success();
}

LogicalResult DotRunsOp::verify() {
  TileType acc = getAcc().getType(), tile = getTile().getType(),
           row = getRow().getType();
  if (!acc.isBlock() || !tile.isBlock() || acc.rows() != tile.rows() ||
      tile.columns() % acc.columns() != 0 ||
      !llvm::isPowerOf2_64(getRun())) // dot_runs1
    return emitOpError("expects blocks of the same rows, with columns of the "
                       "tile for each of the sums, a power of two, but got ")
           << acc << " and " << tile;
  if (row.getRole() != Role::Row ||
      row.columns() != tile.columns()) // dot_runs2
    return emitOpError("expects a row of ")
           << tile.columns() << " columns, but got " << row;
  if (!tile.getLayout() && !acc.getLayout())
    return success();
  auto sums = dyn_cast_or_null<BlockedAttr>(acc.getLayout()),
       runs = dyn_cast_or_null<BlockedAttr>(tile.getLayout());
  if (!sums || !runs || row.getLayout() != runs || // dot_runs3
      sums.getLanes() != runs.getLanes() ||
      sums.getVector() * getRun() != runs.getVector())
    return emitOpError("expects the sums of what a thread has of the tile, and "
                       "a row that lies as the tile does, but got ")
           << acc << ", " << tile << " and " << row;
  return success();
}

LogicalResult PipelineOp::verify() {
  int64_t extent = getExtent(), step = getStep(), stages = getStages();
  if (stages < 1 || step < 1 || extent < 1 || extent % step != 0) // pipeline1
    return emitOpError("expects 'extent' to be a positive multiple of 'step' "
                       "and at least "
                       "one stage, but got extent ")
           << extent << ", step " << step << ", stages " << stages;
  Block &load = getLoad().front(), &compute = getCompute().front();
  auto loaded = terminatorOf(load);
  if (load.getNumArguments() != 1 || !load.getArgument(0).getType().isIndex() ||
      !loaded || // pipeline2
      !llvm::all_of(loaded.getValues().getTypes(), llvm::IsaPred<TileType>))
    return emitOpError(
        "expects a load region that takes an index and yields tiles");
  SmallVector<Type> expected(loaded.getValues().getTypes());
  llvm::append_range(expected, getInits().getTypes());
  auto next = terminatorOf(compute);
  if (SmallVector<Type>(compute.getArgumentTypes()) != expected || !next ||
      next.getValues().getTypes() != getInits().getTypes()) // pipeline3
    return emitOpError("expects a compute region from the ")
           << loaded.getValues().size() << " loaded and " << getInits().size()
           << " carried tiles to the carried ones";
  return success();
}
