// Views: loads, stores and what is read element by element.
#include "codegen/nvptx/ThreadLowering.h"
#include "codegen/storage/StoredElements.h"
#include "codegen/storage/Unpack.h"

#include "dialects/tile/BoxAxes.h"
#include "dialects/tile/Divisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::stored;
using namespace effc::tile;

/// The most neighbours that are moved together: to registers, and by copies.
static constexpr int64_t kMostHeld = 4, kMostCopied = 8;

Value ThreadLowering::offsetOf(ValueRange indices, ArrayRef<int64_t> strides) {
  Value offset = constant(0);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    offset = add(offset, mul(lookup(index), stride));
  return offset;
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
  int64_t common = kMostCopied;
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
  box.origin =
      further(stored::firstPlace(b, loc, bases.lookup(view), box.element),
              box.element, offsetOf(indices, viewType.getStrides()));
  box.rowStride = BoxAxes::stride(viewType, axes.row);
  box.columnStride = BoxAxes::stride(viewType, axes.column);
  box.rowLimit = rowLimit ? lookup(rowLimit) : Value();
  box.columnLimit = columnLimit ? lookup(columnLimit) : Value();
  if (box.columnStride == 1 && !columnLimit)
    box.vector = alignmentOf(view, indices, sizes, axes.column);
  return box;
}

ElementPlace ThreadLowering::heldPlace(const Box &box, const Held &held) {
  return further(box.origin, box.element,
                 add(mul(held.firstRow, box.rowStride),
                     mul(held.firstColumn, box.columnStride)));
}

Value ThreadLowering::loadRun(Value address, Type element, int64_t lanes) {
  int64_t bytes = storage::Storage::get(element).blockBytes();
  Value loaded =
      LLVM::LoadOp::create(b, loc, storedType(element, lanes), address,
                           /*alignment=*/bytes * lanes);
  return widen(b, loc, loaded, element);
}

Value ThreadLowering::loadRun(const ElementPlace &place, Type element,
                              int64_t lanes) {
  if (!place.number)
    return loadRun(place.address, element, lanes);
  ElementPlace aligned = place;
  aligned.divisor = lanes;
  return unpack(b, loc, aligned, element, lanes);
}

// An element that does not count is not read: the box's first one is, which is
// always there.
Value ThreadLowering::loadRun(const Box &box, const ElementPlace &place,
                              Value valid, int64_t lanes) {
  if (!valid)
    return loadRun(place, box.element, lanes);
  Value loaded = loadRun(stored::select(b, loc, valid, place, box.origin),
                         box.element, lanes);
  return select(
      valid, loaded,
      arith::ConstantOp::create(b, loc, b.getZeroAttr(loaded.getType())));
}

int64_t ThreadLowering::lanesOf(const Distribution &d, int64_t vector,
                                bool copied) {
  ArrayRef<int64_t> offsets = d.columns.offsets;
  int64_t run = 1;
  while (run < static_cast<int64_t>(offsets.size()) &&
         offsets[run] == offsets[0] + run)
    ++run;
  run = std::min<int64_t>(run, copied ? kMostCopied : kMostHeld);
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
  const auto &[rows, columns] = held.distribution;
  Counted counted = countedOf(held, box.rowLimit, box.columnLimit);
  ElementPlace first = heldPlace(box, held);
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); j += lanes) {
      int64_t place = rows.offsets[i] * box.rowStride +
                      columns.offsets[j] * box.columnStride;
      Value run = loadRun(box, further(first, box.element, place),
                          both(counted.rows[i], counted.columns[j]), lanes);
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
  box.origin = further(
      stored::firstPlace(b, loc, bases.lookup(gather.getView()), box.element),
      box.element, lookup(gather.getColumn()));
  box.rowStride = view.getStrides()[0];
  box.columnStride = 1;
  Value rowLimit = gather.getRows() ? lookup(gather.getRows()) : Value();
  Value columnLimit =
      gather.getColumns() ? lookup(gather.getColumns()) : Value();
  Value numbers = further(bases.lookup(gather.getNumbers()), b.getI32Type(),
                          offsetOf(gather.getIndices(),
                                   gather.getNumbers().getType().getStrides()));
  finishLoad(gather.getResult(), [&](const Held &held) {
    const auto &[rows, columns] = held.distribution;
    Counted counted = countedOf(held, rowLimit, columnLimit);
    Value firstNumber = further(numbers, b.getI32Type(), held.firstRow);
    Elements elements;
    for (size_t i = 0; i < held.rows(); ++i) {
      // The row is one of the view's in any case.
      Value at = further(firstNumber, b.getI32Type(), rows.offsets[i]);
      if (counted.rows[i])
        at = select(counted.rows[i], at, numbers);
      Value number = arith::IndexCastOp::create(
          b, loc, b.getIndexType(),
          LLVM::LoadOp::create(b, loc, b.getI32Type(), at));
      ElementPlace row =
          further(box.origin, box.element, mul(number, box.rowStride));
      ElementPlace first = further(row, box.element, held.firstColumn);
      for (size_t j = 0; j < held.columns(); ++j) {
        ElementPlace place = further(first, box.element, columns.offsets[j]);
        Value valid = both(counted.rows[i], counted.columns[j]);
        if (valid)
          place = stored::select(b, loc, valid, place, row);
        Value loaded = loadRun(place, box.element, 1);
        elements.push_back(valid ? select(valid, loaded, f32(0)) : loaded);
      }
    }
    return elements;
  });
}

// Row by row: whichever box it comes from, one piece of code reads it where
// both hold the same elements. Either box may be empty, and then need not lie
// inside its view, so that a row that neither has is not read at all.
void ThreadLowering::lowerSplice(SpliceOp splice) {
  TileType type = splice.getResult().getType();
  Value head = lookup(splice.getHead()), end = lookup(splice.getEnd());
  Box first = boxOf(splice.getFirst(), splice.getFirstIndices(),
                    splice.getFirstSizes(), type, {}, {});
  Box second = boxOf(splice.getSecond(), splice.getSecondIndices(),
                     splice.getSecondSizes(), type, {}, {});
  bool alike = first.element == second.element && !first.origin.number &&
               first.columnStride == second.columnStride;
  finishLoad(splice.getResult(), [&](const Held &held) {
    const auto &[rows, columns] = held.distribution;
    Counted counted = countedOf(held);
    int64_t lanes =
        lanesOf(held.distribution, std::min(first.vector, second.vector));
    auto readRow = [&](const Box &box, const ElementPlace &row) {
      Elements elements;
      for (size_t j = 0; j < held.columns(); j += lanes) {
        ElementPlace from =
            further(row, box.element, columns.offsets[j] * box.columnStride);
        Value run = counted.columns[j]
                        ? loadRun(box, from, counted.columns[j], lanes)
                        : loadRun(from, box.element, lanes);
        llvm::append_range(elements, elementsOf(run));
      }
      return elements;
    };
    auto rowOf = [&](const Box &box, Value row) {
      return further(box.origin, box.element,
                     add(mul(row, box.rowStride),
                         mul(held.firstColumn, box.columnStride)));
    };
    Elements elements, zeros(held.columns(), f32(0));
    for (size_t i = 0; i < held.rows(); ++i) {
      Value row = rowAt(held, i);
      Value ofFirst = less(row, head),
            later = arith::SubIOp::create(b, loc, row, head);
      Value there = both(counted.rows[i], less(row, end));
      llvm::append_range(
          elements,
          either(
              there, held.columns(),
              [&] {
                if (alike) {
                  Box box = first;
                  box.origin = stored::select(b, loc, ofFirst, first.origin,
                                              second.origin);
                  return readRow(box, stored::select(b, loc, ofFirst,
                                                     rowOf(first, row),
                                                     rowOf(second, later)));
                }
                return either(
                    ofFirst, held.columns(),
                    [&] { return readRow(first, rowOf(first, row)); },
                    [&] { return readRow(second, rowOf(second, later)); });
              },
              [&] { return zeros; }));
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
  int64_t bytes = storage::Storage::get(box.element).blockBytes();
  const auto &[rows, columns] = held.distribution;
  guarded(isFirstHolder(held.distribution), [&] {
    Counted counted = countedOf(held, box.rowLimit, box.columnLimit);
    Value first = heldPlace(box, held).address;
    for (size_t i = 0; i < held.rows(); ++i)
      guarded(counted.rows[i], [&] {
        for (size_t j = 0; j < held.columns(); j += lanes)
          guarded(counted.columns[j], [&] {
            int64_t place = rows.offsets[i] * box.rowStride +
                            columns.offsets[j] * box.columnStride;
            Value run = runOf(&elements[i * held.columns() + j], lanes);
            LLVM::StoreOp::create(b, loc, narrow(b, loc, run, box.element),
                                  further(first, box.element, place),
                                  bytes * lanes);
          });
      });
  });
}

void ThreadLowering::lowerRead(ReadOp read) {
  ViewType type = read.getView().getType();
  Type element = type.getElementType();
  ElementPlace at =
      further(stored::firstPlace(b, loc, bases.lookup(read.getView()), element),
              element, offsetOf(read.getIndices(), type.getStrides()));
  Value value;
  if (at.number)
    value = loadRun(at, element, 1);
  else
    value =
        widen(b, loc,
              LLVM::LoadOp::create(b, loc, storedType(element, 1), at.address),
              element);
  if (element.isInteger())
    value = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  scalars.map(read.getResult(), value);
}
