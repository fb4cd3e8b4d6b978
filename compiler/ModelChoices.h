// What a stored model chooses by its numbers.
#ifndef EFFC_COMPILER_MODELCHOICES_H
#define EFFC_COMPILER_MODELCHOICES_H

#include "compiler/StoredModel.h"

#include "llvm/Support/Error.h"

namespace effc {

/// Whether the model reads rows that it chooses by their scores, as experts of a
/// router, values of product keys and the kept keys of a window are: then a number that is a little other may
/// make a result quite another. Fails where the model cannot be read.
llvm::Expected<bool> choosesRows(const StoredModel &model);

} // namespace effc

#endif // EFFC_COMPILER_MODELCHOICES_H
