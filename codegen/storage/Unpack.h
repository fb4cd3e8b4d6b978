// Code that turns elements of blocks into f32, derived from the description of
// the blocks alone. dialects/storage/BlockNumbers.h is what the code means.
#ifndef EFFC_CODEGEN_STORAGE_UNPACK_H
#define EFFC_CODEGEN_STORAGE_UNPACK_H

#include "codegen/storage/StoredElements.h"

#include <functional>

namespace effc::stored {

/// `lanes` neighbours from `place` on of a storage with blocks as f32, a vector for more than one. The
/// first may be any element; neighbours are read together as far as the place's
/// divisor shows that they lie in one block. Lanes from `valid` on (index; null:
/// all count) are zeros, and no block is read for them alone.
mlir::Value unpack(mlir::OpBuilder &b, mlir::Location loc,
                   const ElementPlace &place, mlir::Type type, int64_t lanes,
                   mlir::Value valid = {});

/// The same of neighbours that differ in the last digit of their numbers alone, from a
/// multiple of `lanes` on, which divides that digit's radix. All count. In two steps:
/// what is loaded is asked for at once, and what is called later computes with it. So the loads of
/// several runs are on their way together. `b` outlives the function.
std::function<mlir::Value()> beginUnpack(mlir::OpBuilder &b, mlir::Location loc,
                                         const ElementPlace &place,
                                         mlir::Type type, int64_t lanes);

/// The address of the block that an element is in, for prefetches.
mlir::Value blockAddress(mlir::OpBuilder &b, mlir::Location loc,
                         const ElementPlace &place, mlir::Type type);
/// The place of an element that begins a block, counted from there: what lies a constant
/// further on then has a constant number, and no address to be divided for. Not of panels.
ElementPlace blockPlace(mlir::OpBuilder &b, mlir::Location loc,
                        const ElementPlace &place, mlir::Type type);

} // namespace effc::stored

#endif // EFFC_CODEGEN_STORAGE_UNPACK_H
