// Operands of products in a warp's registers, as tensor cores take them.
//
// By the PTX ISA: with g = lane / 4 and t = lane mod 4, a register has two
// elements that follow one another in depth. A has (g, 2t), (g + 8, 2t), (g, 2t
// + 8), (g + 8, 2t + 8), B has (2t, g), (2t + 8, g), and the accumulator is
// #tile.mma. So an operand is read as 8 x 8 matrices of (outer, depth) of which
// a lane holds (g, 2t) and the next: what ldmatrix loads. Of tf32 (m16n8k8) a
// register has one element, A (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4) and
// B (t, g), (t + 4, g). Which depth comes first makes no difference if it is
// the same in A and B, so depths t and t + 4 are the elements 2t and 2t + 1.
#ifndef EFFC_CODEGEN_NVPTX_UNITS_FRAGMENTS_H
#define EFFC_CODEGEN_NVPTX_UNITS_FRAGMENTS_H

#include "codegen/nvptx/ThreadPlaces.h"

namespace effc::nvptx {

/// How many bf16 together are an f32.
inline constexpr size_t kMostParts = 3;

/// Two neighbours of an operand in registers: of two bf16 each, whose sums
/// they are; of both as f16; or each as tf32.
using Parts = llvm::SmallVector<mlir::Value, 3>;

/// An operand of a product in shared memory: element (outer, depth), where
/// outer is a row of A or a column of B. One in registers has no place.
struct FragmentOperand {
  int64_t offset, outerStride, depthStride, outerSize;
  mlir::Type element;
  mlir::Value slot; // bytes; null: none
  /// What an element is rounded to when it is read; null: read as it is.
  mlir::Type roundedTo;

  static FragmentOperand of(ThreadState &t, mlir::Value tile, bool depthIsRow,
                            mlir::Type roundedTo);
  /// How many bf16 are summed to an element that is not rounded.
  size_t parts() const;
  /// What tensor cores multiply.
  mlir::Type piece() const;
};

/// Where a lane begins to read an operand for its warp's pieces, at depth 0;
/// a warp past the tile works on the tile's first piece, to no effect.
struct Lane {
  mlir::Value atWarp, atStart;
};

/// The first row and column of what a fragment gives to the thread's warp.
std::pair<mlir::Value, mlir::Value> firstOfWarp(ThreadState &t,
                                                const Held &held);
Lane laneOf(ThreadState &t, const FragmentOperand &operand, mlir::Value warp,
            bool outerFirst);
mlir::Value pieceAt(ThreadState &t, const FragmentOperand &operand,
                    const Lane &lane, const tile::Axis &axis, mlir::Value warp,
                    int64_t offset, mlir::Value depth);
/// Where a lane begins to read, along the outer axis and in depth.
std::pair<mlir::Value, mlir::Value>
lanePlace(ThreadState &t, const FragmentOperand &operand, bool outerFirst);
/// The matrices of a piece, of which this lane begins at `address`.
llvm::SmallVector<Parts> loadMatrices(ThreadState &t,
                                      const FragmentOperand &operand,
                                      mlir::Value address, unsigned matrices,
                                      bool outerFirst);
/// Those of rows that are held as sums: piece `row`, from `depth` on, of
/// `rows` with so many columns each.
llvm::SmallVector<Parts> heldMatrices(ThreadState &t,
                                      const FragmentOperand &operand,
                                      llvm::ArrayRef<mlir::Value> rows,
                                      size_t columns, size_t row, size_t depth);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_UNITS_FRAGMENTS_H
