#include "frontend/weights/Weights.h"

#include "dialects/storage/DenseKind.h"
#include "dialects/storage/Formats.h"
#include "frontend/checkpoint/Refusal.h"

using namespace effc;
using namespace effc::frontend;

static std::vector<uint64_t> getShape(seq::WeightOp weight) {
  llvm::ArrayRef<int64_t> shape =
      llvm::cast<mlir::RankedTensorType>(weight.getType()).getShape();
  return {shape.begin(), shape.end()};
}

/// The shape of each tensor as the checkpoint has it, dimensions of 1 aside.
static std::vector<uint64_t> getSourceShape(seq::WeightOp weight) {
  if (std::optional<llvm::ArrayRef<int64_t>> stored = weight.getStored())
    return {stored->begin(), stored->end()};
  std::vector<uint64_t> shape = getShape(weight);
  if (weight.getTransposed())
    std::swap(shape[shape.size() - 2], shape.back());
  shape.front() /= weight.getSources().size();
  seq::RowGroupsAttr rows = weight.getRowsAttr();
  if (weight.hasMatrixPerGroup())
    shape = {0, shape.back()};
  if (rows)
    shape.front() = uint64_t(rows.getStride() * rows.getCount());
  return shape;
}

static std::vector<uint64_t> withoutUnits(llvm::ArrayRef<uint64_t> shape) {
  std::vector<uint64_t> rest;
  for (uint64_t extent : shape)
    if (extent != 1)
      rest.push_back(extent);
  return rest;
}

/// What a tensor of a format with blocks may be of.
static std::string listTypesWithBlocks() {
  std::string blocks;
  for (llvm::StringRef name : storage::formatNames())
    if (!storage::denseKindNamed(name))
      blocks += (blocks.empty() ? "" : ", ") + name.upper();
  return "F32, BF16, F16 or blocks that are read (" + blocks + ")";
}

static llvm::Error checkTensor(seq::WeightOp weight, llvm::StringRef source,
                               const Checkpoint &checkpoint) {
  auto tensor = checkpoint.get(source);
  if (!tensor)
    return tensor.takeError();
  const TensorEntry *entry = tensor->entry;
  const std::string &file = tensor->file->getFile().getName();
  // In the order of the checkpoint, which is what its owner can compare.
  std::vector<uint64_t> expected = getSourceShape(weight);
  if (withoutUnits(entry->shape) != withoutUnits(expected)) {
    if (weight.getTransposed() && entry->shape.size() == expected.size() + 1)
      expected.insert(expected.begin() + 1, 1);
    return refuse(file + ": expects tensor " + quote(source) + " of shape " +
                  describeShape(expected) + ", but got " +
                  describeShape(entry->shape));
  }
  if (!entry->type.getStorage(weight.getContext()))
    return refuse(
        file + ": expects tensor " + quote(source) + " of " +
        (entry->type.isBlocks() ? listTypesWithBlocks() : "F32, BF16 or F16") +
        ", but got " + entry->type.getName());
  return llvm::Error::success();
}

llvm::Error frontend::checkWeight(seq::WeightOp weight,
                                  const Checkpoint &checkpoint) {
  for (llvm::StringRef source : weight.getSources())
    if (llvm::Error error = checkTensor(weight, source, checkpoint))
      return error;
  return llvm::Error::success();
}

/// The rows of a tensor, elements or bytes, that a weight has.
template <typename T>
static std::vector<T> selectRows(seq::RowGroupsAttr rows,
                                 llvm::ArrayRef<T> tensor) {
  size_t row = tensor.size() / size_t(rows.getStride() * rows.getCount());
  std::vector<T> selected;
  for (int64_t group = 0; group < rows.getCount(); ++group)
    llvm::append_range(
        selected,
        tensor.slice(size_t(group * rows.getStride() + rows.getOffset()) * row,
                     size_t(rows.getSize()) * row));
  return selected;
}

template <typename S>
llvm::Expected<std::vector<S>>
frontend::readWeight(seq::WeightOp weight, const Checkpoint &checkpoint) {
  if (llvm::Error error = checkWeight(weight, checkpoint))
    return error;
  std::vector<S> stored;
  for (llvm::StringRef source : weight.getSources()) {
    auto data = checkpoint.getData(source);
    if (!data)
      return data.takeError();
    llvm::append_range(
        stored, readNumbers<S>(data->type, data->bytes, weight.getContext()));
  }
  if (seq::RowGroupsAttr rows = weight.getRowsAttr())
    stored = selectRows<S>(rows, stored);
  std::vector<uint64_t> shape = getShape(weight);
  if (seq::DerivationAttr derived = weight.getDerivedAttr()) {
    std::vector<double> tensor(stored.begin(), stored.end());
    llvm::SmallVector<double> numbers = derived.derive(
        tensor,
        llvm::cast<mlir::RankedTensorType>(weight.getType()).getShape());
    return std::vector<S>(numbers.begin(), numbers.end());
  }
  if (!weight.getTransposed())
    return stored;
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

llvm::Expected<GatheredWeight>
frontend::gatherWeight(seq::WeightOp weight, const Checkpoint &checkpoint) {
  GatheredWeight gathered{ElementType::F32, getShape(weight), {}};
  if (weight.getTransposed())
    std::swap(gathered.shape[gathered.shape.size() - 2], gathered.shape.back());
  if (weight.getDerived()) {
    auto numbers = readWeight<float>(weight, checkpoint);
    if (!numbers)
      return numbers.takeError();
    auto *bytes = reinterpret_cast<const uint8_t *>(numbers->data());
    gathered.bytes.assign(bytes, bytes + numbers->size() * sizeof(float));
    return gathered;
  }
  std::string first = weight.getSource().str();
  for (llvm::StringRef source : weight.getSources()) {
    auto data = checkpoint.getData(source);
    if (!data)
      return data.takeError();
    if (source == first)
      gathered.type = data->type;
    if (data->type != gathered.type)
      return refuse("expects tensor " + quote(source) + " of " +
                    gathered.type.getName() + " as " + quote(first) +
                    ", with which it makes one weight, but got " +
                    data->type.getName());
    if (seq::RowGroupsAttr rows = weight.getRowsAttr())
      gathered.bytes = selectRows<uint8_t>(rows, data->bytes);
    else
      llvm::append_range(gathered.bytes, data->bytes);
  }
  return gathered;
}
