// A file that holds tensors, whatever its format: the one way by which bytes of
// weights come in. A format is a function that opens a file and reads its table
// (Safetensors.h), and a row in TensorFile.cpp; nothing behind it knows which.
#ifndef EFFC_FRONTEND_CHECKPOINT_TENSORFILE_H
#define EFFC_FRONTEND_CHECKPOINT_TENSORFILE_H

#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/TensorType.h"

namespace effc::frontend {

/// Rows of a tensor that lie in another order in the file: of each `outer` times
/// `inner` rows, the file's row [o][i] is the tensor's row [i][o]. Rows are moved
/// whole, whatever their type.
struct RowTurn {
  uint64_t outer = 1, inner = 1;

  bool isNone() const { return outer == 1 || inner == 1; }
};

/// What a tensor's numbers are of those in the file.
enum class NumberRule {
  AsStored,
  /// log(-x) in f32, of numbers below 0: a file may have rates of decay where
  /// others have their logarithms.
  LogOfNegated,
  /// log(x) in f32, of numbers above 0.
  Log
};

class TensorMaker;

struct TensorEntry {
  std::string name;
  TensorType type;
  /// Row-major: neighbours along the last dimension are neighbours in the file.
  std::vector<uint64_t> shape;
  /// Of the tensor's bytes, from the start of the file's data.
  uint64_t begin = 0;
  uint64_t end = 0;
  /// What view() does not undo.
  RowTurn turned = {};
  NumberRule numbers = NumberRule::AsStored;
  /// What makes the tensor of several; null where its bytes lie together.
  std::shared_ptr<const TensorMaker> maker = nullptr;

  /// Whether the bytes in the file are not the tensor's.
  bool isMade() const {
    return maker || !turned.isNone() || numbers != NumberRule::AsStored;
  }
};

/// A tensor whose bytes no file has, made of tensors of a checkpoint.
class TensorMaker {
public:
  struct Part {
    uint32_t file; ///< its number among the checkpoint's
    TensorEntry entry;
  };

  virtual ~TensorMaker() = default;
  const std::vector<Part> &getParts() const { return parts; }
  /// The bytes of the tensor, of those of all parts. Fails, by the part's name, where
  /// numbers of a part are none that the tensor can have.
  virtual llvm::Expected<std::vector<uint8_t>>
  make(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> bytes) const = 0;

protected:
  std::vector<Part> parts;
};

/// A shape as messages write it: "3x4", "scalar".
std::string describeShape(llvm::ArrayRef<uint64_t> shape);

/// What is known of a file without its tensors' bytes.
struct TensorTable {
  /// In the order of their bytes, which lie inside the file; names differ. Two may
  /// share bytes.
  std::vector<TensorEntry> entries;
  /// Where the data begin. The bytes before tell the file from others.
  uint64_t dataOffset = 0;
};

class TensorFile {
public:
  /// Opens a file by the reader for its name's ending; messages call it `name`.
  static llvm::Expected<std::unique_ptr<TensorFile>> open(llvm::StringRef path,
                                                          llvm::StringRef name);

  TensorFile(std::unique_ptr<MappedFile> file, TensorTable table);

  const MappedFile &getFile() const { return *file; }
  /// The file, for another table of its tensors; nothing of this is used afterwards.
  std::unique_ptr<MappedFile> takeFile() { return std::move(file); }
  llvm::ArrayRef<TensorEntry> getEntries() const { return table.entries; }
  /// Null where there is no such tensor.
  const TensorEntry *find(llvm::StringRef name) const;

  /// Where the data start in the file, and a tensor of it.
  uint64_t getDataOffset() const { return table.dataOffset; }
  uint64_t getOffset(const TensorEntry &entry) const {
    return table.dataOffset + entry.begin;
  }

  /// The bytes of a tensor of this file, as MappedFile::view gives them.
  llvm::Expected<llvm::ArrayRef<uint8_t>> view(const TensorEntry &entry) const;

private:
  std::unique_ptr<MappedFile> file;
  TensorTable table;
  std::vector<uint32_t> byName;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_TENSORFILE_H
