// The dialect's ops.
#ifndef EFFC_DIALECTS_SEQ_SEQOPS_H
#define EFFC_DIALECTS_SEQ_SEQOPS_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/seq/SeqDialect.h"
#include "dialects/seq/SeqInterfaces.h"
#include "dialects/seq/SeqTypes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/seq/SeqOps.h.inc"

#endif // EFFC_DIALECTS_SEQ_SEQOPS_H
