// Product units in the simulator's code: a file for each, and the table of
// them.
#ifndef EFFC_CODEGEN_SIM_UNITS_UNITS_H
#define EFFC_CODEGEN_SIM_UNITS_UNITS_H

#include "codegen/sim/Rewrites.h"
#include "codegen/sim/units/Fragments.h"

#include <memory>

namespace effc::sim {

/// What a unit's ops become. `fragments` is told of the unit's products before.
void addWarpProduct(Rewrites &rewrites, std::shared_ptr<Fragments> fragments);
void addWarpGroupProduct(Rewrites &rewrites,
                         std::shared_ptr<Fragments> fragments);

/// The registers of a unit's product; nothing for another op.
std::optional<ProductRegisters> warpProductRegisters(mlir::Operation *op);
std::optional<ProductRegisters> warpGroupProductRegisters(mlir::Operation *op);

/// The same for any unit.
std::optional<ProductRegisters> productRegisters(mlir::Operation *op);

/// What the ops of all units in `function` become.
void addProducts(Rewrites &rewrites, mlir::LLVM::LLVMFuncOp function);

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_UNITS_UNITS_H
