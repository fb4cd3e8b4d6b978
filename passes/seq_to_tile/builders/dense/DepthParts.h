// Sums of a product whose terms several items share.
//
//   items of a tile of 64 x 64 outputs, 2,048 terms in 4 parts:
//   [0, 512) [512, 1024) [1024, 1536) [1536, 2048)    each leaves its sums in memory
//   a launch behind adds them up in this order, and does what follows the product
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_DEPTHPARTS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_DEPTHPARTS_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// The memory between the launches: of each row the sums of each part, `outputs` long.
mlir::Value sumsOfParts(KernelBuilder &k, int64_t outputs, bool written);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_DEPTHPARTS_H
