// Sums and decays between tokens: of a column in shared memory, whose elements
// are added and never subtracted.
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
// sums of its rows, or their exponentials, from the lanes that have them.
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
  for (Value &sum : sums) {
    sum = plus(others, sum);
    if (scan.getExp())
      sum = exponential(sum);
  }

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

// A thread for each number below `count`, a round for as many as there are
// threads.
void ThreadLowering::forEachOf(int64_t count, function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(b, loc, thread, constant(count), constant(threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

// Three tables for tokens of different runs, one for those of the same.
void ThreadLowering::lowerSegmentDecay(SegmentDecayOp decay) {
  constexpr int64_t kRun = SegmentTables::kRun;
  TileType from = decay.getTile().getType();
  int64_t tokens = from.rows();
  SegmentTables tables(tokens);
  Type f32Type = b.getF32Type();
  auto at = [&](int64_t table, Value place) {
    return sharedAddress(*decay.getScratch() + 4 * table, place, f32Type);
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
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulFOp::create(b, loc, x, y);
  };
  auto isSame = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  };
  auto runOfToken = [&](Value token) -> Value {
    return arith::ShRUIOp::create(b, loc, token, constant(llvm::Log2_64(kRun)));
  };
  auto placeInRun = [&](Value token) -> Value {
    return arith::AndIOp::create(b, loc, token, constant(kRun - 1));
  };
  auto within = [&](Value token, Value place) {
    return at(0, add(mul(token, kRun), place));
  };
  auto between = [&](Value later, Value earlier) {
    return at(tables.between, add(mul(later, tables.runs), earlier));
  };
  // Finite, so that it is 0 times a factor of 0.
  auto factorOf = [&](Value sum) -> Value {
    return arith::MinimumFOp::create(b, loc, exponential(sum),
                                     f32(std::numeric_limits<float>::max()));
  };

  // Inside of each token's own run.
  forEachOf(tokens, [&](Value token) {
    Value run = runOfToken(token), place = placeInRun(token);
    Value first = mul(run, kRun);
    Elements until(kRun);
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
    Value sum = f32(0);
    for (int64_t k = kRun; k-- > 0;) {
      Value left = k == kRun - 1 ? f32(1) : exponential(sum);
      store(select(less(place, constant(k)), f32(0), left),
            within(token, constant(k)));
      sum = plus(sum, until[k]);
    }
    if (tables.runs == 1)
      return;
    store(factorOf(after), at(tables.after, token));
    Value since = factorOf(sum);
    if (tables.runs == 2) // none is between them, and none before the first
      since = select(less(constant(0), run), since, f32(0));
    store(since, at(tables.since, token));
    if (tables.runs > 2)
      guarded(isSame(place, constant(kRun - 1)),
              [&] { store(sum, at(tables.totals, run)); });
  });
  // Of every two runs, over those between them. A loop: conditions for each of
  // them would be in registers as long as the kernel runs.
  auto storeBetween = [&] {
    forEachOf(tables.runs * tables.runs, [&](Value pair) {
      Value runs = constant(tables.runs);
      Value later = arith::DivUIOp::create(b, loc, pair, runs);
      Value earlier = arith::RemUIOp::create(b, loc, pair, runs);
      auto loop = scf::ForOp::create(b, loc, add(earlier, constant(1)), later,
                                     constant(1), ValueRange(f32(0)));
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value total = load(at(tables.totals, loop.getInductionVar()));
        Value sum = plus(loop.getRegionIterArg(0), total);
        scf::YieldOp::create(b, loc, sum);
      }
      Value sum = loop.getResult(0);
      store(select(less(earlier, later), factorOf(sum), f32(0)),
            at(tables.between, pair));
    });
  };
  barrier();
  if (tables.runs > 2) {
    storeBetween();
    barrier();
  }

  Held held = heldOf(decay.getResult().getType());
  Counted counted = countedOf(held);
  auto inside = [&](Value place, Value counts) {
    return counts ? select(counts, place, constant(0)) : place;
  };
  Elements columns, afterColumns;
  for (size_t j = 0; j < held.columns(); ++j) {
    columns.push_back(inside(columnAt(held, j), counted.columns[j]));
    if (tables.runs > 1)
      afterColumns.push_back(load(at(tables.after, columns[j])));
  }
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i) {
    Value row = inside(rowAt(held, i), counted.rows[i]);
    Value runOfRow = runOfToken(row), since;
    if (tables.runs > 1)
      since = load(at(tables.since, row));
    for (size_t j = 0; j < held.columns(); ++j) {
      Value element = load(within(row, placeInRun(columns[j])));
      if (tables.runs > 1) {
        Value runOfColumn = runOfToken(columns[j]);
        Value upTo = since;
        if (tables.runs > 2)
          upTo = times(upTo, load(between(runOfRow, runOfColumn)));
        element = select(isSame(runOfColumn, runOfRow), element,
                         times(upTo, afterColumns[j]));
      }
      elements.push_back(element);
    }
  }
  tiles[decay.getResult()] = elements;
}
