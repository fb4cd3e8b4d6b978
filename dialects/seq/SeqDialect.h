// The dialect and the names of the attributes it puts on other dialects' ops.
#ifndef EFFC_DIALECTS_SEQ_SEQDIALECT_H
#define EFFC_DIALECTS_SEQ_SEQDIALECT_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"

#include "dialects/seq/SeqDialect.h.inc"

namespace effc::seq {

/// `#seq.model` on the module.
inline constexpr llvm::StringLiteral kModelAttr = "seq.model";
/// `#seq.state_layout` on the module.
inline constexpr llvm::StringLiteral kStateLayoutAttr = "seq.state_layout";
/// `#seq.entry` on a function.
inline constexpr llvm::StringLiteral kEntryAttr = "seq.entry";
/// String on a function's argument that carries a state.
inline constexpr llvm::StringLiteral kStateNameAttr = "seq.state_name";

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_SEQDIALECT_H
