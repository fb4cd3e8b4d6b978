// Products of a step that become one launch.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_JOINTPRODUCTS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_JOINTPRODUCTS_H

#include "passes/seq_to_tile/KernelContext.h"

namespace effc {

/// The outputs of a product, and of those that read the same rows and become one launch
/// with it: of a decode step of a GPU JoinLaunches has the items of all of them share the
/// cores. This is known before there are launches, so that tiles are chosen for all of
/// them. A product that waits for one of the others is counted alone. Where its items
/// share terms, its sum alone waits, and JoinLaunches joins it after all.
llvm::SmallVector<int64_t> jointOutputs(mlir::Operation *product,
                                        const CallContext &call);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_JOINTPRODUCTS_H
