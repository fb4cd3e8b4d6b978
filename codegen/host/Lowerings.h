// One op of a kernel each, to the host's loops and vectors. An overload emits at
// the state's builder, reads what the op's operands stand for from the state,
// and leaves there what its results stand for. Elementwise ops have none: they
// join groups (ElementGroup.h).
#ifndef EFFC_CODEGEN_HOST_LOWERINGS_H
#define EFFC_CODEGEN_HOST_LOWERINGS_H

#include "codegen/host/KernelState.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace effc::host {

/// All of a kernel, in a loop over its items. Fails, with a diagnostic on the
/// op, for what the host cannot run.
mlir::LogicalResult lowerKernel(KernelState &s);
/// An op that is not elementwise.
mlir::LogicalResult lowerOp(mlir::Operation *op, KernelState &s);
/// The ops of a block but its last.
mlir::LogicalResult lowerBlock(mlir::Block &block, KernelState &s);

// KernelLowering.cpp
void lower(tile::SplatOp splat, KernelState &s);
void lower(tile::CountOp count, KernelState &s);
// LoopLowering.cpp
mlir::LogicalResult lower(mlir::scf::ForOp loop, KernelState &s);
mlir::LogicalResult lower(tile::PipelineOp pipeline, KernelState &s);
// ViewLowering.cpp
void lower(tile::LoadOp load, KernelState &s);
void lower(tile::GatherRowsOp gather, KernelState &s);
void lower(tile::ShiftOp shift, KernelState &s);
void lower(tile::StoreOp store, KernelState &s); // of a column, or to bytes
/// Into rows of bytes behind a scale (RowBytes.cpp).
void storeRows(tile::StoreOp store, const Place &target, KernelState &s);
void lower(tile::ReadOp read, KernelState &s);
void lower(tile::SegmentOp segment, KernelState &s);
// Dots.cpp, Splices.cpp, Columns.cpp
mlir::LogicalResult lower(tile::DotOp dot, KernelState &s);
/// One that is rounded to digits (DigitDots.cpp).
mlir::LogicalResult lowerPanelDot(tile::DotOp dot, KernelState &s);
void lower(tile::SpliceOp splice, KernelState &s);
void lower(tile::ScanOp scan, KernelState &s);
void lower(tile::SegmentDecayOp decay, KernelState &s);
// TopK.cpp
void lower(tile::TopKOp op, KernelState &s);
void lower(tile::TakeOp op, KernelState &s);

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_LOWERINGS_H
