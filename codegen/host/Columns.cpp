// Running sums along a column, and decays between every two of its elements.
#include "codegen/host/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
  Value element = scan.getReverse() ? sum : next;
  if (scan.getExp())
    element = math::ExpOp::create(b, loc, element);
  memory.storeScalar(to, row, zero, element);
  scf::YieldOp::create(b, loc, next);
}

// Row i of the sums is row i-1 plus element i, with a new 0 on the diagonal.
void KernelLowering::emitSegmentDecay(SegmentDecayOp decay) {
  Place from = placeOf(decay.getTile()), to = placeOf(decay.getResult());
  int64_t length = decay.getTile().getType().rows();
  const int64_t lanes = memory.shape.lanes;
  Place sums = allocate(
      TileType::get(b.getContext(), {length}, b.getF32Type(), Role::Row, {}));
  Value zero = memory.constant(0), one = memory.constant(1);
  auto rows = scf::ForOp::create(b, loc, zero, memory.constant(length), one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar();
  Value term = memory.broadcast(memory.loadScalar(from, row, zero), lanes);
  Value rowLanes = memory.broadcast(row, lanes);
  Value none = memory.broadcast(memory.constantF32(0), lanes);
  for (int64_t j = 0; j < length; j += lanes) {
    Value column = memory.constant(j);
    Value columns = arith::AddIOp::create(
        b, loc, memory.broadcast(column, lanes), memory.iota(lanes));
    auto where = [&](arith::CmpIPredicate predicate, Value yes) -> Value {
      return arith::SelectOp::create(
          b, loc, arith::CmpIOp::create(b, loc, predicate, columns, rowLanes),
          yes, none);
    };
    Value running = arith::AddFOp::create(
        b, loc, memory.load(sums, zero, column, lanes, lanes), term);
    Value sum = where(arith::CmpIPredicate::slt, running);
    memory.store(sums, zero, column, sum, lanes);
    memory.store(
        to, row, column,
        where(arith::CmpIPredicate::sle, math::ExpOp::create(b, loc, sum)),
        lanes);
  }
}
