// Entries of tables, chosen by an instruction of x86-64.
#ifndef EFFC_CODEGEN_HOST_TABLELOOKUP_H
#define EFFC_CODEGEN_HOST_TABLELOOKUP_H

#include "codegen/storage/Unpack.h"

namespace effc::host {

/// Of the level of `op`'s module; null where a level has no such instruction. `b` outlives
/// the function.
stored::LookUp makeLookUp(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Operation *op);

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_TABLELOOKUP_H
