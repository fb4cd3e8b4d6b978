// A checkpoint directory in the Hugging Face layout, and who has read what of
// it.
//
// No tensor is overlooked: a family takes each tensor it uses, names those it
// leaves aside on purpose, and checkAllRead() refuses what remains.
#ifndef EFFC_FRONTEND_CHECKPOINT_CHECKPOINT_H
#define EFFC_FRONTEND_CHECKPOINT_CHECKPOINT_H

#include "frontend/checkpoint/Safetensors.h"

#include "llvm/ADT/StringSet.h"

namespace effc::frontend {

/// The elements of one tensor as they lie in the file: little-endian,
/// row-major, at any alignment.
struct TensorData {
  ElementType type;
  llvm::ArrayRef<uint64_t> shape;
  llvm::ArrayRef<uint8_t> bytes;
};

class Checkpoint {
public:
  /// Opens the weights of a directory: one file, `model.safetensors`. Anything
  /// else that looks like weights is refused by its name.
  static llvm::Expected<std::unique_ptr<Checkpoint>>
  open(llvm::StringRef directory);

  const std::string &getDirectory() const { return directory; }
  const Safetensors &getTensors() const { return *tensors; }
  /// The path of a file of the directory, which need not exist.
  std::string getPath(llvm::StringRef file) const;

  bool has(llvm::StringRef name) const { return tensors->find(name); }
  /// Marks a tensor as read and returns its header entry; fails where there is
  /// none.
  llvm::Expected<const SafetensorsEntry *> take(llvm::StringRef name);
  /// Marks a tensor as left aside. It need not exist.
  void leaveAside(llvm::StringRef name) { read.insert(name); }
  /// The tensors neither taken nor left aside, in the order of the file.
  std::vector<llvm::StringRef> getUnread() const;
  /// Fails with the name of the first of them, if any.
  llvm::Error checkAllRead() const;

  /// The elements of a tensor; valid as long as this object lives. What a file
  /// changed meanwhile does to them: MappedFile.h.
  llvm::Expected<TensorData> getData(llvm::StringRef name) const;

  /// Whether two tensors hold the same bytes under the same type and shape.
  llvm::Expected<bool> areEqual(llvm::StringRef a, llvm::StringRef b) const;

  /// Fails if the weights are not what they were when they were opened. To be
  /// called after the last use of getData().
  llvm::Error checkUnchanged() const {
    return tensors->getFile().checkUnchanged();
  }

private:
  Checkpoint() = default;
  llvm::Expected<const SafetensorsEntry *> find(llvm::StringRef name) const;

  std::string directory;
  std::unique_ptr<Safetensors> tensors;
  llvm::StringSet<> read;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_CHECKPOINT_H
