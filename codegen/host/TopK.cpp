// The best elements of a row, or of the sums of two rows, and elements by
// numbers.
//
// A list on the stack holds the best so far, in order. A row is passed over
// with vectors: only where an element comes before the last of the list are
// its lanes taken one by one and inserted. Of S elements in random order about
// K ln(S / K) are, so that the pass costs a comparison of each vector and little more.
// For sums of two rows, both are ordered first; of their a-th and b-th elements
// (from 1) a sum has a b - 1 others before it, so that it is formed only where
// a b is at most K.
#include "codegen/host/Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

namespace {

/// An element and its number, as scalars.
struct Entry {
  Value value, number; // f32, i32
};

/// Where number `at` of a row of i32 lies.
Value numberAddress(OpBuilder &b, Location loc, const Place &numbers,
                    Value at) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
  return LLVM::GEPOp::create(b, loc, numbers.first.address.getType(),
                             b.getI32Type(), numbers.first.address,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// The best entries so far, in order, in two buffers.
class BestList {
public:
  BestList(OpBuilder &b, Location loc, Memory &memory, Place values,
           Place numbers, int64_t size)
      : size(size), b(b), loc(loc), memory(memory), lanes(memory.shape.lanes),
        values(values), numbers(numbers) {}

  Entry get(Value at) {
    return {memory.loadScalar(values, zero(), at),
            LLVM::LoadOp::create(b, loc, b.getI32Type(),
                                 numberAddress(b, loc, numbers, at))};
  }
  void set(Value at, Entry entry) {
    memory.storeScalar(values, zero(), at, entry.value);
    LLVM::StoreOp::create(b, loc, entry.number,
                          numberAddress(b, loc, numbers, at));
  }

  /// Whether `x` comes before `y`: the larger first, NaN before all else, of
  /// equal ones the lower number.
  Value precedes(Entry x, Entry y) {
    using enum arith::CmpFPredicate;
    Value xIsNan = compare(UNO, x.value, x.value);
    Value yIsNan = compare(UNO, y.value, y.value);
    Value larger =
        either(compare(OGT, x.value, y.value), both(xIsNan, negate(yIsNan)));
    Value equal = either(compare(OEQ, x.value, y.value), both(xIsNan, yIsNan));
    Value lower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        x.number, y.number);
    return either(larger, both(equal, lower));
  }

  /// Puts `entry` where it belongs among the entries before `slot`, moving
  /// those after it on by one; what was in `slot` is lost.
  void insert(Value slot, Entry entry) {
    auto loop = scf::WhileOp::create(b, loc, b.getIndexType(), slot);
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, b.getIndexType(), loc);
    Value at = before->getArgument(0);
    // The first slot has no entry before it; comparing it with itself keeps the
    // read inside of the list.
    Value previous = arith::MaxSIOp::create(
        b, loc, arith::SubIOp::create(b, loc, at, memory.constant(1)), zero());
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, at, zero());
    scf::ConditionOp::create(b, loc,
                             both(inside, precedes(entry, get(previous))), at);
    Block *after = b.createBlock(&loop.getAfter(), {}, b.getIndexType(), loc);
    Value to = after->getArgument(0);
    Value from = arith::SubIOp::create(b, loc, to, memory.constant(1));
    set(to, get(from));
    scf::YieldOp::create(b, loc, from);
    b.setInsertionPointAfter(loop);
    set(loop.getResult(0), entry);
  }

  /// Fills the list from a row of `count` elements, of which there are at least
  /// `size`.
  void fillFrom(const Place &row, int64_t count) {
    forEach(0, size, [&](Value i) {
      insert(i, {memory.loadScalar(row, zero(), i), asNumber(i)});
    });
    int64_t full = (count - size) / lanes * lanes;
    if (full > 0)
      forEach(size, size + full, [&](Value i) { scan(row, i, lanes); }, lanes);
    if (size + full < count)
      scan(row, memory.constant(size + full), count - size - full);
  }

  /// Fills the list with sums of an entry of `first` and one of `second`, each
  /// of which holds the best of `keys` elements.
  void fillFromSums(BestList &first, BestList &second, int64_t keys) {
    Value none = memory.constant(0), one = memory.constant(1);
    auto outer = scf::ForOp::create(b, loc, none, memory.constant(first.size),
                                    one, none);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.getBody());
    Value a = outer.getInductionVar();
    Entry left = first.get(a);
    Value most = arith::DivUIOp::create(b, loc, memory.constant(size),
                                        arith::AddIOp::create(b, loc, a, one));
    most = arith::MinSIOp::create(b, loc, most, memory.constant(second.size));
    Value base = arith::MulIOp::create(b, loc, left.number, number(keys));
    auto inner =
        scf::ForOp::create(b, loc, none, most, one, outer.getRegionIterArg(0));
    scf::YieldOp::create(b, loc, inner.getResult(0));
    b.setInsertionPointToStart(inner.getBody());
    Entry right = second.get(inner.getInductionVar());
    Value held = inner.getRegionIterArg(0);
    offer({arith::AddFOp::create(b, loc, left.value, right.value),
           arith::AddIOp::create(b, loc, base, right.number)},
          held);
    scf::YieldOp::create(
        b, loc,
        arith::MinSIOp::create(b, loc, memory.constant(size),
                               arith::AddIOp::create(b, loc, held, one))
            .getResult());
  }

  int64_t size;

private:
  Value zero() { return memory.constant(0); }
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  Value asNumber(Value index) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value negate(Value x) {
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    return arith::XOrIOp::create(b, loc, x, yes);
  }
  void forEach(int64_t from, int64_t to, function_ref<void(Value)> body,
               int64_t step = 1) {
    auto loop = scf::ForOp::create(b, loc, memory.constant(from),
                                   memory.constant(to), memory.constant(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  void when(Value condition, function_ref<void()> body) {
    auto branch = scf::IfOp::create(b, loc, condition, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  /// Inserts `entry` if the list, of which the first `held` are taken, is not
  /// full or ends with a worse one.
  void offer(Entry entry, Value held) {
    Value last = memory.constant(size - 1);
    Value open = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, held,
                                       memory.constant(size));
    Value slot = arith::MinSIOp::create(b, loc, held, last);
    // An empty slot is compared too; what it holds decides nothing.
    when(either(open, precedes(entry, get(slot))),
         [&] { insert(slot, entry); });
  }

  /// Offers `valid` elements of a row from column `at` to the full list.
  void scan(const Place &row, Value at, int64_t valid) {
    using enum arith::CmpFPredicate;
    Value last = memory.constant(size - 1);
    Value elements = memory.load(row, zero(), at, lanes, valid);
    Value worst = memory.broadcast(get(last).value, lanes);
    Value better =
        either(compare(OGT, elements, worst), compare(UNO, elements, elements));
    Value any =
        vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, better);
    when(any, [&] {
      forEach(0, valid, [&](Value lane) {
        Value column = arith::AddIOp::create(b, loc, at, lane);
        Entry entry{memory.loadScalar(row, zero(), column), asNumber(column)};
        when(precedes(entry, get(last)), [&] { insert(last, entry); });
      });
    });
  }

  OpBuilder &b;
  Location loc;
  Memory &memory;
  const int64_t lanes;
  Place values, numbers;
};

} // namespace

void lower(TopKOp op, KernelState &s) {
  int64_t count = op.getValues().getType().columns();
  BestList result(s.b, s.loc(), s.memory, s.placeOf(op.getValues()),
                  s.placeOf(op.getNumbers()), count);
  int64_t width = cast<TileType>(op.getScores()[0].getType()).columns();
  if (op.getScores().size() == 1)
    return result.fillFrom(s.placeOf(op.getScores()[0]), width);
  int64_t kept = std::min(count, width);
  auto keep = [&](Value scores) {
    auto row = [&](Type element) {
      return s.allocate(
          TileType::get(s.b.getContext(), {kept}, element, Role::Row, {}));
    };
    BestList list(s.b, s.loc(), s.memory, row(s.b.getF32Type()),
                  row(s.b.getI32Type()), kept);
    list.fillFrom(s.placeOf(scores), width);
    return list;
  };
  BestList first = keep(op.getScores()[0]), second = keep(op.getScores()[1]);
  result.fillFromSums(first, second, width);
}

void lower(TakeOp op, KernelState &s) {
  Place row = s.placeOf(op.getTile()), numbers = s.placeOf(op.getNumbers()),
        result = s.placeOf(op.getResult());
  Value zero = s.memory.constant(0), one = s.memory.constant(1);
  Value count = s.memory.constant(op.getResult().getType().columns());
  auto loop = scf::ForOp::create(s.b, zero, count, one);
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Type i32 = s.b.getI32Type();
  Value number =
      op.getNumbers().getType().getElementType().isF32()
          ? Value(arith::FPToSIOp::create(
                s.b, s.loc(), i32, s.memory.loadScalar(numbers, zero, at)))
          : Value(LLVM::LoadOp::create(
                s.b, i32, numberAddress(s.b, s.loc(), numbers, at)));
  Value column = arith::IndexCastOp::create(s.b, s.b.getIndexType(), number);
  s.memory.storeScalar(result, zero, at,
                       s.memory.loadScalar(row, zero, column));
}

} // namespace effc::host
