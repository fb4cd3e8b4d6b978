// The weights of a compiled file, as a stored model gives them.
#ifndef EFFC_COMPILER_STOREDARTIFACT_H
#define EFFC_COMPILER_STOREDARTIFACT_H

#include "compiler/StoredModel.h"
#include "runtime/include/effc/effc.hpp"

namespace effc {

/// Gives the weights of `model`, which outlives the function: dense, without
/// the padding of the file's rows.
std::function<llvm::Expected<StoredWeight>(llvm::StringRef symbol)>
weightsOf(const Model &model);

} // namespace effc

#endif // EFFC_COMPILER_STOREDARTIFACT_H
