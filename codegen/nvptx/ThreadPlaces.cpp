// Which places of a tile this thread holds.
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

Value ThreadLowering::firstPlace(const Axis &axis) {
  Value first;
  for (const ThreadField &field : axis.fields) {
    int64_t most = (int64_t(1) << field.count) - 1;
    if (most == 0)
      continue;
    Value bits = thread;
    if (field.shift > 0)
      bits = arith::ShRUIOp::create(b, loc, bits, constant(field.shift));
    if ((most + 1) << field.shift < threads)
      bits = arith::AndIOp::create(b, loc, bits, constant(most));
    bits = mul(bits, field.step);
    first = first ? add(first, bits) : bits;
  }
  return first ? first : constant(0);
}

ThreadLowering::Held ThreadLowering::heldOf(TileType type) {
  Held held{Distribution::of(type), {}, {}};
  held.firstRow = firstPlace(held.distribution.rows);
  held.firstColumn = firstPlace(held.distribution.columns);
  return held;
}

Value ThreadLowering::rowAt(const Held &held, size_t i) {
  return add(held.firstRow, constant(held.distribution.rows.offsets[i]));
}

Value ThreadLowering::columnAt(const Held &held, size_t j) {
  return add(held.firstColumn, constant(held.distribution.columns.offsets[j]));
}

Value ThreadLowering::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Value ThreadLowering::inside(const Held &held, size_t i, size_t j) {
  const auto &[rows, columns] = held.distribution;
  Value row, column;
  if (!rows.exact())
    row = less(rowAt(held, i), constant(rows.size));
  if (!columns.exact())
    column = less(columnAt(held, j), constant(columns.size));
  return both(row, column);
}

// The bits of the thread's number in `mask`, packed.
Value ThreadLowering::bitsOfThread(unsigned mask) {
  Axis packed;
  int64_t step = 1;
  for (unsigned rest = mask; rest != 0;) {
    unsigned shift = llvm::countr_zero(rest);
    unsigned count = llvm::countr_one(rest >> shift);
    packed.fields.push_back({shift, count, step});
    step <<= count;
    rest &= ~(((1u << count) - 1) << shift);
  }
  return firstPlace(packed);
}

Value ThreadLowering::isFirstHolder(const Distribution &distribution) {
  unsigned others = static_cast<unsigned>(threads - 1) &
                    ~distribution.rows.threadBits() &
                    ~distribution.columns.threadBits();
  if (others == 0)
    return {};
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                               bitsOfThread(others), constant(0));
}

void ThreadLowering::guarded(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto taken = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  body();
}

Value ThreadLowering::either(Value condition, function_ref<Value()> yes,
                             function_ref<Value()> no) {
  auto taken = scf::IfOp::create(b, loc, b.getF32Type(), condition,
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  scf::YieldOp::create(b, loc, yes());
  b.setInsertionPointToStart(taken.elseBlock());
  scf::YieldOp::create(b, loc, no());
  return taken.getResult(0);
}
