// What a GGUF file says of itself, for `effc inspect`: whatever the file's
// architecture, known here or not.
#ifndef EFFC_COMPILER_GGUFSUMMARY_H
#define EFFC_COMPILER_GGUFSUMMARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace effc {

struct GgufSummary {
  struct Key {
    std::string name;
    /// "u32"; of an array, that of its elements.
    std::string type;
    bool isArray;
    uint64_t count;
    /// The first values as text, at most so many as were asked for. Texts are as
    /// they stand in the file, whatever their bytes.
    std::vector<std::string> values;
  };
  struct Tensor {
    std::string name, type, file;
    /// The outermost dimension first.
    std::vector<uint64_t> shape;
    uint64_t bytes;
  };
  struct File {
    std::string name;
    uint64_t bytes;
  };

  uint32_t version, alignment;
  std::vector<File> files;
  std::vector<Key> keys;
  std::vector<Tensor> tensors;
};

/// Reads a file and the shards that it names, by the rules of the frontend's
/// reader; weights are not read. Of each array the first `values` are given.
llvm::Expected<GgufSummary> summariseGguf(llvm::StringRef path, size_t values);

} // namespace effc

#endif // EFFC_COMPILER_GGUFSUMMARY_H
