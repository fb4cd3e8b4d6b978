// The weights that a kernel's body reads.
#ifndef EFFC_PASSES_KERNELFACTS_KERNELWEIGHTS_H
#define EFFC_PASSES_KERNELFACTS_KERNELWEIGHTS_H

#include "dialects/seq/SeqOps.h"

namespace effc {

/// The weight that `tensor`, a value in the body of a kernel, is; null where it is none.
seq::WeightOp weightInKernel(mlir::Value tensor);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_KERNELWEIGHTS_H
