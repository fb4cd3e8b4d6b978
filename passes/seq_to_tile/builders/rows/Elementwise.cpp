// Elementwise ops that no other kernel could take in. An item is one row, with
// all dimensions after the first as one, or a part of a long one. Floor: bytes
// of the operands.
#include "passes/seq_to_tile/builders/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

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
  if (llvm::count_if(sizes, [](int64_t size) { return size != 1; }) > 1)
    return first.emitOpError(
               "expects a tensor of rank 2 in a kernel of its own, but got ")
           << type;
  // On a GPU a row of a vocabulary is more than a block of threads can hold.
  constexpr int64_t kMostOnGpu = 2048;
  int64_t size = k.isGpu() ? std::min(width, kMostOnGpu) : width;
  int64_t runs = llvm::divideCeil(width, size);
  k.setItems(k.getContext().lead, 1, runs);
  SmallVector<Value> at(sizes.size(), k.index(0));
  Value limit;
  if (runs == 1) {
    at[0] = k.item();
  } else {
    auto [row, run] = k.divide(k.item(), runs);
    size_t dim = llvm::find(sizes, width) - sizes.begin();
    at[0] = row;
    at[dim] = k.mul(run, size);
    sizes[dim] = size;
    if (width % size != 0)
      limit = k.min(k.sub(k.index(width), at[dim]), k.index(size));
  }
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
