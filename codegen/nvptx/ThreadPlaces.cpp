// Which places of a tile this thread holds.
#include "codegen/nvptx/ThreadPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::stored;
using namespace effc::tile;

namespace effc::nvptx {

Value firstPlace(ThreadState &t, const Axis &axis) {
  Value first;
  for (const ThreadField &field : axis.fields) {
    int64_t most = (int64_t(1) << field.count) - 1;
    if (most == 0)
      continue;
    Value bits = t.thread;
    if (field.shift > 0)
      bits = arith::ShRUIOp::create(t.b, bits, t.constant(field.shift));
    if ((most + 1) << field.shift < t.threads)
      bits = arith::AndIOp::create(t.b, bits, t.constant(most));
    bits = t.mul(bits, field.step);
    first = first ? t.add(first, bits) : bits;
  }
  return first ? first : t.constant(0);
}

Held heldOf(ThreadState &t, TileType type) {
  Held held{Distribution::of(type), {}, {}};
  held.firstRow = firstPlace(t, held.distribution.rows);
  held.firstColumn = firstPlace(t, held.distribution.columns);
  return held;
}

Value rowAt(ThreadState &t, const Held &held, size_t i) {
  return t.add(held.firstRow, t.constant(held.distribution.rows.offsets[i]));
}

Value columnAt(ThreadState &t, const Held &held, size_t j) {
  return t.add(held.firstColumn,
               t.constant(held.distribution.columns.offsets[j]));
}

Counted countedOf(ThreadState &t, const Held &held, Value rowLimit,
                  Value columnLimit) {
  auto along = [&](const Axis &axis, Value first, Value limit) {
    Elements counted;
    for (int64_t offset : axis.offsets) {
      Value place = t.add(first, t.constant(offset)), counts;
      if (!axis.exact())
        counts = t.less(place, t.constant(axis.size));
      if (limit)
        counts = t.both(counts, t.less(place, limit));
      counted.push_back(counts);
    }
    return counted;
  };
  const auto &[rows, columns] = held.distribution;
  return {along(rows, held.firstRow, rowLimit),
          along(columns, held.firstColumn, columnLimit)};
}

// The bits of the thread's number in `mask`, packed.
Value bitsOfThread(ThreadState &t, unsigned mask) {
  Axis packed;
  int64_t step = 1;
  for (unsigned rest = mask; rest != 0;) {
    unsigned shift = llvm::countr_zero(rest);
    unsigned count = llvm::countr_one(rest >> shift);
    packed.fields.push_back({shift, count, step});
    step <<= count;
    rest &= ~(((1u << count) - 1) << shift);
  }
  return firstPlace(t, packed);
}

Value isFirstHolder(ThreadState &t, const Distribution &distribution) {
  unsigned others = static_cast<unsigned>(t.threads - 1) &
                    ~distribution.rows.threadBits() &
                    ~distribution.columns.threadBits();
  if (others == 0)
    return {};
  return arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq,
                               bitsOfThread(t, others), t.constant(0));
}

} // namespace effc::nvptx
