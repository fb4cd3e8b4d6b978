// What is known of a kernel while it becomes loops, vectors and pointers.
//
// Ops are taken in program order. Maps, stores and reductions over one shape
// are gathered into a group and become a single loop nest (ElementGroup.h).
// Loads emit nothing: their tile is a window, read where it is used. Nothing is
// decided here that the kernel does not say: the order of all additions follows
// from the tiles' shapes alone.
#ifndef EFFC_CODEGEN_HOST_KERNELSTATE_H
#define EFFC_CODEGEN_HOST_KERNELSTATE_H

#include "codegen/host/ElementGroup.h"
#include "codegen/host/Place.h"
#include "dialects/tile/Tile.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace effc::host {

struct KernelState {
  /// Emits at the end of `entry`, a block whose arguments are those of a host
  /// kernel: operands and counts (pointers), first and last item (i64).
  KernelState(tile::KernelOp kernel, mlir::Block *entry);

  mlir::Location loc() const { return b.getLoc(); }
  /// The value that stands for a scalar of the kernel.
  mlir::Value lookup(mlir::Value scalar) {
    return scalars.lookupOrDefault(scalar);
  }
  /// Buffers on the stack, made when the kernel begins.
  mlir::Value allocateBytes(int64_t bytes);
  Place allocate(tile::TileType type);
  /// Where a tile is; a buffer if it has no place yet.
  Place placeOf(mlir::Value tile);
  stored::ElementPlace elementAt(mlir::Value view, mlir::ValueRange indices,
                                 mlir::Type element);
  Place windowOf(mlir::Value view, mlir::ValueRange indices,
                 llvm::ArrayRef<int64_t> sizes, tile::TileType tile,
                 mlir::Value rows, mlir::Value columns);
  void copy(mlir::Value from, tile::TileType type, const Place &to);
  void fill(const Place &to, tile::TileType type, mlir::Value scalar);

  tile::KernelOp kernel;
  mlir::ImplicitLocOpBuilder b;
  mlir::Block *entry;
  Memory memory;
  mlir::IRMapping scalars;                         // index, f32, i1 values
  llvm::DenseMap<mlir::Value, Place> places;       // tiles in memory
  llvm::DenseMap<mlir::Value, mlir::Value> splats; // tiles of one scalar
  llvm::DenseMap<mlir::Value, mlir::Value> bases; // views and tables: !llvm.ptr
  Group group;                                    // pending
  int64_t stackUsed = 0; // bytes of the stack buffers so far
};

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_KERNELSTATE_H
