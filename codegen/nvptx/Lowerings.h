// One op of a scheduled kernel each, to the code of one thread. An overload
// emits at the state's builder, reads what the op's operands stand for from the
// state, and leaves there what its results stand for.
#ifndef EFFC_CODEGEN_NVPTX_LOWERINGS_H
#define EFFC_CODEGEN_NVPTX_LOWERINGS_H

#include "codegen/nvptx/ThreadState.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace effc::nvptx {

/// All of a kernel, into the state's entry block. Fails, with a diagnostic on
/// the op, for what has no lowering.
mlir::LogicalResult lowerKernel(ThreadState &t);
/// An op of any kind.
mlir::LogicalResult lowerOp(mlir::Operation &op, ThreadState &t);

// ThreadLowering.cpp
void lower(tile::BarrierOp op, ThreadState &t);
void lower(tile::CountOp count, ThreadState &t);
void lower(tile::SplatOp splat, ThreadState &t);
void lower(tile::SegmentOp segment, ThreadState &t);
// ThreadLoops.cpp
mlir::LogicalResult lower(mlir::scf::ForOp loop, ThreadState &t);
mlir::LogicalResult lower(mlir::scf::IfOp branch, ThreadState &t);
mlir::LogicalResult lower(tile::PipelineOp pipeline, ThreadState &t);
/// The ops of a block but its last.
mlir::LogicalResult lowerBlock(mlir::Block &block, ThreadState &t);
// ThreadMemory.cpp
void lower(tile::LoadOp load, ThreadState &t);
void lower(tile::GatherRowsOp gather, ThreadState &t);
void lower(tile::SpliceOp splice, ThreadState &t);
void lower(tile::StoreOp store, ThreadState &t);
void lower(tile::ReadOp read, ThreadState &t);
// ThreadShared.cpp
void lower(tile::ConvertOp convert, ThreadState &t);
void lower(tile::ShiftOp shift, ThreadState &t);
// ThreadMath.cpp
void lower(tile::MapOp map, ThreadState &t);
void lower(tile::ReduceOp reduce, ThreadState &t);
void lower(tile::DotRunsOp dot, ThreadState &t);
// ThreadSums.cpp, ThreadDecays.cpp
void lower(tile::ScanOp scan, ThreadState &t);
void lower(tile::SegmentDecayOp decay, ThreadState &t);
// ThreadTopK.cpp
void lower(tile::TopKOp op, ThreadState &t);
void lower(tile::TakeOp op, ThreadState &t);
// ThreadCopies.cpp
void lower(tile::RingOp ring, ThreadState &t);
void lower(tile::FetchOp fetch, ThreadState &t);
void lower(tile::AwaitOp await, ThreadState &t);
void lower(tile::CommitOp op, ThreadState &t);
// ThreadBoxes.cpp
void lower(tile::FetchBoxOp fetch, ThreadState &t);
void lower(tile::AwaitBoxOp await, ThreadState &t);
// units/Units.cpp
void lower(tile::DotOp dot, ThreadState &t);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_LOWERINGS_H
