// Elementwise ops that no other kernel could take in. An item is one row, with
// all dimensions after the first as one. Floor: bytes of the operands.
#include "passes/seq_to_tile/builders/Builders.h"

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
  k.setItems(k.getContext().lead, 1, 1);
  SmallVector<Value> at(sizes.size(), k.index(0));
  at[0] = k.item();
  return k.finish(
      {}, {},
      [&](Value tensor) {
        return k.load(k.read(tensor), at, sizes, k.rowType(width));
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), at, sizes);
      },
      k.rowType(width));
}
