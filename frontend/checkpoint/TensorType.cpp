#include "frontend/checkpoint/TensorType.h"

#include "dialects/storage/Formats.h"

using namespace effc::frontend;

std::optional<effc::storage::Storage>
TensorType::getStorage(mlir::MLIRContext *context) const {
  if (element)
    return storageOf(*element, context);
  mlir::Type type = storage::formatOf(blocks, context);
  return type ? storage::Storage::of(type) : std::nullopt;
}

template <typename S>
std::vector<S> effc::frontend::readNumbers(const TensorType &type,
                                           llvm::ArrayRef<uint8_t> bytes,
                                           mlir::MLIRContext *context) {
  if (!type.isBlocks())
    return decode<S>(type.getElement(), bytes);
  storage::Storage storage = *type.getStorage(context);
  std::vector<float> numbers(bytes.size() / storage.blockBytes() *
                             storage.blockElements());
  storage.readNumbers(bytes, numbers);
  return std::vector<S>(numbers.begin(), numbers.end());
}

template std::vector<float>
effc::frontend::readNumbers<float>(const TensorType &, llvm::ArrayRef<uint8_t>,
                                   mlir::MLIRContext *);
template std::vector<double>
effc::frontend::readNumbers<double>(const TensorType &, llvm::ArrayRef<uint8_t>,
                                    mlir::MLIRContext *);
