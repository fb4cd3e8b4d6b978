// Running sums of a column in shared memory, whose elements are added and never
// subtracted.
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadMath.h"
#include "codegen/nvptx/ThreadPlaces.h"
#include "codegen/nvptx/ThreadShared.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::nvptx {

// Each warp has the whole column, some neighbours in a lane: the lane adds up
// its own, the lanes add up what those before them have (after them, where
// `reverse`), each from twice as many as the last time. A thread then takes the
// sums of its rows, or their exponentials, from the lanes that have them.
void lower(ScanOp scan, ThreadState &t) {
  TileType from = scan.getTile().getType();
  bool reverse = scan.getReverse();
  auto each = static_cast<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(from.rows(), kWarp)));
  Value lane = bitsOfThread(t, kWarp - 1), first = t.mul(lane, each);
  Elements own;
  for (int64_t k = 0; k < each; ++k) {
    Value place = t.add(first, t.constant(k));
    if (each * kWarp == from.rows()) {
      own.push_back(loadShared(t, from, place, {}));
      continue;
    }
    Value isThere = t.less(place, t.constant(from.rows()));
    own.push_back(t.select(
        isThere,
        loadShared(t, from, t.select(isThere, place, t.constant(0)), {}),
        t.f32(0)));
  }
  auto plus = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(t.b, x, y);
  };
  // Up to each of the lane's own, or behind it.
  Elements sums(own);
  if (reverse)
    sums.back() = t.f32(0);
  for (int64_t k = 1; k < each; ++k)
    if (reverse)
      sums[each - 1 - k] = plus(sums[each - k], own[each - k]);
    else
      sums[k] = plus(sums[k - 1], own[k]);
  Value total = reverse ? plus(sums.front(), own.front()) : sums.back();
  // What the lane has that lies so far before this one, or behind it; else 0.
  NVVM::ShflKind kind = reverse ? NVVM::ShflKind::down : NVVM::ShflKind::up;
  auto fromLane = [&](Value value, int64_t distance) {
    Value isThere = reverse ? t.less(lane, t.constant(kWarp - distance))
                            : t.less(t.constant(distance - 1), lane);
    Value other = NVVM::ShflOp::create(
        t.b, value.getType(), t.i32(-1), value, t.i32(distance),
        t.i32(reverse ? kWarp - 1 : 0), kind, UnitAttr());
    return t.select(isThere, other, t.f32(0));
  };
  for (int64_t distance = 1; distance * each < from.rows(); distance *= 2)
    total = plus(fromLane(total, distance), total);
  Value others = fromLane(total, 1);
  for (Value &sum : sums) {
    sum = plus(others, sum);
    if (scan.getExp())
      sum = exponential(t, sum);
  }

  Held held = heldOf(t, scan.getResult().getType());
  Elements elements;
  for (size_t i = 0; i < held.rows(); ++i) {
    Value row = rowAt(t, held, i), of = row;
    if (each > 1)
      of = arith::ShRUIOp::create(t.b, row, t.constant(llvm::Log2_64(each)));
    of = arith::IndexCastOp::create(t.b, t.b.getI32Type(), of);
    Value place = arith::AndIOp::create(t.b, row, t.constant(each - 1)), found;
    for (int64_t k = 0; k < each; ++k) {
      Value sum = NVVM::ShflOp::create(t.b, sums[k].getType(), t.i32(-1),
                                       sums[k], of, t.i32(kWarp - 1),
                                       NVVM::ShflKind::idx, UnitAttr());
      found =
          found ? t.select(arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq,
                                                 place, t.constant(k)),
                           sum, found)
                : sum;
    }
    elements.push_back(found);
  }
  t.tiles[scan.getResult()] = elements;
}

} // namespace effc::nvptx
