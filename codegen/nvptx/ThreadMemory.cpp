// Views: loads, stores and what is read element by element.
#include "codegen/nvptx/StoredElements.h"
#include "codegen/nvptx/ThreadLowering.h"

#include "dialects/tile/BoxAxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

// The most elements of f32 that one access moves.
static constexpr int64_t kMostVector = 4;

static Value pointerAt(OpBuilder &b, Location loc, Value base, Type element,
                       Value offset) {
  offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value ThreadLowering::offsetOf(ValueRange indices, ArrayRef<int64_t> strides) {
  Value offset = constant(0);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    offset = add(offset, mul(lookup(index), stride));
  return offset;
}

// A number that divides `index`, as far as its ops show.
static int64_t divisorOf(Value index) {
  APInt value;
  if (matchPattern(index, m_ConstantInt(&value)))
    return value.getSExtValue();
  if (auto product = index.getDefiningOp<arith::MulIOp>())
    return divisorOf(product.getLhs()) * divisorOf(product.getRhs());
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    return std::gcd(divisorOf(sum.getLhs()), divisorOf(sum.getRhs()));
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && argument == loop.getInductionVar())
      return std::gcd(divisorOf(loop.getLowerBound()),
                      divisorOf(loop.getStep()));
    if (auto pipeline = dyn_cast<PipelineOp>(parent);
        pipeline && argument.getOwner() == &pipeline.getLoad().front())
      return pipeline.getStep();
  }
  return 1;
}

// How many elements are moved together: the box's first element and its rows
// lie at multiples of so many, counted from an aligned operand.
int64_t ThreadLowering::alignmentOf(Value view, ValueRange indices,
                                    ArrayRef<int64_t> sizes,
                                    int64_t columnDim) {
  int64_t operand = cast<BlockArgument>(view).getArgNumber() - 1;
  if (!llvm::is_contained(kernel.getAligned().value_or(ArrayRef<int64_t>{}),
                          operand))
    return 1;
  ArrayRef<int64_t> strides = cast<ViewType>(view.getType()).getStrides();
  int64_t common = kMostVector;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    common = std::gcd(common, divisorOf(index) * strides[dim]);
    if (static_cast<int64_t>(dim) != columnDim && sizes[dim] > 1)
      common = std::gcd(common, strides[dim]);
  }
  return common;
}

ThreadLowering::Box ThreadLowering::boxOf(Value view, ValueRange indices,
                                          ArrayRef<int64_t> sizes,
                                          TileType type, Value rowLimit,
                                          Value columnLimit) {
  auto viewType = cast<ViewType>(view.getType());
  BoxAxes axes = axesOf(sizes, type);
  Box box;
  box.element = viewType.getElementType();
  box.origin = pointerAt(b, loc, bases.lookup(view), box.element,
                         offsetOf(indices, viewType.getStrides()));
  box.rowStride = BoxAxes::stride(viewType, axes.row);
  box.columnStride = BoxAxes::stride(viewType, axes.column);
  box.rowLimit = rowLimit ? lookup(rowLimit) : Value();
  box.columnLimit = columnLimit ? lookup(columnLimit) : Value();
  if (box.columnStride == 1 && !columnLimit)
    box.vector = alignmentOf(view, indices, sizes, axes.column);
  return box;
}

// An element that does not count is not read: the box's first one is, which is
// always there.
Value ThreadLowering::elementAddress(const Box &box, Value row, Value column,
                                     Value valid) {
  Value offset = add(mul(row, box.rowStride), mul(column, box.columnStride));
  if (valid)
    offset = select(valid, offset, constant(0));
  return pointerAt(b, loc, box.origin, box.element, offset);
}

// `lanes` neighbours along the columns, zeros where they do not count.
Value ThreadLowering::loadRun(const Box &box, Value row, Value column,
                              Value valid, int64_t lanes) {
  unsigned bytes = box.element.getIntOrFloatBitWidth() / 8;
  Value loaded = LLVM::LoadOp::create(b, loc, storedType(box.element, lanes),
                                      elementAddress(box, row, column, valid),
                                      /*alignment=*/bytes * lanes);
  loaded = widen(b, loc, loaded, box.element);
  if (!valid)
    return loaded;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(loaded.getType()));
  return select(valid, loaded, zero);
}

int64_t ThreadLowering::lanesOf(const Distribution &d, int64_t vector) {
  ArrayRef<int64_t> offsets = d.columns.offsets;
  int64_t run = 1;
  while (run < static_cast<int64_t>(offsets.size()) &&
         offsets[run] == offsets[0] + run)
    ++run;
  run = std::min<int64_t>(run, kMostVector);
  int64_t lanes = 1;
  while (lanes * 2 <= run && vector % (lanes * 2) == 0 &&
         d.columns.size % (lanes * 2) == 0)
    lanes *= 2;
  return lanes;
}

// Neighbours as they are moved, and one by one.
Value ThreadLowering::runOf(const Value *elements, int64_t lanes) {
  if (lanes == 1)
    return *elements;
  Value run = LLVM::PoisonOp::create(
      b, loc, VectorType::get({lanes}, elements->getType()));
  for (int64_t lane = 0; lane < lanes; ++lane)
    run = LLVM::InsertElementOp::create(b, loc, run, elements[lane], i32(lane));
  return run;
}

ThreadLowering::Elements ThreadLowering::elementsOf(Value run) {
  auto type = dyn_cast<VectorType>(run.getType());
  if (!type)
    return {run};
  Elements elements;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    elements.push_back(LLVM::ExtractElementOp::create(b, loc, run, i32(lane)));
  return elements;
}

ThreadLowering::Elements ThreadLowering::loadBox(const Box &box,
                                                 const Held &held) {
  int64_t lanes = lanesOf(held.distribution, box.vector);
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); j += lanes) {
      Value row = rowAt(held, i), column = columnAt(held, j);
      Value valid = inside(held, i, j);
      if (box.rowLimit)
        valid = both(valid, less(row, box.rowLimit));
      if (box.columnLimit)
        valid = both(valid, less(column, box.columnLimit));
      Value run = loadRun(box, row, column, valid, lanes);
      llvm::append_range(elements, elementsOf(run));
    }
  return elements;
}

// A tile that is loaded to shared memory passes through the registers of
// whichever threads: those of the layout for its shape.
void ThreadLowering::finishLoad(Value result,
                                function_ref<Elements(const Held &)> load) {
  auto type = cast<TileType>(result.getType());
  if (!isa<SharedAttr>(type.getLayout())) {
    tiles[result] = load(heldOf(type));
    return;
  }
  TileType moving = type.withLayout(
      type.getRole() == Role::Column
          ? BlockedAttr::get(b.getContext(), threads, 1, 1)
          : blockedFor(b.getContext(), type.rows(), type.columns(), threads));
  Held held = heldOf(moving);
  storeShared(load(held), held, type);
}

void ThreadLowering::lowerLoad(LoadOp load) {
  Box box =
      boxOf(load.getView(), load.getIndices(), load.getSizes(),
            load.getResult().getType(), load.getRows(), load.getColumns());
  finishLoad(load.getResult(),
             [&](const Held &held) { return loadBox(box, held); });
}

void ThreadLowering::lowerGather(GatherRowsOp gather) {
  ViewType view = gather.getView().getType();
  Box box;
  box.element = view.getElementType();
  box.origin = pointerAt(b, loc, bases.lookup(gather.getView()), box.element,
                         lookup(gather.getColumn()));
  box.rowStride = view.getStrides()[0];
  box.columnStride = 1;
  Value rowLimit = gather.getRows() ? lookup(gather.getRows()) : Value();
  Value columnLimit =
      gather.getColumns() ? lookup(gather.getColumns()) : Value();
  Value numbers =
      pointerAt(b, loc, bases.lookup(gather.getNumbers()), b.getI32Type(),
                offsetOf(gather.getIndices(),
                         gather.getNumbers().getType().getStrides()));
  finishLoad(gather.getResult(), [&](const Held &held) {
    Elements elements;
    for (size_t i = 0; i < held.rows(); ++i) {
      Value row = rowAt(held, i), there;
      if (!held.distribution.rows.exact())
        there = less(row, constant(held.distribution.rows.size));
      if (rowLimit)
        there = both(there, less(row, rowLimit));
      if (there)
        row = select(there, row, constant(0));
      Value number =
          LLVM::LoadOp::create(b, loc, b.getI32Type(),
                               pointerAt(b, loc, numbers, b.getI32Type(), row));
      number = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
      for (size_t j = 0; j < held.columns(); ++j) {
        Value column = columnAt(held, j),
              valid = both(there, inside(held, i, j));
        if (columnLimit)
          valid = both(valid, less(column, columnLimit));
        // The row is one of the view's in any case.
        Value safe = select(valid, column, constant(0));
        Value offset = add(mul(number, box.rowStride), safe);
        Value loaded =
            widen(b, loc,
                  LLVM::LoadOp::create(
                      b, loc, storedType(box.element, 1),
                      pointerAt(b, loc, box.origin, box.element, offset)),
                  box.element);
        elements.push_back(valid ? select(valid, loaded, f32(0)) : loaded);
      }
    }
    return elements;
  });
}

void ThreadLowering::lowerSplice(SpliceOp splice) {
  TileType type = splice.getResult().getType();
  Value head = lookup(splice.getHead()), end = lookup(splice.getEnd());
  Box first = boxOf(splice.getFirst(), splice.getFirstIndices(),
                    splice.getFirstSizes(), type, {}, {});
  Box second = boxOf(splice.getSecond(), splice.getSecondIndices(),
                     splice.getSecondSizes(), type, {}, {});
  // Either box may be empty, and then need not lie inside its view.
  finishLoad(splice.getResult(), [&](const Held &held) {
    Elements elements;
    for (size_t i = 0; i < held.rows(); ++i)
      for (size_t j = 0; j < held.columns(); ++j) {
        Value row = rowAt(held, i), column = columnAt(held, j);
        Value valid = inside(held, i, j);
        Value later = arith::SubIOp::create(b, loc, row, head);
        elements.push_back(either(
            both(valid, less(row, head)),
            [&] { return loadRun(first, row, column, {}, 1); },
            [&] {
              return either(
                  both(valid, less(row, end)),
                  [&] { return loadRun(second, later, column, {}, 1); },
                  [&] { return f32(0); });
            }));
      }
    return elements;
  });
}

void ThreadLowering::lowerStore(StoreOp store) {
  TileType type = store.getTile().getType();
  Box box = boxOf(store.getView(), store.getIndices(), store.getSizes(), type,
                  store.getRows(), store.getColumns());
  Held held = heldOf(type);
  const Elements elements = tiles.lookup(store.getTile());
  int64_t lanes = lanesOf(held.distribution, box.vector);
  unsigned bytes = box.element.getIntOrFloatBitWidth() / 8;
  guarded(isFirstHolder(held.distribution), [&] {
    for (size_t i = 0; i < held.rows(); ++i)
      for (size_t j = 0; j < held.columns(); j += lanes) {
        Value row = rowAt(held, i), column = columnAt(held, j);
        Value valid = inside(held, i, j);
        if (box.rowLimit)
          valid = both(valid, less(row, box.rowLimit));
        if (box.columnLimit)
          valid = both(valid, less(column, box.columnLimit));
        guarded(valid, [&] {
          Value value = runOf(&elements[i * held.columns() + j], lanes);
          LLVM::StoreOp::create(b, loc, narrow(b, loc, value, box.element),
                                elementAddress(box, row, column, {}),
                                bytes * lanes);
        });
      }
  });
}

void ThreadLowering::lowerRead(ReadOp read) {
  ViewType type = read.getView().getType();
  Value at =
      pointerAt(b, loc, bases.lookup(read.getView()), type.getElementType(),
                offsetOf(read.getIndices(), type.getStrides()));
  Value value =
      LLVM::LoadOp::create(b, loc, storedType(type.getElementType(), 1), at);
  value = widen(b, loc, value, type.getElementType());
  if (type.getElementType().isInteger())
    value = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  scalars.map(read.getResult(), value);
}
