// Elements as they lie in memory, and as f32.
//
// bf16 and f16 are moved as the bits that they are: not every back end can hold
// them in registers, and neither the host nor the simulator's can round to bf16
// without a library. Elements that lie in blocks have no address of their own:
// a place is then the address of a block and the number of an element from
// there on.
#ifndef EFFC_CODEGEN_STORAGE_STOREDELEMENTS_H
#define EFFC_CODEGEN_STORAGE_STOREDELEMENTS_H

#include "dialects/storage/Storage.h"

#include "mlir/IR/Builders.h"

namespace effc::stored {

/// What a load or store of elements of a type moves: i16 for bf16 and f16,
/// other types themselves; a vector for more than one lane. Not for blocks.
mlir::Type storedType(mlir::Type element, int64_t lanes);

/// What was loaded, as f32; integers as they are. Not for blocks.
mlir::Value widen(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored,
                  mlir::Type element);

/// Who rounds f32 to bf16: an instruction of the target, or integer arithmetic.
enum class Rounding { Instruction, Arithmetic };
/// f32 as what is stored, rounded to nearest even; a NaN stays one. Not for
/// blocks, which no kernel writes.
mlir::Value narrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                   mlir::Type element,
                   Rounding rounding = Rounding::Instruction);

/// Where an element is.
struct ElementPlace {
  /// Of the element; of one in blocks, of a block.
  mlir::Value address;
  /// Of elements in blocks: how many to count from the block's first, of type
  /// index; null of others.
  mlir::Value number;
  /// What `number` is known to be a multiple of.
  int64_t divisor = 0;
  /// In a panel, whose rows are no run of elements: the row, counted from that which
  /// begins at `address` (index), and the elements of each. `number` counts from
  /// there.
  mlir::Value row = {};
  int64_t rowElements = 0;
  /// Of elements in blocks: bytes of which `address` is known to be a multiple.
  int64_t alignment = 1;
};

/// Element 0 of a view of `element` that begins at `address`.
ElementPlace firstPlace(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value address, mlir::Type element);
/// Row `row` of a matrix in panels with rows of `rowElements`.
ElementPlace panelRow(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value address, mlir::Type element, mlir::Value row,
                      int64_t rowElements);
/// The place `count` elements further on, a multiple of `divisor`; of a panel along
/// the row.
ElementPlace further(mlir::OpBuilder &b, mlir::Location loc,
                     const ElementPlace &place, mlir::Type element,
                     mlir::Value count, int64_t divisor = 1);
/// One of two places in the same memory.
ElementPlace select(mlir::OpBuilder &b, mlir::Location loc, mlir::Value which,
                    const ElementPlace &yes, const ElementPlace &no);

} // namespace effc::stored

#endif // EFFC_CODEGEN_STORAGE_STOREDELEMENTS_H
