// The tile dialect: attributes, types and ops. See dialects/tile/README.md.
#ifndef EFFC_DIALECTS_TILE_TILE_H
#define EFFC_DIALECTS_TILE_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/tile/Axis.h"
#include "dialects/tile/units/DotShape.h"

#include "dialects/tile/TileDialect.h.inc"
#include "dialects/tile/TileEnums.h.inc"
namespace effc::tile {
/// Whether operands of products may be rounded to a type.
bool isRoundedType(mlir::Type type);
} // namespace effc::tile

#include "dialects/tile/Layouts.h.inc"
#include "dialects/tile/ProductUnit.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.h.inc"
namespace effc::tile {
/// The module's attribute that says what code is made for.
inline constexpr llvm::StringLiteral kTargetAttr = "tile.target";
/// That of the module that an op is, or is in; null where there is none.
TargetAttr getTarget(mlir::Operation *op);
/// Whether a token has the same bits whatever it is computed with. So it is
/// where there is no target.
bool isBitStable(mlir::Operation *op);
/// Whether the schedule of the kernel that an op is, or is in, does not say yet
/// where in shared memory anything lies. Ops outside of kernels must.
bool arePlacesOpen(mlir::Operation *op);

/// Of ops that begin a copy to a slot of a ring.
template <typename ConcreteType>
class StartsCopy : public mlir::OpTrait::TraitBase<ConcreteType, StartsCopy> {};
} // namespace effc::tile
#define GET_OP_CLASSES
#include "dialects/tile/TileOps.h.inc"

#endif // EFFC_DIALECTS_TILE_TILE_H
