// Rings that boxes fill.
#ifndef EFFC_CODEGEN_NVPTX_THREADBOXES_H
#define EFFC_CODEGEN_NVPTX_THREADBOXES_H

#include "codegen/nvptx/ThreadState.h"

namespace effc::nvptx {

/// The tensor maps that a kernel is passed behind its counts.
llvm::SmallVector<tile::BoxMapAttr> boxMapsOf(tile::KernelOp kernel);
/// Makes the mbarriers of a ring.
void startArrivals(ThreadState &t, tile::RingOp ring);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADBOXES_H
