// The storage dialect: blocks of codes with scales, as data. See README.md.
#ifndef EFFC_DIALECTS_STORAGE_STORAGEDIALECT_H
#define EFFC_DIALECTS_STORAGE_STORAGEDIALECT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "dialects/storage/StorageDialect.h.inc"
#include "dialects/storage/StorageEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/storage/StorageAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/storage/StorageTypes.h.inc"

#endif // EFFC_DIALECTS_STORAGE_STORAGEDIALECT_H
