// Where the bytes of weights come from: a checkpoint, or a stored model.
#ifndef EFFC_COMPILER_WEIGHTSOURCE_H
#define EFFC_COMPILER_WEIGHTSOURCE_H

#include "codegen/artifact/Artifact.h"
#include "compiler/StoredModel.h"
#include "frontend/weights/Weights.h"

namespace effc {

/// Gives the writer of an artifact each weight's tensor as it is stored.
class WeightSource {
public:
  /// One of the two is null. Both outlive the source.
  WeightSource(const frontend::Checkpoint *checkpoint,
               const StoredModel *stored)
      : checkpoint(checkpoint), stored(stored) {}

  /// The tensor of a weight, valid until the next call. A stored model has each
  /// weight under its own symbol, in the order and the storage of its type.
  /// Fails where the tensor is missing, or of a type that no weight can have.
  llvm::Expected<codegen::SourceTensor> read(seq::WeightOp weight);

private:
  llvm::Expected<codegen::SourceTensor> readStored(seq::WeightOp weight);
  llvm::Expected<codegen::SourceTensor> gather(seq::WeightOp weight);

  const frontend::Checkpoint *checkpoint;
  const StoredModel *stored;
  // What the tensor that was read last refers to.
  StoredWeight storedWeight;
  frontend::GatheredWeight gathered;
  std::vector<uint64_t> shape;
  std::shared_ptr<const std::vector<uint8_t>> made;
};

/// The files of a checkpoint by the names that lead to them from the folder of
/// the artifact `output`, both taken without symbolic links, so that the names
/// hold wherever the two are moved together.
llvm::Expected<std::vector<codegen::WeightFile>>
listWeightFiles(const frontend::Checkpoint &checkpoint, llvm::StringRef output);

} // namespace effc

#endif // EFFC_COMPILER_WEIGHTSOURCE_H
