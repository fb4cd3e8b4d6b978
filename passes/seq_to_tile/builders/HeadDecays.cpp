// A decay per head is one number between two tokens, and scales their score.
#include "passes/seq_to_tile/builders/ChunkDecays.h"

#include <limits>

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
      between = tile::SegmentSumOp::create(tiles.b, k.loc(), type, decays);
    all.push_back(k.map(
        type, {products, between}, [&](OpBuilder &b, ValueRange e) -> Value {
          // Above the diagonal by select: a score there may be anything.
          Value none = arith::ConstantOp::create(
              b, k.loc(),
              b.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
          Value zero =
              arith::ConstantOp::create(b, k.loc(), b.getF32FloatAttr(0));
          Value visible = arith::CmpFOp::create(
              b, k.loc(), arith::CmpFPredicate::UNE, e[1], none);
          if (strict) {
            Value row = tile::RowIndexOp::create(b, k.loc());
            Value column = tile::ColumnIndexOp::create(b, k.loc());
            visible = arith::CmpIOp::create(
                b, k.loc(), arith::CmpIPredicate::ugt, row, column);
          }
          Value product = arith::MulFOp::create(b, k.loc(), e[0],
                                                emitExp(b, k.loc(), e[1]));
          return arith::SelectOp::create(b, k.loc(), visible, product, zero);
        }));
  }
  return all;
}

void HeadDecays::emitSums(bool reads) {
  OpBuilder &b = tiles.b;
  Location loc = tiles.k.loc();
  Type type = decays.getType();
  if (reads)
    upTo = tile::ScanOp::create(b, loc, type, decays, /*reverse=*/false);
  after = tile::ScanOp::create(b, loc, type, decays, /*reverse=*/true);
  total = tile::ReduceOp::create(b, loc, b.getF32Type(), tile::ReduceKind::Add,
                                 decays, /*over_rows=*/false);
}

Value HeadDecays::readStart(Value reader, Value state, bool) {
  return tiles.scaled(tiles.outType,
                      tiles.k.dot(tiles.zeros(tiles.outType), reader, state),
                      upTo);
}

// The narrower of both takes the decays.
std::pair<Value, Value> HeadDecays::toEnd(Value writer, Value written) {
  auto type = cast<tile::TileType>(written.getType());
  if (type.columns() < tiles.keyType.columns())
    return {writer, tiles.scaled(type, written, after)};
  return {tiles.scaled(tiles.keyType, writer, after), written};
}

Value HeadDecays::decayState(Value state) {
  Location loc = tiles.k.loc();
  return tiles.k.map(tiles.stateType, {state, emitExp(tiles.b, loc, total)},
                     [&](OpBuilder &b, ValueRange e) -> Value {
                       return arith::MulFOp::create(b, loc, e[0], e[1]);
                     });
}
