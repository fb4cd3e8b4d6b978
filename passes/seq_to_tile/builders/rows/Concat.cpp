// Tensors joined along their last axis. An item is a row of every one of them,
// for each index of the dimensions between. Floor: bytes of the rows.
#include "passes/seq_to_tile/builders/Builders.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildConcat(KernelBuilder &k) {
  auto root = cast<seq::ConcatOp>(k.getRoot());
  ArrayRef<int64_t> shape = root.getY().getType().getShape();
  int64_t rank = int64_t(shape.size());
  if (rank > 3 || rank < 2 || int64_t(root.getAxis()) != rank - 1)
    return root.emitOpError("has a kernel for the last axis of two or three, "
                            "but got axis ")
           << root.getAxis() << " of " << rank;
  int64_t between = rank == 3 ? shape[1] : 1;
  k.setItems(k.getContext().lead, 1, between);
  auto [row, index] = k.divide(k.item(), between);
  SmallVector<Value> at = {row};
  if (rank == 3)
    at.push_back(index);
  at.push_back(k.index(0));
  SmallVector<int64_t> sizes(rank, 1);
  Value result = k.write(0);
  int64_t offset = 0;
  for (Value x : root.getXs()) {
    int64_t width = cast<RankedTensorType>(x.getType()).getShape().back();
    tile::TileType type = k.rowType(width);
    sizes.back() = width;
    at.back() = k.index(0);
    Value part = k.load(k.read(x), at, sizes, type);
    // A row of one repeated number is read as that number.
    if (!isa<tile::TileType>(part.getType()))
      part = tile::SplatOp::create(k.ops(), k.loc(), type, part);
    at.back() = k.index(offset);
    k.store(part, result, at, sizes);
    offset += width;
  }
  return success();
}
