// Tensors that were cut from one at other places than a family cuts it.
#ifndef EFFC_FRONTEND_CHECKPOINT_RECUTTENSORS_H
#define EFFC_FRONTEND_CHECKPOINT_RECUTTENSORS_H

#include "frontend/checkpoint/Checkpoint.h"

namespace effc::frontend {

/// Has the checkpoint hold the tensors `names`, which follow one another along
/// their first dimension, with `rows` rows each. Nothing changes where one is not
/// there, where they have these rows already, or where their other dimensions,
/// their types or the sum of their rows are others, or where a cut would fall inside
/// a byte: whoever reads them says so.
/// Nobody has read any yet.
void recutTensors(Checkpoint &checkpoint, llvm::ArrayRef<std::string> names,
                  llvm::ArrayRef<uint64_t> rows);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_RECUTTENSORS_H
