// Views: loads, stores and what is read element by element.
#include "codegen/nvptx/ThreadMemory.h"
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadRows.h"
#include "codegen/nvptx/ThreadShared.h"
#include "codegen/storage/StoredElements.h"
#include "codegen/storage/Unpack.h"

#include "dialects/tile/BoxAxes.h"
#include "dialects/tile/Divisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using namespace effc::tile;

namespace effc::nvptx {

/// The most neighbours that are moved together: to registers, and by copies.
static constexpr int64_t kMostHeld = 8, kMostCopied = 8;
/// The most bytes that a thread loads at once.
static constexpr int64_t kMostBytes = 16;

static Value offsetOf(ThreadState &t, ValueRange indices,
                      ArrayRef<int64_t> strides) {
  Value offset = t.constant(0);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    offset = t.add(offset, t.mul(t.lookup(index), stride));
  return offset;
}

static ElementPlace furtherBy(ThreadState &t, ElementPlace place, Type element,
                              ValueRange indices, ArrayRef<int64_t> strides) {
  if (!place.number)
    return t.further(place, element, offsetOf(t, indices, strides));
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    place = t.further(place, element, t.lookup(index), stride);
  return place;
}

static bool isAligned(ThreadState &t, Value view) {
  int64_t operand = cast<BlockArgument>(view).getArgNumber() - 1;
  return llvm::is_contained(t.kernel.getAligned().value_or(ArrayRef<int64_t>{}),
                            operand);
}

// The first element of a view.
static ElementPlace placeOf(ThreadState &t, Value view) {
  ElementPlace place =
      stored::firstPlace(t.b, t.loc(), t.bases.lookup(view),
                         cast<ViewType>(view.getType()).getElementType());
  if (isAligned(t, view))
    place.alignment = kMostBytes;
  return place;
}

// How many elements are moved together: the box's first element and its rows
// lie at multiples of so many, counted from an aligned operand.
static int64_t alignmentOf(ThreadState &t, Value view, ValueRange indices,
                           ArrayRef<int64_t> sizes, int64_t columnDim) {
  if (!isAligned(t, view))
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

Box boxOf(ThreadState &t, Value view, ValueRange indices,
          ArrayRef<int64_t> sizes, TileType type, Value rowLimit,
          Value columnLimit) {
  auto viewType = cast<ViewType>(view.getType());
  BoxAxes axes = axesOf(sizes, type);
  Box box;
  box.element = viewType.getElementType();
  box.origin = furtherBy(t, placeOf(t, view), box.element, indices,
                         viewType.getStrides());
  box.rowStride = BoxAxes::stride(viewType, axes.row);
  box.columnStride = BoxAxes::stride(viewType, axes.column);
  box.rowLimit = rowLimit ? t.lookup(rowLimit) : Value();
  box.columnLimit = columnLimit ? t.lookup(columnLimit) : Value();
  if (box.columnStride == 1 && !columnLimit)
    box.vector = alignmentOf(t, view, indices, sizes, axes.column);
  return box;
}

ElementPlace heldPlace(ThreadState &t, const Box &box, const Held &held) {
  if (!box.origin.number)
    return t.further(box.origin, box.element,
                     t.add(t.mul(held.firstRow, box.rowStride),
                           t.mul(held.firstColumn, box.columnStride)));
  ElementPlace row =
      t.further(box.origin, box.element, held.firstRow, box.rowStride);
  return t.further(row, box.element, held.firstColumn, box.columnStride);
}

Value loadRun(ThreadState &t, Value address, Type element, int64_t lanes) {
  int64_t bytes = storage::Storage::get(element).blockBytes();
  Value loaded = LLVM::LoadOp::create(t.b, storedType(element, lanes), address,
                                      /*alignment=*/bytes * lanes);
  return widen(t.b, t.loc(), loaded, element);
}

Value loadRun(ThreadState &t, const ElementPlace &place, Type element,
              int64_t lanes) {
  if (!place.number)
    return loadRun(t, place.address, element, lanes);
  ElementPlace aligned = place;
  aligned.divisor = lanes;
  return unpack(t.b, t.loc(), aligned, element, lanes);
}

// What was loaded where it counts; null: it does.
static Value orZero(ThreadState &t, Value counts, Value loaded) {
  if (!counts)
    return loaded;
  return t.select(
      counts, loaded,
      arith::ConstantOp::create(t.b, t.b.getZeroAttr(loaded.getType())));
}

// Two bf16 are the halves of an i32: one operation for each, where LLVM takes the upper
// one out first.
static Value loadPairs(ThreadState &t, Value address, int64_t lanes) {
  constexpr int64_t kUpper = 0xffff0000;
  Type i32 = t.b.getI32Type(), f32 = t.b.getF32Type();
  int64_t pairs = lanes / 2;
  Type words = pairs == 1 ? i32 : Type(VectorType::get({pairs}, i32));
  Value loaded = LLVM::LoadOp::create(t.b, words, address, 2 * lanes);
  Value run = LLVM::PoisonOp::create(t.b, VectorType::get({lanes}, f32));
  for (int64_t pair = 0; pair < pairs; ++pair) {
    Value word = loaded;
    if (pairs > 1)
      word = LLVM::ExtractElementOp::create(t.b, loaded, t.i32(pair));
    Value halves[] = {LLVM::ShlOp::create(t.b, word, t.i32(16)),
                      LLVM::AndOp::create(t.b, word, t.i32(int32_t(kUpper)))};
    for (auto [i, half] : llvm::enumerate(halves))
      run = LLVM::InsertElementOp::create(
          t.b, run, LLVM::BitcastOp::create(t.b, f32, half),
          t.i32(2 * pair + int64_t(i)));
  }
  return run;
}

// An element that does not count is not read: the box's first one is, which is
// always there.
Value loadRun(ThreadState &t, const Box &box, const ElementPlace &place,
              Value valid, int64_t lanes) {
  if (box.meetsRuns && !valid && box.element.isBF16() && lanes % 2 == 0)
    return loadPairs(t, place.address, lanes);
  ElementPlace there =
      valid ? stored::select(t.b, t.loc(), valid, place, box.origin) : place;
  return orZero(t, valid, loadRun(t, there, box.element, lanes));
}

int64_t lanesOf(const Distribution &d, int64_t vector, bool copied) {
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
Value runOf(ThreadState &t, const Value *elements, int64_t lanes) {
  if (lanes == 1)
    return *elements;
  Value run = LLVM::PoisonOp::create(
      t.b, VectorType::get({lanes}, elements->getType()));
  for (int64_t lane = 0; lane < lanes; ++lane)
    run = LLVM::InsertElementOp::create(t.b, run, elements[lane], t.i32(lane));
  return run;
}

Elements elementsOf(ThreadState &t, Value run) {
  auto type = dyn_cast<VectorType>(run.getType());
  if (!type)
    return {run};
  Elements elements;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    elements.push_back(LLVM::ExtractElementOp::create(t.b, run, t.i32(lane)));
  return elements;
}

// Of a row that does not count, the box's first row is read where all columns count
// and the thread holds many: one place is chosen for the row then, and not one for
// each of its runs. Fewer runs take fewer registers with a choice for each.
static Rows rowsOfBox(ThreadState &t, const Box &box, const Held &held) {
  Counted counted = countedOf(t, held, box.rowLimit, box.columnLimit);
  ElementPlace first = heldPlace(t, box, held);
  ElementPlace instead = t.further(box.origin, box.element,
                                   t.mul(held.firstColumn, box.columnStride));
  return [&t, box, held, counted, first, instead](size_t i) {
    const auto &[rows, columns] = held.distribution;
    int64_t lanes = lanesOf(held.distribution, box.vector);
    bool byRows = held.count() > kMostBeside &&
                  llvm::none_of(counted.columns,
                                [](Value counts) { return bool(counts); });
    Value rowCounts = counted.rows[i];
    ElementPlace row =
        t.further(first, box.element, rows.offsets[i] * box.rowStride);
    if (byRows && rowCounts)
      row = stored::select(t.b, t.loc(), rowCounts, row, instead);
    Elements elements;
    for (size_t j = 0; j < held.columns(); j += lanes) {
      ElementPlace at =
          t.further(row, box.element, columns.offsets[j] * box.columnStride);
      Value valid = t.both(rowCounts, counted.columns[j]);
      Value run = byRows ? orZero(t, valid, loadRun(t, at, box.element, lanes))
                         : loadRun(t, box, at, valid, lanes);
      llvm::append_range(elements, elementsOf(t, run));
    }
    return elements;
  };
}

static Permute permuteOf(ThreadState &t) {
  return [&t](Value low, Value high, Value choice) -> Value {
    return LLVM::CallIntrinsicOp::create(t.b, t.b.getI32Type(),
                                         t.b.getStringAttr("llvm.nvvm.prmt"),
                                         ValueRange{low, high, choice})
        .getResult(0);
  };
}

// Blocks of all rows are asked for before the first is unpacked: the assembler leaves
// loads where they are.
static Elements loadBlocks(ThreadState &t, const Box &box, const Held &held) {
  const auto &[rows, columns] = held.distribution;
  Counted counted = countedOf(t, held, box.rowLimit, box.columnLimit);
  ElementPlace first = heldPlace(t, box, held);
  // A run ends where the last digit of its elements does.
  int64_t lanes =
      std::gcd(lanesOf(held.distribution, box.vector),
               cast<storage::BlockType>(box.element).getDigits().back());
  SmallVector<std::pair<Value, std::function<Value()>>> runs;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); j += lanes) {
      ElementPlace at = t.further(
          t.further(first, box.element, rows.offsets[i] * box.rowStride),
          box.element, columns.offsets[j] * box.columnStride);
      Value valid = t.both(counted.rows[i], counted.columns[j]);
      if (valid)
        at = stored::select(t.b, t.loc(), valid, at, box.origin);
      at.divisor = lanes;
      runs.emplace_back(valid,
                        stored::beginUnpack(t.b, t.loc(), at, box.element,
                                            lanes, permuteOf(t)));
    }
  Elements elements;
  for (const auto &[valid, numbers] : runs)
    llvm::append_range(elements, elementsOf(t, orZero(t, valid, numbers())));
  return elements;
}

static Elements loadBox(ThreadState &t, const Box &box, const Held &held) {
  if (isa<storage::BlockType>(box.element))
    return loadBlocks(t, box, held);
  Rows rows = rowsOfBox(t, box, held);
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i)
    llvm::append_range(elements, rows(i));
  return elements;
}

// A tile that is loaded to shared memory passes through the registers of
// whichever threads: those of the layout for its shape.
static void finishLoad(ThreadState &t, Value result, Type element,
                       function_ref<Elements(const Held &)> load) {
  auto type = cast<TileType>(result.getType());
  if (!type.getSharedLayout()) {
    t.tiles[result] = load(heldOf(t, type));
    return;
  }
  TileType moving = type.withLayout(
      type.getRole() == Role::Column
          ? BlockedAttr::get(t.b.getContext(), t.threads, 1, 1)
          : blockedFor(t.b.getContext(), type.rows(), type.columns(), t.threads,
                       widestRun(element)));
  Held held = heldOf(t, moving);
  storeShared(t, load(held), held, result);
}

static Box boxOf(ThreadState &t, LoadOp load) {
  Box box =
      boxOf(t, load.getView(), load.getIndices(), load.getSizes(),
            load.getResult().getType(), load.getRows(), load.getColumns());
  box.meetsRuns = load.getResult().getType().getRole() == Role::Row &&
                  llvm::all_of(load->getUsers(), [](Operation *user) {
                    return isa<DotRunsOp>(user);
                  });
  return box;
}

Rows rowsOf(ThreadState &t, LoadOp load) {
  return rowsOfBox(t, boxOf(t, load), heldOf(t, load.getResult().getType()));
}

void lower(LoadOp load, ThreadState &t) {
  if (isMadeByRows(load.getResult()))
    return; // where it is stored
  Box box = boxOf(t, load);
  finishLoad(t, load.getResult(), box.element,
             [&](const Held &held) { return loadBox(t, box, held); });
}

void lower(GatherRowsOp gather, ThreadState &t) {
  ViewType view = gather.getView().getType();
  Box box;
  box.element = view.getElementType();
  box.origin = t.further(stored::firstPlace(t.b, t.loc(),
                                            t.bases.lookup(gather.getView()),
                                            box.element),
                         box.element, t.lookup(gather.getColumn()));
  box.rowStride = view.getStrides()[0];
  box.columnStride = 1;
  Value rowLimit = gather.getRows() ? t.lookup(gather.getRows()) : Value();
  Value columnLimit =
      gather.getColumns() ? t.lookup(gather.getColumns()) : Value();
  Value numbers =
      t.further(t.bases.lookup(gather.getNumbers()), t.b.getI32Type(),
                offsetOf(t, gather.getIndices(),
                         gather.getNumbers().getType().getStrides()));
  finishLoad(t, gather.getResult(), box.element, [&](const Held &held) {
    const auto &[rows, columns] = held.distribution;
    Counted counted = countedOf(t, held, rowLimit, columnLimit);
    Value firstNumber = t.further(numbers, t.b.getI32Type(), held.firstRow);
    Elements elements;
    for (size_t i = 0; i < held.rows(); ++i) {
      // The row is one of the view's in any case.
      Value at = t.further(firstNumber, t.b.getI32Type(), rows.offsets[i]);
      if (counted.rows[i])
        at = t.select(counted.rows[i], at, numbers);
      Value number = arith::IndexCastOp::create(
          t.b, t.b.getIndexType(),
          LLVM::LoadOp::create(t.b, t.b.getI32Type(), at));
      ElementPlace row =
          t.further(box.origin, box.element, number, box.rowStride);
      ElementPlace first = t.further(row, box.element, held.firstColumn);
      for (size_t j = 0; j < held.columns(); ++j) {
        ElementPlace place = t.further(first, box.element, columns.offsets[j]);
        Value valid = t.both(counted.rows[i], counted.columns[j]);
        if (valid)
          place = stored::select(t.b, t.loc(), valid, place, row);
        Value loaded = loadRun(t, place, box.element, 1);
        elements.push_back(valid ? t.select(valid, loaded, t.f32(0)) : loaded);
      }
    }
    return elements;
  });
}

// Row by row: whichever box it comes from, one piece of code reads it where
// both hold the same elements. Either box may be empty, and then need not lie
// inside its view, so that a row that neither has is not read at all.
void lower(SpliceOp splice, ThreadState &t) {
  TileType type = splice.getResult().getType();
  Value head = t.lookup(splice.getHead()), end = t.lookup(splice.getEnd());
  Box first = boxOf(t, splice.getFirst(), splice.getFirstIndices(),
                    splice.getFirstSizes(), type, {}, {});
  Box second = boxOf(t, splice.getSecond(), splice.getSecondIndices(),
                     splice.getSecondSizes(), type, {}, {});
  bool alike = first.element == second.element && !first.origin.number &&
               first.columnStride == second.columnStride;
  finishLoad(t, splice.getResult(), first.element, [&](const Held &held) {
    const auto &[rows, columns] = held.distribution;
    Counted counted = countedOf(t, held);
    int64_t lanes =
        lanesOf(held.distribution, std::min(first.vector, second.vector));
    auto readRow = [&](const Box &box, const ElementPlace &row) {
      Elements elements;
      for (size_t j = 0; j < held.columns(); j += lanes) {
        ElementPlace from =
            t.further(row, box.element, columns.offsets[j] * box.columnStride);
        Value run = counted.columns[j]
                        ? loadRun(t, box, from, counted.columns[j], lanes)
                        : loadRun(t, from, box.element, lanes);
        llvm::append_range(elements, elementsOf(t, run));
      }
      return elements;
    };
    auto rowOf = [&](const Box &box, Value row) {
      return t.further(box.origin, box.element,
                       t.add(t.mul(row, box.rowStride),
                             t.mul(held.firstColumn, box.columnStride)));
    };
    Elements elements, zeros(held.columns(), t.f32(0));
    for (size_t i = 0; i < held.rows(); ++i) {
      Value row = rowAt(t, held, i);
      Value ofFirst = t.less(row, head),
            later = arith::SubIOp::create(t.b, row, head);
      Value there = t.both(counted.rows[i], t.less(row, end));
      llvm::append_range(
          elements,
          t.either(
              there, held.columns(),
              [&] {
                if (alike) {
                  Box box = first;
                  box.origin = stored::select(t.b, t.loc(), ofFirst,
                                              first.origin, second.origin);
                  return readRow(box, stored::select(t.b, t.loc(), ofFirst,
                                                     rowOf(first, row),
                                                     rowOf(second, later)));
                }
                return t.either(
                    ofFirst, held.columns(),
                    [&] { return readRow(first, rowOf(first, row)); },
                    [&] { return readRow(second, rowOf(second, later)); });
              },
              [&] { return zeros; }));
    }
    return elements;
  });
}

void lower(StoreOp store, ThreadState &t) {
  TileType type = store.getTile().getType();
  Box box = boxOf(t, store.getView(), store.getIndices(), store.getSizes(),
                  type, store.getRows(), store.getColumns());
  Held held = heldOf(t, type);
  Rows elementsOfRow = rowsOf(t, store.getTile());
  int64_t lanes = lanesOf(held.distribution, box.vector);
  int64_t bytes = storage::Storage::get(box.element).blockBytes();
  const auto &[rows, columns] = held.distribution;
  t.guarded(isFirstHolder(t, held.distribution), [&] {
    Counted counted = countedOf(t, held, box.rowLimit, box.columnLimit);
    Value first = heldPlace(t, box, held).address;
    for (size_t i = 0; i < held.rows(); ++i)
      t.guarded(counted.rows[i], [&] {
        Elements elements = elementsOfRow(i);
        for (size_t j = 0; j < held.columns(); j += lanes)
          t.guarded(counted.columns[j], [&] {
            int64_t place = rows.offsets[i] * box.rowStride +
                            columns.offsets[j] * box.columnStride;
            Value run = runOf(t, &elements[j], lanes);
            LLVM::StoreOp::create(t.b, narrow(t.b, t.loc(), run, box.element),
                                  t.further(first, box.element, place),
                                  bytes * lanes);
          });
      });
  });
}

void lower(ReadOp read, ThreadState &t) {
  ViewType type = read.getView().getType();
  Type element = type.getElementType();
  ElementPlace at = t.further(
      stored::firstPlace(t.b, t.loc(), t.bases.lookup(read.getView()), element),
      element, offsetOf(t, read.getIndices(), type.getStrides()));
  Value value;
  if (at.number)
    value = loadRun(t, at, element, 1);
  else
    value = widen(t.b, t.loc(),
                  LLVM::LoadOp::create(t.b, storedType(element, 1), at.address),
                  element);
  if (element.isInteger())
    value = arith::IndexCastOp::create(t.b, t.b.getIndexType(), value);
  t.scalars.map(read.getResult(), value);
}

} // namespace effc::nvptx
