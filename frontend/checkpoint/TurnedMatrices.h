// Tensors of several matrices that lie as [inputs, outputs], for families whose
// products take [outputs, inputs].
#ifndef EFFC_FRONTEND_CHECKPOINT_TURNEDMATRICES_H
#define EFFC_FRONTEND_CHECKPOINT_TURNEDMATRICES_H

#include "frontend/checkpoint/Checkpoint.h"

namespace effc::frontend {

/// Has the checkpoint hold each tensor of `names`, which is [E, A, B], as the
/// transposes of its matrices, one behind another: [E B, A]. Tensors that are not
/// there, or of blocks, stay as they are. Nobody has read any yet. Fails, by the
/// tensor's name, where a tensor is not of the `shape`, or has elements that are no
/// whole bytes.
llvm::Error turnMatrices(Checkpoint &checkpoint,
                         llvm::ArrayRef<std::string> names,
                         llvm::ArrayRef<uint64_t> shape);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_TURNEDMATRICES_H
