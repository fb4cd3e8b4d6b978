#include "passes/seq_to_tile/builders/linear/TokenRows.h"

using namespace mlir;
using namespace effc;

TokenRows::TokenRows(ChunkTiles &tiles, int64_t tokens, int64_t writes)
    : keyType(tiles.k.blockType(tokens, tiles.keyType.columns(),
                                tile::Role::Operand)),
      outType(tiles.k.blockType(tokens, tiles.outType.columns(),
                                tile::Role::Accumulator)),
      columnType(tiles.k.columnType(tokens)), tiles(tiles), tokens(tokens),
      writes(writes) {}

Value TokenRows::isRowOf(OpBuilder &b, Value row, Value token, int64_t write) {
  Location loc = tiles.k.loc();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  Value first = arith::MulIOp::create(b, loc, token, constant(writes));
  Value own = arith::AddIOp::create(b, loc, first, constant(write));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, row, own);
}

Value TokenRows::places(int64_t write) {
  KernelBuilder &k = tiles.k;
  return tiles.where(
      k.blockType(tiles.chunk, tokens, tile::Role::Accumulator),
      [&](OpBuilder &b, Value row, Value column) {
        return isRowOf(b, row, column, write);
      },
      k.scalar(1), k.scalar(0));
}

Value TokenRows::none(tile::TileType type) {
  return tiles.zeros(
      tiles.k.blockType(tiles.chunk, type.columns(), tile::Role::Accumulator));
}

Value TokenRows::with(Value rows, int64_t write, Value ofTokens) {
  return tiles.k.exactDot(rows, places(write), ofTokens);
}

// By selects and a sum of one number, which may be infinite.
Value TokenRows::asRow(Value column) {
  KernelBuilder &k = tiles.k;
  Value diagonal = tiles.where(
      k.blockType(tokens, tokens, tile::Role::Accumulator),
      [&](OpBuilder &b, Value row, Value column) -> Value {
        return arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::eq, row,
                                     column);
      },
      column, k.scalar(0));
  return tile::ReduceOp::create(tiles.b, k.loc(), k.rowType(tokens),
                                tile::ReduceKind::Add, diagonal,
                                /*over_rows=*/true);
}

// Likewise: a row of tiles is one token's.
Value TokenRows::columnOf(ArrayRef<Value> columns) {
  KernelBuilder &k = tiles.k;
  SmallVector<Value> inputs;
  for (Value column : columns)
    inputs.push_back(asRow(column));
  Value placed =
      k.map(k.blockType(tiles.chunk, tokens, tile::Role::Accumulator), inputs,
            [&](OpBuilder &b, ValueRange e) -> Value {
              Value row = tile::RowIndexOp::create(b, k.loc());
              Value token = tile::ColumnIndexOp::create(b, k.loc());
              Value chosen =
                  arith::ConstantOp::create(b, k.loc(), b.getF32FloatAttr(0));
              for (auto [write, number] : llvm::enumerate(e))
                chosen = arith::SelectOp::create(
                    b, k.loc(), isRowOf(b, row, token, write), number, chosen);
              return chosen;
            });
  return tile::ReduceOp::create(tiles.b, k.loc(), tiles.columnType,
                                tile::ReduceKind::Add, placed,
                                /*over_rows=*/false);
}

Value TokenRows::lastOf(Value rows) {
  return tiles.k.exactDot(tiles.zeros(outType), places(writes - 1), rows,
                          /*transposeA=*/true);
}
