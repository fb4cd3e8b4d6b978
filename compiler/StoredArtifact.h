// The weights of a compiled file, as a stored model gives them.
#ifndef EFFC_COMPILER_STOREDARTIFACT_H
#define EFFC_COMPILER_STOREDARTIFACT_H

#include "compiler/StoredModel.h"
#include "runtime/include/effc/effc.hpp"

namespace effc {

/// Gives the weights of `model`, which outlives the function: row by row, without
/// what pads the file's rows. `seqBytecode` is the module of the file, which says
/// what lies in panels.
std::function<llvm::Expected<StoredWeight>(llvm::StringRef symbol)>
weightsOf(const Model &model, std::string seqBytecode);

} // namespace effc

#endif // EFFC_COMPILER_STOREDARTIFACT_H
