#include "passes/seq_to_tile/builders/linear/ItemState.h"

using namespace mlir;
using namespace effc;

// With the slot in front, as views of states have it.
static std::pair<SmallVector<Value>, SmallVector<int64_t>>
boxOf(const ItemState &state, tile::SegmentOp segment) {
  SmallVector<Value> at = {segment.getSlot()};
  llvm::append_range(at, state.at);
  SmallVector<int64_t> sizes = {1};
  llvm::append_range(sizes, state.sizes);
  return {at, sizes};
}

Value ItemState::load(KernelBuilder &k, tile::SegmentOp segment) const {
  auto [at, sizes] = boxOf(*this, segment);
  Value old = k.load(view, at, sizes, type, rows);
  // A decode call does little else than read one state after the other.
  if (k.isDecode())
    k.fetchNext(old);
  // By select: what a fresh slot holds may be anything, NaN included.
  Value fresh = arith::SelectOp::create(k.ops(), k.loc(), segment.getBegins(),
                                        k.scalar(1), k.scalar(0));
  float neutral = static_cast<float>(descriptor.neutral);
  return k.map(type, {old, fresh}, [&](OpBuilder &b, ValueRange e) -> Value {
    Value zero = arith::ConstantOp::create(b, k.loc(), b.getF32FloatAttr(0));
    Value isFresh = arith::CmpFOp::create(b, k.loc(), arith::CmpFPredicate::OGT,
                                          e[1], zero);
    Value value =
        neutral == 0
            ? zero
            : arith::ConstantOp::create(b, k.loc(), b.getF32FloatAttr(neutral));
    return arith::SelectOp::create(b, k.loc(), isFresh, value, e[0]);
  });
}

void ItemState::store(KernelBuilder &k, tile::SegmentOp segment,
                      Value tile) const {
  auto [at, sizes] = boxOf(*this, segment);
  k.store(tile, view, at, sizes, rows);
}
