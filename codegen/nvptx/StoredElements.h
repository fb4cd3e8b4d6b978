// Elements as they lie in memory, and as f32.
//
// bf16 and f16 are moved as the bits that they are: not every back end can hold
// them in registers, and the simulator's host cannot round to bf16 without a
// library.
#ifndef EFFC_CODEGEN_NVPTX_STOREDELEMENTS_H
#define EFFC_CODEGEN_NVPTX_STOREDELEMENTS_H

#include "mlir/IR/Builders.h"

namespace effc::nvptx {

/// What a load or store of elements of a type moves: i16 for bf16 and f16,
/// other types themselves; a vector for more than one lane.
mlir::Type storedType(mlir::Type element, int64_t lanes);

/// What was loaded, as f32; integers as they are.
mlir::Value widen(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored,
                  mlir::Type element);

/// f32 as what is stored, rounded to nearest even.
mlir::Value narrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                   mlir::Type element);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_STOREDELEMENTS_H
