// Weights as the artifact stores them: padded rows in the storage type.
#ifndef EFFC_CODEGEN_ARTIFACT_WEIGHTROWS_H
#define EFFC_CODEGEN_ARTIFACT_WEIGHTROWS_H

#include "codegen/artifact/Artifact.h"
#include "dialects/seq/Seq.h"

namespace effc::codegen {

/// Reads rows of a checkpoint's tensor in the layout of a weight.
class WeightRows {
public:
  /// Fails when the tensor does not have the weight's shape (dimensions of size
  /// 1 aside; exchanged where the weight is `transposed`), naming both.
  static llvm::Expected<WeightRows> create(seq::WeightOp weight,
                                           const SourceTensor &tensor);

  uint64_t rows() const { return rowCount; }
  uint64_t rowBytes() const { return strideBytes; }
  /// The bytes of row `row`, padding included; valid until the next call.
  llvm::ArrayRef<uint8_t> row(uint64_t row);

private:
  WeightRows() = default;
  float element(uint64_t index) const;

  SourceTensor source;
  bool transposed = false, narrow = false;
  uint64_t rowCount = 0, columns = 0, strideBytes = 0;
  std::vector<uint8_t> buffer;
};

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_WEIGHTROWS_H
