#include "passes/seq_to_tile/builders/linear/ChunkTiles.h"

using namespace mlir;
using namespace effc;

ChunkTiles::ChunkTiles(KernelBuilder &k, const Recurrence &r, int64_t chunk)
    : k(k), b(k.ops()), chunk(chunk), stateType(r.matrix.type),
      outType(
          k.blockType(chunk, r.map.getValueBlock(), tile::Role::Accumulator)),
      scoreType(k.blockType(chunk, chunk, tile::Role::Accumulator)),
      keyType(k.blockType(chunk, r.map.keyChannels, tile::Role::Operand)),
      columnType(k.columnType(chunk)) {}

Value ChunkTiles::zeros(tile::TileType type) {
  return tile::SplatOp::create(b, k.loc(), type, k.scalar(0));
}

Value ChunkTiles::scaled(tile::TileType type, Value tile, Value exponent) {
  return k.map(type, {tile, exponent},
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 return arith::MulFOp::create(builder, k.loc(), e[0],
                                              emitExp(builder, k.loc(), e[1]));
               });
}

Value ChunkTiles::perToken(Value tile, tile::TileType type) {
  if (tile.getType() == type)
    return tile;
  return k.map(type, {tile}, [](OpBuilder &, ValueRange e) { return e[0]; });
}

Value ChunkTiles::maskRows(Value tile, Value rows) {
  // What a GPU loads past a limit is zero.
  if (auto load = tile.getDefiningOp<tile::LoadOp>();
      load && k.isGpu() && load.getRows() == rows)
    return tile;
  return where(
      cast<tile::TileType>(tile.getType()),
      [&](OpBuilder &builder, Value row, Value) -> Value {
        return arith::CmpIOp::create(builder, k.loc(),
                                     arith::CmpIPredicate::slt, row, rows);
      },
      tile, k.scalar(0));
}

// Selected, not multiplied: what does not count may be anything.
Value ChunkTiles::where(tile::TileType type, Condition condition, Value yes,
                        Value no) {
  return k.map(type, {yes, no}, [&](OpBuilder &builder, ValueRange e) -> Value {
    Value row = tile::RowIndexOp::create(builder, k.loc());
    Value column =
        type.isBlock()
            ? tile::ColumnIndexOp::create(builder, k.loc()).getResult()
            : Value();
    return arith::SelectOp::create(builder, k.loc(),
                                   condition(builder, row, column), e[0], e[1]);
  });
}

Value effc::emitMeetAt(OpBuilder &builder, Location loc, int64_t half,
                       Value row, Value column) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  // The row is the later one, and no higher bit differs.
  Value differing = arith::XOrIOp::create(builder, loc, row, column);
  Value atHalf = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq,
      arith::DivUIOp::create(builder, loc, differing, constant(half)),
      constant(1));
  return arith::AndIOp::create(builder, loc, atHalf,
                               emitIsLater(builder, loc, half, row));
}

Value effc::emitIsLater(OpBuilder &builder, Location loc, int64_t half,
                        Value token) {
  Value bit = arith::AndIOp::create(
      builder, loc, token, arith::ConstantIndexOp::create(builder, loc, half));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit,
                               arith::ConstantIndexOp::create(builder, loc, 0));
}
