// A model in one GGUF file or in several, NAME-00001-of-00003.gguf and so on, of
// which the first names the others by `split.count` and has the keys.
//
// What is checked beside what Header.h has (the labels name the tests):
//
//   (GM1) `split.count` is in 1..512; a file without the key stands alone;
//   (GM2) the file that is opened is the first: its `split.no` is 0;
//   (GM3) with more than one, its name ends with "-00001-of-COUNT.gguf", COUNT in
//         five digits, and the others lie beside it under their numbers;
//   (GM4) each says the same count and its own number, and has no keys but those
//         of `split.` and `general.`;
//   (GM5) no two have a tensor of one name;
//   (GM6) all together have as many tensors as `split.tensors.count` says;
//   (GM7) `general.type` is "model": an adapter, a projector of images and a
//         matrix of importances are named;
//   (GM8) no scale of a block is infinite or NaN (BlockScales.h).
#ifndef EFFC_FRONTEND_GGUF_MODEL_H
#define EFFC_FRONTEND_GGUF_MODEL_H

#include "frontend/gguf/Header.h"

namespace effc::frontend {

/// Whether `path` is a regular file that begins like one of these, or is called
/// like one ("x.gguf").
bool isGgufFile(llvm::StringRef path);

/// One file and the tensors that it has, by the file's own names.
struct GgufShard {
  std::unique_ptr<MappedFile> file;
  uint32_t version, alignment;
  TensorTable tensors;
};

class GgufModel {
public:
  /// Opens a file and those beside it that it names. Fails by (GM1) to (GM7).
  static llvm::Expected<std::unique_ptr<GgufModel>> open(llvm::StringRef path);

  GgufMetadata &getMetadata() { return *metadata; }
  const GgufMetadata &getMetadata() const { return *metadata; }
  llvm::MutableArrayRef<GgufShard> getShards() { return shards; }
  llvm::ArrayRef<GgufShard> getShards() const { return shards; }
  /// The folder that the files lie in, "." for the working one.
  const std::string &getDirectory() const { return directory; }

  /// Null where no file has the tensor.
  const TensorEntry *find(llvm::StringRef name) const;
  /// The bytes of a tensor that find() gave.
  llvm::Expected<llvm::ArrayRef<uint8_t>> view(const TensorEntry &entry) const;

  /// (GM8), which reads all tensors of blocks.
  llvm::Error checkScales() const;

private:
  llvm::Error openShard(llvm::StringRef name);
  llvm::Error openOthers(llvm::StringRef first);
  llvm::Error checkKind();

  std::string directory;
  std::optional<GgufMetadata> metadata;
  std::vector<GgufShard> shards;
  /// By name: the shard and the number of its entry.
  llvm::StringMap<std::pair<uint32_t, uint32_t>> byName;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_MODEL_H
