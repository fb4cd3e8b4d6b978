// Rows picked by an index: the embedding of tokens, the rows whose logits are
// wanted. An item copies one row. Floor: bytes of the rows.
#include "passes/seq_to_tile/builders/Builders.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildGather(KernelBuilder &k) {
  Operation *root = k.getRoot();
  // seq.embedding(tokens, table), seq.select_rows(x, rows)
  bool embedding = isa<seq::EmbeddingOp>(root);
  Value indices = root->getOperand(embedding ? 0 : 1),
        table = root->getOperand(embedding ? 1 : 0);
  int64_t width =
      cast<RankedTensorType>(root->getResult(0).getType()).getDimSize(1);
  k.setItems(k.getContext().lead, 1, 1);
  Value indexView = k.read(indices), tableView = k.read(table);
  OpBuilder &b = k.ops();
  Value source =
      tile::ReadOp::create(b, k.loc(), b.getIndexType(), indexView, k.item());
  tile::TileType type = k.rowType(width);
  Value row = k.load(tableView, {source, k.index(0)}, {1, width}, type);
  // A tile that is only moved still goes through a map, so that an epilogue and
  // a widening store see the same kind of value.
  row = k.map(type, {row}, [](OpBuilder &, ValueRange e) { return e[0]; });
  return k.finish(
      root->getResult(0), row,
      [&](Value tensor) {
        return k.load(k.read(tensor), {k.item(), k.index(0)}, {1, width}, type);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {k.item(), k.index(0)}, {1, width});
      });
}
