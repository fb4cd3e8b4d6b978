// Weights as the artifact stores them: padded rows in the storage type.
#ifndef EFFC_CODEGEN_ARTIFACT_WEIGHTROWS_H
#define EFFC_CODEGEN_ARTIFACT_WEIGHTROWS_H

#include "codegen/artifact/Artifact.h"
#include "codegen/artifact/WeightLoss.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Bundles.h"
#include "dialects/storage/Encoder.h"
#include "dialects/storage/Panels.h"

#include <optional>

namespace effc::codegen {

/// Weights that cannot be referenced are embedded up to this size.
constexpr uint64_t kSmallWeightBytes = uint64_t(1) << 20;

/// How a weight is stored.
storage::Storage storageOf(seq::WeightOp weight);

/// Rows of a weight in an artifact, and the bytes from one to the next: a
/// vector is one row, a panel is one, and rows are padded, but for blocks.
uint64_t rowCount(seq::WeightOp weight);
uint64_t rowBytes(seq::WeightOp weight);

/// Why kernels cannot read `weight` where the checkpoint has it; absent where
/// they can: the type is the same, rows follow one another in the same order at
/// the stride that they have in an artifact, and elements are aligned. Vectors
/// are always embedded.
std::optional<std::string> whyNotReferenced(seq::WeightOp weight,
                                            const SourceTensor &tensor);

/// Reads rows of a checkpoint's tensor in the layout of a weight.
class WeightRows {
public:
  /// Fails when the tensor does not have the weight's shape (dimensions of size
  /// 1 aside; the last two exchanged where the weight is `transposed`), naming
  /// both.
  static llvm::Expected<WeightRows> create(seq::WeightOp weight,
                                           const SourceTensor &tensor);

  uint64_t rows() const;
  uint64_t bytesPerRow() const;
  /// Whether rows are the source's own bytes, which takes no time to make.
  bool areCopied() const {
    return storage == source.storage && !turned && !order && !bundles;
  }
  /// The bytes of row `row` of the artifact, padding included; valid until the next call. Fails
  /// on an element that the storage has no finite number for.
  llvm::Expected<llvm::ArrayRef<uint8_t>> row(uint64_t row);
  /// Has each row() from now on add to loss() what its numbers lose.
  void measure() { loss.emplace(); }
  /// Absent where nothing is measured.
  const std::optional<WeightLoss> &getLoss() const { return loss; }

private:
  WeightRows(const SourceTensor &source, storage::Storage storage)
      : source(source), storage(storage),
        encoder(storage::Encoder::of(storage)) {}
  uint64_t placeOf(uint64_t index) const;
  llvm::Error readRow(uint64_t row, llvm::MutableArrayRef<uint8_t> bytes);
  llvm::ArrayRef<float> importanceOf(uint64_t row) const;
  std::optional<uint64_t> encode(uint64_t row,
                                 llvm::MutableArrayRef<uint8_t> bytes) const;
  llvm::Error refuse(uint64_t row, uint64_t column) const;

  SourceTensor source;
  std::string name;
  /// Rows and columns of the weight's matrices where the source has their
  /// transposes.
  std::optional<std::pair<uint64_t, uint64_t>> turned;
  storage::Storage storage;                    // of a row
  std::optional<storage::Encoder> encoder;     // absent: only taken as it is
  std::optional<storage::PanelOrder> order;    // none: rows lie one by one
  std::optional<storage::BundleOrder> bundles; // none: blocks do
  uint64_t count = 0;                          // rows of the matrix
  uint64_t columns = 0;
  uint64_t inputs = 0;        // of each matrix: a row has several times as many
  uint64_t paddedBytes = 0;   // of a row of the artifact
  std::vector<float> numbers; // of one row
  std::vector<uint8_t> buffer;
  std::optional<WeightLoss> loss;
};

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_WEIGHTROWS_H
