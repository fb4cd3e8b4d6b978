#include "dialects/seq/TensorTypes.h"

#include "dialects/storage/Storage.h"

using namespace mlir;

namespace effc::seq {

// A ranked tensor without encoding, its dimensions positive, at most
// `dynamicDims` leading ones dynamic; null otherwise.
static RankedTensorType plainTensor(Type type, int64_t dynamicDims) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return {};
  for (auto [axis, size] : llvm::enumerate(tensor.getShape())) {
    bool dynamic = ShapedType::isDynamic(size);
    if (dynamic ? int64_t(axis) >= dynamicDims : size < 1)
      return {};
  }
  return tensor;
}

bool isValueTensor(Type type) {
  RankedTensorType tensor = plainTensor(type, /*dynamicDims=*/1);
  return tensor && tensor.getElementType().isF32();
}

bool isStaticTensor(Type type) {
  RankedTensorType tensor = plainTensor(type, /*dynamicDims=*/0);
  return tensor && tensor.getElementType().isF32();
}

static bool isWeightOfRank(Type type, int64_t rank) {
  RankedTensorType tensor = plainTensor(type, /*dynamicDims=*/0);
  if (!tensor || tensor.getRank() != rank)
    return false;
  auto storage = storage::Storage::of(tensor.getElementType());
  return storage && !storage->isInteger() &&
         storage->divides(tensor.getShape().back());
}

bool isWeightMatrix(Type type) { return isWeightOfRank(type, 2); }

bool isWeightBlocks(Type type) { return isWeightOfRank(type, 3); }

bool isWeightTensor(Type type) {
  return isStaticTensor(type) || isWeightMatrix(type) || isWeightBlocks(type);
}

bool isIndexTensor(Type type) {
  RankedTensorType tensor = plainTensor(type, /*dynamicDims=*/1);
  return tensor && tensor.getRank() == 1 &&
         tensor.getElementType().isSignlessInteger(32);
}

bool isChoiceTensor(Type type) {
  RankedTensorType tensor = plainTensor(type, /*dynamicDims=*/1);
  return tensor && tensor.getElementType().isSignlessInteger(32);
}

RankedTensorType withRows(RankedTensorType type, int64_t rows) {
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = rows;
  return RankedTensorType::get(shape, type.getElementType());
}

} // namespace effc::seq
