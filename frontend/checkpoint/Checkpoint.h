// A checkpoint directory in the Hugging Face layout, and who has read what of
// it.
//
// Its weights lie in `model.safetensors`, or in the files that
// `model.safetensors.index.json` names. No tensor is overlooked: a family takes
// each tensor it uses, names those it leaves aside on purpose, and
// checkAllRead() refuses what remains.
//
// A checkpoint may also be opened for its shapes alone. Where the directory
// then has no weights, every tensor that is asked for counts as there: whoever
// asks states the shape, and only a data access fails.
#ifndef EFFC_FRONTEND_CHECKPOINT_CHECKPOINT_H
#define EFFC_FRONTEND_CHECKPOINT_CHECKPOINT_H

#include "frontend/checkpoint/TensorFile.h"

#include "llvm/ADT/StringSet.h"

namespace effc::frontend {

/// The elements of one tensor as they lie in the file: little-endian,
/// row-major, at any alignment.
struct TensorData {
  TensorType type;
  llvm::ArrayRef<uint64_t> shape;
  llvm::ArrayRef<uint8_t> bytes;
  uint32_t file;   // its number among the checkpoint's
  uint64_t offset; // of the bytes in that file
  /// What holds the bytes where no file has them in this order (RowTurn, TensorMaker);
  /// null where one has.
  std::shared_ptr<const std::vector<uint8_t>> made = nullptr;
};

/// A tensor and the file that holds it; valid as long as the checkpoint lives.
struct CheckpointTensor {
  const TensorEntry *entry;
  const TensorFile *file;
  uint32_t fileNumber;
};

/// Whether a directory must have weights.
enum class WeightsNeeded { Yes, ShapesOnly };

class Checkpoint {
public:
  /// Opens the weights of a directory. Where there are none that can be read,
  /// anything else that looks like weights is refused by its name; for shapes
  /// alone it is left aside and named by getLeftAside().
  static llvm::Expected<std::unique_ptr<Checkpoint>>
  open(llvm::StringRef directory, WeightsNeeded needed = WeightsNeeded::Yes);

  /// The weights of files that are open, the first of which lists them.
  static std::unique_ptr<Checkpoint>
  of(llvm::StringRef directory, std::vector<std::unique_ptr<TensorFile>> files);

  const std::string &getDirectory() const { return directory; }
  /// The path of a file of the directory, which need not exist.
  std::string getPath(llvm::StringRef file) const;
  /// The file that lists the tensors: `model.safetensors`, or the index.
  llvm::StringRef getListName() const { return listName; }
  /// The names of the files that hold or list tensors, sorted; empty without
  /// weights.
  std::vector<std::string> getFileNames() const;

  /// The files that hold tensors, in the order of their names.
  llvm::ArrayRef<std::unique_ptr<TensorFile>> getFiles() const { return files; }

  /// Files that look like weights and were not read, sorted.
  llvm::ArrayRef<std::string> getLeftAside() const { return leftAsideFiles; }

  /// What was found in the index and has no meaning here, one line each.
  llvm::ArrayRef<std::string> getRemarks() const { return remarks; }

  /// False for shapes alone.
  bool hasWeights() const { return !files.empty(); }
  /// Whether the weights have the tensor; false without weights.
  bool has(llvm::StringRef name) const { return find(name) != nullptr; }
  /// Null where there is no such tensor.
  const CheckpointTensor *find(llvm::StringRef name) const;
  /// The same, and an error that names the tensor where there is none.
  llvm::Expected<CheckpointTensor> get(llvm::StringRef name) const;

  /// Marks a tensor as read.
  void take(llvm::StringRef name) { read.insert(name); }
  /// Marks a tensor as left aside. It need not exist.
  void leaveAside(llvm::StringRef name) { read.insert(name); }
  /// Has the files hold other tensors, `entries` of each, in which these are parts.
  /// Nobody has read any yet.
  void replaceTensors(std::vector<std::vector<TensorEntry>> entries);

  /// The tensors neither taken nor left aside, in the order of the files.
  std::vector<llvm::StringRef> getUnread() const;
  /// Fails with the name of the first of them, if any.
  llvm::Error checkAllRead() const;

  /// The elements of a tensor; valid as long as this object lives and, where they
  /// were made, the result. What a file changed meanwhile does to them:
  /// MappedFile.h.
  llvm::Expected<TensorData> getData(llvm::StringRef name) const;

  /// Whether two tensors hold the same bytes under the same type and shape.
  llvm::Expected<bool> areEqual(llvm::StringRef a, llvm::StringRef b) const;

  /// Fails if the weights are not what they were when they were opened. To be
  /// called after the last use of getData().
  llvm::Error checkUnchanged() const;

private:
  Checkpoint() = default;
  llvm::Error openFile(llvm::StringRef name);
  llvm::Error openShards();
  void listTensors();
  llvm::StringRef nearestTo(llvm::StringRef name) const;
  llvm::Error makeData(const CheckpointTensor &tensor, TensorData &data) const;
  llvm::Expected<std::vector<uint8_t>>
  makeOfParts(const TensorMaker &maker) const;

  std::string directory;
  std::string listName;
  std::vector<std::string> leftAsideFiles;
  std::vector<std::string> remarks;
  std::vector<std::unique_ptr<TensorFile>> files;
  /// Sorted by name.
  std::vector<CheckpointTensor> tensors;
  llvm::StringSet<> read;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_CHECKPOINT_H
