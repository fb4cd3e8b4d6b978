// The best elements of a row, or of the sums of two rows, and elements by
// numbers.
//
// Every candidate becomes a number of 64 bits that orders as the candidates do:
// the value's bits made monotone, then its number, lowest first. In each of K
// rounds the block finds the largest and its holder drops it. For sums of two
// rows both are ordered first, in shared memory; of their a-th and b-th
// elements (from 1) a sum has a b - 1 others before it and counts only if a b
// <= K.
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

/// A candidate, or the best of a round.
struct ThreadLowering::Entry {
  Value value, number; // f32, i32
};

/// The best of a row, in order: from a byte of shared memory on their values,
/// then their numbers, four bytes each.
struct ThreadLowering::OrderedList {
  int64_t offset, count;
  int64_t numbers() const { return offset + count * 4; }
  int64_t end() const { return offset + count * 8; }
};

/// An order of candidates over a block of threads.
class ThreadLowering::Selection {
public:
  Selection(OpBuilder &b, Location loc, Value thread, int64_t threads,
            function_ref<Value(Value, int64_t)> shuffle,
            function_ref<void()> barrier, function_ref<Value(Value)> bestOfWarp)
      : b(b), loc(loc), thread(thread), threads(threads), shuffle(shuffle),
        barrier(barrier), bestOfWarp(bestOfWarp) {}

  /// Finds the `rounds` best of `count` candidates, of which `candidate` gives
  /// number `at` and whether it counts. `take` gets each with its round and the
  /// values carried so far, and returns their next ones.
  SmallVector<Value>
  run(int64_t count, int64_t rounds,
      function_ref<std::pair<Entry, Value>(Value at)> candidate,
      ArrayRef<Value> carried,
      function_ref<SmallVector<Value>(Value round, Entry best, ValueRange)>
          take);

private:
  Value i64(uint64_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(static_cast<int64_t>(value)));
  }
  Value i32(uint32_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value keyOf(Entry entry);
  Entry entryOf(Value key);
  Value larger(Value x, Value y) {
    return arith::MaxUIOp::create(b, loc, x, y);
  }
  Value bestOfBlock(Value key);

  OpBuilder &b;
  Location loc;
  Value thread;
  int64_t threads;
  function_ref<Value(Value, int64_t)> shuffle;
  function_ref<void()> barrier;
  function_ref<Value(Value)> bestOfWarp; // address, by the warp's number
};

// Negative numbers in reverse, below the others; NaN the largest; both zeros
// alike.
Value ThreadLowering::Selection::keyOf(Entry entry) {
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value value = arith::AddFOp::create(b, loc, entry.value, zero);
  Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), value);
  Value negative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits, i32(0));
  Value mask = arith::SelectOp::create(b, loc, negative, i32(0xffffffff),
                                       i32(0x80000000));
  Value order = arith::XOrIOp::create(b, loc, bits, mask);
  Value isNan =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  order = arith::SelectOp::create(b, loc, isNan, i32(0xffffffff), order);
  Value high = arith::ShLIOp::create(
      b, loc, arith::ExtUIOp::create(b, loc, b.getI64Type(), order), i64(32));
  Value low = arith::ExtUIOp::create(
      b, loc, b.getI64Type(),
      arith::XOrIOp::create(b, loc, entry.number, i32(0xffffffff)));
  return arith::OrIOp::create(b, loc, high, low);
}

ThreadLowering::Entry ThreadLowering::Selection::entryOf(Value key) {
  Value number = arith::XOrIOp::create(
      b, loc, arith::TruncIOp::create(b, loc, b.getI32Type(), key),
      i32(0xffffffff));
  Value order = arith::TruncIOp::create(
      b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, key, i64(32)));
  Value wasPositive =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, order, i32(0));
  Value mask = arith::SelectOp::create(b, loc, wasPositive, i32(0x80000000),
                                       i32(0xffffffff));
  Value bits = arith::XOrIOp::create(b, loc, order, mask);
  return {arith::BitcastOp::create(b, loc, b.getF32Type(), bits), number};
}

Value ThreadLowering::Selection::bestOfBlock(Value key) {
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    Value low = arith::TruncIOp::create(b, loc, b.getI32Type(), key);
    Value high = arith::TruncIOp::create(
        b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, key, i64(32)));
    auto wide = [&](Value half) -> Value {
      return arith::ExtUIOp::create(b, loc, b.getI64Type(),
                                    shuffle(half, distance));
    };
    Value other = arith::OrIOp::create(
        b, loc, arith::ShLIOp::create(b, loc, wide(high), i64(32)), wide(low));
    key = larger(key, other);
  }
  int64_t warps = threads / kWarp;
  if (warps == 1)
    return key;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  barrier(); // the last round's has been read
  Value first = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      arith::AndIOp::create(b, loc, thread, index(kWarp - 1)), index(0));
  auto writes = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(writes.thenBlock());
    LLVM::StoreOp::create(
        b, loc, key,
        bestOfWarp(arith::ShRUIOp::create(b, loc, thread, index(5))));
  }
  barrier();
  for (int64_t warp = 0; warp < warps; ++warp) {
    Value other =
        LLVM::LoadOp::create(b, loc, b.getI64Type(), bestOfWarp(index(warp)));
    key = warp == 0 ? other : larger(key, other);
  }
  return key;
}

SmallVector<Value> ThreadLowering::Selection::run(
    int64_t count, int64_t rounds,
    function_ref<std::pair<Entry, Value>(Value at)> candidate,
    ArrayRef<Value> carried,
    function_ref<SmallVector<Value>(Value round, Entry best, ValueRange)>
        take) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<Value> state;
  for (int64_t first = 0; first < count; first += threads) {
    Value at = arith::AddIOp::create(b, loc, thread, index(first));
    Value there;
    if (first + threads > count) {
      there = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at,
                                    index(count));
      at = arith::SelectOp::create(b, loc, there, at, index(0));
    }
    auto [entry, counts] = candidate(at);
    Value key = keyOf(entry);
    for (Value condition : {there, counts})
      if (condition)
        key = arith::SelectOp::create(b, loc, condition, key, i64(0));
    state.push_back(key);
  }
  size_t keys = state.size();
  llvm::append_range(state, carried);
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(rounds), index(1), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange arguments = loop.getRegionIterArgs();
  Value best;
  for (Value key : arguments.take_front(keys))
    best = best ? larger(best, key) : key;
  best = bestOfBlock(best);
  SmallVector<Value> next;
  for (Value key : arguments.take_front(keys)) {
    Value taken =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, key, best);
    next.push_back(arith::SelectOp::create(b, loc, taken, i64(0), key));
  }
  llvm::append_range(next, take(loop.getInductionVar(), entryOf(best),
                                arguments.drop_front(keys)));
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults().drop_front(keys));
}

ThreadLowering::Entry ThreadLowering::scoreAt(TileType row, Value at) {
  return {loadShared(row, {}, at),
          arith::IndexCastOp::create(b, loc, b.getI32Type(), at)};
}

void ThreadLowering::keepBest(Selection &selection, TileType row,
                              const OrderedList &list) {
  selection.run(
      row.columns(), list.count,
      [&](Value at) { return std::pair(scoreAt(row, at), Value()); }, {},
      [&](Value round, Entry best, ValueRange) {
        Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            thread, constant(0));
        guarded(first, [&] {
          LLVM::StoreOp::create(
              b, loc, best.value,
              sharedAddress(list.offset, round, b.getF32Type()));
          LLVM::StoreOp::create(
              b, loc, best.number,
              sharedAddress(list.numbers(), round, b.getI32Type()));
        });
        return SmallVector<Value>();
      });
}

std::pair<ThreadLowering::Entry, Value>
ThreadLowering::sumAt(const OrderedList &rows, const OrderedList &columns,
                      int64_t width, int64_t wanted, Value at) {
  auto load = [&](Type type, int64_t offset, Value place) -> Value {
    return LLVM::LoadOp::create(b, loc, type,
                                sharedAddress(offset, place, type));
  };
  Value i = arith::DivUIOp::create(b, loc, at, constant(columns.count));
  Value j = arith::RemUIOp::create(b, loc, at, constant(columns.count));
  Value before =
      arith::MulIOp::create(b, loc, add(i, constant(1)), add(j, constant(1)));
  Value counts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule,
                                       before, constant(wanted));
  Type f32Type = b.getF32Type(), i32Type = b.getI32Type();
  Value sum = arith::AddFOp::create(b, loc, load(f32Type, rows.offset, i),
                                    load(f32Type, columns.offset, j));
  Value number = arith::AddIOp::create(
      b, loc,
      arith::MulIOp::create(b, loc, load(i32Type, rows.numbers(), i),
                            i32(width)),
      load(i32Type, columns.numbers(), j));
  return {{sum, number}, counts};
}

void ThreadLowering::lowerTopK(TopKOp op) {
  int64_t scratch = op.getScratch().value_or(0);
  auto shuffled = [&](Value value, int64_t distance) {
    return shuffle(value, distance);
  };
  auto waits = [&] { barrier(); };
  auto bestOfWarp = [&](Value warp) {
    return sharedAddress(scratch, warp, b.getI64Type());
  };
  Selection selection(b, loc, thread, threads, shuffled, waits, bestOfWarp);

  Held held = heldOf(op.getValues().getType());
  int64_t wanted = op.getValues().getType().columns();
  size_t columns = held.columns();
  SmallVector<Value> none(columns, f32(0));
  none.append(columns, i32(0));
  // Each round's best goes to the threads that hold its place.
  auto collect = [&](Value round, Entry best, ValueRange so) {
    SmallVector<Value> next;
    for (size_t half = 0; half < 2; ++half)
      for (size_t j = 0; j < columns; ++j) {
        Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           columnAt(held, j), round);
        next.push_back(select(here, half == 0 ? best.value : best.number,
                              so[half * columns + j]));
      }
    return next;
  };

  auto scores = [&](size_t i) {
    return cast<TileType>(op.getScores()[i].getType());
  };
  SmallVector<Value> results;
  if (op.getScores().size() == 1) {
    results = selection.run(
        scores(0).columns(), wanted,
        [&](Value at) { return std::pair(scoreAt(scores(0), at), Value()); },
        none, collect);
  } else {
    int64_t width = scores(0).columns(), kept = std::min(wanted, width);
    OrderedList first{
        scratch + int64_t(llvm::alignTo(threads / kWarp * 8, kSharedAlignment)),
        kept};
    OrderedList second{first.end(), kept};
    keepBest(selection, scores(0), first);
    keepBest(selection, scores(1), second);
    barrier();
    results = selection.run(
        kept * kept, wanted,
        [&](Value at) { return sumAt(first, second, width, wanted, at); }, none,
        collect);
  }
  ArrayRef<Value> all(results);
  tiles[op.getValues()] = Elements(all.take_front(columns));
  tiles[op.getNumbers()] = Elements(all.drop_front(columns));
}

void ThreadLowering::lowerTake(TakeOp op) {
  Elements taken;
  for (Value number : tiles[op.getNumbers()]) {
    Value column = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
    taken.push_back(loadShared(op.getTile().getType(), {}, column));
  }
  tiles[op.getResult()] = std::move(taken);
}
