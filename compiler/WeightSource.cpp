#include "compiler/WeightSource.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <filesystem>

using namespace effc;
using codegen::SourceTensor;

static llvm::Expected<storage::Storage>
storageOf(const frontend::TensorType &type, seq::WeightOp weight) {
  if (auto storage = type.getStorage(weight.getContext()))
    return *storage;
  return llvm::createStringError("tensor '" + weight.getSource() + "' is of " +
                                 type.getName() +
                                 ", which no weight can be stored as");
}

llvm::Expected<SourceTensor> WeightSource::read(seq::WeightOp weight) {
  if (stored)
    return readStored(weight);
  if (!weight.isOneTensor())
    return gather(weight);
  llvm::Expected<frontend::TensorData> data =
      checkpoint->getData(weight.getSource());
  if (!data)
    return data.takeError();
  llvm::Expected<storage::Storage> storage = storageOf(data->type, weight);
  if (!storage)
    return storage.takeError();
  SourceTensor tensor{*storage, data->shape, data->bytes, data->file,
                      data->offset};
  made = data->made;
  tensor.isInOrder = !made;
  if (weight.getStored()) { // the same elements in the same order
    auto own = llvm::cast<mlir::RankedTensorType>(weight.getType()).getShape();
    shape.assign(own.begin(), own.end());
    tensor.shape = shape;
  }
  return tensor;
}

llvm::Expected<SourceTensor> WeightSource::readStored(seq::WeightOp weight) {
  llvm::Expected<StoredWeight> read = stored->weights(weight.getSource());
  if (!read)
    return read.takeError();
  storedWeight = std::move(*read);
  auto type = llvm::cast<mlir::RankedTensorType>(weight.getType());
  return SourceTensor{storage::Storage::get(type.getElementType()),
                      storedWeight.shape, storedWeight.bytes};
}

llvm::Expected<SourceTensor> WeightSource::gather(seq::WeightOp weight) {
  auto read = frontend::gatherWeight(weight, *checkpoint);
  if (!read)
    return read.takeError();
  gathered = std::move(*read);
  llvm::Expected<storage::Storage> storage = storageOf(gathered.type, weight);
  if (!storage)
    return storage.takeError();
  return SourceTensor{*storage, gathered.shape, gathered.bytes};
}

llvm::Expected<std::vector<codegen::WeightFile>>
effc::listWeightFiles(const frontend::Checkpoint &checkpoint,
                      llvm::StringRef outputPath) {
  // Where the file will be, were the output a link.
  llvm::SmallString<128> output(outputPath);
  if (llvm::sys::fs::exists(outputPath))
    llvm::sys::fs::real_path(outputPath, output);
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(output));
  llvm::SmallString<128> from, to;
  std::error_code code = llvm::sys::fs::real_path(
      folder.empty() ? "." : llvm::StringRef(folder), from);
  if (!code)
    code = llvm::sys::fs::real_path(checkpoint.getDirectory(), to);
  if (code)
    return llvm::createStringError("cannot find the way from " + outputPath +
                                   " to " + checkpoint.getDirectory() + ": " +
                                   code.message());
  std::filesystem::path way =
      std::filesystem::path(to.str().str())
          .lexically_relative(std::filesystem::path(from.str().str()));
  std::vector<codegen::WeightFile> files;
  for (const auto &file : checkpoint.getFiles()) {
    const frontend::MappedFile &mapped = file->getFile();
    llvm::Expected<llvm::ArrayRef<uint8_t>> start =
        mapped.view(0, file->getDataOffset());
    if (!start)
      return start.takeError();
    std::string name = (way / mapped.getName()).lexically_normal().string();
    files.push_back({name, mapped.size(), *start});
  }
  return files;
}
