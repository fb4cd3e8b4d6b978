#include "compiler/StoredArtifact.h"

#include <cstring>

using namespace effc;

/// Copies a weight's rows without their padding.
static StoredWeight denseWeight(const effc_weight_info_t &info) {
  StoredWeight weight;
  weight.shape.assign(info.shape, info.shape + info.rank);
  uint64_t rows = info.rank == 1 ? 1 : info.shape[0];
  size_t bytes = info.row_bytes;
  weight.bytes.resize(rows * bytes);
  for (uint64_t row = 0; row < rows; ++row)
    std::memcpy(weight.bytes.data() + row * bytes,
                info.data + row * info.row_stride_bytes, bytes);
  return weight;
}

std::function<llvm::Expected<StoredWeight>(llvm::StringRef symbol)>
effc::weightsOf(const Model &model) {
  return [&model](llvm::StringRef name) -> llvm::Expected<StoredWeight> {
    for (const effc_weight_info_t &weight : model.weights())
      if (name == weight.name)
        return denseWeight(weight);
    return llvm::createStringError("the file has no weight '" + name + "'");
  };
}
