// Running sums along a column, and decays between every two of its elements.
#include "codegen/host/Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

void lower(ScanOp scan, KernelState &s) {
  Place from = s.placeOf(scan.getTile()), to = s.placeOf(scan.getResult());
  int64_t length = scan.getTile().getType().rows();
  Value zero = s.memory.constant(0), none = s.memory.constantF32(0);
  auto loop = scf::ForOp::create(s.b, zero, s.memory.constant(length),
                                 s.memory.constant(1), none);
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar(), sum = loop.getRegionIterArg(0);
  if (scan.getReverse())
    row = arith::SubIOp::create(s.b, s.memory.constant(length - 1), row);
  Value next =
      arith::AddFOp::create(s.b, sum, s.memory.loadScalar(from, row, zero));
  Value element = scan.getReverse() ? sum : next;
  if (scan.getExp())
    element = math::ExpOp::create(s.b, element);
  s.memory.storeScalar(to, row, zero, element);
  scf::YieldOp::create(s.b, next);
}

// Row i of the sums is row i-1 plus element i, with a new 0 on the diagonal.
void lower(SegmentDecayOp decay, KernelState &s) {
  Place from = s.placeOf(decay.getTile()), to = s.placeOf(decay.getResult());
  int64_t length = decay.getTile().getType().rows();
  const int64_t lanes = s.memory.shape.lanes;
  Place sums = s.allocate(TileType::get(s.b.getContext(), {length},
                                        s.b.getF32Type(), Role::Row, {}));
  Value zero = s.memory.constant(0), one = s.memory.constant(1);
  auto rows = scf::ForOp::create(s.b, zero, s.memory.constant(length), one);
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar();
  Value term = s.memory.broadcast(s.memory.loadScalar(from, row, zero), lanes);
  Value rowLanes = s.memory.broadcast(row, lanes);
  Value none = s.memory.broadcast(s.memory.constantF32(0), lanes);
  for (int64_t j = 0; j < length; j += lanes) {
    Value column = s.memory.constant(j);
    Value columns = arith::AddIOp::create(
        s.b, s.memory.broadcast(column, lanes), s.memory.iota(lanes));
    auto where = [&](arith::CmpIPredicate predicate, Value yes) -> Value {
      return arith::SelectOp::create(
          s.b, arith::CmpIOp::create(s.b, predicate, columns, rowLanes), yes,
          none);
    };
    Value running = arith::AddFOp::create(
        s.b, s.memory.load(sums, zero, column, lanes, lanes), term);
    Value sum = where(arith::CmpIPredicate::slt, running);
    s.memory.store(sums, zero, column, sum, lanes);
    s.memory.store(
        to, row, column,
        where(arith::CmpIPredicate::sle, math::ExpOp::create(s.b, sum)), lanes);
  }
}

} // namespace effc::host
