// Blocks whose rows lie in two views, gathered on the stack row by row.
#include "codegen/host/Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

void lower(SpliceOp splice, KernelState &s) {
  TileType type = splice.getResult().getType();
  Place target = s.allocate(type);
  Place first = s.windowOf(splice.getFirst(), splice.getFirstIndices(),
                           splice.getFirstSizes(), type, {}, {});
  Place second = s.windowOf(splice.getSecond(), splice.getSecondIndices(),
                            splice.getSecondSizes(), type, {}, {});
  ColumnBlocks blocks = ColumnBlocks::cut(type.columns(), s.memory.shape);
  // Fills rows [from, to) with what `vectorAt` gives for a row and a run of
  // its columns.
  auto fillRows =
      [&](Value from, Value to,
          function_ref<Value(Value, Value, int64_t, int64_t)> vectorAt) {
        auto rows = scf::ForOp::create(s.b, from, to, s.memory.constant(1));
        OpBuilder::InsertionGuard guard(s.b);
        s.b.setInsertionPointToStart(rows.getBody());
        Value row = rows.getInductionVar();
        auto run = [&](Value column, int64_t lanes, int64_t valid) {
          s.memory.store(target, row, column,
                         vectorAt(row, column, lanes, valid), valid);
        };
        if (blocks.mainCount > 0) {
          auto columns = scf::ForOp::create(
              s.b, s.memory.constant(0),
              s.memory.constant(blocks.mainCount * blocks.mainLanes),
              s.memory.constant(blocks.mainLanes));
          OpBuilder::InsertionGuard inner(s.b);
          s.b.setInsertionPointToStart(columns.getBody());
          run(columns.getInductionVar(), blocks.mainLanes, blocks.mainLanes);
        }
        for (const ColumnBlock &rest : blocks.rest)
          run(s.memory.constant(rest.start), rest.lanes, rest.valid);
      };
  Value head = s.lookup(splice.getHead()), end = s.lookup(splice.getEnd());
  fillRows(s.memory.constant(0), head,
           [&](Value row, Value column, int64_t lanes, int64_t valid) {
             return s.memory.load(first, row, column, lanes, valid);
           });
  fillRows(head, end,
           [&](Value row, Value column, int64_t lanes, int64_t valid) {
             Value taken = arith::SubIOp::create(s.b, row, head);
             return s.memory.load(second, taken, column, lanes, valid);
           });
  fillRows(end, s.memory.constant(type.rows()),
           [&](Value, Value, int64_t lanes, int64_t) {
             return s.memory.broadcast(s.memory.constantF32(0), lanes);
           });
  s.places[splice.getResult()] = target;
}

} // namespace effc::host
