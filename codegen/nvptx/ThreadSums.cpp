// Running sums of a column in shared memory, whose elements are added and never
// subtracted.
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

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
