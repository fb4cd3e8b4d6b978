// Products of a step that become one launch.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_JOINTPRODUCTS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_JOINTPRODUCTS_H

#include "passes/seq_to_tile/KernelContext.h"

namespace effc {

/// The outputs of each product that reads the rows of `product` and does not need it, or
/// is needed by it: of a decode step of a GPU JoinLaunches makes one launch of them all,
/// so that their items share the cores. Its own outputs come first; elsewhere they are
/// all.
llvm::SmallVector<int64_t> jointOutputs(mlir::Operation *product,
                                        const CallContext &call);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_JOINTPRODUCTS_H
