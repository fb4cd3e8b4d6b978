// The row of a ring that a position lies in, as a one among zeros. An item is a
// row. Floor: bytes of the rows.
#include "passes/seq_to_tile/builders/Builders.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildRingRow(KernelBuilder &k) {
  auto root = cast<seq::RingRowOp>(k.getRoot());
  int64_t rows = root.getY().getType().getDimSize(1);
  k.setItems(k.getContext().lead, 1, 1);
  OpBuilder &b = k.ops();
  Value position = tile::ReadOp::create(b, k.loc(), b.getIndexType(),
                                        k.read(root.getPositions()), k.item());
  Value own = k.divide(position, rows).second;
  tile::TileType type = k.rowType(rows);
  Value y = k.map(type, {}, [&](OpBuilder &builder, ValueRange) -> Value {
    Location loc = k.loc();
    auto constant = [&](float value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getF32FloatAttr(value));
    };
    Value column = tile::ColumnIndexOp::create(builder, loc);
    Value isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        column, own);
    return arith::SelectOp::create(builder, loc, isOwn, constant(1),
                                   constant(0));
  });
  return k.finish(
      root.getY(), y,
      [&](Value tensor) {
        return k.load(k.read(tensor), {k.item(), k.index(0)}, {1, rows}, type);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {k.item(), k.index(0)}, {1, rows});
      });
}
