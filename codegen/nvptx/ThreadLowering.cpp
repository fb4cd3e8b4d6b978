// Tiles -> registers of a thread.
#include "codegen/nvptx/ThreadLowering.h"

#include "dialects/plan/SegmentRecord.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

static constexpr int64_t kWarp = 32;
static constexpr unsigned kSharedSpace = 3;

ThreadLowering::ThreadLowering(KernelOp kernel, Block *entry, StringRef shared)
    : kernel(kernel), b(OpBuilder::atBlockEnd(entry)), loc(kernel.getLoc()),
      entry(entry), shared(shared) {}

Value ThreadLowering::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value ThreadLowering::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value ThreadLowering::mul(Value x, int64_t y) {
  return arith::MulIOp::create(b, loc, x, constant(y));
}

int64_t ThreadLowering::rowsHeld(TileType type) const {
  bool spansRows = type.isBlock() || type.getRole() == Role::Column;
  return spansRows ? type.rows() / (layout.getThreads() / layout.getLanes())
                   : 1;
}

int64_t ThreadLowering::runsHeld(TileType type) const {
  bool spansColumns = type.isBlock() || type.getRole() == Role::Row;
  return spansColumns
             ? type.columns() / (layout.getLanes() * layout.getVector())
             : 1;
}

Value ThreadLowering::rowAt(int64_t i) {
  return add(rowGroup, constant(i * (layout.getThreads() / layout.getLanes())));
}

Value ThreadLowering::columnAt(int64_t j) {
  return mul(add(lane, constant(j * layout.getLanes())), layout.getVector());
}

LogicalResult ThreadLowering::run() {
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<TileType>(type))
        layout = tile.getLayout();
  });
  auto index = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  Value thread = index(NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
  scalars.map(kernel.getItem(),
              index(NVVM::BlockIdXOp::create(b, loc, b.getI32Type())));
  lane = arith::RemUIOp::create(b, loc, thread, constant(layout.getLanes()));
  rowGroup =
      arith::DivUIOp::create(b, loc, thread, constant(layout.getLanes()));
  warp = arith::DivUIOp::create(b, loc, thread, constant(kWarp));
  laneOfWarp = arith::RemUIOp::create(b, loc, thread, constant(kWarp));
  for (auto [i, operand] : llvm::enumerate(kernel.getOperandArguments()))
    bases[operand] = entry->getArgument(i);
  for (Operation &op : kernel.getBody().front())
    if (failed(lower(op)))
      return failure();
  return success();
}

LogicalResult ThreadLowering::lower(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  if (dialect == "arith" || dialect == "math") {
    scalars.map(op.getResult(0), emitScalar(&op, scalars));
    return success();
  }
  if (auto count = dyn_cast<CountOp>(op)) {
    Value size = entry->getArgument(kernel.getOperandArguments().size() +
                                    static_cast<int>(count.getCount()));
    scalars.map(
        count.getResult(),
        arith::IndexCastOp::create(b, loc, b.getIndexType(), size).getResult());
    return success();
  }
  if (auto splat = dyn_cast<SplatOp>(op)) {
    TileType type = splat.getResult().getType();
    int64_t held = rowsHeld(type) * runsHeld(type) *
                   (type.getRole() == Role::Column ? 1 : layout.getVector());
    tiles[splat.getResult()].assign(held, lookup(splat.getValue()));
    return success();
  }
  if (auto load = dyn_cast<LoadOp>(op))
    return lowerLoad(load), success();
  if (auto store = dyn_cast<StoreOp>(op))
    return lowerStore(store), success();
  if (auto read = dyn_cast<ReadOp>(op))
    return lowerRead(read), success();
  if (auto segment = dyn_cast<SegmentOp>(op))
    return lowerSegment(segment), success();
  if (auto map = dyn_cast<MapOp>(op))
    return lowerMap(map), success();
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getOverRows())
    return lowerReduce(reduce), success();
  if (auto combine = dyn_cast<CombineOp>(op))
    return lowerCombine(combine), success();
  return op.emitOpError("has no lowering to a GPU thread");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value ThreadLowering::addressOf(Value view, ValueRange indices,
                                ArrayRef<int64_t> sizes, TileType type,
                                Value row, Value column) {
  auto viewType = cast<ViewType>(view.getType());
  // Columns run along the last dimension of more than one element, rows along
  // the one before.
  int64_t rowDim = -1, columnDim = -1;
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    if (sizes[dim] == 1)
      continue;
    if (columnDim < 0 && type.columns() > 1)
      columnDim = dim;
    else if (rowDim < 0)
      rowDim = dim;
  }
  Value offset = constant(0);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value at = lookup(index);
    if (static_cast<int64_t>(dim) == rowDim)
      at = add(at, row);
    if (static_cast<int64_t>(dim) == columnDim)
      at = add(at, column);
    offset = add(offset, mul(at, viewType.getStrides()[dim]));
  }
  offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, loc, bases.lookup(view).getType(),
                             viewType.getElementType(), bases.lookup(view),
                             ArrayRef<LLVM::GEPArg>{offset});
}

// Bytes that an access of `vector` elements is aligned to: the whole vector
// where operand, strides and box start say so, else one element.
unsigned ThreadLowering::alignmentOf(Value view, ArrayRef<int64_t> sizes) {
  auto viewType = cast<ViewType>(view.getType());
  unsigned element = viewType.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t operand = cast<BlockArgument>(view).getArgNumber() - 1;
  bool aligned = llvm::is_contained(
      kernel.getAligned().value_or(ArrayRef<int64_t>{}), operand);
  for (auto [dim, stride] : llvm::enumerate(viewType.getStrides())) {
    // The columns' own dimension is taken whole, from its first element.
    bool whole = stride == 1 && sizes[dim] == viewType.getShape()[dim];
    aligned &= whole || stride % layout.getVector() == 0;
  }
  return aligned ? element * layout.getVector() : element;
}

void ThreadLowering::lowerLoad(LoadOp load) {
  TileType type = load.getResult().getType();
  bool column = type.getRole() == Role::Column;
  int64_t vector = column ? 1 : layout.getVector();
  Type element = load.getView().getType().getElementType();
  Type loaded =
      vector == 1 ? element : Type(VectorType::get({vector}, element));
  unsigned alignment =
      column ? 4 : alignmentOf(load.getView(), load.getSizes());
  Elements &elements = tiles[load.getResult()];
  for (int64_t i = 0; i < rowsHeld(type); ++i)
    for (int64_t j = 0; j < runsHeld(type); ++j) {
      Value at = addressOf(load.getView(), load.getIndices(), load.getSizes(),
                           type, rowAt(i), columnAt(j));
      Value run = LLVM::LoadOp::create(b, loc, loaded, at, alignment);
      for (int64_t e = 0; e < vector; ++e)
        elements.push_back(vector == 1
                               ? run
                               : LLVM::ExtractElementOp::create(
                                     b, loc, run,
                                     LLVM::ConstantOp::create(
                                         b, loc, b.getI32IntegerAttr(e))));
    }
}

void ThreadLowering::lowerStore(StoreOp store) {
  TileType type = store.getTile().getType();
  int64_t vector = layout.getVector();
  const Elements elements = tiles.lookup(store.getTile());
  unsigned alignment = alignmentOf(store.getView(), store.getSizes());
  OpBuilder::InsertionGuard guard(b);
  if (!type.isBlock()) {
    // Every group of threads holds the row; the first one stores it.
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        rowGroup, constant(0));
    auto guarded = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guarded.thenBlock());
  }
  size_t next = 0;
  for (int64_t i = 0; i < rowsHeld(type); ++i)
    for (int64_t j = 0; j < runsHeld(type); ++j) {
      Value at = addressOf(store.getView(), store.getIndices(),
                           store.getSizes(), type, rowAt(i), columnAt(j));
      if (vector == 1) {
        LLVM::StoreOp::create(b, loc, elements[next++], at, alignment);
        continue;
      }
      Value run = LLVM::UndefOp::create(
          b, loc, VectorType::get({vector}, b.getF32Type()));
      for (int64_t e = 0; e < vector; ++e)
        run = LLVM::InsertElementOp::create(
            b, loc, run, elements[next++],
            LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(e)));
      LLVM::StoreOp::create(b, loc, run, at, alignment);
    }
}

void ThreadLowering::lowerRead(ReadOp read) {
  ViewType type = read.getView().getType();
  Value offset = constant(0);
  for (auto [index, stride] :
       llvm::zip_equal(read.getIndices(), type.getStrides()))
    offset = add(offset, mul(lookup(index), stride));
  offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  Value at = LLVM::GEPOp::create(
      b, loc, bases.lookup(read.getView()).getType(), type.getElementType(),
      bases.lookup(read.getView()), ArrayRef<LLVM::GEPArg>{offset});
  Value value = LLVM::LoadOp::create(b, loc, type.getElementType(), at);
  if (type.getElementType().isInteger())
    value = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  scalars.map(read.getResult(), value);
}

void ThreadLowering::lowerSegment(SegmentOp segment) {
  using Record = plan::SegmentRecord;
  Value base = bases.lookup(segment.getTable());
  Value record = arith::IndexCastOp::create(
      b, loc, b.getI64Type(), mul(lookup(segment.getIndex()), Record::kBytes));
  base = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{record});
  auto field = [&](int32_t offset, Type type) -> Value {
    Value at = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, loc, type, at);
  };
  auto index = [&](int32_t offset, Type type) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                      field(offset, type));
  };
  scalars.map(segment.getSlot(), index(Record::kSlot, b.getI32Type()));
  scalars.map(segment.getFirstRow(), index(Record::kFirstRow, b.getI32Type()));
  scalars.map(segment.getLength(), index(Record::kLength, b.getI32Type()));
  scalars.map(segment.getBegins(),
              arith::TruncIOp::create(b, loc, b.getI1Type(),
                                      field(Record::kFlags, b.getI32Type()))
                  .getResult());
  scalars.map(segment.getStart(), index(Record::kStart, b.getI64Type()));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value callApprox(OpBuilder &b, Location loc, StringRef name, Value x) {
  return LLVM::CallIntrinsicOp::create(b, loc, x.getType(),
                                       b.getStringAttr(name), ValueRange{x})
      .getResult(0);
}

// exp and log1p by the hardware's powers and logarithms of two; the rest as it
// is.
Value ThreadLowering::emitScalar(Operation *op, IRMapping &mapping) {
  auto f32 = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  if (isa<math::ExpOp>(op)) {
    Value scaled = arith::MulFOp::create(
        b, loc, mapping.lookupOrDefault(op->getOperand(0)),
        f32(1.44269504088896341f));
    return callApprox(b, loc, "llvm.nvvm.ex2.approx.ftz.f", scaled);
  }
  if (isa<math::Log1pOp>(op)) {
    // log(y) + c / y with y = fl(1 + x) and c what y lost of x.
    Value x = mapping.lookupOrDefault(op->getOperand(0));
    Value y = arith::AddFOp::create(b, loc, x, f32(1));
    Value lost = arith::SubFOp::create(
        b, loc, x, arith::SubFOp::create(b, loc, y, f32(1)));
    Value log = arith::MulFOp::create(
        b, loc, callApprox(b, loc, "llvm.nvvm.lg2.approx.ftz.f", y),
        f32(0.693147180559945309f));
    return arith::AddFOp::create(b, loc, log,
                                 arith::DivFOp::create(b, loc, lost, y));
  }
  return b.clone(*op, mapping)->getResult(0);
}

void ThreadLowering::lowerMap(MapOp map) {
  TileType type = map.getResult().getType();
  bool isColumn = type.getRole() == Role::Column;
  int64_t vector = isColumn ? 1 : layout.getVector(), runs = runsHeld(type);
  Block &body = map.getBody().front();
  Elements result;
  for (int64_t i = 0; i < rowsHeld(type); ++i)
    for (int64_t j = 0; j < runs; ++j)
      for (int64_t e = 0; e < vector; ++e) {
        IRMapping mapping(scalars);
        for (auto [argument, input] :
             llvm::zip_equal(body.getArguments(), map.getInputs())) {
          auto tile = dyn_cast<TileType>(input.getType());
          if (!tile) {
            mapping.map(argument, lookup(input));
            continue;
          }
          const Elements &held = tiles[input];
          int64_t column = j * vector + e;
          int64_t at = tile.isBlock() ? i * runs * vector + column
                       : tile.getRole() == Role::Column ? i
                                                        : column;
          mapping.map(argument, held[at]);
        }
        for (Operation &op : body.without_terminator()) {
          if (isa<RowIndexOp>(op))
            mapping.map(op.getResult(0), rowAt(i));
          else if (isa<ColumnIndexOp>(op))
            mapping.map(op.getResult(0), add(columnAt(j), constant(e)));
          else
            mapping.map(op.getResult(0), emitScalar(&op, mapping));
        }
        result.push_back(
            mapping.lookupOrDefault(cast<YieldOp>(body.back()).getValues()[0]));
      }
  tiles[map.getResult()] = result;
}

Value ThreadLowering::combineTwo(ReduceKind kind, Value x, Value y) {
  if (kind == ReduceKind::Max)
    return arith::MaximumFOp::create(b, loc, x, y);
  return arith::AddFOp::create(b, loc, x, y);
}

void ThreadLowering::lowerReduce(ReduceOp reduce) {
  TileType type = reduce.getTile().getType();
  int64_t columns = runsHeld(type) * layout.getVector();
  const Elements held = tiles.lookup(reduce.getTile());
  Elements sums(held.begin(), held.begin() + columns);
  for (int64_t i = 1; i < rowsHeld(type); ++i)
    for (int64_t c = 0; c < columns; ++c)
      sums[c] = combineTwo(reduce.getKind(), sums[c], held[i * columns + c]);
  tiles[reduce.getResult()] = sums;
}

void ThreadLowering::lowerCombine(CombineOp combine) {
  TileType type = combine.getPartial().getType();
  int64_t vector = layout.getVector(), runs = runsHeld(type),
          warps = layout.getThreads() / kWarp;
  Elements sums = tiles.lookup(combine.getPartial());
  auto i32 = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(value));
  };
  // Inside a warp: threads `lanes` apart hold the same columns of other rows.
  for (int64_t distance = layout.getLanes(); distance < kWarp; distance *= 2)
    for (Value &sum : sums) {
      Value other = NVVM::ShflOp::create(b, loc, b.getF32Type(), i32(-1), sum,
                                         i32(distance), i32(kWarp - 1),
                                         NVVM::ShflKind::bfly, UnitAttr());
      sum = combineTwo(combine.getKind(), sum, other);
    }
  tiles[combine.getResult()] = sums;
  if (warps == 1)
    return;
  // Across warps: each leaves its sums in shared memory, then all are added.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  Value memory = LLVM::AddressOfOp::create(b, loc, pointer, shared);
  auto at = [&](Value warpIndex, int64_t run, int64_t e) -> Value {
    Value element =
        add(mul(warpIndex, type.columns()),
            add(columnAt(run), constant(e + combine.getOffset() / 4)));
    element = arith::IndexCastOp::create(b, loc, b.getI64Type(), element);
    return LLVM::GEPOp::create(b, loc, pointer, b.getF32Type(), memory,
                               ArrayRef<LLVM::GEPArg>{element});
  };
  {
    Value first =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, laneOfWarp,
                              constant(layout.getLanes()));
    auto guarded = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(guarded.thenBlock());
    for (int64_t j = 0; j < runs; ++j)
      for (int64_t e = 0; e < vector; ++e)
        LLVM::StoreOp::create(b, loc, sums[j * vector + e], at(warp, j, e));
  }
  NVVM::Barrier0Op::create(b, loc);
  for (int64_t j = 0; j < runs; ++j)
    for (int64_t e = 0; e < vector; ++e) {
      Value total =
          LLVM::LoadOp::create(b, loc, b.getF32Type(), at(constant(0), j, e));
      for (int64_t w = 1; w < warps; ++w)
        total = combineTwo(combine.getKind(), total,
                           LLVM::LoadOp::create(b, loc, b.getF32Type(),
                                                at(constant(w), j, e)));
      sums[j * vector + e] = total;
    }
  tiles[combine.getResult()] = sums;
}
