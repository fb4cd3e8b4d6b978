// Code that turns elements of blocks into f32, derived from the description of
// the blocks alone. dialects/storage/BlockNumbers.h is what the code means.
#ifndef EFFC_CODEGEN_STORAGE_UNPACK_H
#define EFFC_CODEGEN_STORAGE_UNPACK_H

#include "codegen/storage/StoredElements.h"

#include <functional>

namespace effc::stored {

/// Of the eight bytes of two i32, `low` first, the four whose numbers the lowest four
/// digits of 4 bits in `choice` are, the lowest first. Digits are below 8.
using Permute = std::function<mlir::Value(mlir::Value low, mlir::Value high,
                                          mlir::Value choice)>;

/// How a target looks up f32 in tables of 16 entries.
struct LookUp {
  /// Of a register; 0: the target has no instruction for it.
  int64_t lanes = 0;
  /// Of `lanes` i32, whose lowest four bits choose each an entry.
  std::function<mlir::Value(llvm::ArrayRef<float> table, mlir::Value choice)>
      entries;
};

/// `lanes` neighbours from `place` on of a storage with blocks as f32, a vector for more than one. The
/// first may be any element; neighbours are read together as far as the place's
/// divisor shows that they lie in one block. Lanes from `valid` on (index; null:
/// all count) are zeros, and no block is read for them alone.
mlir::Value unpack(mlir::OpBuilder &b, mlir::Location loc,
                   const ElementPlace &place, mlir::Type type, int64_t lanes,
                   mlir::Value valid = {}, const LookUp &lookUp = {});

/// The same of neighbours that differ in the last digit of their numbers alone, from a
/// multiple of `lanes` on, which divides that digit's radix. All count. In two steps:
/// what is loaded is asked for at once, and what is called later computes with it. So the loads of
/// several runs are on their way together. `b` outlives the function. With
/// `permute`, the instruction of a target that has one, codes in words are looked up and
/// placed by it.
std::function<mlir::Value()> beginUnpack(mlir::OpBuilder &b, mlir::Location loc,
                                         const ElementPlace &place,
                                         mlir::Type type, int64_t lanes,
                                         Permute permute = {},
                                         LookUp lookUp = {});

/// The address of the block that an element is in, for prefetches.
mlir::Value blockAddress(mlir::OpBuilder &b, mlir::Location loc,
                         const ElementPlace &place, mlir::Type type);
/// The place of an element that begins a block, counted from there: what lies a constant
/// further on then has a constant number, and no address to be divided for. Not of panels.
ElementPlace blockPlace(mlir::OpBuilder &b, mlir::Location loc,
                        const ElementPlace &place, mlir::Type type);

} // namespace effc::stored

#endif // EFFC_CODEGEN_STORAGE_UNPACK_H
