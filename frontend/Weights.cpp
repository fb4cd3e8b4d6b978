#include "frontend/Weights.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc;
using namespace effc::frontend;

static std::vector<uint64_t> getShape(seq::WeightOp weight) {
  llvm::ArrayRef<int64_t> shape =
      llvm::cast<mlir::RankedTensorType>(weight.getType()).getShape();
  return {shape.begin(), shape.end()};
}

/// The shape as the checkpoint has it, dimensions of 1 aside.
static std::vector<uint64_t> getSourceShape(seq::WeightOp weight) {
  std::vector<uint64_t> shape = getShape(weight);
  if (weight.getTransposed())
    std::swap(shape[shape.size() - 2], shape.back());
  return shape;
}

static std::vector<uint64_t> withoutUnits(llvm::ArrayRef<uint64_t> shape) {
  std::vector<uint64_t> rest;
  for (uint64_t extent : shape)
    if (extent != 1)
      rest.push_back(extent);
  return rest;
}

/// Whether the elements of a tensor of shape `source` are those of `weight`.
static bool hasShapeOf(seq::WeightOp weight, llvm::ArrayRef<uint64_t> source) {
  std::vector<uint64_t> shape = getSourceShape(weight);
  return weight.getTransposed() ? withoutUnits(source) == withoutUnits(shape)
                                : source == llvm::ArrayRef(shape);
}

llvm::Error frontend::checkWeight(seq::WeightOp weight,
                                  const Checkpoint &checkpoint) {
  llvm::StringRef source = weight.getSource();
  auto tensor = checkpoint.get(source);
  if (!tensor)
    return tensor.takeError();
  const SafetensorsEntry *entry = tensor->entry;
  const std::string &file = tensor->file->getFile().getName();
  if (!hasShapeOf(weight, entry->shape)) {
    // In the order of the checkpoint, which is what its owner can compare.
    std::vector<uint64_t> expected = getSourceShape(weight);
    if (weight.getTransposed() && entry->shape.size() == expected.size() + 1)
      expected.insert(expected.begin() + 1, 1);
    return refuse(file + ": expects tensor " + quote(source) + " of shape " +
                  describeShape(expected) + ", but got " +
                  describeShape(entry->shape));
  }
  if (entry->type != ElementType::F32 && entry->type != ElementType::BF16 &&
      entry->type != ElementType::F16)
    return refuse(file + ": expects tensor " + quote(source) +
                  " of F32, BF16 or F16, but got " + getName(entry->type));
  return llvm::Error::success();
}

template <typename S>
llvm::Expected<std::vector<S>>
frontend::readWeight(seq::WeightOp weight, const Checkpoint &checkpoint) {
  if (llvm::Error error = checkWeight(weight, checkpoint))
    return error;
  auto data = checkpoint.getData(weight.getSource());
  if (!data)
    return data.takeError();
  std::vector<S> stored = decode<S>(data->type, data->bytes);
  if (!weight.getTransposed())
    return stored;
  std::vector<uint64_t> shape = getShape(weight);
  uint64_t rows = shape[shape.size() - 2], columns = shape.back();
  std::vector<S> elements(stored.size());
  for (uint64_t i = 0; i < elements.size(); ++i) {
    uint64_t within = i % (rows * columns);
    elements[i] =
        stored[i - within + within % columns * rows + within / columns];
  }
  return elements;
}

template llvm::Expected<std::vector<float>>
frontend::readWeight<float>(seq::WeightOp, const Checkpoint &);
template llvm::Expected<std::vector<double>>
frontend::readWeight<double>(seq::WeightOp, const Checkpoint &);
