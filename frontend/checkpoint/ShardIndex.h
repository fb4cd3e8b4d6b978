// `model.safetensors.index.json`: which file of a checkpoint holds which
// tensor.
//
//   {"metadata": {"total_size": 1234},
//    "weight_map": {"a": "model-00001-of-00002.safetensors", ...}}
//
// What is checked (the labels name the tests; (IX6) and (IX7) are
// Checkpoint's):
//
//   (IX1) the file is JSON as Json.h has it, of at most 64 MiB, and an object
//         of "weight_map" and, perhaps, "metadata"; other keys, which some
//         converters add, change nothing and are named;
//   (IX2) "weight_map" is an object of strings and not empty;
//   (IX3) a file is named by a plain name that ends with ".safetensors": no
//         separator of paths, so nothing outside of the directory is opened;
//   (IX4) at most 512 files are named;
//   (IX5) "metadata" is an object, its "total_size" a count of bytes. It is not
//         compared: releases of the public libraries count tied tensors once or
//         twice, and converters leave the number of another type;
//   (IX6) every named file exists and holds every tensor that the map says;
//   (IX7) the files hold no other tensor: one that is not in the map, or is in
//         two files, is refused.
#ifndef EFFC_FRONTEND_CHECKPOINT_SHARDINDEX_H
#define EFFC_FRONTEND_CHECKPOINT_SHARDINDEX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace effc::frontend {

struct ShardIndex {
  static constexpr uint64_t kMostBytes = uint64_t(64) << 20;

  /// The files' names, sorted, each once.
  std::vector<std::string> files;
  /// Each tensor's name and the number of its file in `files`, sorted by name.
  std::vector<std::pair<std::string, uint32_t>> tensors;
  /// Keys of the file that mean nothing here, in its order.
  std::vector<std::string> unknownKeys;

  /// The number of the file that the map names for a tensor; absent where the
  /// map does not have it.
  const uint32_t *find(llvm::StringRef tensor) const;
};

/// Checks (IX1) to (IX5). `name` is the file's, for messages.
llvm::Expected<ShardIndex> parseShardIndex(llvm::StringRef text,
                                           llvm::StringRef name);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_SHARDINDEX_H
