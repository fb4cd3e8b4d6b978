// The best elements of a row, or of the sums of two rows, and elements by
// numbers.
//
// Every candidate becomes a number of 64 bits that orders as the candidates do:
// the value's bits made monotone, then its number, lowest first. In each of K
// rounds the block finds the largest and its holder drops it. For sums of two
// rows both are ordered first, in shared memory; of their a-th and b-th
// elements (from 1) a sum has a b - 1 others before it and counts only if a b
// <= K.
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadMath.h"
#include "codegen/nvptx/ThreadPlaces.h"
#include "codegen/nvptx/ThreadShared.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::nvptx {

namespace {
/// A candidate, or the best of a round.
struct Entry {
  Value value, number; // f32, i32
};

/// The best of a row, in order: from a byte of shared memory on their values,
/// then their numbers, four bytes each.
struct OrderedList {
  int64_t offset, count;
  int64_t numbers() const { return offset + count * 4; }
  int64_t end() const { return offset + count * 8; }
};

/// An order of candidates over a block of threads.
class Selection {
public:
  /// Warps leave their best of a round in shared memory from byte `scratch` on.
  Selection(ThreadState &t, int64_t scratch) : t(t), scratch(scratch) {}

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
        t.b, t.b.getI64IntegerAttr(static_cast<int64_t>(value)));
  }
  Value keyOf(Entry entry);
  Entry entryOf(Value key);
  Value larger(Value x, Value y) { return arith::MaxUIOp::create(t.b, x, y); }
  Value bestOfBlock(Value key);

  Value bestOfWarp(Value warp) { // its address
    return sharedAddress(t, scratch, warp, t.b.getI64Type());
  }

  ThreadState &t;
  int64_t scratch;
};
} // namespace

// Negative numbers in reverse, below the others; NaN the largest; both zeros
// alike.
Value Selection::keyOf(Entry entry) {
  Value zero = arith::ConstantOp::create(t.b, t.b.getF32FloatAttr(0));
  Value value = arith::AddFOp::create(t.b, entry.value, zero);
  Value bits = arith::BitcastOp::create(t.b, t.b.getI32Type(), value);
  Value negative =
      arith::CmpIOp::create(t.b, arith::CmpIPredicate::slt, bits, t.i32(0));
  Value mask = arith::SelectOp::create(t.b, negative, t.i32(0xffffffff),
                                       t.i32(0x80000000));
  Value order = arith::XOrIOp::create(t.b, bits, mask);
  Value isNan =
      arith::CmpFOp::create(t.b, arith::CmpFPredicate::UNO, value, value);
  order = arith::SelectOp::create(t.b, isNan, t.i32(0xffffffff), order);
  Value high = arith::ShLIOp::create(
      t.b, arith::ExtUIOp::create(t.b, t.b.getI64Type(), order), i64(32));
  Value low = arith::ExtUIOp::create(
      t.b, t.b.getI64Type(),
      arith::XOrIOp::create(t.b, entry.number, t.i32(0xffffffff)));
  return arith::OrIOp::create(t.b, high, low);
}

Entry Selection::entryOf(Value key) {
  Value number = arith::XOrIOp::create(
      t.b, arith::TruncIOp::create(t.b, t.b.getI32Type(), key),
      t.i32(0xffffffff));
  Value order = arith::TruncIOp::create(
      t.b, t.b.getI32Type(), arith::ShRUIOp::create(t.b, key, i64(32)));
  Value wasPositive =
      arith::CmpIOp::create(t.b, arith::CmpIPredicate::slt, order, t.i32(0));
  Value mask = arith::SelectOp::create(t.b, wasPositive, t.i32(0x80000000),
                                       t.i32(0xffffffff));
  Value bits = arith::XOrIOp::create(t.b, order, mask);
  return {arith::BitcastOp::create(t.b, t.b.getF32Type(), bits), number};
}

Value Selection::bestOfBlock(Value key) {
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    Value low = arith::TruncIOp::create(t.b, t.b.getI32Type(), key);
    Value high = arith::TruncIOp::create(
        t.b, t.b.getI32Type(), arith::ShRUIOp::create(t.b, key, i64(32)));
    auto wide = [&](Value half) -> Value {
      return arith::ExtUIOp::create(t.b, t.b.getI64Type(),
                                    shuffle(t, half, distance));
    };
    Value other = arith::OrIOp::create(
        t.b, arith::ShLIOp::create(t.b, wide(high), i64(32)), wide(low));
    key = larger(key, other);
  }
  int64_t warps = t.threads / kWarp;
  if (warps == 1)
    return key;
  t.barrier(); // the last round's has been read
  Value first = arith::CmpIOp::create(
      t.b, arith::CmpIPredicate::eq,
      arith::AndIOp::create(t.b, t.thread, t.constant(kWarp - 1)),
      t.constant(0));
  auto writes = scf::IfOp::create(t.b, first, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(writes.thenBlock());
    LLVM::StoreOp::create(
        t.b, key,
        bestOfWarp(arith::ShRUIOp::create(t.b, t.thread, t.constant(5))));
  }
  t.barrier();
  for (int64_t warp = 0; warp < warps; ++warp) {
    Value other = LLVM::LoadOp::create(t.b, t.b.getI64Type(),
                                       bestOfWarp(t.constant(warp)));
    key = warp == 0 ? other : larger(key, other);
  }
  return key;
}

SmallVector<Value> Selection::run(
    int64_t count, int64_t rounds,
    function_ref<std::pair<Entry, Value>(Value at)> candidate,
    ArrayRef<Value> carried,
    function_ref<SmallVector<Value>(Value round, Entry best, ValueRange)>
        take) {
  SmallVector<Value> state;
  for (int64_t first = 0; first < count; first += t.threads) {
    Value at = arith::AddIOp::create(t.b, t.thread, t.constant(first));
    Value there;
    if (first + t.threads > count) {
      there = arith::CmpIOp::create(t.b, arith::CmpIPredicate::ult, at,
                                    t.constant(count));
      at = arith::SelectOp::create(t.b, there, at, t.constant(0));
    }
    auto [entry, counts] = candidate(at);
    Value key = keyOf(entry);
    for (Value condition : {there, counts})
      if (condition)
        key = arith::SelectOp::create(t.b, condition, key, i64(0));
    state.push_back(key);
  }
  size_t keys = state.size();
  llvm::append_range(state, carried);
  auto loop = scf::ForOp::create(t.b, t.constant(0), t.constant(rounds),
                                 t.constant(1), state);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(loop.getBody());
  ValueRange arguments = loop.getRegionIterArgs();
  Value best;
  for (Value key : arguments.take_front(keys))
    best = best ? larger(best, key) : key;
  best = bestOfBlock(best);
  SmallVector<Value> next;
  for (Value key : arguments.take_front(keys)) {
    Value taken =
        arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq, key, best);
    next.push_back(arith::SelectOp::create(t.b, taken, i64(0), key));
  }
  llvm::append_range(next, take(loop.getInductionVar(), entryOf(best),
                                arguments.drop_front(keys)));
  scf::YieldOp::create(t.b, next);
  return SmallVector<Value>(loop.getResults().drop_front(keys));
}

static Entry scoreAt(ThreadState &t, TileType row, Value at) {
  return {loadShared(t, row, {}, at),
          arith::IndexCastOp::create(t.b, t.b.getI32Type(), at)};
}

static void keepBest(ThreadState &t, Selection &selection, TileType row,
                     const OrderedList &list) {
  selection.run(
      row.columns(), list.count,
      [&](Value at) { return std::pair(scoreAt(t, row, at), Value()); }, {},
      [&](Value round, Entry best, ValueRange) {
        Value first = arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq,
                                            t.thread, t.constant(0));
        t.guarded(first, [&] {
          LLVM::StoreOp::create(
              t.b, best.value,
              sharedAddress(t, list.offset, round, t.b.getF32Type()));
          LLVM::StoreOp::create(
              t.b, best.number,
              sharedAddress(t, list.numbers(), round, t.b.getI32Type()));
        });
        return SmallVector<Value>();
      });
}

static std::pair<Entry, Value> sumAt(ThreadState &t, const OrderedList &rows,
                                     const OrderedList &columns, int64_t width,
                                     int64_t wanted, Value at) {
  auto load = [&](Type type, int64_t offset, Value place) -> Value {
    return LLVM::LoadOp::create(t.b, type,
                                sharedAddress(t, offset, place, type));
  };
  Value i = arith::DivUIOp::create(t.b, at, t.constant(columns.count));
  Value j = arith::RemUIOp::create(t.b, at, t.constant(columns.count));
  Value before = arith::MulIOp::create(t.b, t.add(i, t.constant(1)),
                                       t.add(j, t.constant(1)));
  Value counts = arith::CmpIOp::create(t.b, arith::CmpIPredicate::ule, before,
                                       t.constant(wanted));
  Type f32Type = t.b.getF32Type(), i32Type = t.b.getI32Type();
  Value sum = arith::AddFOp::create(t.b, load(f32Type, rows.offset, i),
                                    load(f32Type, columns.offset, j));
  Value number = arith::AddIOp::create(
      t.b,
      arith::MulIOp::create(t.b, load(i32Type, rows.numbers(), i),
                            t.i32(width)),
      load(i32Type, columns.numbers(), j));
  return {{sum, number}, counts};
}

void lower(TopKOp op, ThreadState &t) {
  int64_t scratch = op.getScratch().value_or(0);
  Selection selection(t, scratch);

  Held held = heldOf(t, op.getValues().getType());
  int64_t wanted = op.getValues().getType().columns();
  size_t columns = held.columns();
  SmallVector<Value> none(columns, t.f32(0));
  none.append(columns, t.i32(0));
  // Each round's best goes to the threads that hold its place.
  auto collect = [&](Value round, Entry best, ValueRange so) {
    SmallVector<Value> next;
    for (size_t half = 0; half < 2; ++half)
      for (size_t j = 0; j < columns; ++j) {
        Value here = arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq,
                                           columnAt(t, held, j), round);
        next.push_back(t.select(here, half == 0 ? best.value : best.number,
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
        [&](Value at) { return std::pair(scoreAt(t, scores(0), at), Value()); },
        none, collect);
  } else {
    int64_t width = scores(0).columns(), kept = std::min(wanted, width);
    OrderedList first{scratch + int64_t(llvm::alignTo(t.threads / kWarp * 8,
                                                      kSharedAlignment)),
                      kept};
    OrderedList second{first.end(), kept};
    keepBest(t, selection, scores(0), first);
    keepBest(t, selection, scores(1), second);
    t.barrier();
    results = selection.run(
        kept * kept, wanted,
        [&](Value at) { return sumAt(t, first, second, width, wanted, at); },
        none, collect);
  }
  ArrayRef<Value> all(results);
  t.tiles[op.getValues()] = Elements(all.take_front(columns));
  t.tiles[op.getNumbers()] = Elements(all.drop_front(columns));
}

void lower(TakeOp op, ThreadState &t) {
  Elements taken;
  for (Value number : t.tiles[op.getNumbers()]) {
    if (number.getType().isF32())
      number = arith::FPToSIOp::create(t.b, t.b.getI32Type(), number);
    Value column = arith::IndexCastOp::create(t.b, t.b.getIndexType(), number);
    taken.push_back(loadShared(t, op.getTile().getType(), {}, column));
  }
  t.tiles[op.getResult()] = std::move(taken);
}

} // namespace effc::nvptx
