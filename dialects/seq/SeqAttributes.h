// The dialect's enums and attributes.
#ifndef EFFC_DIALECTS_SEQ_SEQATTRIBUTES_H
#define EFFC_DIALECTS_SEQ_SEQATTRIBUTES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"

#include "dialects/seq/SeqEnums.h.inc"

#include "dialects/seq/SeqAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/seq/SeqAttributes.h.inc"

#endif // EFFC_DIALECTS_SEQ_SEQATTRIBUTES_H
