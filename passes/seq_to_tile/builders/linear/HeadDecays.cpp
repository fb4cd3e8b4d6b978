// A decay per head is one number between two tokens, and scales their score.
#include "passes/seq_to_tile/builders/linear/ChunkDecays.h"

using namespace mlir;
using namespace effc;

SmallVector<Value> HeadDecays::scores(ArrayRef<Sight> sights) {
  KernelBuilder &k = tiles.k;
  tile::TileType type = tiles.scoreType;
  if (sights.empty())
    return {};
  // Behind the first product, so that they are not held beside its operands.
  Value between;
  SmallVector<Value> all;
  for (const Sight &sight : sights) {
    bool strict = sight.strict || sight.exclusive;
    Value products = k.dot(tiles.zeros(type), sight.reader, sight.writer, false,
                           /*transposeB=*/true);
    if (!between)
      between = tile::SegmentDecayOp::create(tiles.b, k.loc(), type, decays);
    all.push_back(k.map(
        type, {products, between}, [&](OpBuilder &b, ValueRange e) -> Value {
          // By select where nothing is left: a score there may be anything.
          Value zero =
              arith::ConstantOp::create(b, k.loc(), b.getF32FloatAttr(0));
          Value visible = arith::CmpFOp::create(
              b, k.loc(), arith::CmpFPredicate::UNE, e[1], zero);
          if (strict) {
            Value row = tile::RowIndexOp::create(b, k.loc());
            Value column = tile::ColumnIndexOp::create(b, k.loc());
            visible = arith::CmpIOp::create(
                b, k.loc(), arith::CmpIPredicate::ugt, row, column);
          }
          Value product = arith::MulFOp::create(b, k.loc(), e[0], e[1]);
          return arith::SelectOp::create(b, k.loc(), visible, product, zero);
        }));
  }
  return all;
}

void HeadDecays::emitDecays(bool reads) {
  OpBuilder &b = tiles.b;
  Location loc = tiles.k.loc();
  Type type = decays.getType();
  if (reads)
    upTo = tile::ScanOp::create(b, loc, type, decays, /*reverse=*/false,
                                /*exp=*/true);
  after = tile::ScanOp::create(b, loc, type, decays, /*reverse=*/true,
                               /*exp=*/true);
  total = tile::ReduceOp::create(b, loc, b.getF32Type(), tile::ReduceKind::Add,
                                 decays, /*over_rows=*/false);
}

// Each element times that of a column, or times a scalar.
Value HeadDecays::times(tile::TileType type, Value tile, Value decay) {
  return tiles.k.map(
      type, {tile, decay}, [&](OpBuilder &b, ValueRange e) -> Value {
        return arith::MulFOp::create(b, tiles.k.loc(), e[0], e[1]);
      });
}

Value HeadDecays::readStart(Value reader, Value state, bool) {
  return times(tiles.outType,
               tiles.k.dot(tiles.zeros(tiles.outType), reader, state), upTo);
}

// The narrower of both takes the decays.
std::pair<Value, Value> HeadDecays::toEnd(Value writer, Value written) {
  auto type = cast<tile::TileType>(written.getType());
  if (type.columns() < tiles.keyType.columns())
    return {writer, times(type, written, after)};
  return {times(tiles.keyType, writer, after), written};
}

Value HeadDecays::decayState(Value state) {
  Location loc = tiles.k.loc();
  return times(tiles.stateType, state, emitExp(tiles.b, loc, total));
}
