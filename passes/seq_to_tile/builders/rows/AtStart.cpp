// Which tokens a sequence begins with, as numbers: what asks for positions inside of a
// mixer, where it is wanted by itself. An item is one token. Floor: 8 bytes a token.
#include "passes/seq_to_tile/builders/Builders.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildAtStart(KernelBuilder &k) {
  Operation *root = k.getRoot();
  k.setItems(k.getContext().lead, 1, 1);
  OpBuilder &b = k.ops();
  Value positions = k.read(cast<seq::AtStartOp>(root).getPositions());
  Value position =
      tile::ReadOp::create(b, k.loc(), b.getIndexType(), positions, k.item());
  Value isFirst = k.compare(arith::CmpIPredicate::eq, position, k.index(0));
  Value mark =
      arith::SelectOp::create(b, k.loc(), isFirst, k.scalar(1), k.scalar(0));
  tile::TileType type = k.rowType(1);
  Value row =
      k.map(type, {mark}, [](OpBuilder &, ValueRange e) { return e[0]; });
  return k.finish(
      root->getResult(0), row,
      [&](Value tensor) {
        return k.load(k.read(tensor), {k.item()}, {1}, type);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {k.item()}, {1});
      });
}
