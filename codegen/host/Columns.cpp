// Running sums along a column, and between every two of its elements.
#include "codegen/host/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::host;
using namespace effc::tile;

void KernelLowering::emitScan(ScanOp scan) {
  Place from = placeOf(scan.getTile()), to = placeOf(scan.getResult());
  int64_t length = scan.getTile().getType().rows();
  Value zero = memory.constant(0), none = memory.constantF32(0);
  auto loop = scf::ForOp::create(b, loc, zero, memory.constant(length),
                                 memory.constant(1), none);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar(), sum = loop.getRegionIterArg(0);
  if (scan.getReverse())
    row = arith::SubIOp::create(b, loc, memory.constant(length - 1), row);
  Value next =
      arith::AddFOp::create(b, loc, sum, memory.loadScalar(from, row, zero));
  memory.storeScalar(to, row, zero, scan.getReverse() ? sum : next);
  scf::YieldOp::create(b, loc, next);
}

// Row i is row i-1 plus element i, with a new 0 on the diagonal.
void KernelLowering::emitSegmentSum(SegmentSumOp sum) {
  Place from = placeOf(sum.getTile()), to = placeOf(sum.getResult());
  int64_t length = sum.getTile().getType().rows();
  Value zero = memory.constant(0), one = memory.constant(1);
  auto rows = scf::ForOp::create(b, loc, zero, memory.constant(length), one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar();
  Value previous = arith::MaxSIOp::create(
      b, loc, arith::SubIOp::create(b, loc, row, one), zero);
  Value term = memory.broadcast(memory.loadScalar(from, row, zero), kLanes);
  Value rowLanes = memory.broadcast(row, kLanes);
  Value diagonal = memory.broadcast(memory.constantF32(0), kLanes);
  Value above = memory.broadcast(
      memory.constantF32(-std::numeric_limits<float>::infinity()), kLanes);
  for (int64_t j = 0; j < length; j += kLanes) {
    Value column = memory.constant(j);
    Value columns = arith::AddIOp::create(
        b, loc, memory.broadcast(column, kLanes), memory.iota(kLanes));
    Value running = arith::AddFOp::create(
        b, loc, memory.load(to, previous, column, kLanes, kLanes), term);
    auto compare = [&](arith::CmpIPredicate predicate) {
      return arith::CmpIOp::create(b, loc, predicate, columns, rowLanes);
    };
    Value lower = arith::SelectOp::create(
        b, loc, compare(arith::CmpIPredicate::slt), running, above);
    Value value = arith::SelectOp::create(
        b, loc, compare(arith::CmpIPredicate::eq), diagonal, lower);
    memory.store(to, row, column, value, kLanes);
  }
}
