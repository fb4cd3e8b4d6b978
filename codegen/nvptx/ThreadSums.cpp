// Sums between tokens: of a column in shared memory, whose elements are added
// and never subtracted.
#include "codegen/nvptx/ThreadLowering.h"
#include "dialects/tile/SegmentTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

// Each warp has the whole column, some neighbours in a lane: the lane adds up
// its own, the lanes add up what those before them have (after them, where
// `reverse`), each from twice as many as the last time. A thread then takes the
// sums of its rows from the lanes that have them.
void ThreadLowering::lowerScan(ScanOp scan) {
  TileType from = scan.getTile().getType();
  bool reverse = scan.getReverse();
  auto each = static_cast<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(from.rows(), kWarp)));
  Value lane = bitsOfThread(kWarp - 1), first = mul(lane, each);
  Elements own;
  for (int64_t k = 0; k < each; ++k) {
    Value place = add(first, constant(k));
    if (each * kWarp == from.rows()) {
      own.push_back(loadShared(from, place, {}));
      continue;
    }
    Value isThere = less(place, constant(from.rows()));
    own.push_back(select(
        isThere, loadShared(from, select(isThere, place, constant(0)), {}),
        f32(0)));
  }
  auto plus = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, loc, x, y);
  };
  // Up to each of the lane's own, or behind it.
  Elements sums(own);
  if (reverse)
    sums.back() = f32(0);
  for (int64_t k = 1; k < each; ++k)
    if (reverse)
      sums[each - 1 - k] = plus(sums[each - k], own[each - k]);
    else
      sums[k] = plus(sums[k - 1], own[k]);
  Value total = reverse ? plus(sums.front(), own.front()) : sums.back();
  // What the lane has that lies so far before this one, or behind it; else 0.
  NVVM::ShflKind kind = reverse ? NVVM::ShflKind::down : NVVM::ShflKind::up;
  auto fromLane = [&](Value value, int64_t distance) {
    Value isThere = reverse ? less(lane, constant(kWarp - distance))
                            : less(constant(distance - 1), lane);
    Value other = NVVM::ShflOp::create(
        b, loc, value.getType(), i32(-1), value, i32(distance),
        i32(reverse ? kWarp - 1 : 0), kind, UnitAttr());
    return select(isThere, other, f32(0));
  };
  for (int64_t distance = 1; distance * each < from.rows(); distance *= 2)
    total = plus(fromLane(total, distance), total);
  Value others = fromLane(total, 1);
  for (Value &sum : sums)
    sum = plus(others, sum);

  Held held = heldOf(scan.getResult().getType());
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i) {
    Value row = rowAt(held, i), of = row;
    if (each > 1)
      of = arith::ShRUIOp::create(b, loc, row, constant(llvm::Log2_64(each)));
    of = arith::IndexCastOp::create(b, loc, b.getI32Type(), of);
    Value place = arith::AndIOp::create(b, loc, row, constant(each - 1)), found;
    for (int64_t k = 0; k < each; ++k) {
      Value sum =
          NVVM::ShflOp::create(b, loc, sums[k].getType(), i32(-1), sums[k], of,
                               i32(kWarp - 1), NVVM::ShflKind::idx, UnitAttr());
      found =
          found ? select(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               place, constant(k)),
                         sum, found)
                : sum;
    }
    elements.push_back(found);
  }
  tiles[scan.getResult()] = elements;
}

// A thread for each token, a round for as many tokens as there are threads.
void ThreadLowering::forEachToken(int64_t tokens,
                                  function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(b, loc, thread, constant(tokens), constant(threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void ThreadLowering::lowerSegmentSum(SegmentSumOp sum) {
  constexpr int64_t kRun = SegmentTables::kRun;
  TileType from = sum.getTile().getType();
  int64_t tokens = from.rows();
  SegmentTables tables(tokens);
  Type f32Type = b.getF32Type();
  auto at = [&](int64_t table, Value place) {
    return sharedAddress(*sum.getScratch() + 4 * table, place, f32Type);
  };
  auto load = [&](Value address) -> Value {
    return LLVM::LoadOp::create(b, loc, f32Type, address);
  };
  auto store = [&](Value value, Value address) {
    LLVM::StoreOp::create(b, loc, value, address);
  };
  auto plus = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, loc, x, y);
  };
  auto runOfToken = [&](Value token) -> Value {
    return arith::ShRUIOp::create(b, loc, token, constant(llvm::Log2_64(kRun)));
  };
  auto placeInRun = [&](Value token) -> Value {
    return arith::AndIOp::create(b, loc, token, constant(kRun - 1));
  };
  auto upTo = [&](Value token, Value run) {
    return at(tables.upTo, add(mul(token, tables.pitch), run));
  };

  // Inside of each token's own run.
  forEachToken(tokens, [&](Value token) {
    Value run = runOfToken(token), place = placeInRun(token);
    Value first = mul(run, kRun);
    Elements until(kRun), within(kRun);
    Value after = f32(0);
    for (int64_t k = 0; k < kRun; ++k) {
      Value other = add(first, constant(k)), isThere;
      if (tokens % kRun != 0) {
        isThere = less(other, constant(tokens));
        other = select(isThere, other, constant(0));
      }
      Value term = loadShared(from, other, {});
      if (isThere)
        term = select(isThere, term, f32(0));
      Value isAfter = less(place, constant(k));
      until[k] = select(isAfter, f32(0), term);
      after = plus(after, select(isAfter, term, f32(0)));
    }
    within.back() = f32(0);
    for (int64_t k = kRun - 1; k-- > 0;)
      within[k] = plus(within[k + 1], until[k + 1]);
    for (int64_t k = 0; k < kRun; ++k)
      store(within[k], at(0, add(mul(token, kRun), constant(k))));
    store(after, at(tables.after, token));
    if (tables.runs > 1)
      guarded(less(constant(0), run), [&] {
        store(plus(within[0], until[0]), upTo(token, add(run, constant(-1))));
      });
  });
  barrier();
  // From the runs before it on: each is a whole run more, which the last token
  // of that run knows.
  if (tables.runs > 2) {
    forEachToken(tokens, [&](Value token) {
      Value run = runOfToken(token);
      guarded(less(constant(1), run), [&] {
        Value last = add(run, constant(-1));
        auto loop = scf::ForOp::create(b, loc, constant(1), run, constant(1),
                                       ValueRange(load(upTo(token, last))));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value earlier =
            arith::SubIOp::create(b, loc, last, loop.getInductionVar());
        Value lastOfNext = add(mul(earlier, kRun), constant(2 * kRun - 1));
        Value more =
            plus(loop.getRegionIterArg(0), load(upTo(lastOfNext, earlier)));
        store(more, upTo(token, earlier));
        scf::YieldOp::create(b, loc, more);
      });
    });
    barrier();
  }

  Held held = heldOf(sum.getResult().getType());
  Counted counted = countedOf(held);
  auto inside = [&](Value place, Value counts) {
    return counts ? select(counts, place, constant(0)) : place;
  };
  Elements afterColumns;
  for (size_t j = 0; j < held.columns(); ++j)
    afterColumns.push_back(
        load(at(tables.after, inside(columnAt(held, j), counted.columns[j]))));
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i) {
    Value row = inside(rowAt(held, i), counted.rows[i]);
    Value runOfRow = runOfToken(row);
    for (size_t j = 0; j < held.columns(); ++j) {
      Value column = inside(columnAt(held, j), counted.columns[j]);
      Value runOfColumn = runOfToken(column);
      Value isBefore = less(runOfColumn, runOfRow);
      Value part = load(select(isBefore, upTo(row, runOfColumn),
                               at(0, add(mul(row, kRun), placeInRun(column)))));
      Value between = plus(part, select(isBefore, afterColumns[j], f32(0)));
      elements.push_back(select(less(row, column),
                                f32(-std::numeric_limits<float>::infinity()),
                                between));
    }
  }
  tiles[sum.getResult()] = elements;
}
