// What a file says that a tensor's elements are: elements with bytes of their own,
// or blocks of some that share bytes.
#ifndef EFFC_FRONTEND_CHECKPOINT_TENSORTYPE_H
#define EFFC_FRONTEND_CHECKPOINT_TENSORTYPE_H

#include "frontend/checkpoint/ElementType.h"

#include <string>

namespace effc::frontend {

class TensorType {
public:
  /// Elements with bytes of their own.
  TensorType(ElementType element)
      : name(frontend::getName(element)), element(element) {}

  /// Blocks that lie as the storage `storage` says (dialects/storage/Formats.h:
  /// "q8_0"). A file, or what is made of one, calls them `name`. Where `storage` is none that is known,
  /// nothing reads the numbers, and a weight of the type is refused by its name.
  static TensorType ofBlocks(llvm::StringRef name, llvm::StringRef storage) {
    return TensorType(name, storage);
  }

  /// What the file calls the type, for messages: "BF16".
  llvm::StringRef getName() const { return name; }
  bool isBlocks() const { return !element; }
  /// The type of each element; not of blocks.
  ElementType getElement() const { return *element; }

  /// How the tensor is stored, where kernels read such numbers.
  std::optional<storage::Storage> getStorage(mlir::MLIRContext *context) const;

  friend bool operator==(const TensorType &a, const TensorType &b) {
    return a.name == b.name && a.element == b.element;
  }

private:
  TensorType(llvm::StringRef name, llvm::StringRef storage)
      : name(name), blocks(storage) {}

  std::string name;
  std::optional<ElementType> element; // none: blocks
  std::string blocks;
};

/// The numbers that `bytes` of a tensor hold, at any alignment. Exact in double;
/// in float for all but F64. The type has a storage, or is F64.
template <typename S>
std::vector<S> readNumbers(const TensorType &type,
                           llvm::ArrayRef<uint8_t> bytes,
                           mlir::MLIRContext *context);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_TENSORTYPE_H
