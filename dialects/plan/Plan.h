// The plan dialect: the host program of a compiled model.
#ifndef EFFC_DIALECTS_PLAN_PLAN_H
#define EFFC_DIALECTS_PLAN_PLAN_H

#include "dialects/tile/Tile.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/plan/PlanDialect.h.inc"
#include "dialects/plan/PlanEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.h.inc"

#endif // EFFC_DIALECTS_PLAN_PLAN_H
