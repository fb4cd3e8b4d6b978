// Blocks whose rows lie in two views, gathered on the stack row by row.
#include "codegen/host/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;
using namespace effc::tile;

void KernelLowering::emitSplice(SpliceOp splice) {
  TileType type = splice.getResult().getType();
  Place target = allocate(type);
  Place first = windowOf(splice.getFirst(), splice.getFirstIndices(),
                         splice.getFirstSizes(), type, {}, {});
  Place second = windowOf(splice.getSecond(), splice.getSecondIndices(),
                          splice.getSecondSizes(), type, {}, {});
  ColumnBlocks blocks = ColumnBlocks::cut(type.columns(), memory.shape);
  // Fills rows [from, to) with what `vectorAt` gives for a row and a run of
  // its columns.
  auto fillRows =
      [&](Value from, Value to,
          function_ref<Value(Value, Value, int64_t, int64_t)> vectorAt) {
        auto rows = scf::ForOp::create(b, loc, from, to, memory.constant(1));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(rows.getBody());
        Value row = rows.getInductionVar();
        auto run = [&](Value column, int64_t lanes, int64_t valid) {
          memory.store(target, row, column, vectorAt(row, column, lanes, valid),
                       valid);
        };
        if (blocks.mainCount > 0) {
          auto columns = scf::ForOp::create(
              b, loc, memory.constant(0),
              memory.constant(blocks.mainCount * blocks.mainLanes),
              memory.constant(blocks.mainLanes));
          OpBuilder::InsertionGuard inner(b);
          b.setInsertionPointToStart(columns.getBody());
          run(columns.getInductionVar(), blocks.mainLanes, blocks.mainLanes);
        }
        for (const ColumnBlock &rest : blocks.rest)
          run(memory.constant(rest.start), rest.lanes, rest.valid);
      };
  Value head = lookup(splice.getHead()), end = lookup(splice.getEnd());
  fillRows(memory.constant(0), head,
           [&](Value row, Value column, int64_t lanes, int64_t valid) {
             return memory.load(first, row, column, lanes, valid);
           });
  fillRows(head, end,
           [&](Value row, Value column, int64_t lanes, int64_t valid) {
             Value taken = arith::SubIOp::create(b, loc, row, head);
             return memory.load(second, taken, column, lanes, valid);
           });
  fillRows(end, memory.constant(type.rows()),
           [&](Value, Value, int64_t lanes, int64_t) {
             return memory.broadcast(memory.constantF32(0), lanes);
           });
  places[splice.getResult()] = target;
}
