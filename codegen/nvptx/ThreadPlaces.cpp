// Which places of a tile this thread holds.
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::stored;
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

ThreadLowering::Counted
ThreadLowering::countedOf(const Held &held, Value rowLimit, Value columnLimit) {
  auto along = [&](const Axis &axis, Value first, Value limit) {
    Elements counted;
    for (int64_t offset : axis.offsets) {
      Value place = add(first, constant(offset)), counts;
      if (!axis.exact())
        counts = less(place, constant(axis.size));
      if (limit)
        counts = both(counts, less(place, limit));
      counted.push_back(counts);
    }
    return counted;
  };
  const auto &[rows, columns] = held.distribution;
  return {along(rows, held.firstRow, rowLimit),
          along(columns, held.firstColumn, columnLimit)};
}

Value ThreadLowering::further(Value address, Type element, int64_t count) {
  if (count == 0)
    return address;
  if (!llvm::isInt<32>(count))
    return further(address, element, constant(count));
  return LLVM::GEPOp::create(
      b, loc, address.getType(), element, address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count)});
}

Value ThreadLowering::further(Value address, Type element, Value count) {
  bool isShared =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() == 3;
  count = arith::IndexCastOp::create(
      b, loc, isShared ? b.getI32Type() : b.getI64Type(), count);
  return LLVM::GEPOp::create(b, loc, address.getType(), element, address,
                             ArrayRef<LLVM::GEPArg>{count});
}

ElementPlace ThreadLowering::further(const ElementPlace &place, Type element,
                                     int64_t count) {
  if (!place.number)
    return {further(place.address, element, count), {}, 0};
  return {place.address, add(place.number, constant(count)),
          std::gcd(place.divisor, count)};
}

ElementPlace ThreadLowering::further(const ElementPlace &place, Type element,
                                     Value count) {
  if (!place.number)
    return {further(place.address, element, count), {}, 0};
  return {place.address, add(place.number, count), 1};
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

ThreadLowering::Elements ThreadLowering::either(Value condition, size_t count,
                                                function_ref<Elements()> yes,
                                                function_ref<Elements()> no) {
  auto taken =
      scf::IfOp::create(b, loc, SmallVector<Type>(count, b.getF32Type()),
                        condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  scf::YieldOp::create(b, loc, yes());
  b.setInsertionPointToStart(taken.elseBlock());
  scf::YieldOp::create(b, loc, no());
  return Elements(taken.getResults());
}
