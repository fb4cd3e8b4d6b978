// Elementwise ops that no other kernel could take in. An item is one row of the
// last dimension, or a part of a long one; where only one of the dimensions after
// the first has several elements, that is the row, unless an operand is a column,
// whose elements lie apart. Floor: bytes of the operands.
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/seq_to_tile/builders/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

/// Whether `op` takes one column of rows that have more.
static bool takesColumn(Operation &op) {
  auto slice = dyn_cast<seq::SliceOp>(op);
  if (!slice || slice.getSize() != 1)
    return false;
  auto type = cast<RankedTensorType>(slice.getX().getType());
  return int64_t(slice.getAxis()) == type.getRank() - 1 &&
         type.getShape().back() != 1;
}

LogicalResult effc::buildElementwise(KernelBuilder &k) {
  Operation &first = *llvm::find_if(k.getSourceBody(), [](Operation &op) {
    return seq::isElementwiseOp(&op);
  });
  auto type = cast<RankedTensorType>(first.getResult(0).getType());
  SmallVector<int64_t> sizes = {1};
  int64_t width = 1;
  for (int64_t size : type.getShape().drop_front()) {
    sizes.push_back(size);
    width *= size;
  }
  int64_t rows = 1; // of each token
  if (llvm::count_if(sizes, [](int64_t size) { return size != 1; }) > 1 ||
      (sizes.size() > 2 && sizes.back() == 1 &&
       llvm::any_of(k.getSourceBody(), takesColumn))) {
    rows = width / sizes.back();
    width = sizes.back();
  }
  // On a GPU a row of a vocabulary is more than a block of threads can hold.
  int64_t size = width;
  if (k.isGpu())
    size = std::min(width, BlockRoom::of(k.getContext().target).rowElements());
  int64_t runs = llvm::divideCeil(width, size);
  k.setItems(k.getContext().lead, 1, rows * runs);
  SmallVector<Value> at(sizes.size(), k.index(0));
  size_t dim = rows > 1 ? sizes.size() - 1
                        : size_t(llvm::find(sizes, width) - sizes.begin());
  Value limit, rest = k.item();
  if (runs > 1) {
    Value run;
    std::tie(rest, run) = k.divide(rest, runs);
    at[dim] = k.mul(run, size);
    sizes[dim] = size;
    if (width % size != 0)
      limit = k.min(k.sub(k.index(width), at[dim]), k.index(size));
  }
  for (size_t outer = dim - 1; rows > 1 && outer > 0; --outer)
    if (sizes[outer] > 1) {
      std::tie(rest, at[outer]) = k.divide(rest, sizes[outer]);
      sizes[outer] = 1;
    }
  at[0] = rest;
  tile::TileType rowType = k.rowType(size);
  return k.finish(
      {}, {},
      [&](Value tensor) {
        return k.load(k.read(tensor), at, sizes, rowType, {}, limit);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), at, sizes, {}, limit);
      },
      rowType);
}
