// The lowerings of product units: a file for each, and the table of them.
#ifndef EFFC_CODEGEN_NVPTX_UNITS_UNITS_H
#define EFFC_CODEGEN_NVPTX_UNITS_UNITS_H

#include "codegen/nvptx/ThreadState.h"

namespace effc::nvptx {

/// An error on the first product of a kernel whose unit the module's target does not
/// have, or may not use where bits are to be stable.
mlir::LogicalResult checkUnits(tile::KernelOp kernel);

void lowerWarpProduct(tile::DotOp dot, ThreadState &t);
void lowerWarpGroupProduct(tile::DotOp dot, ThreadState &t);

/// Replaces an op of warp groups, which NVVM has none for, by inline assembly;
/// false where `op` is another.
bool writeWarpGroupAssembly(mlir::Operation *op);
/// The same for the ops of any unit.
bool writeUnitAssembly(mlir::Operation *op);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_UNITS_UNITS_H
