// Strides of buffers, weights and states.
#include "dialects/plan/MemoryLayout.h"

#include "dialects/storage/Storage.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::plan;

// Strides of dense dimensions 1.. of `shape`, dimension 0 left at 0.
static SmallVector<int64_t> denseTail(ArrayRef<int64_t> shape,
                                      int64_t &rowElements) {
  SmallVector<int64_t> strides(shape.size(), 0);
  rowElements = 1;
  for (size_t dim = shape.size(); dim-- > 1;) {
    strides[dim] = rowElements;
    rowElements *= shape[dim];
  }
  return strides;
}

SmallVector<int64_t> effc::plan::arenaStrides(RankedTensorType type) {
  int64_t rowElements;
  SmallVector<int64_t> strides = denseTail(type.getShape(), rowElements);
  strides[0] = storage::Storage::get(type.getElementType())
                   .paddedElements(rowElements, kRowAlignment);
  return strides;
}

SmallVector<int64_t> effc::plan::weightStrides(RankedTensorType type) {
  if (type.getRank() == 1)
    return {1};
  return arenaStrides(type);
}

SmallVector<int64_t> effc::plan::stateStrides(RankedTensorType type,
                                              int64_t slotBytes) {
  SmallVector<int64_t> shape = {0};
  llvm::append_range(shape, type.getShape());
  int64_t elements;
  SmallVector<int64_t> strides = denseTail(shape, elements);
  storage::Storage storage = storage::Storage::get(type.getElementType());
  strides[0] = slotBytes / storage.blockBytes() * storage.blockElements();
  return strides;
}

SmallVector<int64_t> effc::plan::denseStrides(RankedTensorType type) {
  int64_t rowElements;
  SmallVector<int64_t> strides = denseTail(type.getShape(), rowElements);
  strides[0] = rowElements;
  return strides;
}

int64_t effc::plan::arenaBytes(RankedTensorType type, int64_t rows) {
  return storage::Storage::get(type.getElementType())
      .bytes(rows * arenaStrides(type)[0]);
}
